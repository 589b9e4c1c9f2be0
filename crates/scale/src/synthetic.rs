// SPDX-License-Identifier: Apache-2.0
//! Synthetic programs for measurements and tests: arrays of cells at given stages, packets of flows that access given cells, and
//! updates that do not commute, so that a wrong order changes cells and packets. Accesses can have predicates on state, and accesses
//! can drop their packet.

use crate::work::{Access, Comparable, Group, StageOutcome, Work};
use std::sync::Arc;

/// An access of the packets of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The cell.
    pub access: Access,
    /// The access happens only if an earlier one, given by its index, found an even (`false`) or odd (`true`) value.
    pub predicate: Option<(u8, bool)>,
    /// The packet is dropped if the value found is a multiple of this; 0 drops none.
    pub drops: u64,
}

impl Step {
    /// An access that always happens and never drops.
    pub fn plain(access: Access) -> Step {
        Step { access, predicate: None, drops: 0 }
    }
}

/// A program, and what the packets of each flow access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The number of stages.
    pub stages: usize,
    /// The arrays, in ascending order of stages.
    pub groups: Vec<Group>,
    /// The accesses of each flow's packets, in ascending order of stages.
    pub flows: Vec<Vec<Step>>,
}

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// A number that no other packet has.
    pub id: u64,
    /// The flow.
    pub flow: u32,
    /// Depends on all values that the packet found.
    pub value: u64,
    /// The index of its next step.
    next: u8,
    /// Steps that do not happen, as bits.
    cancelled: u64,
}

impl Packet {
    /// A packet of a flow.
    pub fn new(id: u64, flow: u32) -> Packet {
        Packet { id, flow, value: id, next: 0, cancelled: 0 }
    }
}

/// A synthetic program with its cells in each pipeline.
#[derive(Clone, Debug)]
pub struct Synthetic {
    program: Arc<Program>,
    /// The first of each group's cells in `cells`.
    first: Vec<usize>,
    /// The values of all cells, by pipeline.
    cells: Vec<Vec<u64>>,
}

impl Synthetic {
    /// The program on a number of pipelines, with all cells 0.
    pub fn new(program: Arc<Program>, pipelines: usize) -> Synthetic {
        let mut first = Vec::new();
        let mut count = 0;
        for group in &program.groups {
            first.push(count);
            count += group.cells as usize;
        }
        Synthetic { program, first, cells: vec![vec![0; count]; pipelines] }
    }

    /// The value of a cell in a pipeline.
    pub fn value(&self, access: Access, pipeline: usize) -> u64 {
        self.cells[pipeline][self.first[access.group as usize] + access.cell as usize]
    }
}

impl Work for Synthetic {
    type Packet = Packet;

    fn stages(&self) -> usize {
        self.program.stages
    }

    fn groups(&self) -> &[Group] {
        &self.program.groups
    }

    fn resolve(&mut self, packet: &mut Packet, accesses: &mut Vec<Access>) {
        accesses.extend(self.program.flows[packet.flow as usize].iter().map(|step| step.access));
    }

    #[inline]
    fn run(&mut self, stage: usize, pipeline: usize, packet: &mut Packet) -> StageOutcome {
        let mut outcome = StageOutcome::default();
        let steps = &self.program.flows[packet.flow as usize];
        while let Some(step) = steps.get(usize::from(packet.next)) {
            let group = step.access.group as usize;
            if self.program.groups[group].stage != stage {
                break;
            }
            let index = packet.next;
            packet.next += 1;
            if packet.cancelled >> index & 1 == 1 {
                continue;
            }
            let cell = &mut self.cells[pipeline][self.first[group] + step.access.cell as usize];
            let found = *cell;
            *cell = found.wrapping_mul(31).wrapping_add(packet.id + 1);
            packet.value = packet.value.wrapping_mul(33) ^ found;
            for (later, other) in steps.iter().enumerate().skip(usize::from(packet.next)) {
                if let Some((decider, odd)) = other.predicate
                    && decider == index
                    && (found & 1 == 1) != odd
                {
                    outcome.cancelled |= 1 << later;
                }
            }
            packet.cancelled |= outcome.cancelled;
            outcome.is_dropped |= step.drops > 0 && found.is_multiple_of(step.drops);
        }
        outcome
    }

    fn move_cell(&mut self, access: Access, from: usize, to: usize) {
        let index = self.first[access.group as usize] + access.cell as usize;
        self.cells[to][index] = self.cells[from][index];
    }
}

impl Comparable for Synthetic {
    fn is_same_packet(&self, packet: &Packet, reference: &Packet) -> bool {
        packet == reference
    }

    fn is_same_cell(&self, access: Access, pipeline: usize, reference: &Synthetic) -> bool {
        self.value(access, pipeline) == reference.value(access, 0)
    }
}
