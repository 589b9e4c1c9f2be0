// SPDX-License-Identifier: Apache-2.0
//! [`Hints`]: stages that a source language knows, for its register arrays and for parts of its text. They become
//! wanted stages of the instructions that access these arrays or come from these parts ([`Constraints::at_least`]).

use super::constraints::Constraints;
use crate::analysis::Point;
use crate::{Operation, Program, RegisterId};
use source::Span;
use std::collections::BTreeMap;

/// Stages of register arrays and of parts of the source.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    /// Stages of arrays.
    pub registers: BTreeMap<RegisterId, u32>,
    /// Stages of parts of the source. A part with several has the last one.
    pub spans: Vec<(Span, u32)>,
}

impl Hints {
    /// The wanted stages of a region's instructions: an access has the stage of its array, any other instruction that
    /// of exactly the part of the source that it comes from. Loads have none.
    pub fn wanted(&self, program: &Program, constraints: &Constraints) -> BTreeMap<Point, u32> {
        let region = &program.regions[constraints.region().index()];
        let mut wanted = BTreeMap::new();
        for point in constraints.classes().iter().flatten() {
            let code = &region.blocks[point.block.index()].instructions;
            let instruction = &code[point.instruction as usize];
            let stage = match &instruction.operation {
                Operation::RegisterAccess { register, .. } => self.registers.get(register).copied(),
                Operation::Load { .. } => None,
                _ => {
                    let origin = &program.origins[instruction.origin.index()];
                    let same = self.spans.iter().filter(|(span, _)| *span == origin.span);
                    same.map(|(_, stage)| *stage).max()
                }
            };
            wanted.extend(stage.map(|stage| (*point, stage)));
        }
        wanted
    }
}
