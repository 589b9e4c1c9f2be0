// SPDX-License-Identifier: Apache-2.0
//! Passes that a caller runs: begun for it, forked, and finished in its order. Blocks are run by the caller's
//! executors.

use crate::output::DeviceError;
use crate::pass::{Gress, Pass};
use crate::switch::Switch;

impl Switch {
    /// A packet arrives at a port at a time, and its pass through ingress begins, unless it ends before or has to
    /// wait for ingress.
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
        let id = pass.lease.id;
        if !self.programs.get(id).is_some_and(|program| program.is_of(&pass)) {
            return Err(DeviceError::ForeignPass { packet: pass.packet() });
        }
        let done = self.with_program(id, |program, core| program.finish(core, pass));
        self.check_barriers();
        done
    }

    /// Another pass of the packet of a pass that a caller runs, in equal state, unless that is one too many.
    pub fn fork(&mut self, pass: &Pass) -> Option<Pass> {
        let (program, core) = self.program_and_core(pass.lease.id)?;
        program.is_of(pass).then(|| program.fork(core, pass))?
    }
}
