// SPDX-License-Identifier: Apache-2.0
//! [`DevicePipeline`]: a pipeline instance of a control in stages. It runs passes that a device has begun, stage by stage,
//! on the device's engine and on cells of its own. Pipelines of one control share its code and may be on several threads.

use crate::staged::StagedControl;
use crate::work::{Access, StageOutcome};
use device::{Device, DeviceError, Executor, LoadError, Pass};
use interpreter::PacketContext;
use smallvec::SmallVec;
use state::Cells;
use std::sync::Arc;

/// A pass between the beginning of a control and its end.
#[derive(Debug)]
pub struct StagedPass {
    /// The pass. [`Device::finish`] takes it behind the last stage.
    pub pass: Box<Pass>,
    /// What the packet was when it arrived, with the answers of the code in front, while a decision needs it.
    front: Option<Box<PacketContext>>,
    /// The groups of its resolved accesses.
    resolved: SmallVec<[u32; 4]>,
}

/// A copy is for a run that is compared with the packet's own; one of them is to be finished.
impl Clone for StagedPass {
    fn clone(&self) -> StagedPass {
        let (front, resolved) = (self.front.clone(), self.resolved.clone());
        StagedPass { pass: Box::new(self.pass.twin()), front, resolved }
    }
}

impl StagedPass {
    /// Says whether two passes have the same packet, storage and requests.
    pub fn is_same(&self, other: &StagedPass) -> bool {
        let (one, other) = (&self.pass, &other.pass);
        let (left, right) = (one.context(), other.context());
        one.is_ended() == other.is_ended()
            && left.storage() == right.storage()
            && left.requests == right.requests
            && left.actions == right.actions
            && left.emitted == right.emitted
            && left.payload() == right.payload()
    }
}

/// A pipeline instance of a control in stages.
#[derive(Debug)]
pub struct DevicePipeline {
    control: Arc<StagedControl>,
    /// Runs the program in stages. Its cells are the pipeline's.
    stages: Executor,
    /// Runs address resolution and decisions. Its cells count nothing that anyone reads; registers that no packet writes
    /// have the pipeline's values.
    front: Executor,
    /// Memory for the storage of the code in front.
    spare: Option<Box<PacketContext>>,
}

impl DevicePipeline {
    /// Makes a pipeline instance of the main program of a device, which is [`StagedControl::program`]. Its cells have the
    /// values of the device's.
    ///
    /// # Errors
    ///
    /// The device has another program.
    pub fn new(device: &Device, control: Arc<StagedControl>) -> Result<DevicePipeline, LoadError> {
        let program = device.program_id();
        let stages = device.executor(program).ok_or(LoadError::NoSuchProgram(program))?;
        let front = stages.with_code(control.front.clone())?;
        let mut made = DevicePipeline { control, stages, front, spare: None };
        made.set_cells(&device.cells());
        Ok(made)
    }

    /// Makes another pipeline instance with the same code and values.
    pub fn another(&self) -> DevicePipeline {
        let mut made = DevicePipeline {
            control: self.control.clone(),
            stages: self.stages.sharing_code(),
            front: self.front.sharing_code(),
            spare: None,
        };
        made.set_cells(self.cells());
        made
    }

    /// Returns the control.
    pub fn control(&self) -> &Arc<StagedControl> {
        &self.control
    }

    /// Returns its cells.
    pub fn cells(&self) -> &Cells {
        self.stages.cells()
    }

    /// Returns its cells for writing. Registers that no packet writes are written by [`DevicePipeline::set_cells`].
    pub fn cells_mut(&mut self) -> &mut Cells {
        self.stages.cells_mut()
    }

    /// Gives all cells these values.
    pub fn set_cells(&mut self, cells: &Cells) {
        self.stages.cells_mut().clone_from(cells);
        self.front.cells_mut().clone_from(cells);
    }

    /// Runs the blocks of a pass that precede the control, such as its parser.
    ///
    /// # Errors
    ///
    /// What stops the run: a failed assertion, or a failed extern.
    pub fn enter(&mut self, pass: impl Into<Box<Pass>>) -> Result<StagedPass, DeviceError> {
        let mut pass = pass.into();
        let first = self.control.stages.first().copied();
        while pass.next_block().is_some_and(|next| Some(next) != first) {
            let now_ps = pass.began_ps();
            self.stages.run(&mut pass, now_ps)?;
        }
        Ok(StagedPass { pass, front: None, resolved: SmallVec::new() })
    }

    /// Resolves the addresses of a pass in front of the first stage: appends its accesses in the order of stages.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn resolve(
        &mut self,
        staged: &mut StagedPass,
        accesses: &mut Vec<Access>,
    ) -> Result<(), DeviceError> {
        staged.resolved.clear();
        let control = &self.control;
        let pass = &staged.pass;
        if pass.is_ended() || control.groups.is_empty() {
            return Ok(());
        }
        let mut front = match self.spare.take() {
            Some(mut front) => {
                front.copy_from(pass.context());
                front
            }
            None => Box::new(pass.context().clone()),
        };
        self.front.run_beside(pass, &mut front, control.resolution, pass.began_ps())?;
        let mut has_decision = false;
        for (at, group) in (0..).zip(&control.groups) {
            if front.flag(group.slots.happens) {
                let cell = group.slots.index.map_or(0, |slot| front.number(slot) as u32);
                accesses.push(Access { group: at, cell });
                staged.resolved.push(at);
                has_decision |= group.decision.is_some();
            }
        }
        match has_decision {
            true => staged.front = Some(front),
            false => self.spare = Some(front),
        }
        Ok(())
    }

    /// Runs a stage of a pass. The clock is the pass's beginning.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn run(
        &mut self,
        stage: usize,
        staged: &mut StagedPass,
    ) -> Result<StageOutcome, DeviceError> {
        let StagedPass { pass, .. } = staged;
        let now_ps = pass.began_ps();
        debug_assert!(pass.is_ended() || pass.next_block() == Some(self.control.stages[stage]));
        self.stages.run(pass, now_ps)?;
        let mut outcome = StageOutcome::default();
        if staged.front.is_some() {
            outcome.cancelled = self.decide(stage, staged)?;
        }
        outcome.is_dropped = staged.pass.is_ended();
        Ok(outcome)
    }

    /// Runs the blocks of a pass that follow the control, such as its deparser, and returns the pass for its finish.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn leave(&mut self, staged: StagedPass) -> Result<Box<Pass>, DeviceError> {
        let StagedPass { mut pass, front, .. } = staged;
        if front.is_some() {
            self.spare = front;
        }
        while pass.next_block().is_some() {
            let now_ps = pass.began_ps();
            self.stages.run(&mut pass, now_ps)?;
        }
        Ok(pass)
    }

    /// Runs egress of a pass whose blocks have run, where that can run ahead ([`Executor::run_egress_ahead`]).
    ///
    /// # Errors
    ///
    /// As above.
    pub fn run_egress_ahead(&mut self, pass: &mut Pass) -> Result<(), DeviceError> {
        self.stages.run_egress_ahead(pass)
    }

    /// Returns the accesses that do not happen, as the state that a stage has read decides (MP5 §3.3).
    fn decide(&mut self, stage: usize, staged: &mut StagedPass) -> Result<u64, DeviceError> {
        let StagedPass { pass, front: Some(front), resolved } = staged else { return Ok(0) };
        let control = &self.control;
        let mut cancelled = 0;
        let mut has_reads = false;
        for (entry, group) in resolved.iter().enumerate() {
            let decision = control.groups[*group as usize].decision;
            let Some(decision) = decision.filter(|decision| decision.after == stage) else {
                continue;
            };
            if !std::mem::replace(&mut has_reads, true) {
                for slot in &control.reads {
                    front.set_slot(*slot, &pass.context().value(*slot));
                }
            }
            self.front.run_beside(pass, front, decision.block, pass.began_ps())?;
            if !front.flag(decision.slot) {
                cancelled |= 1 << entry;
            }
        }
        Ok(cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipelines_and_their_passes_can_be_sent() {
        fn is_sendable<T: Send + 'static>() {}
        is_sendable::<DevicePipeline>();
        is_sendable::<StagedPass>();
    }
}
