// SPDX-License-Identifier: Apache-2.0
//! Objects of a program as run that have the same names as those of the program as written, and updates and
//! reads of them.

use crate::control_maps::specification::full_name;
use control::map::{Physical, TargetIndex};
use control::target::Fault;
use ir::{ActionId, CounterId, Program, RegisterId, TableId};
use state::{ActionData, BoundAction, NewEntry, Read, Update};
use std::sync::Arc;

/// Both programs.
#[derive(Clone)]
pub struct Ids {
    pub written: Arc<Program>,
    pub run: Arc<Program>,
}

/// The table of this name.
pub fn table_named(program: &Program, name: &str) -> TableId {
    let full = full_name(name);
    let at = program.tables.iter().position(|table| *table.name == *full);
    TableId(at.unwrap_or_else(|| panic!("no table `{full}`")) as u32)
}

/// The register of this name.
pub fn register_named(program: &Program, name: &str) -> RegisterId {
    let full = full_name(name);
    let at = program.registers.iter().position(|register| *register.name == *full);
    RegisterId(at.unwrap_or_else(|| panic!("no register `{full}`")) as u32)
}

/// The counter of this name.
pub fn counter_named(program: &Program, name: &str) -> CounterId {
    let full = full_name(name);
    let at = program.counters.iter().position(|counter| *counter.name == *full);
    CounterId(at.unwrap_or_else(|| panic!("no counter `{full}`")) as u32)
}

/// The table that has this direct counter.
pub fn table_of_counter(program: &Program, counter: CounterId) -> Option<TableId> {
    let at = program.tables.iter().position(|table| table.direct_counters.contains(&counter))?;
    Some(TableId(at as u32))
}

/// The item of target 0 that does an update or answers a question.
pub fn physical(item: impl Into<control::target::Item>) -> Physical {
    Physical::at(TargetIndex(0), item)
}

impl Ids {
    pub fn table(&self, table: TableId) -> TableId {
        let name = &self.written.tables[table.index()].name;
        let at = self.run.tables.iter().position(|other| other.name == *name);
        TableId(at.unwrap_or_else(|| panic!("`{name}` is not carried")) as u32)
    }

    pub fn register(&self, register: RegisterId) -> RegisterId {
        let name = &self.written.registers[register.index()].name;
        let at = self.run.registers.iter().position(|other| other.name == *name);
        RegisterId(at.unwrap_or_else(|| panic!("`{name}` is not carried")) as u32)
    }

    pub fn counter(&self, counter: CounterId) -> CounterId {
        let name = &self.written.counters[counter.index()].name;
        let at = self.run.counters.iter().position(|other| other.name == *name);
        CounterId(at.unwrap_or_else(|| panic!("`{name}` is not carried")) as u32)
    }

    pub fn action(&self, action: &BoundAction) -> BoundAction {
        let name = &self.written.actions[action.action.index()].name;
        let at = self.run.actions.iter().position(|other| other.name == *name);
        BoundAction {
            action: ActionId(at.unwrap_or_else(|| panic!("`{name}` is not carried")) as u32),
            arguments: action.arguments.clone(),
        }
    }

    pub fn entry(&self, entry: &NewEntry) -> NewEntry {
        let action = match &entry.action {
            ActionData::Direct(action) => ActionData::Direct(self.action(action)),
            other => other.clone(),
        };
        NewEntry { action, ..entry.clone() }
    }

    /// An update of an object that is carried as it is.
    pub fn update(&self, update: &Update) -> Result<Update, Fault> {
        Ok(match update {
            Update::InsertEntry { table, entry } => {
                Update::InsertEntry { table: self.table(*table), entry: self.entry(entry) }
            }
            Update::ModifyEntry { table, entry } => {
                Update::ModifyEntry { table: self.table(*table), entry: self.entry(entry) }
            }
            Update::DeleteEntry { table, keys, priority } => Update::DeleteEntry {
                table: self.table(*table),
                keys: keys.clone(),
                priority: *priority,
            },
            Update::SetDefaultAction { table, action } => Update::SetDefaultAction {
                table: self.table(*table),
                action: action.as_ref().map(|action| self.action(action)),
            },
            Update::WriteRegister { register, cells, values } => Update::WriteRegister {
                register: self.register(*register),
                cells: *cells,
                values: values.clone(),
            },
            Update::WriteCounter { counter, cells, values } => Update::WriteCounter {
                counter: self.counter(*counter),
                cells: *cells,
                values: values.clone(),
            },
            Update::WriteDirectCounter { counter, entry, value } => Update::WriteDirectCounter {
                counter: self.counter(*counter),
                entry: entry.clone(),
                value: *value,
            },
            other => return Err(Fault::Unsupported(format!("not in these programs: {other:?}"))),
        })
    }

    /// A question about an object that is carried as it is.
    pub fn read(&self, read: &Read) -> Result<Read, Fault> {
        Ok(match read {
            Read::Register { register, cells } => {
                Read::Register { register: self.register(*register), cells: *cells }
            }
            Read::Counter { counter, cells } => {
                Read::Counter { counter: self.counter(*counter), cells: *cells }
            }
            Read::DirectCounter { counter, entry } => {
                Read::DirectCounter { counter: self.counter(*counter), entry: entry.clone() }
            }
            Read::EntriesWithCells { table, entry } => {
                Read::EntriesWithCells { table: self.table(*table), entry: entry.clone() }
            }
            other => return Err(Fault::Unsupported(format!("not in these programs: {other:?}"))),
        })
    }
}
