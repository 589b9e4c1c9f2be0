// SPDX-License-Identifier: Apache-2.0
//! Programs come and go: loading, admission, swaps, replaced code, unloading. Each change happens between two
//! packets; packets under way end with the program and the code that they entered with.

use crate::admission::Admission;
use crate::loaded_program::LoadedProgram;
use crate::output::{DeviceError, LoadError};
use crate::packet::ProgramId;
use crate::program_shape;
use crate::switch::Switch;
use crate::switch_core::SwitchCore;

impl Switch {
    /// Runs something on the program that a packet belongs to; a program that leaves goes when its last packet
    /// is done.
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

    /// Loads a program beside the others. No packet meets it until a rule admits it.
    pub fn add_program(&mut self, program: LoadedProgram) -> ProgramId {
        self.serve_waiting();
        self.driver.inbox.watch(&program.store);
        let id = self.programs.add(program, None);
        self.update_write_path();
        id
    }

    /// Changes the rule by which packets meet programs. The program that others meet is the main program from
    /// now on.
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

    /// One write: the next packet that arrives meets the whole rule.
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

    /// Loads a second program beside the main one, in place of one loaded before and not swapped in.
    pub fn take_second(&mut self, program: LoadedProgram) {
        let id = self.programs.add(program, None);
        if let Some(before) = self.programs.second.replace(id) {
            self.leave(before);
        }
    }

    /// Swaps the second program in: the rule names it where it named the main program, and it takes the state
    /// over. Returns whether there was a second program.
    pub fn swap(&mut self) -> bool {
        let Some(second) = self.programs.second.take() else { return false };
        self.serve_waiting();
        let before = self.programs.main_id();
        let inbox = self.driver.inbox.clone();
        // No other thread writes from here until targets know the second program.
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

    /// Replaces the code of a program by that of another one with equal state, which stays in place. Packets
    /// under way end on the code that they began with, and on the same cells.
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
        // It names the new code now.
        let admission = self.admission.clone();
        self.set_admission(admission);
        self.leave(before);
        self.note_new_code(now);
        Ok(())
    }

    /// Unloads a program; it goes when its last packet has left. A program that packets may still meet stays,
    /// and that is an error.
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

    /// Lets a program go with its last packet.
    fn leave(&mut self, id: ProgramId) {
        if let Some(program) = self.programs.get_mut(id) {
            program.is_leaving = true;
            if program.borrows_cells_of.is_none() {
                // What is written from now on is for the driver to refuse.
                program.shared_program.current_mut().serializes_writes = true;
            }
        }
        // Those among them whose last pass was dropped by its caller.
        let left = self.programs.iter().filter(|program| program.has_left());
        for id in left.map(LoadedProgram::id).collect::<Vec<_>>() {
            self.forget_program(id);
        }
    }

    /// Forgets a program whose last packet is done.
    fn forget_program(&mut self, id: ProgramId) {
        // Listeners are found by the program.
        self.publish();
        if let Some((program, core)) = self.program_and_core(id) {
            program.drop_held(core);
        }
        self.programs.remove(id);
    }

    /// How many programs are loaded.
    pub fn loaded_programs(&self) -> usize {
        self.programs.iter().filter(|program| !program.has_left()).count()
    }
}
