// SPDX-License-Identifier: Apache-2.0
//! Passes that a caller runs with its own executors: begin, fork and finish.

use crate::output::DeviceError;
use crate::packet::ProgramId;
use crate::pass::{Gress, Pass};
use crate::switch::Switch;

impl Switch {
    /// Advances to the arrival of a packet and returns its pass through ingress. `None` if the packet ended before or has
    /// to wait for ingress.
    pub fn begin(
        &mut self,
        port: u32,
        time_ps: u64,
        bytes: Vec<u8>,
    ) -> Result<Option<Pass>, DeviceError> {
        let number = self.inject(port, time_ps, bytes)?;
        self.core.awaited_packet = Some(number);
        let advanced = self.advance(time_ps);
        self.core.awaited_packet = None;
        advanced?;
        let is_it = |pass: &Pass| pass.packet() == number && pass.gress() == Gress::Ingress;
        let begun = self.core.handed_out.iter().rposition(is_it);
        Ok(begun.map(|at| self.core.handed_out.remove(at)))
    }

    /// Finishes a pass that a caller ran.
    pub fn finish(&mut self, pass: Pass) -> Result<(), DeviceError> {
        self.serve_waiting();
        let done = self.finish_driven(pass);
        self.check_barriers();
        done
    }

    /// Finishes it between two events.
    pub fn finish_driven(&mut self, pass: Pass) -> Result<(), DeviceError> {
        let id = self.code_of_pass(&pass)?;
        self.with_program(id, |program, core| program.finish(core, pass))
    }

    /// Returns the program of a pass that a caller has run.
    pub fn code_of_pass(&self, pass: &Pass) -> Result<ProgramId, DeviceError> {
        let id = pass.lease.id;
        match self.programs.get(id).is_some_and(|program| program.is_of(pass)) {
            true => Ok(id),
            false => Err(DeviceError::ForeignPass { packet: pass.packet() }),
        }
    }

    /// Copies a pass that a caller runs. `None` at the pass limit.
    pub fn fork(&mut self, pass: &Pass) -> Option<Pass> {
        let (program, core) = self.program_and_core(pass.lease.id)?;
        program.is_of(pass).then(|| program.fork(core, pass))?
    }
}
