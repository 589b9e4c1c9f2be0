// SPDX-License-Identifier: Apache-2.0
//! Budget for tail duplication: paths are duplicated as long as the unit stays below
//! [`MAX_DUPLICATED_OPERATIONS`].

use super::facts::MAX_DUPLICATED_OPERATIONS;
use crate::unit::{Condition, Step, Unit};
use ir::Program;

/// Operations of a unit: emitted, reserved and still to come.
#[derive(Debug, Default)]
pub(crate) struct CodeBudget {
    /// By step of the unit: instructions from that step on.
    rest: Vec<usize>,
    /// Instructions emitted so far.
    pub emitted: usize,
    /// Instructions reserved for pending paths.
    reserved: usize,
    /// Conditions of the unit's exits.
    pub leaving: Vec<Condition>,
}

impl CodeBudget {
    /// Budget of a unit before its first step.
    pub fn new(program: &Program, unit: &Unit) -> CodeBudget {
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
        CodeBudget { rest, emitted: 0, reserved: 0, leaving: leaving.collect() }
    }

    /// How many separate paths may continue from a step.
    pub fn allowed(&self, step: usize) -> usize {
        let left = MAX_DUPLICATED_OPERATIONS.saturating_sub(self.emitted + self.reserved);
        1 + left / self.rest[step].max(1)
    }

    /// Reserves code for paths that are pending at a step.
    pub fn reserve(&mut self, step: usize, paths: usize) {
        self.reserved += paths * self.rest[step];
    }

    /// Releases the reservation of paths that are emitted next.
    pub fn release(&mut self, step: usize, paths: usize) {
        self.reserved -= paths * self.rest[step];
    }
}
