// SPDX-License-Identifier: Apache-2.0
//! The switch behind a device's lock: the loaded programs, the switch core they share, and the controllers'
//! driver. What happens next is in `event_loop`; the public interface and the lock are in `device`.

use crate::burst::Burst;
use crate::driver::Driver;
use crate::loaded_program::LoadedProgram;
use crate::options::DeviceOptions;
use crate::output::{DeviceError, LoadError};
use crate::packet::ProgramId;
use crate::packet_generator::GeneratorApplication;
use crate::pass::Pass;
use crate::switch_core::SwitchCore;
use ir::Program;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The state of a device.
#[derive(Debug)]
pub(crate) struct Switch {
    pub core: SwitchCore,
    /// Apart from the others, as nearly all packets meet it.
    pub current: LoadedProgram,
    /// One that waits, and those whose last packets are under way.
    pub others: BTreeMap<ProgramId, LoadedProgram>,
    /// Loaded, but not swapped in yet.
    waiting: Option<ProgramId>,
    /// Programs loaded so far.
    loaded: u32,
    pub receptions: u64,
    /// For packets that take the fast path one at a time.
    pub single: Option<Box<Burst>>,
    pub driver: Driver,
}

impl Switch {
    /// A switch at time 0; code is shared with a loaded program that is like it.
    pub fn load(
        program: Arc<Program>,
        mut options: DeviceOptions,
        like: Option<&LoadedProgram>,
    ) -> Result<Switch, LoadError> {
        let current = LoadedProgram::load(program, &options, like)?;
        current.set_defaults(&mut options);
        let model = options.control_latency.clone();
        let driver = Driver::new(model, options.seed, current.program(), &current.store);
        Ok(Switch {
            core: SwitchCore::new(options),
            current,
            others: BTreeMap::new(),
            waiting: None,
            loaded: 1,
            receptions: 0,
            single: None,
            driver,
        })
    }

    pub fn current_program_and_core(&mut self) -> (&mut LoadedProgram, &mut SwitchCore) {
        (&mut self.current, &mut self.core)
    }

    /// A program that is loaded.
    pub fn program(&self, id: ProgramId) -> Option<&LoadedProgram> {
        match id == self.current.id() {
            true => Some(&self.current),
            false => self.others.get(&id),
        }
    }

    /// Runs something on the program that a packet belongs to; a program that was swapped out goes
    /// when its last packet is done.
    pub fn with_program(
        &mut self,
        id: ProgramId,
        work: impl FnOnce(&mut LoadedProgram, &mut SwitchCore) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        if id == self.current.id() {
            return work(&mut self.current, &mut self.core);
        }
        let Some(program) = self.others.get_mut(&id) else { return Ok(()) };
        let result = work(program, &mut self.core);
        if program.is_done() && self.waiting != Some(id) {
            program.drop_held(&mut self.core);
            self.others.remove(&id);
        }
        result
    }

    /// Finishes a pass that a caller ran.
    pub fn finish(&mut self, pass: Pass) -> Result<(), DeviceError> {
        self.serve_waiting();
        let id = pass.program();
        if !self.program(id).is_some_and(|program| program.is_of(&pass)) {
            return Err(DeviceError::ForeignPass { packet: pass.packet() });
        }
        let done = self.with_program(id, |program, core| program.finish(core, pass));
        self.check_barriers();
        done
    }

    /// Another pass of the packet of a pass that a caller runs, in equal state, unless that is one too many.
    pub fn fork(&mut self, pass: &Pass) -> Option<Pass> {
        let id = pass.program();
        let (program, core) = match id == self.current.id() {
            true => (&mut self.current, &mut self.core),
            false => (self.others.get_mut(&id)?, &mut self.core),
        };
        program.is_of(pass).then(|| program.fork(core, pass))?
    }

    /// Sets an application of the packet generator, in place of what it was; its timer starts `offset_ps`
    /// from now. A port that the architecture has no bits for is an error.
    pub fn set_generator_application(
        &mut self,
        application: GeneratorApplication,
    ) -> Result<(), DeviceError> {
        let (port, largest) = (application.port, self.current.largest_port());
        if port > largest {
            return Err(DeviceError::NoSuchPort { port, largest });
        }
        self.core.set_generator_application(application);
        Ok(())
    }

    /// Swaps the second program in: the next packet from a port meets it. Packets under way,
    /// resubmitted and recirculated ones too, end with the program that they began with. State of equal
    /// name and shape goes over as [`state::carry`] says: registers, counters, meters, and entries where
    /// the second program's tables are as the program gave them. Returns whether there was a second
    /// program.
    pub fn swap(&mut self) -> bool {
        self.serve_waiting();
        let Some(next) = self.waiting.take() else { return false };
        let Some(mut program) = self.others.remove(&next) else { return false };
        // No other thread writes from here until targets know the second program.
        let entry = self.driver.entry.clone();
        let mut known = entry.current_mut();
        entry.watch(&program.store);
        program.migrate_state_from(&self.current);
        known.program = program.program().clone();
        known.store = program.store.clone();
        drop(known);
        let mut before = std::mem::replace(&mut self.current, program);
        match before.is_done() {
            true => before.drop_held(&mut self.core),
            false => {
                self.others.insert(before.id(), before);
            }
        }
        self.note_swap();
        true
    }

    /// Loads a second program beside the one that forwards, in place of one loaded before and not swapped
    /// in.
    pub fn take_second(&mut self, mut program: LoadedProgram) {
        let id = ProgramId(self.loaded);
        self.loaded += 1;
        if let Some(before) = self.waiting.replace(id) {
            self.others.remove(&before);
        }
        program.set_id(id);
        self.others.insert(id, program);
    }

    /// How many programs are loaded.
    pub fn loaded_programs(&self) -> usize {
        let is_there =
            |program: &&LoadedProgram| !program.is_done() || self.waiting == Some(program.id());
        self.others.values().filter(is_there).count() + 1
    }
}
