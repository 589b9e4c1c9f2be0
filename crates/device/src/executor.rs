// SPDX-License-Identifier: Apache-2.0
//! `Executor`: runs blocks of passes with one engine and one set of cells. A loaded program has one in its device;
//! callers may make more, which share its code and have their own cells.

use crate::architecture::Architecture;
use crate::engine::{BlockOutputs, BlockRunner};
use crate::output::{DeviceError, LoadError};
use crate::packet::ProgramId;
use crate::pass::{EgressAhead, Pass, PassEnd, ProgramLease};
use crate::program_shape;
use interpreter::PacketContext;
use ir::Program;
use state::Cells;
use std::sync::Arc;

/// The state of a pass after a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassStatus {
    /// The pass continues with its next block or its finish.
    Continues,
    /// The pass has ended; its finish counts the drop.
    Ended,
}

/// A pipeline instance of a loaded program. It runs blocks of passes that its device has begun
/// ([`crate::Device::begin`]), on any thread, with its own registers, counters and meters. Each pass brings its
/// configuration. [`crate::Device::executor`] makes one.
#[derive(Debug)]
pub struct Executor {
    pub(crate) runner: BlockRunner,
    pub(crate) architecture: Arc<dyn Architecture>,
    pub(crate) lease: Arc<ProgramLease>,
}

impl Executor {
    /// Makes another executor of the same program, with shared code and cells in their initial state.
    pub fn sharing_code(&self) -> Executor {
        Executor {
            runner: self.runner.sharing_code(),
            architecture: self.architecture.clone(),
            lease: self.lease.clone(),
        }
    }

    /// Makes an executor of other code for passes of the same program, on the same engine, with cells in their initial
    /// state. Blocks of both have the same storage.
    ///
    /// # Errors
    ///
    /// A difference of the state objects, which the passes' configuration has to fit.
    pub fn with_code(&self, code: Arc<Program>) -> Result<Executor, LoadError> {
        if let Some(difference) = program_shape::difference(self.program(), &code) {
            return Err(LoadError::DifferentShape(difference));
        }
        Ok(Executor {
            runner: self.runner.with_code(code),
            architecture: self.architecture.clone(),
            lease: self.lease.clone(),
        })
    }

    /// Returns its program.
    pub fn program(&self) -> &Arc<Program> {
        &self.runner.program
    }

    /// Returns the number of its program in the device.
    pub fn program_id(&self) -> ProgramId {
        self.lease.name
    }

    /// Returns its registers, counters and meters.
    pub fn cells(&self) -> &Cells {
        &self.runner.cells
    }

    /// Returns its registers, counters and meters for writing.
    pub fn cells_mut(&mut self) -> &mut Cells {
        &mut self.runner.cells
    }

    /// Runs the next block of a pass; does nothing if there is none. The block reads `now_ps`, which may be any time, as
    /// the clock.
    pub fn run(&mut self, pass: &mut Pass, now_ps: u64) -> Result<PassStatus, DeviceError> {
        match pass.next_block() {
            Some(block) => {
                let ran = self.run_block(pass, block, now_ps)?;
                pass.blocks_run += 1;
                Ok(ran)
            }
            None if pass.is_ended() => Ok(PassStatus::Ended),
            None => Ok(PassStatus::Continues),
        }
    }

    /// Runs a block of the program, by its index in [`ir::Program::blocks`], on a pass, also if it is not the pass's
    /// next. A failed assertion and a failed extern end the pass with an error. A pass of another program is an error.
    pub fn run_block(
        &mut self,
        pass: &mut Pass,
        block: usize,
        now_ps: u64,
    ) -> Result<PassStatus, DeviceError> {
        if pass.is_ended() {
            return Ok(PassStatus::Ended);
        }
        if !Arc::ptr_eq(&pass.lease, &self.lease) || block >= self.runner.program.blocks.len() {
            return Err(DeviceError::ForeignPass { packet: pass.run.packet });
        }
        let Pass { run, packet, view: Some(view), record, .. } = pass else {
            return Err(DeviceError::ForeignPass { packet: pass.run.packet });
        };
        let run = *run;
        let mut recorder = self.runner.recorder(&run);
        let outputs = BlockOutputs { now_ps, log: &mut record.log, tap: record.tap.as_mut() };
        let context = &mut packet.context;
        let ran = self.runner.run(block, context, view, &run, outputs, recorder.as_mut());
        let outcome = match ran {
            Ok(outcome) => outcome,
            Err(error) => {
                pass.fail();
                return Err(error);
            }
        };
        if let Some(recorder) = recorder {
            let (mut trees, last_store) = self.runner.trace_of(block, recorder);
            pass.record.trace.append(&mut trees);
            if last_store.is_some() {
                pass.record.last_store = last_store;
            }
        }
        let (dropped, error) = self.runner.consequences(block, &outcome, &run, now_ps);
        if let Some(reason) = dropped {
            pass.end(reason);
        }
        if let Some(error) = error {
            pass.fail();
            return Err(error);
        }
        self.architecture.after_block(pass, block, &outcome, now_ps);
        Ok(match pass.ended {
            None => PassStatus::Continues,
            Some(PassEnd::Dropped(_) | PassEnd::Failed) => PassStatus::Ended,
        })
    }

    /// Runs egress of a pass that was begun by [`crate::Device::begin_ahead`] and has run, where it only depends on the packet and
    /// the configuration and no queue has packets. The device then only transmits the packet when it arrives.
    ///
    /// # Errors
    ///
    /// A failed assertion, a failed extern, and a pass of another program.
    pub fn run_egress_ahead(&mut self, pass: &mut Pass) -> Result<(), DeviceError> {
        let EgressAhead::Allowed(queues) = pass.egress else { return Ok(()) };
        if !Arc::ptr_eq(&pass.lease, &self.lease) {
            return Err(DeviceError::ForeignPass { packet: pass.run.packet });
        }
        if !pass.is_ended() && pass.next_block().is_none() {
            pass.egress = self.architecture.run_egress_ahead(&mut self.runner, pass, queues)?;
        }
        Ok(())
    }

    /// Runs a block on a copy of a pass's storage, with the pass's configuration. The pass stays as it is. Log lines are
    /// lost.
    ///
    /// # Errors
    ///
    /// A failed assertion, a failed extern, and a pass of another program.
    pub fn run_beside(
        &mut self,
        pass: &Pass,
        context: &mut PacketContext,
        block: usize,
        now_ps: u64,
    ) -> Result<(), DeviceError> {
        let is_foreign = !Arc::ptr_eq(&pass.lease, &self.lease);
        let Some(view) = pass.view.as_ref().filter(|_| !is_foreign) else {
            return Err(DeviceError::ForeignPass { packet: pass.run.packet });
        };
        let outputs = BlockOutputs { now_ps, log: &mut Vec::new(), tap: None };
        let outcome = self.runner.run(block, context, view, &pass.run, outputs, None)?;
        let (_, error) = self.runner.consequences(block, &outcome, &pass.run, now_ps);
        error.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executors_can_be_sent() {
        fn is_sendable<T: Send + 'static>() {}
        is_sendable::<Executor>();
    }
}
