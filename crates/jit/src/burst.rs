// SPDX-License-Identifier: Apache-2.0
//! Runs of fresh units on the packets of a burst, one after another, on one version of the tables. The device
//! provides the packets and continues those that leave a unit early.

use crate::compiled::{Compiled, CompiledUnit, UnitExit};
use crate::instance::{BoundInstance, Refreshed};
use crate::packets::Packets;
use crate::runtime::pass::{MAX_COUNTED_EXITS, MAX_INPUTS, MAX_OUTPUTS, Pass, RuntimeContext};
use interpreter::{Environment, PacketContext};
use state::Cells;
use state::forwarding::ForwardingState;
use std::fmt;
use std::ops::Range;

/// Packets whose lookups are batched or prefetched before they run.
const BATCH_PACKETS: usize = 32;

/// A packet that left its unit early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyExit {
    /// Index of the packet.
    pub packet: usize,
    /// The exit.
    pub exit: UnitExit,
    /// The unit's outputs of it.
    pub outputs: [u32; MAX_OUTPUTS],
}

/// A running burst.
pub struct Burst<'a> {
    compiled: &'a Compiled,
    pass: &'a mut Pass,
    has_large_table: bool,
    around: RuntimeContext<'a>,
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
        let Refreshed { pass, side_outputs, has_large_table } = refreshed;
        side_outputs.requests.clear();
        Burst {
            compiled,
            pass,
            has_large_table,
            around: RuntimeContext {
                program: compiled.program(),
                layout: compiled.layout(),
                cells,
                forwarding,
                environment,
                side_outputs,
                pass: std::ptr::null(),
                drawing: u64::MAX,
            },
        }
    }

    /// The inputs of the unit's steps that a burst shares; each packet has its own input 0.
    #[inline]
    pub fn inputs(&mut self) -> &mut [u64; MAX_INPUTS] {
        &mut self.pass.inputs
    }

    /// Whether another function runs before this unit: it needs batched lookups, or some table does not fit
    /// into the nearer caches.
    #[inline]
    fn prefetches(&self, unit: &CompiledUnit) -> bool {
        unit.takes_batched || self.has_large_table && unit.can_prefetch()
    }

    /// Runs a fresh unit on a range of packets, until all are done or one leaves the unit by an exit with
    /// storage or by a failure; that one is returned. Sent packets are recorded in `packets`, but not the one
    /// that leaves early. `gates` has a bit for each [`crate::Gate`]. The context gets slots, cursor and
    /// requests of the packet that left early; its bytes stay in `packets`.
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
    ) -> Option<EarlyExit> {
        let unit = self.compiled.unit(unit);
        assert!(unit.is_fresh, "only fresh units run on bursts");
        assert_eq!(context.storage().len(), self.compiled.layout().words(), "of one program");
        assert!(gates.len() >= unit.gate_rows, "there is a word for every number");
        let prefetches = self.prefetches(unit);
        let lookups = (self.around.forwarding.identity(), unit.address());
        let pass = &mut *self.pass;
        packets.lend_to(pass, &range);
        pass.gates = gates.as_ptr();
        pass.exit_counts = [0; MAX_COUNTED_EXITS];
        pass.storage = context.storage_mut().as_mut_ptr();
        pass.now_ps = now_ps;
        self.around.side_outputs.draws.clear();
        self.around.drawing = u64::MAX;
        let mut at = range.start;
        while at < range.end {
            let end = match prefetches {
                true => range.end.min(at + BATCH_PACKETS),
                false => range.end,
            };
            if prefetches {
                let first = packets.batched_end(lookups).max(at);
                if first < end {
                    packets.point_at(pass, &(first..end));
                    unit.prefetch(pass, &mut self.around);
                    packets.set_batched_end(lookups, end);
                }
            }
            packets.point_at(pass, &(at..end));
            let code = unit.enter(pass, &mut self.around);
            if code != crate::runtime::pass::ENDED {
                return Some(self.early_exit(code, packets, context));
            }
            at = end;
        }
        packets.take_back(pass);
        None
    }

    /// By exit without storage: packets of the last run that took it.
    #[inline]
    pub fn exit_counts(&self) -> [u64; MAX_COUNTED_EXITS] {
        self.pass.exit_counts
    }

    /// The exit of a run that ended with a code before the end of the range.
    #[cold]
    fn early_exit(
        &mut self,
        code: u64,
        packets: &mut Packets,
        context: &mut PacketContext,
    ) -> EarlyExit {
        let Burst { pass, around, .. } = self;
        context.cursor_bits = pass.cursor_bits as usize;
        around.at_packet();
        std::mem::swap(&mut context.draws, &mut around.side_outputs.draws);
        std::mem::swap(&mut context.requests, &mut around.side_outputs.requests);
        around.side_outputs.requests.clear();
        let exit = UnitExit::new(code, pass, &mut around.side_outputs.message);
        packets.take_back(pass);
        let outputs = packets.next_outputs();
        EarlyExit { packet: pass.running() as usize, exit, outputs }
    }
}
