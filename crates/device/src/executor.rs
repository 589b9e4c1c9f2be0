// SPDX-License-Identifier: Apache-2.0
//! Runs blocks of passes: one engine and one set of cells, for one thread at a time. A loaded program has one
//! inside its device; a caller may have more, which share its code and its configuration and have cells of their
//! own.

use crate::architecture::Architecture;
use crate::engine::{BlockOutputs, BlockRunner};
use crate::output::DeviceError;
use crate::packet::ProgramId;
use crate::pass::{Pass, PassEnd, ProgramLease};
use ir::Program;
use state::Cells;
use std::sync::Arc;

/// What a block did to its pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// The pass goes on with its next block, or to its finish.
    Continues,
    /// The pass has ended; its finish counts what was dropped.
    Ended,
}

/// A pipeline instance of a loaded program: it runs blocks of passes that its device has begun
/// ([`crate::Device::begin`]), on any thread, with registers, counters and meters of its own. The configuration
/// is that of each pass. [`crate::Device::executor`] makes one.
#[derive(Debug)]
pub struct Executor {
    pub(crate) runner: BlockRunner,
    pub(crate) architecture: Arc<dyn Architecture>,
    pub(crate) lease: Arc<ProgramLease>,
}

impl Executor {
    /// Another one for the same program: cells in their initial state, shared code.
    pub(crate) fn sharing_code(&self) -> Executor {
        Executor {
            runner: self.runner.sharing_code(),
            architecture: self.architecture.clone(),
            lease: self.lease.clone(),
        }
    }

    /// The program that it runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.runner.program
    }

    /// The loaded program whose passes it runs.
    pub fn program_id(&self) -> ProgramId {
        self.lease.name
    }

    /// Its registers, counters and meters.
    pub fn cells(&self) -> &Cells {
        &self.runner.cells
    }

    /// The same, to write them.
    pub fn cells_mut(&mut self) -> &mut Cells {
        &mut self.runner.cells
    }

    /// Runs the next of a pass's blocks at a time in picoseconds; nothing happens to a pass without one. The
    /// time is what the block reads as the clock, and may be any.
    pub fn run(&mut self, pass: &mut Pass, now_ps: u64) -> Result<Ran, DeviceError> {
        match pass.next_block() {
            Some(block) => {
                let ran = self.run_block(pass, block, now_ps)?;
                pass.blocks_run += 1;
                Ok(ran)
            }
            None if pass.is_ended() => Ok(Ran::Ended),
            None => Ok(Ran::Continues),
        }
    }

    /// Runs a block of the program, by its place in [`ir::Program::blocks`], on a pass, whichever is the pass's
    /// next. A failed assertion or extern is the error; the pass has ended then. A pass of another program is
    /// an error, too.
    pub fn run_block(
        &mut self,
        pass: &mut Pass,
        block: usize,
        now_ps: u64,
    ) -> Result<Ran, DeviceError> {
        if pass.is_ended() {
            return Ok(Ran::Ended);
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
            None => Ran::Continues,
            Some(PassEnd::Dropped(_) | PassEnd::Failed) => Ran::Ended,
        })
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
