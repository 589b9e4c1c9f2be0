// SPDX-License-Identifier: Apache-2.0
//! How much code the duplication of paths may make of a unit: paths that are not merged are emitted each
//! for itself as long as the unit stays small.

use super::facts::MOST_OPERATIONS_OF_COPIES;
use crate::unit::{Condition, Step, Unit};
use ir::Program;

/// How much code there may be, and how much there is.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// By step of the unit: instructions from there on.
    rest: Vec<usize>,
    /// Instructions emitted so far.
    pub emitted: usize,
    /// What is going to be emitted for ways that wait.
    reserved: usize,
    /// Slots and numbers that lead out of the unit.
    pub leaving: Vec<Condition>,
}

impl Copies {
    /// For a unit that is emitted from its start.
    pub fn new(program: &Program, unit: &Unit) -> Copies {
        let size = |step: &Step| match step {
            Step::Block(block) => program
                .regions_of_block(*block)
                .into_iter()
                .flat_map(|region| &program.regions[region.index()].blocks)
                .map(|block| block.instructions.len() + 1)
                .sum(),
            Step::ExitIf(..) => program.slots.len() / 4,
            _ => 1,
        };
        let mut rest = Vec::with_capacity(unit.steps.len() + 1);
        let mut sum: usize = 0;
        rest.push(sum);
        for step in unit.steps.iter().rev() {
            sum += size(step);
            rest.push(sum);
        }
        rest.reverse();
        let leaving = unit.steps.iter().filter_map(|step| match step {
            Step::ExitIf(condition, _) => Some(condition.clone()),
            _ => None,
        });
        Copies { rest, emitted: 0, reserved: 0, leaving: leaving.collect() }
    }

    /// How many ways may go on from a step on without joining.
    pub fn allowed(&self, step: usize) -> usize {
        let left = MOST_OPERATIONS_OF_COPIES.saturating_sub(self.emitted + self.reserved);
        1 + left / self.rest[step].max(1)
    }

    /// Ways from a step on wait until others are emitted.
    pub fn reserve(&mut self, step: usize, ways: usize) {
        self.reserved += ways * self.rest[step];
    }

    /// They are going to be emitted now.
    pub fn release(&mut self, step: usize, ways: usize) {
        self.reserved -= ways * self.rest[step];
    }
}
