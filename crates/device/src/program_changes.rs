// SPDX-License-Identifier: Apache-2.0
//! Changes of the loaded programs: load, admission rule, swap, replaced code, unload. Each change takes effect between two
//! packets; packets in the device finish on the program and the code that they entered.

use crate::admission::Admission;
use crate::loaded_program::LoadedProgram;
use crate::output::{DeviceError, LoadError};
use crate::packet::ProgramId;
use crate::program_shape;
use crate::switch::Switch;
use crate::switch_core::SwitchCore;

impl Switch {
    /// Runs `work` on a packet's program. Removes the program if it was unloaded and this was its last packet.
    pub fn with_program(
        &mut self,
        id: ProgramId,
        work: impl FnOnce(&mut LoadedProgram, &mut SwitchCore) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let (result, has_left) = self.programs.run(id, &mut self.core, work);
        if has_left {
            self.forget_program(id);
        }
        result
    }

    /// Adds a program. It processes packets when the admission rule names it.
    pub fn add_program(&mut self, program: LoadedProgram) -> ProgramId {
        self.serve_waiting();
        self.driver.inbox.watch(&program.store);
        let id = self.programs.add(program, None);
        self.update_write_path();
        id
    }

    /// Replaces the admission rule. Its default program becomes the main program.
    pub fn admit(&mut self, admission: Admission) -> Result<(), LoadError> {
        self.serve_waiting();
        if let Some(program) = admission.programs().find(|it| self.programs.code_of(*it).is_none())
        {
            return Err(LoadError::NoSuchProgram(program));
        }
        let otherwise = Admission { rules: Vec::new(), ..admission.clone() };
        self.set_admission(admission);
        let main = otherwise.programs().next().and_then(|it| self.programs.code_of(it));
        if let Some(main) = main.filter(|main| *main != self.programs.main_id()) {
            self.set_main(main);
        }
        Ok(())
    }

    /// Sets the rule and the values derived from it.
    fn set_admission(&mut self, admission: Admission) {
        let code = |program| self.programs.code_of(program).unwrap_or(program);
        self.admitted_code = admission.map(code);
        self.only_program = self.admitted_code.only_program();
        self.admission = admission;
        let admitted = self.admitted_code.programs().filter_map(|id| self.programs.get(id));
        let all = admitted.chain([self.programs.main()]);
        self.largest_port = all.map(LoadedProgram::largest_port).max().unwrap_or(0);
    }

    fn set_main(&mut self, id: ProgramId) {
        self.programs.set_main(id);
        let main = self.programs.main();
        let mut known = self.driver.inbox.main.current_mut();
        known.program = main.program().clone();
        known.store = main.store.clone();
        drop(known);
        self.note_swap();
    }

    /// Adds a second program and unloads one that was not swapped in.
    pub fn take_second(&mut self, program: LoadedProgram) {
        let id = self.programs.add(program, None);
        if let Some(before) = self.programs.second.replace(id) {
            self.leave(before);
        }
    }

    /// Makes the second program the main program, in the admission rule too, and copies state to it. Returns whether there
    /// was a second program.
    pub fn swap(&mut self) -> bool {
        let Some(second) = self.programs.second.take() else { return false };
        self.serve_waiting();
        let before = self.programs.main_id();
        let inbox = self.driver.inbox.clone();
        // The write lock blocks other threads until targets see the second program.
        let mut known = inbox.main.current_mut();
        let Some((old, new)) = self.programs.pair_mut(before, second) else { return false };
        inbox.watch(&new.store);
        new.migrate_state_from(old);
        known.program = new.program().clone();
        known.store = new.store.clone();
        drop(known);
        let (old, new) = (old.name(), new.name());
        self.programs.set_main(second);
        let renamed = |program| if program == old { new } else { program };
        let admission = self.admission.map(renamed);
        self.set_admission(admission);
        self.leave(before);
        self.note_swap();
        true
    }

    /// Replaces the code of a program by that of one with equal state objects. Store and cells stay. Packets in the device
    /// finish on their old code, with the same cells.
    pub fn replace_code(&mut self, name: ProgramId, new: LoadedProgram) -> Result<(), LoadError> {
        self.serve_waiting();
        let before = self.programs.code_of(name).ok_or(LoadError::NoSuchProgram(name))?;
        let Some(old) = self.programs.get_mut(before) else {
            return Err(LoadError::NoSuchProgram(name));
        };
        if let Some(difference) = program_shape::difference(old.program(), new.program()) {
            return Err(LoadError::DifferentShape(difference));
        }
        old.forget_tables();
        let mut new = new;
        new.store = old.store.clone();
        new.shared_program = old.shared_program.clone();
        new.has_been_main = old.has_been_main;
        new.shared_program.current_mut().program = new.program().clone();
        let program = new.program().clone();
        let now = self.programs.add(new, Some(name));
        self.programs.hand_cells_over(before, now);
        if self.programs.second == Some(before) {
            self.programs.second = Some(now);
        }
        if self.programs.main_id() == before {
            self.programs.set_main(now);
            self.driver.inbox.main.current_mut().program = program;
        }
        // Map the rule to the new code.
        let admission = self.admission.clone();
        self.set_admission(admission);
        self.leave(before);
        self.note_new_code(now);
        Ok(())
    }

    /// Unloads a program after its last packet has left. The main program and one that the rule names cannot be unloaded.
    pub fn unload(&mut self, name: ProgramId) -> Result<(), LoadError> {
        self.serve_waiting();
        let id = self.programs.code_of(name).ok_or(LoadError::NoSuchProgram(name))?;
        if id == self.programs.main_id() || self.admission.programs().any(|it| it == name) {
            return Err(LoadError::ProgramInUse(name));
        }
        if self.programs.second == Some(id) {
            self.programs.second = None;
        }
        self.leave(id);
        self.note_programs();
        Ok(())
    }

    /// Marks a program for removal after its last packet.
    fn leave(&mut self, id: ProgramId) {
        if let Some(program) = self.programs.get_mut(id) {
            program.is_leaving = true;
            if program.borrows_cells_of.is_none() {
                // From now on writes go to the driver, which refuses them.
                program.shared_program.current_mut().serializes_writes = true;
            }
        }
        // This also removes programs whose last pass a caller has dropped.
        let left = self.programs.iter().filter(|program| program.has_left());
        for id in left.map(LoadedProgram::id).collect::<Vec<_>>() {
            self.forget_program(id);
        }
    }

    /// Removes a program whose last packet has left.
    fn forget_program(&mut self, id: ProgramId) {
        // Pending notifications look up the program.
        self.publish();
        if let Some((program, core)) = self.program_and_core(id) {
            program.drop_held(core);
        }
        self.programs.remove(id);
    }

    /// Returns the number of loaded programs.
    pub fn loaded_programs(&self) -> usize {
        self.programs.iter().filter(|program| !program.has_left()).count()
    }
}
