// SPDX-License-Identifier: Apache-2.0
//! Structures in memory that compiled code and its caller share. Compiled code reads and writes these
//! structures by the offsets of their fields; everything else is reached by address.

use interpreter::Environment;
use interpreter::random::DrawCounts;
use ir::{Bits, ExternId, Program, RequestId, StorageLayout};
use state::Cells;
use state::externs::PacketAction;
use state::forwarding::ForwardingState;
use std::mem::offset_of;

/// Inputs that a caller can give to a unit; each packet of a burst has its own first one.
pub const MAX_INPUTS: usize = 8;

/// Bytes of undefined content that compiled code may read after the end of every packet.
pub const TAILROOM_BYTES: usize = 64;

/// Bytes of headers that can be moved in place; a packet with longer headers leaves by [`ENDED_NO_ROOM`].
pub const SCRATCH_BYTES: usize = 1024;

/// The unit ran to its end.
pub const ENDED: u64 = 0;
/// The first of the codes that no exit of a unit has.
pub const FIRST_RESERVED: u64 = 1 << 16;
/// A block took too many back edges ([`ir::STEP_LIMIT`]).
pub const ENDED_STEP_LIMIT: u64 = FIRST_RESERVED;
/// An assertion failed; `detail` is its origin, with bit 32 set for `assume`.
pub const ENDED_ASSERTION: u64 = FIRST_RESERVED + 1;
/// An extern failed; the message is in the runtime context, `detail` is the extern.
pub const ENDED_EXTERN: u64 = FIRST_RESERVED + 2;
/// Before an in-place deparser: the headers do not fit. Storage is as before the deparser.
pub const ENDED_NO_ROOM: u64 = FIRST_RESERVED + 3;

/// How the last block of a unit ended, in [`Pass::outcome`]: at the end of its code.
pub const OUTCOME_RETURNED: u64 = 0;
/// By `exit`.
pub const OUTCOME_EXITED: u64 = 1;
/// By a parser's error: this plus the error's number.
pub const OUTCOME_REJECTED: u64 = 1 << 32;

/// Lookups of a packet that can be batched.
pub const MAX_BATCHED_LOOKUPS: usize = 2;

/// A received packet of a burst.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// Its length.
    pub length_bytes: u32,
    /// Input 0 of the unit.
    pub input: u32,
    /// Indices of the items that batched lookups found.
    pub batched_items: [u32; MAX_BATCHED_LOOKUPS],
}

impl Received {
    /// Input 0, and a word of it and the length, which is the low half.
    #[inline(always)]
    pub fn tally(&self) -> (u32, u64) {
        const { assert!(offset_of!(Received, input) == offset_of!(Received, length_bytes) + 4) };
        let at = std::ptr::from_ref(self).wrapping_byte_add(offset_of!(Received, length_bytes));
        // SAFETY: one follows the other.
        (self.input, unsafe { two_numbers(at.cast()) })
    }
}

/// Outputs of a unit that runs on bursts.
pub const MAX_OUTPUTS: usize = 4;

/// A sent packet.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// Address of its first byte; of a copy its offset in the copies' bytes.
    pub start: u64,
    /// Its length.
    pub length_bytes: u32,
    /// Outputs of the unit. The first is read together with the length.
    pub outputs: [u32; MAX_OUTPUTS],
    /// The packet of the burst that it is sent for: the low half of the address of its [`Received`]; with
    /// [`Sent::IS_COPIED`] for a copy.
    pub packet: u32,
}

impl Sent {
    /// In [`Sent::packet`], in a bit that is zero in addresses of words: the packet is a copy.
    pub const IS_COPIED: u32 = 1;

    /// Output 0, and a word of it and the length, which is the low half.
    #[inline(always)]
    pub fn tally(&self) -> (u32, u64) {
        const { assert!(offset_of!(Sent, outputs) == offset_of!(Sent, length_bytes) + 4) };
        let at = std::ptr::from_ref(self).wrapping_byte_add(offset_of!(Sent, length_bytes));
        // SAFETY: one follows the other.
        (self.outputs[0], unsafe { two_numbers(at.cast()) })
    }
}

/// Two numbers of 32 bits side by side, the first in the low half: one load on most machines.
///
/// # Safety
///
/// Two numbers of 32 bits are at the address.
#[inline(always)]
unsafe fn two_numbers(at: *const u8) -> u64 {
    // SAFETY: by the contract.
    let bytes = unsafe { at.cast::<u64>().read_unaligned() };
    if cfg!(target_endian = "big") { bytes.rotate_left(u32::BITS) } else { bytes }
}

/// Exits without storage that a unit may have.
pub const MAX_COUNTED_EXITS: usize = 4;

/// One run of a unit on one packet, or on the packets of a burst one after another. The [`Instance`] follows it
/// in memory, so that one address reaches both.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Pass {
    /// First byte of the packet; in a burst of the running one. [`TAILROOM_BYTES`] after its end may be read.
    pub packet: *mut u8,
    /// Length of the packet.
    pub length_bytes: u64,
    /// In a burst: the running packet; before the run the first one.
    pub received: *mut Received,
    /// In a burst: the end of its received packets.
    pub received_end: *const Received,
    /// In a burst: the record of the next packet that is sent.
    pub sent: *mut Sent,
    /// In a burst: word 0 of the gates.
    pub gates: *const u64,
    /// In a burst: by exit without storage, packets that took it.
    pub exit_counts: [u64; MAX_COUNTED_EXITS],
    /// In a burst: first byte of packet 0.
    pub first: *mut u8,
    /// In a burst: bytes from one packet to the next.
    pub stride_bytes: u64,
    /// The storage, by [`StorageLayout`].
    pub storage: *mut u64,
    /// The parser's cursor, before and after.
    pub cursor_bits: u64,
    /// Bytes before the packet that an in-place deparser may write.
    pub headroom_bytes: u64,
    /// The packet's length for counters and meters.
    pub counted_bytes: u64,
    /// Device time in picoseconds.
    pub now_ps: u64,
    /// The assertion or extern that failed.
    pub detail: u64,
    /// The block that failed: index into the program's blocks.
    pub block: u64,
    /// See [`OUTCOME_RETURNED`].
    pub outcome: u64,
    /// Inputs from the caller.
    pub inputs: [u64; MAX_INPUTS],
    /// The context of functions of the runtime.
    pub runtime_context: *mut RuntimeContext<'static>,
    /// The result of a function of the runtime that cold code calls.
    pub preserved_result: u64,
    /// Buffer for headers while they are moved.
    pub scratch: [u8; SCRATCH_BYTES],
}

impl Pass {
    /// The index of the running packet in its burst; 0 without a burst.
    pub fn running(&self) -> u64 {
        let distance = (self.packet as u64).wrapping_sub(self.first as u64);
        distance.checked_div(self.stride_bytes).unwrap_or(0)
    }
}

/// Addresses of the state of one pipeline instance. Instances share code. A [`TableView`] for each table
/// follows in memory, table 0 first.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instance {
    /// First cell of each flat register array, null for a sparse one.
    pub registers: *const *mut u64,
    /// First cell of each counter (packets, bytes), null for a sparse or direct one.
    pub counters: *const *mut [u64; 2],
    /// Replication settings and parameters of hash algorithms.
    pub replication: *const state::Replication,
    /// Zeros, more than the largest header has bytes: the content of headers that were not extracted.
    pub zeros: *const u8,
}

/// The words of a table that compiled code reads without a call. They are valid for one version of the tables.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableView {
    /// Address of the [`state::forwarding::ForwardingTable`].
    pub table: u64,
    /// Address of record 0.
    pub records: u64,
    /// The default action's record: its address, or where records are packed the record itself.
    pub default_record: u64,
    /// [`state::forwarding::index::Direct::address`].
    pub items: u64,
    /// [`state::forwarding::index::Direct::length`].
    pub length: u64,
    /// [`state::forwarding::index::Direct::default_leaf`].
    pub default_leaf: u64,
    /// Whether the table does not fit into the nearer caches and can be prefetched.
    pub is_large: u64,
}

/// Outputs of functions of the runtime for the caller of compiled code. Runs reuse its memory.
#[derive(Debug, Default)]
pub(crate) struct SideOutputs {
    /// Requests of the program, in order.
    pub requests: Vec<(RequestId, Vec<Bits>)>,
    /// Bits emitted by a deparser that does not work in place.
    pub emitted: interpreter::bit_string::BitString,
    /// The message of an extern that failed.
    pub message: String,
    /// Actions on packets that externs request, in order.
    pub actions: Vec<(ExternId, PacketAction)>,
    /// Counts of the random numbers drawn in this pass.
    pub draws: DrawCounts,
}

/// The context of functions of the runtime, for one burst.
pub(crate) struct RuntimeContext<'a> {
    /// The program.
    pub program: &'a Program,
    /// The layout of its slots.
    pub layout: &'a StorageLayout,
    /// Registers, counters and meters.
    pub cells: &'a mut Cells,
    /// The tables.
    pub forwarding: &'a ForwardingState,
    /// The device.
    pub environment: &'a mut dyn Environment,
    /// Their outputs.
    pub side_outputs: &'a mut SideOutputs,
    /// The run.
    pub pass: *const Pass,
    /// Index of the packet that drew a random number last.
    pub drawing: u64,
}

impl RuntimeContext<'_> {
    /// Announces the running packet to the environment, before a call that depends on the packet.
    pub fn at_packet(&mut self) {
        // SAFETY: only compiled code calls this, and it runs on this pass.
        let index = unsafe { (*self.pass).running() };
        if self.drawing != index {
            self.drawing = index;
            self.side_outputs.draws.clear();
        }
        self.environment.at_packet(index);
    }
}

impl std::fmt::Debug for RuntimeContext<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RuntimeContext").finish_non_exhaustive()
    }
}
