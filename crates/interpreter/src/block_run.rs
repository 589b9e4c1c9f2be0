// SPDX-License-Identifier: Apache-2.0
//! A run of a block that can stop before a moment ([`ir::moments`]) and continue later. It borrows nothing: the
//! packet's state is in its [`PacketContext`](crate::PacketContext), temporaries included, and callers pass
//! configuration and cells each time. `engine` runs it.

use ir::moments::{Moment, Moments};
use ir::{BlockId, ExternId, OriginId};

/// How a run of a block ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At the end of its code; a parser accepted.
    Returned,
    /// By `exit`.
    Exited,
    /// The parser rejected with this error: an index into [`ir::Program::errors`].
    Rejected(u32),
    /// Too many loops: see [`ir::STEP_LIMIT`].
    StepLimit,
    /// An assertion did not hold.
    AssertionFailed {
        /// The origin.
        origin: OriginId,
        /// Whether it was `assume`.
        is_assume: bool,
    },
    /// An extern could not be called.
    ExternFailed {
        /// The origin.
        target: ExternId,
        /// Why, in a sentence.
        message: String,
    },
}

/// The progress of a run of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockRun {
    pub(crate) block: usize,
    pub(crate) has_begun: bool,
    pub(crate) position: Position,
}

impl BlockRun {
    /// A run of a block, by its index in [`ir::Program::blocks`], that has not begun.
    pub fn new(block: usize) -> BlockRun {
        BlockRun { block, has_begun: false, position: Position::START }
    }

    /// The block.
    pub fn block(&self) -> usize {
        self.block
    }
}

/// The next instruction in a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub basic_block: BlockId,
    pub instruction: usize,
    pub back_edges: u32,
}

impl Position {
    pub const START: Position = Position { basic_block: BlockId(0), instruction: 0, back_edges: 0 };
}

/// Where a run stops: before the first moment of a later stage.
#[derive(Clone, Copy, Debug)]
pub struct StopAfter<'m> {
    /// The moments of the block's region.
    pub moments: &'m Moments,
    /// The last stage that still runs; `None` stops before any moment.
    pub stage: Option<u32>,
}

impl StopAfter<'_> {
    /// The moment to stop at in a basic block, from an instruction on.
    pub(crate) fn first_in(&self, block: BlockId, instruction: usize) -> Option<Moment> {
        let mut moments = self.moments.of_block(block.index()).iter();
        let is_stop = |moment: &&Moment| {
            moment.instruction as usize >= instruction && Some(moment.stage) > self.stage
        };
        moments.find(is_stop).copied()
    }
}

/// The result of running a part of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The block ended.
    Ended(Outcome),
    /// The run stopped before a moment of this stage.
    Stopped {
        /// The stage.
        stage: u32,
    },
}
