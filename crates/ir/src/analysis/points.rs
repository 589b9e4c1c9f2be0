// SPDX-License-Identifier: Apache-2.0
//! [`Point`]: a place between instructions; [`Use`]: a value that is used there.

use crate::{BlockId, Operand, Program, RegionId, SlotId};

/// The place in front of an instruction, or in front of the terminator. It also names that instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    /// The region.
    pub region: RegionId,
    /// The basic block.
    pub block: BlockId,
    /// The index of the instruction; of the terminator the number of instructions.
    pub instruction: u32,
}

impl Point {
    /// A place.
    pub fn new(region: RegionId, block: usize, instruction: usize) -> Point {
        Point { region, block: BlockId(block as u32), instruction: instruction as u32 }
    }

    /// As text: region, block, instruction.
    pub fn describe(self, program: &Program) -> String {
        let region = program.regions.get(self.region.index()).map_or("?", |region| &region.name);
        format!("{region} block{}[{}]", self.block.0, self.instruction)
    }
}

/// A value that is used somewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Use {
    /// An operand of the instruction or terminator at a point.
    Operand(Point, Operand),
    /// What a slot holds at a point.
    Slot(Point, SlotId),
    /// Whether control reaches a point, and the guard of a register access there.
    Reached(Point),
}
