// SPDX-License-Identifier: Apache-2.0
//! Cells of counters and registers that expectations name, read at a time or at the end of the run.

use crate::built::Built;
use crate::watched::CellValue;
use network_file::model::{Cell, Subject};

/// The cell that an expectation is about.
fn cell_of(subject: &Subject) -> Option<&Cell> {
    match subject {
        Subject::Counter(cell) | Subject::Register(cell) => Some(cell),
        _ => None,
    }
}

impl Built {
    /// When the next cell is to be read, up to a time.
    pub(crate) fn next_reading_ps(&self, until_ps: u64) -> Option<u64> {
        let is_open = |number: &usize| !self.watched.cells.contains_key(number);
        let expectations = self.network.expectations.iter().enumerate();
        let times = expectations.filter(|(number, _)| is_open(number));
        let times = times.filter_map(|(_, one)| cell_of(&one.subject)?.at_ps);
        times.filter(|at_ps| *at_ps <= until_ps).min()
    }

    /// Reads the cells that are due.
    pub(crate) fn read_due_cells(&mut self, now_ps: u64) {
        for number in 0..self.network.expectations.len() {
            let due_ps = cell_of(&self.network.expectations[number].subject)
                .and_then(|cell| cell.at_ps)
                .filter(|at_ps| *at_ps <= now_ps);
            if due_ps.is_some() && !self.watched.cells.contains_key(&number) {
                let read = self.read_cell(number);
                self.watched.cells.insert(number, read);
            }
        }
    }

    /// What the cell of an expectation had at its time, or has now; `None` if the run did not reach that time. The error
    /// says that there is no such cell.
    pub(crate) fn cell(&self, number: usize) -> Result<Option<CellValue>, String> {
        match cell_of(&self.network.expectations[number].subject).and_then(|cell| cell.at_ps) {
            None => self.read_cell(number).map(Some),
            Some(_) => self.watched.cells.get(&number).cloned().transpose(),
        }
    }

    fn read_cell(&self, number: usize) -> Result<CellValue, String> {
        let subject = &self.network.expectations[number].subject;
        let cell = cell_of(subject).ok_or("the expectation is about no cell")?;
        let device = self.device(cell.switch).ok_or("the switch has failed")?;
        let program = device.program();
        let (name, index) = (cell.name.value.as_str(), u64::from(cell.index));
        let is_named = |full: &str| full == name || full.ends_with(&format!(".{name}"));
        let kind = if matches!(subject, Subject::Counter(_)) { "counter" } else { "register" };
        let no_such = || {
            let switch = &self.network.switches[cell.switch].name;
            format!("the program of `{switch}` has no {kind} `{name}`")
        };
        let no_index = || format!("{kind} `{name}` has no index {index}");
        let cells = device.cells();
        if kind == "counter" {
            let at = program.counters.iter().position(|counter| is_named(&counter.name));
            let value = cells.counter(ir::CounterId(at.ok_or_else(no_such)? as u32), index);
            let value = value.ok_or_else(no_index)?;
            return Ok(CellValue::Counter { packets: value.packets, bytes: value.bytes });
        }
        let at = program.registers.iter().position(|register| is_named(&register.name));
        let register = cells.register(ir::RegisterId(at.ok_or_else(no_such)? as u32));
        let value = register.and_then(|one| one.read(index)).ok_or_else(no_index)?;
        Ok(CellValue::Register(value.to_u64()))
    }
}
