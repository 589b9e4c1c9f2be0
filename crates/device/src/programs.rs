// SPDX-License-Identifier: Apache-2.0
//! `Programs`: the loaded programs of a device by number, the main program, and the current code of programs whose code
//! was replaced.

use crate::engine::BlockRunner;
use crate::loaded_program::LoadedProgram;
use crate::output::DeviceError;
use crate::packet::ProgramId;
use crate::switch_core::SwitchCore;
use std::collections::BTreeMap;

const MAIN_IS_LOADED: &str = "the main program stays loaded";

/// The loaded programs of a device. Packets carry the number of their code, which is never reused; the public number of a
/// program is that of its first code.
#[derive(Debug)]
pub(crate) struct Programs {
    /// By number.
    loaded: Vec<Option<Box<LoadedProgram>>>,
    main: ProgramId,
    /// Loaded to be swapped in later.
    pub second: Option<ProgramId>,
    /// The current code of programs whose code was replaced.
    replaced: BTreeMap<ProgramId, ProgramId>,
}

impl Programs {
    /// Makes the list with the first program as the main program.
    pub fn new(mut first: LoadedProgram) -> Programs {
        first.set_id(ProgramId(0), ProgramId(0));
        first.has_been_main = true;
        Programs {
            loaded: vec![Some(Box::new(first))],
            main: ProgramId(0),
            second: None,
            replaced: BTreeMap::new(),
        }
    }

    /// Returns the main program.
    #[inline]
    pub fn main(&self) -> &LoadedProgram {
        self.get(self.main).expect(MAIN_IS_LOADED)
    }

    /// Returns the number of the main program's code.
    #[inline]
    pub fn main_id(&self) -> ProgramId {
        self.main
    }

    /// Makes a loaded program the main program.
    pub fn set_main(&mut self, id: ProgramId) {
        if let Some(program) = self.get_mut(id) {
            program.has_been_main = true;
            self.main = id;
        }
    }

    #[inline]
    pub fn get(&self, id: ProgramId) -> Option<&LoadedProgram> {
        self.loaded.get(id.0 as usize)?.as_deref()
    }

    #[inline]
    pub fn get_mut(&mut self, id: ProgramId) -> Option<&mut LoadedProgram> {
        self.loaded.get_mut(id.0 as usize)?.as_deref_mut()
    }

    /// Returns two different programs.
    pub fn pair_mut(
        &mut self,
        one: ProgramId,
        other: ProgramId,
    ) -> Option<(&mut LoadedProgram, &mut LoadedProgram)> {
        let at = [one.0 as usize, other.0 as usize];
        let [one, other] = self.loaded.get_disjoint_mut(at).ok()?;
        Some((one.as_deref_mut()?, other.as_deref_mut()?))
    }

    /// Returns the current code of a program, by its public number, unless it was unloaded.
    pub fn code_of(&self, program: ProgramId) -> Option<ProgramId> {
        let id = self.replaced.get(&program).copied().unwrap_or(program);
        let is_it = |loaded: &&LoadedProgram| loaded.name() == program && !loaded.is_leaving;
        self.get(id).filter(is_it).map(LoadedProgram::id)
    }

    /// Returns all programs, including unloaded ones whose packets are still in the device.
    pub fn iter(&self) -> impl Iterator<Item = &LoadedProgram> {
        self.loaded.iter().filter_map(|program| program.as_deref())
    }

    /// Adds a program, or new code of one. Returns the number of the code.
    pub fn add(&mut self, mut program: LoadedProgram, code_of: Option<ProgramId>) -> ProgramId {
        let id = ProgramId(self.loaded.len() as u32);
        program.set_id(id, code_of.unwrap_or(id));
        self.loaded.push(Some(Box::new(program)));
        if let Some(name) = code_of {
            self.replaced.insert(name, id);
        }
        id
    }

    /// Moves the cells from the old code to the new one. The old code borrows them for its remaining packets.
    pub fn hand_cells_over(&mut self, before: ProgramId, now: ProgramId) {
        let Some((old, new)) = self.pair_mut(before, now) else { return };
        old.swap_cells(new);
        for program in self.loaded.iter_mut().flatten() {
            if program.id() == before || program.borrows_cells_of == Some(before) {
                program.borrows_cells_of = Some(now);
            }
        }
    }

    /// Runs `work` on a program and the switch core, if the program exists. Returns whether the program was unloaded and
    /// its last packet has left.
    pub fn run(
        &mut self,
        id: ProgramId,
        core: &mut SwitchCore,
        work: impl FnOnce(&mut LoadedProgram, &mut SwitchCore) -> Result<(), DeviceError>,
    ) -> (Result<(), DeviceError>, bool) {
        let Some(program) = self.get_mut(id) else { return (Ok(()), false) };
        let lender = program.borrows_cells_of;
        let result = match lender {
            None => work(program, core),
            Some(lender) => {
                self.swap_cells(id, lender);
                let result = self.get_mut(id).map_or(Ok(()), |program| work(program, core));
                self.swap_cells(id, lender);
                result
            }
        };
        let has_left = self.get(id).is_some_and(LoadedProgram::has_left);
        (result, has_left)
    }

    fn swap_cells(&mut self, one: ProgramId, other: ProgramId) {
        if let Some((one, other)) = self.pair_mut(one, other) {
            one.swap_cells(other);
        }
    }

    /// Removes a program whose last packet has left.
    pub fn remove(&mut self, id: ProgramId) {
        if let Some(slot) = self.loaded.get_mut(id.0 as usize)
            && let Some(program) = slot.take_if(|program| program.has_left())
        {
            self.replaced.retain(|_, code| *code != program.id());
        }
    }
}

impl LoadedProgram {
    fn swap_cells(&mut self, other: &mut LoadedProgram) {
        let BlockRunner { cells, .. } = &mut self.executor.runner;
        std::mem::swap(cells, &mut other.executor.runner.cells);
    }
}
