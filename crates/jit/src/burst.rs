// SPDX-License-Identifier: Apache-2.0
//! Runs of fresh units on the packets of a burst, one after another, against one version of the tables.
//! Where the packets come from, and what becomes of those that leave a unit early, is the device's
//! matter.

use crate::compiled::{Compiled, CompiledUnit, Ending};
use crate::instance::{BoundInstance, Refreshed};
use crate::packets::Packets;
use crate::runtime::pass::{ENDS, NUMBERS, OUTPUTS, Pass, Surroundings};
use interpreter::{Environment, PacketContext};
use state::Cells;
use state::forwarding::ForwardingState;
use std::fmt;
use std::ops::Range;

/// So many packets are looked or fetched ahead for before they run.
const PACKETS_AHEAD: usize = 32;

/// A packet that left its unit early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftEarly {
    /// Which packet.
    pub packet: usize,
    /// How it left.
    pub ending: Ending,
    /// The unit's outputs of it.
    pub outputs: [u32; OUTPUTS],
}

/// A burst at work.
pub struct Burst<'a> {
    compiled: &'a Compiled,
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
    #[inline]
    pub fn new(
        compiled: &'a Compiled,
        instance: &'a mut BoundInstance,
        forwarding: &'a ForwardingState,
        cells: &'a mut Cells,
        environment: &'a mut dyn Environment,
    ) -> Burst<'a> {
        let refreshed = instance.refresh(compiled.program(), forwarding, cells);
        let Refreshed { pass, left, has_large_table } = refreshed;
        left.requests.clear();
        Burst {
            compiled,
            pass,
            has_large_table,
            around: Surroundings {
                program: compiled.program(),
                layout: compiled.layout(),
                cells,
                forwarding,
                environment,
                left,
                pass: std::ptr::null(),
                drawing: u64::MAX,
            },
        }
    }

    /// Numbers that the unit's steps take as inputs, but for the first, which each packet has of its
    /// own.
    #[inline]
    pub fn inputs(&mut self) -> &mut [u64; NUMBERS] {
        &mut self.pass.inputs
    }

    /// Whether something has to run ahead of this unit, or pays: it looks up in some table that does not
    /// fit into the nearer caches.
    #[inline]
    fn looks_ahead(&self, unit: &CompiledUnit) -> bool {
        unit.takes_found || self.has_large_table && unit.can_prefetch()
    }

    /// Runs a fresh unit on a range of packets, until all are done or one leaves the unit by an exit with
    /// storage or by a failure; that one is returned. What leaves is noted with the packets; one that leaves
    /// early is not among those. `gates` are what closes ways ([`crate::Gate`]). The context has what that
    /// packet has by then: its slots, cursor, and what it asked of the device; its bytes stay where they
    /// are.
    ///
    /// # Panics
    ///
    /// When there are fewer packets, or fewer gates than the unit works with.
    #[inline]
    pub fn run(
        &mut self,
        unit: usize,
        packets: &mut Packets,
        range: Range<usize>,
        gates: &[u64],
        context: &mut PacketContext,
        now_ps: u64,
    ) -> Option<LeftEarly> {
        let unit = self.compiled.unit(unit);
        assert!(unit.is_fresh, "only fresh units run on bursts");
        assert_eq!(context.storage().len(), self.compiled.layout().words(), "of one program");
        assert!(gates.len() >= unit.gate_rows, "there is a word for every number");
        let looks_ahead = self.looks_ahead(unit);
        let lookups = (self.around.forwarding.identity(), unit.address());
        let pass = &mut *self.pass;
        packets.lend_to(pass, &range);
        pass.gates = gates.as_ptr();
        pass.ended = [0; ENDS];
        pass.storage = context.storage_mut().as_mut_ptr();
        pass.now_ps = now_ps;
        self.around.left.draws.clear();
        self.around.drawing = u64::MAX;
        let mut at = range.start;
        while at < range.end {
            let end = match looks_ahead {
                true => range.end.min(at + PACKETS_AHEAD),
                false => range.end,
            };
            if looks_ahead {
                let first = packets.looked_ahead(lookups).max(at);
                if first < end {
                    packets.point_at(pass, &(first..end));
                    unit.prefetch(pass, &mut self.around);
                    packets.set_looked_ahead(lookups, end);
                }
            }
            packets.point_at(pass, &(at..end));
            let code = unit.enter(pass, &mut self.around);
            if code != crate::runtime::pass::ENDED {
                return Some(self.left_early(code, packets, context));
            }
            at = end;
        }
        packets.take_back(pass);
        None
    }

    /// Packets of the last run that ended by an exit without storage, by these exits.
    #[inline]
    pub fn ended(&self) -> [u64; ENDS] {
        self.pass.ended
    }

    /// What a run left that ended by this code, before the end of the range.
    #[cold]
    fn left_early(
        &mut self,
        code: u64,
        packets: &mut Packets,
        context: &mut PacketContext,
    ) -> LeftEarly {
        let Burst { pass, around, .. } = self;
        context.cursor_bits = pass.cursor_bits as usize;
        around.at_packet();
        std::mem::swap(&mut context.draws, &mut around.left.draws);
        std::mem::swap(&mut context.requests, &mut around.left.requests);
        around.left.requests.clear();
        let ending = Ending::new(code, pass, &mut around.left.message);
        packets.take_back(pass);
        let outputs = packets.next_outputs();
        LeftEarly { packet: pass.running() as usize, ending, outputs }
    }
}
