// SPDX-License-Identifier: Apache-2.0
//! The loaded programs of a device, for its callers: prepare, load, admit, replace, swap, unload. `program_changes` makes the
//! changes.

use crate::admission::Admission;
use crate::device::Device;
use crate::loaded_program::LoadedProgram;
use crate::options::DeviceOptions;
use crate::output::LoadError;
use crate::packet::ProgramId;
use ir::Program;
use std::sync::Arc;

/// A compiled program, not loaded yet. See [`Device::prepare`].
#[derive(Debug)]
pub struct PreparedProgram(Box<LoadedProgram>);

impl Device {
    /// Returns the number of loaded programs, including unloaded ones whose last packets are still in the device.
    pub fn loaded_programs(&self) -> usize {
        self.switch().loaded_programs()
    }

    /// Prepares a program for a device with these options, on any thread. Compiles it with [`crate::EngineChoice::Jit`].
    pub fn prepare(
        program: Arc<Program>,
        options: &DeviceOptions,
    ) -> Result<PreparedProgram, LoadError> {
        Ok(PreparedProgram(Box::new(LoadedProgram::load(program, options, None)?)))
    }

    /// Loads a program beside the others, in its initial state. It processes packets when a rule admits them
    /// ([`Device::admit`]). Compiles it with [`crate::EngineChoice::Jit`]. Ports, queues and options are those of the device.
    pub fn load(&mut self, program: Arc<Program>) -> Result<ProgramId, LoadError> {
        let mut switch = self.switch();
        let loaded = LoadedProgram::load(program, self.options(), Some(switch.programs.main()))?;
        Ok(switch.add_program(loaded))
    }

    /// As above, for a program prepared with equal options.
    pub fn load_prepared(&mut self, program: PreparedProgram) -> ProgramId {
        self.switch().add_program(*program.0)
    }

    /// Unloads a program after the last packet that entered it has left. The main program and a program that the
    /// admission rule names cannot be unloaded.
    pub fn unload(&mut self, program: ProgramId) -> Result<(), LoadError> {
        self.switch().unload(program)
    }

    /// Replaces the admission rule. The device applies the rule when ingress takes a packet from a port, a loopback port
    /// or the packet generator. Clones, copies, resubmitted and recirculated packets stay with their program. The program
    /// of [`Admission::otherwise`] becomes the main program, which [`Device::target`], [`Device::program`],
    /// [`Device::cells`] and [`Device::swap`] refer to; if that is a drop, the main program stays. A program that is not
    /// loaded is an error.
    pub fn admit(&mut self, admission: Admission) -> Result<(), LoadError> {
        self.switch().admit(admission)
    }

    /// Returns the admission rule. Initially all packets go to the program with which the device was made.
    pub fn admission(&self) -> Admission {
        self.switch().admission.clone()
    }

    /// Replaces the code of a program by that of a program with equal tables, actions, registers and so on. Entries and
    /// cells stay, and the next pass runs the new code. Packets in the device and passes that a caller runs finish on
    /// their old code; a caller needs new executors for the new code. The error says what differs.
    pub fn replace_code(
        &mut self,
        program: ProgramId,
        code: PreparedProgram,
    ) -> Result<(), LoadError> {
        self.switch().replace_code(program, *code.0)
    }

    /// Loads a second program, in its initial state, for [`Device::swap`]. It replaces a second program that was not
    /// swapped in. Compiles it with [`crate::EngineChoice::Jit`].
    pub fn load_second(&mut self, program: Arc<Program>) -> Result<(), LoadError> {
        let mut switch = self.switch();
        let second = LoadedProgram::load(program, self.options(), Some(switch.programs.main()))?;
        switch.take_second(second);
        Ok(())
    }

    /// As above, for a program prepared with equal options.
    pub fn take_second(&mut self, program: PreparedProgram) {
        self.switch().take_second(*program.0);
    }

    /// Makes the second program the main program and replaces the old one by it in the admission rule. Packets in the
    /// device, resubmitted and recirculated ones too, finish on the old program. [`state::migrate`] copies registers,
    /// counters and meters of equal name and shape, and entries of tables that the control plane has not written in the
    /// second program. Returns whether there was a second program.
    pub fn swap(&mut self) -> bool {
        self.switch().swap()
    }
}
