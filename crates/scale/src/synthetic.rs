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
    /// The index of its next step among all steps, and the stage of that step; `u16::MAX` behind the last.
    next: u32,
    next_stage: u16,
    /// Steps that do not happen, as bits.
    cancelled: u64,
}

impl Packet {
    /// A packet of a flow.
    pub fn new(id: u64, flow: u32) -> Packet {
        Packet { id, flow, value: id, next: 0, next_stage: u16::MAX, cancelled: 0 }
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
    /// The steps of all flows.
    steps: Vec<FlatStep>,
    /// The first of each flow's steps, and the end.
    first_steps: Vec<u32>,
    /// Some step has a predicate or drops.
    has_conditions: bool,
}

/// A step with what running it needs.
#[derive(Clone, Copy, Debug)]
struct FlatStep {
    stage: u16,
    /// The index of its cell among all cells of a pipeline.
    cell: u32,
    step: Step,
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
        let mut first_steps = vec![0];
        let mut steps = Vec::new();
        for flow in &program.flows {
            steps.extend(flow.iter().map(|step| {
                let group = step.access.group as usize;
                FlatStep {
                    stage: program.groups[group].stage as u16,
                    cell: first[group] as u32 + step.access.cell,
                    step: *step,
                }
            }));
            first_steps.push(steps.len() as u32);
        }
        let has_conditions =
            steps.iter().any(|step| step.step.predicate.is_some() || step.step.drops > 0);
        let cells = vec![vec![0; count]; pipelines];
        Synthetic { program, first, cells, steps, first_steps, has_conditions }
    }

    /// Sets the packet's next step.
    #[inline]
    fn seek(&self, packet: &mut Packet, next: u32) {
        packet.next = next;
        packet.next_stage = if next == self.first_steps[packet.flow as usize + 1] {
            u16::MAX
        } else {
            self.steps[next as usize].stage
        };
    }

    /// Predicates and drops of a step that found a value.
    fn decide(&self, packet: &Packet, index: u32, found: u64, outcome: &mut StageOutcome) {
        let first = self.first_steps[packet.flow as usize];
        let end = self.first_steps[packet.flow as usize + 1];
        let steps = &self.steps[first as usize..end as usize];
        for (later, other) in steps.iter().enumerate().skip((index - first) as usize + 1) {
            if let Some((decider, odd)) = other.step.predicate
                && u32::from(decider) == index - first
                && (found & 1 == 1) != odd
            {
                outcome.cancelled |= 1 << later;
            }
        }
        let drops = self.steps[index as usize].step.drops;
        outcome.is_dropped |= drops > 0 && found.is_multiple_of(drops);
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
        let first = self.first_steps[packet.flow as usize];
        let end = self.first_steps[packet.flow as usize + 1];
        let steps = &self.steps[first as usize..end as usize];
        accesses.extend(steps.iter().map(|step| step.step.access));
        self.seek(packet, first);
    }

    #[inline(always)]
    fn run(&mut self, stage: usize, pipeline: usize, packet: &mut Packet) -> StageOutcome {
        let mut outcome = StageOutcome::default();
        while usize::from(packet.next_stage) == stage {
            let index = packet.next;
            self.seek(packet, index + 1);
            let place = index - self.first_steps[packet.flow as usize];
            if packet.cancelled >> place & 1 == 1 {
                continue;
            }
            let cell = &mut self.cells[pipeline][self.steps[index as usize].cell as usize];
            let found = *cell;
            *cell = found.wrapping_mul(31).wrapping_add(packet.id + 1);
            packet.value = packet.value.wrapping_mul(33) ^ found;
            if self.has_conditions {
                self.decide(packet, index, found, &mut outcome);
                packet.cancelled |= outcome.cancelled;
            }
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
