// SPDX-License-Identifier: Apache-2.0
//! Runs of fresh units on the packets of a burst, one after another, against one version of the tables.
//! Where the packets come from, and what becomes of those that leave a unit early, is the device's
//! matter.

use crate::compiled::{Compiled, Ending};
use crate::instance::BoundInstance;
use crate::runtime::pass::{Descriptor, Instance, NUMBERS, Pass, Surroundings, TAILROOM_BYTES};
use interpreter::{Environment, PacketContext};
use state::Cells;
use state::forwarding::ForwardingState;
use std::fmt;

/// So many packets are looked at, and fetched ahead for, before they run.
const PACKETS_AHEAD: usize = 32;

/// Packets side by side in memory, at equal distances, each with room before it for headers to come and
/// at least [`TAILROOM_BYTES`] after it.
#[derive(Debug)]
pub struct Packets<'m> {
    /// What they lie in.
    pub memory: &'m mut [u8],
    /// Where the first byte of packet 0 is.
    pub first: usize,
    /// Bytes from one packet to the next.
    pub stride_bytes: usize,
    /// Room before each packet, that nobody else uses.
    pub headroom_bytes: usize,
    /// One a packet.
    pub descriptors: &'m mut [Descriptor],
}

/// A burst at work.
pub struct Burst<'a> {
    compiled: &'a Compiled,
    instance: *const Instance,
    pass: &'a mut Pass,
    has_large_table: bool,
    around: Surroundings<'a>,
}

impl fmt::Debug for Burst<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Burst").finish_non_exhaustive()
    }
}

impl<'a> Burst<'a> {
    /// Begins a burst on one version of the tables and the cells of one instance.
    pub fn new(
        compiled: &'a Compiled,
        instance: &'a mut BoundInstance,
        forwarding: &'a ForwardingState,
        cells: &'a mut Cells,
        environment: &'a mut dyn Environment,
    ) -> Burst<'a> {
        let (instance, pass, has_large_table) =
            instance.refresh_with_pass(compiled.program(), forwarding, cells);
        Burst {
            compiled,
            instance,
            pass,
            has_large_table,
            around: Surroundings {
                program: compiled.program(),
                layout: compiled.layout(),
                cells,
                forwarding,
                environment,
                requests: Vec::new(),
                emitted: Default::default(),
                draw_count: 0,
                message: String::new(),
                pass: std::ptr::null(),
                drawing: u64::MAX,
            },
        }
    }

    /// Numbers that the unit's steps take as inputs, but for the first, which each packet has of its
    /// own.
    pub fn inputs(&mut self) -> &mut [u64; NUMBERS] {
        &mut self.pass.inputs
    }

    /// Whether fetching ahead pays for this unit: it looks up in some table that does not fit into the
    /// nearer caches.
    fn wants_prefetch(&self, unit: usize) -> bool {
        self.has_large_table && self.compiled.can_prefetch(unit)
    }

    /// Runs a fresh unit on packets from number `from` on, until all are done or one leaves the unit by
    /// an exit with storage or by a failure. Returns that packet's number, or how many there are, and
    /// how it ended; descriptors of the packets before it say what became of them. The context has what
    /// that packet has by then: its slots, cursor, and what it asked of the device; its bytes stay
    /// where they are.
    ///
    /// # Panics
    ///
    /// When packets do not lie in the memory with room before and after them.
    pub fn run(
        &mut self,
        unit: usize,
        packets: &mut Packets<'_>,
        from: usize,
        context: &mut PacketContext,
        now_ps: u64,
    ) -> (usize, Ending) {
        assert!(self.compiled.is_fresh(unit), "only fresh units run on bursts");
        assert_eq!(context.storage().len(), self.compiled.layout().words(), "of one program");
        let count = packets.descriptors.len();
        let room = packets.stride_bytes.checked_sub(packets.headroom_bytes + TAILROOM_BYTES);
        let is_inside = packets.first >= packets.headroom_bytes
            && packets.first - packets.headroom_bytes + count * packets.stride_bytes
                <= packets.memory.len();
        assert!(is_inside, "packets lie in their memory");
        let wants_prefetch = self.wants_prefetch(unit);
        let pass = &mut *self.pass;
        pass.first = packets.memory.as_mut_ptr().wrapping_add(packets.first);
        pass.stride_bytes = packets.stride_bytes as u64;
        pass.descriptors = packets.descriptors.as_mut_ptr();
        pass.headroom_bytes = packets.headroom_bytes as u64;
        pass.storage = context.storage_mut().as_mut_ptr();
        pass.now_ps = now_ps;
        self.around.draw_count = 0;
        self.around.drawing = u64::MAX;
        let mut at = from;
        while at < count {
            let end = count.min(at + PACKETS_AHEAD);
            // Of so many only, as what is behind a packet that leaves the unit comes again.
            let longest = packets.descriptors[at..end].iter().map(|it| it.length_bytes).max();
            let is_fitting = room.is_some_and(|room| longest.unwrap_or(0) as usize <= room);
            assert!(is_fitting, "packets have room before and after them");
            pass.count = end as u64;
            if wants_prefetch {
                pass.index = at as u64;
                self.compiled.prefetch(unit, pass, self.instance, &mut self.around);
            }
            pass.index = at as u64;
            let code = self.compiled.enter(unit, pass, self.instance, &mut self.around);
            if code != crate::runtime::pass::ENDED {
                context.cursor_bits = pass.cursor_bits as usize;
                self.around.at_packet();
                context.draw_count = self.around.draw_count;
                std::mem::swap(&mut context.requests, &mut self.around.requests);
                self.around.requests.clear();
                let message = std::mem::take(&mut self.around.message);
                return (pass.index as usize, Ending::new(code, pass, message));
            }
            at = end;
        }
        (count, Ending::Done)
    }
}
