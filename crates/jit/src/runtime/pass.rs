// SPDX-License-Identifier: Apache-2.0
//! What compiled code and its caller share in memory. Compiled code reads and writes these structures
//! by the offsets of their fields; everything that is not a plain number is reached by address.

use interpreter::Environment;
use interpreter::random::DrawCounts;
use ir::{Bits, ExternId, Program, RequestId, StorageLayout};
use state::Cells;
use state::externs::PacketAction;
use state::forwarding::ForwardingState;
use std::mem::offset_of;

/// How many numbers a caller can hand to a unit; the first is each packet's own.
pub const NUMBERS: usize = 8;

/// Bytes that may be read after the end of every packet, whatever they hold.
pub const TAILROOM_BYTES: usize = 64;

/// Bytes of headers that can be moved in place; a packet with longer ones leaves by [`ENDED_NO_ROOM`].
pub const SCRATCH_BYTES: usize = 1024;

/// The unit ran to its end.
pub const ENDED: u64 = 0;
/// The first of the codes that no exit of a unit has.
pub const FIRST_RESERVED: u64 = 1 << 16;
/// A block took too many back edges ([`ir::STEP_LIMIT`]).
pub const ENDED_STEP_LIMIT: u64 = FIRST_RESERVED;
/// An assertion failed; `detail` is its origin, with bit 32 set for `assume`.
pub const ENDED_ASSERTION: u64 = FIRST_RESERVED + 1;
/// An extern failed; the message is in the surroundings, `detail` is the extern.
pub const ENDED_EXTERN: u64 = FIRST_RESERVED + 2;
/// Before an in-place deparser: the headers do not fit where they would go. Storage is as before the
/// deparser.
pub const ENDED_NO_ROOM: u64 = FIRST_RESERVED + 3;

/// How the last block of a unit ended, in [`Pass::outcome`]: at the end of its code.
pub const OUTCOME_RETURNED: u64 = 0;
/// By `exit`.
pub const OUTCOME_EXITED: u64 = 1;
/// By a parser's error: this plus the error's number.
pub const OUTCOME_REJECTED: u64 = 1 << 32;

/// How many lookups of a packet can be made ahead.
pub const FOUND_AHEAD: usize = 2;

/// A packet of a burst as it came.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// Its length.
    pub length_bytes: u32,
    /// Input 0 of the unit.
    pub input: u32,
    /// Which items lookups made ahead led to: indices.
    pub found: [u32; FOUND_AHEAD],
}

impl Received {
    /// Input 0, with the length below it.
    #[inline(always)]
    pub fn tally(&self) -> (u32, u64) {
        const { assert!(offset_of!(Received, input) == offset_of!(Received, length_bytes) + 4) };
        let at = std::ptr::from_ref(self).wrapping_byte_add(offset_of!(Received, length_bytes));
        // SAFETY: the one stands behind the other.
        (self.input, unsafe { two_numbers(at.cast()) })
    }
}

/// How many outputs a unit has that runs on bursts.
pub const OUTPUTS: usize = 4;

/// A packet that left.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// Address of its first byte; of a copy its place among the copies' bytes.
    pub start: u64,
    /// Its length.
    pub length_bytes: u32,
    /// Outputs of the unit. The first is read together with the length.
    pub outputs: [u32; OUTPUTS],
    /// Which packet of the burst it was: the low half of the address of its [`Received`]; with
    /// [`Sent::IS_COPIED`] a copy.
    pub packet: u32,
}

impl Sent {
    /// In [`Sent::packet`], where addresses of whole words have a zero: the bytes are among the copies'.
    pub const IS_COPIED: u32 = 1;

    /// Output 0, with the length below it.
    #[inline(always)]
    pub fn tally(&self) -> (u32, u64) {
        const { assert!(offset_of!(Sent, outputs) == offset_of!(Sent, length_bytes) + 4) };
        let at = std::ptr::from_ref(self).wrapping_byte_add(offset_of!(Sent, length_bytes));
        // SAFETY: the one stands behind the other.
        (self.outputs[0], unsafe { two_numbers(at.cast()) })
    }
}

/// Two numbers that stand side by side, the first in the low half: one load, on most machines.
///
/// # Safety
///
/// They do.
#[inline(always)]
unsafe fn two_numbers(at: *const u8) -> u64 {
    // SAFETY: by the contract.
    let bytes = unsafe { at.cast::<u64>().read_unaligned() };
    if cfg!(target_endian = "big") { bytes.rotate_left(u32::BITS) } else { bytes }
}

/// How many exits without storage a unit may have.
pub const ENDS: usize = 4;

/// One run of a unit on one packet, or on the packets of a burst one after another. Behind it in memory
/// stands the [`Instance`], so that one address leads to both.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Pass {
    /// First byte of the packet: of a burst the packet that runs. [`TAILROOM_BYTES`] after its end may
    /// be read.
    pub packet: *mut u8,
    /// Length of the packet.
    pub length_bytes: u64,
    /// Of a burst: the packet that runs as it came; before, the one that runs first.
    pub received: *mut Received,
    /// Of a burst: behind its last packet as it came.
    pub received_end: *const Received,
    /// Of a burst: where to note the next packet that leaves.
    pub sent: *mut Sent,
    /// Of a burst: word 0 of the gates.
    pub gates: *const u64,
    /// Of a burst: packets by the exit without storage that they ended by.
    pub ended: [u64; ENDS],
    /// Of a burst: first byte of packet 0.
    pub first: *mut u8,
    /// Of a burst: bytes from one packet to the next.
    pub stride_bytes: u64,
    /// The storage, by [`StorageLayout`].
    pub storage: *mut u64,
    /// How far the packet has been read, before and after.
    pub cursor_bits: u64,
    /// Bytes before the packet that an in-place deparser may write.
    pub headroom_bytes: u64,
    /// What counters and meters take as the packet's length.
    pub counted_bytes: u64,
    /// Device time in picoseconds.
    pub now_ps: u64,
    /// What an ending by assertion or extern is about.
    pub detail: u64,
    /// The block that ended so: index into the program's blocks.
    pub block: u64,
    /// See [`OUTCOME_RETURNED`].
    pub outcome: u64,
    /// What the caller gives.
    pub inputs: [u64; NUMBERS],
    /// What functions of the runtime need.
    pub surroundings: *mut Surroundings<'static>,
    /// What a function of the runtime that is called seldom gives.
    pub answer: u64,
    /// Where headers are kept while they are moved.
    pub scratch: [u8; SCRATCH_BYTES],
}

impl Pass {
    /// Of a burst: which packet runs. Of a single one 0.
    pub fn running(&self) -> u64 {
        let distance = (self.packet as u64).wrapping_sub(self.first as u64);
        distance.checked_div(self.stride_bytes).unwrap_or(0)
    }
}

/// The state of one pipeline instance as compiled code reaches it. One code serves many instances. Behind
/// it in memory stands what is read inline of the tables, a [`Shortcut`] each, table 0 first.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instance {
    /// First cell of each flat register array, null for a sparse one.
    pub registers: *const *mut u64,
    /// First cell of each counter (packets, bytes), null for a sparse or direct one.
    pub counters: *const *mut [u64; 2],
    /// What the control plane has set of hash algorithms, and more.
    pub replication: *const state::Replication,
    /// Zeros, as many as the largest header has bytes and some more: what a header reads that was
    /// never extracted.
    pub zeros: *const u8,
}

/// What compiled code reads of a table without a call. The addresses hold for one version of the tables.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shortcut {
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
    /// Whether the table does not fit into the nearer caches, and compiled code can fetch ahead.
    pub is_large: u64,
}

/// What functions of the runtime leave for whoever runs compiled code. Its memory is used again.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// What the program asks of the device, in order.
    pub requests: Vec<(RequestId, Vec<Bits>)>,
    /// What a deparser that does not work in place emits.
    pub emitted: interpreter::bit_string::BitString,
    /// What a failing extern says.
    pub message: String,
    /// What externs ask to be done with packets, in order.
    pub actions: Vec<(ExternId, PacketAction)>,
    /// How many random numbers were drawn in this pass.
    pub draws: DrawCounts,
}

/// What functions of the runtime need of their caller. Lives as long as one burst.
pub(crate) struct Surroundings<'a> {
    /// The program.
    pub program: &'a Program,
    /// Where its slots are.
    pub layout: &'a StorageLayout,
    /// Registers, counters and meters.
    pub cells: &'a mut Cells,
    /// Tables as packets see them.
    pub forwarding: &'a ForwardingState,
    /// The device around.
    pub environment: &'a mut dyn Environment,
    /// What they leave for whoever runs compiled code.
    pub left: &'a mut Left,
    /// The run that these are the surroundings of.
    pub pass: *const Pass,
    /// Packet of the burst that drew last.
    pub drawing: u64,
}

impl Surroundings<'_> {
    /// Tells the environment which packet runs, before it is asked for something of the packet's.
    pub fn at_packet(&mut self) {
        // SAFETY: surroundings are reached from compiled code only, which runs on this pass.
        let index = unsafe { (*self.pass).running() };
        if self.drawing != index {
            self.drawing = index;
            self.left.draws.clear();
        }
        self.environment.at_packet(index);
    }
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Surroundings").finish_non_exhaustive()
    }
}
