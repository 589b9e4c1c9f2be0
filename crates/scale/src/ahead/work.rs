// SPDX-License-Identifier: Apache-2.0
//! [`AheadWork`]: a pipeline of a program in stages as the [`Work`] of one worker. A packet is a pass of a device, from its
//! parser to the end of its ingress.

use crate::device_pipeline::{DevicePipeline, StagedPass};
use crate::device_work::copy;
use crate::threads::Placement;
use crate::work::{Access, Group, StageOutcome, Work};
use device::{DeviceError, Pass};
use state::Cells;

/// A pass of a packet that runs ahead of its device.
#[derive(Debug, Default)]
pub enum AheadPass {
    /// It has begun.
    Begun(Box<Pass>),
    /// It runs its stages.
    Staged(StagedPass),
    /// All of its blocks have run, or it has ended early.
    Done(Box<Pass>),
    /// It stops the run.
    Failed(DeviceError),
    /// It goes from one state to the next.
    #[default]
    Moving,
}

/// A pipeline with its cells.
#[derive(Debug)]
pub struct AheadWork {
    pipeline: DevicePipeline,
    groups: Vec<Group>,
}

impl AheadWork {
    /// A pipeline whose counters are zero.
    pub(super) fn new(mut pipeline: DevicePipeline) -> AheadWork {
        pipeline.cells_mut().clear_counts();
        AheadWork { groups: pipeline.control().work_groups(), pipeline }
    }

    fn enter(
        &mut self,
        pass: Box<Pass>,
        accesses: &mut Vec<Access>,
    ) -> Result<StagedPass, DeviceError> {
        let mut staged = self.pipeline.enter(pass)?;
        self.pipeline.resolve(&mut staged, accesses)?;
        Ok(staged)
    }

    /// Moves a packet behind its last stage.
    fn leave(&mut self, packet: &mut AheadPass) {
        if let AheadPass::Staged(staged) = std::mem::take(packet) {
            let left = self.pipeline.leave(staged).and_then(|mut pass| {
                self.pipeline.run_egress_ahead(&mut pass)?;
                Ok(pass)
            });
            *packet = left.map_or_else(AheadPass::Failed, AheadPass::Done);
        }
    }
}

impl Work for AheadWork {
    type Packet = AheadPass;

    fn stages(&self) -> usize {
        self.pipeline.control().stages.len()
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn resolve(&mut self, packet: &mut AheadPass, accesses: &mut Vec<Access>) {
        let AheadPass::Begun(pass) = std::mem::take(packet) else { return };
        *packet = match self.enter(pass, accesses) {
            Ok(staged) => AheadPass::Staged(staged),
            Err(error) => {
                accesses.clear();
                AheadPass::Failed(error)
            }
        };
    }

    fn run(&mut self, stage: usize, _: usize, packet: &mut AheadPass) -> StageOutcome {
        // The packet stays where it is from stage to stage: it is large.
        let AheadPass::Staged(staged) = packet else {
            return StageOutcome { is_dropped: true, ..StageOutcome::default() };
        };
        match self.pipeline.run(stage, staged) {
            Ok(outcome) => {
                if outcome.is_dropped || stage + 1 == self.stages() {
                    self.leave(packet);
                }
                outcome
            }
            Err(error) => {
                *packet = AheadPass::Failed(error);
                StageOutcome { is_dropped: true, ..StageOutcome::default() }
            }
        }
    }

    fn move_cell(&mut self, _: Access, _: usize, _: usize) {
        // A worker has one pipeline.
    }
}

/// Brings cells of a device up to date: each cell of a group has its owner's value, and what workers have counted is added.
pub(super) fn gather(works: &mut [&mut AheadWork], placement: &Placement, cells: &mut Cells) {
    let control = works[0].pipeline.control().clone();
    for (group, number) in control.groups.iter().zip(0..) {
        for cell in 0..group.cells {
            let owner = placement.owner(Access { group: number, cell });
            copy(group, u64::from(cell), works[owner].pipeline.cells(), cells);
        }
    }
    for work in works {
        cells.add_counts(work.pipeline.cells());
        work.pipeline.cells_mut().clear_counts();
    }
}

/// Gives all workers the values of cells; their counters stay zero.
pub(super) fn scatter(works: &mut [&mut AheadWork], cells: &Cells) {
    for work in works {
        work.pipeline.set_cells(cells);
        work.pipeline.cells_mut().clear_counts();
    }
}
