// SPDX-License-Identifier: Apache-2.0
//! Passes that a caller runs with its own executors: begin, fork and finish.

use crate::device::Device;
use crate::executor::Executor;
use crate::output::DeviceError;
use crate::packet::ProgramId;
use crate::pass::{CallerPasses, Gress, Pass};
use crate::switch::Switch;

impl Device {
    /// Advances the device to the arrival of a packet at a port and returns the packet's pass through ingress to the
    /// caller. Returns `None` if the packet ended before its pass (at the port's MAC, or by the pass limit), or if it has
    /// to wait for ingress ([`crate::DeviceOptions::ingress_interval_ps`]); the device then runs that pass later, unless
    /// [`Device::give_passes`] hands it out. The errors are those of [`Device::inject`].
    ///
    /// [`Executor`]s run the pass's blocks on any thread; [`Device::finish`] finishes it. Until then the pass pins its
    /// version of the configuration ([`state::Store::MAX_PINNED_VERSIONS`]).
    pub fn begin(
        &mut self,
        port: u32,
        time_ps: u64,
        bytes: Vec<u8>,
    ) -> Result<Option<Pass>, DeviceError> {
        self.switch().begin(port, time_ps, bytes)
    }

    /// Sets which passes the device hands to its caller from now on instead of running them.
    /// [`Device::take_passes`] returns them.
    pub fn give_passes(&mut self, passes: CallerPasses) {
        self.switch().core.caller_passes = passes;
    }

    /// Takes the passes that have begun for the caller since the last call, in the order of their begin.
    pub fn take_passes(&mut self) -> Vec<Pass> {
        std::mem::take(&mut self.switch().core.handed_out)
    }

    /// Finishes a pass at the device's time, as if its last block had ended now: makes clones and copies, sends digests,
    /// and queues or transmits the packet. Passes finish in the order of the calls. A pass that has ended counts as
    /// dropped. [`crate::DeviceOptions::ingress_latency_ps`] is added to the time that the caller took. A pass of another device
    /// is an error.
    pub fn finish(&mut self, pass: Pass) -> Result<(), DeviceError> {
        self.switch().finish(pass)
    }

    /// Copies a pass: the packet's bytes, headers, metadata and configuration are those of the pass now; its number is
    /// the packet's next. Returns `None` for a pass of another device, and at the pass limit
    /// ([`crate::DeviceOptions::pass_limit`]), where the copy counts as dropped.
    pub fn fork(&mut self, pass: &Pass) -> Option<Pass> {
        self.switch().fork(pass)
    }

    /// Makes another pipeline instance of a loaded program, with its own registers, counters and meters in their initial
    /// state. It shares the program's code and runs each pass on the configuration with which the pass began.
    pub fn executor(&self, program: ProgramId) -> Option<Executor> {
        let switch = self.switch();
        let code = switch.programs.code_of(program)?;
        switch.programs.get(code).map(|program| program.executor.sharing_code())
    }
}

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
