// SPDX-License-Identifier: Apache-2.0
//! What the map writes for an update of an entry, a default action or an init table, and in which phase. Rows of the version
//! that packets match wait for the mirror phase; the master entry is written by the commit alone.

use super::init_state::{InitState, Loaded};
use super::objects::TableObjects;
use super::{MIRROR, MalleableMap, PREPARE, Row};
use crate::language::Gress;
use control::map::{Physical, TargetIndex};
use control::target::Fault;
use ir::TableId;
use state::{ActionData, BoundAction, NewEntry, Update};

impl MalleableMap {
    fn init_of(&mut self, gress: Gress) -> Option<&mut InitState> {
        self.inits.iter_mut().find(|init| init.gress == gress)
    }

    /// The version that packets match in the pipeline of a table.
    fn version_of(&self, table: &TableObjects) -> u64 {
        let init = self.inits.iter().find(|init| init.gress == table.gress);
        init.map_or(0, |init| init.version)
    }

    /// The versions of a table's rows with the phases in which each is written.
    fn phases(&mut self, table: &TableObjects) -> Vec<(Option<u64>, u8)> {
        if !table.is_malleable {
            return vec![(None, PREPARE)];
        }
        let version = self.version_of(table);
        if let Some(init) = self.init_of(table.gress) {
            init.has_prepared = true;
        }
        vec![(Some(version ^ 1), PREPARE), (Some(version), MIRROR)]
    }

    pub(super) fn entry_update(
        &mut self,
        table: &TableObjects,
        old: Option<&NewEntry>,
        new: Option<&NewEntry>,
    ) -> Result<Vec<Physical>, Fault> {
        let mut items = Vec::new();
        let name = |entry: &NewEntry| (table.written, entry.keys.clone(), entry.priority);
        let below = match (old, new) {
            _ if !table.has_priorities => None,
            (None, Some(new)) if self.is_undoing => Some(self.priorities.restore(name(new))?),
            (None, Some(new)) => Some(self.priorities.insert(name(new))?),
            (Some(old), None) => self.priorities.remove(&name(old)),
            (Some(old), Some(_)) => self.priorities.of(&name(old)),
            (None, None) => None,
        };
        let has_same_rows = old.zip(new).is_some_and(|(old, new)| table.has_same_rows(old, new));
        for (version, phase) in self.phases(table) {
            let rows = |entry: Option<&NewEntry>| match entry {
                Some(entry) => table.rows(entry, version, below),
                None => Ok(Vec::new()),
            };
            let mut before = if has_same_rows { Vec::new() } else { rows(old)? };
            let mut after = rows(new)?;
            let is_same =
                |one: &Row, other: &Row| one.keys == other.keys && one.priority == other.priority;
            self.sort(table, &mut before);
            self.sort(table, &mut after);
            for row in &before {
                if !after.iter().any(|other| is_same(row, other)) {
                    let (keys, priority) = (row.keys.clone(), row.priority);
                    let update = Update::DeleteEntry { table: table.run, keys, priority };
                    items.push(Physical::at(TargetIndex(0), update).in_phase(phase));
                }
            }
            let Some(new) = new else { continue };
            for row in after {
                let is_there = has_same_rows || before.iter().any(|other| is_same(&row, other));
                let entry = NewEntry {
                    keys: row.keys,
                    priority: row.priority,
                    action: ActionData::Direct(row.action),
                    idle_timeout_ns: new.idle_timeout_ns,
                    metadata: new.metadata.clone(),
                    cookie: new.cookie,
                };
                let update = match is_there {
                    true => Update::ModifyEntry { table: table.run, entry },
                    false => Update::InsertEntry { table: table.run, entry },
                };
                items.push(Physical::at(TargetIndex(0), update).in_phase(phase));
            }
        }
        Ok(items)
    }

    /// Sorts the rows of a table without versions in the order in which they are written.
    fn sort(&self, table: &TableObjects, rows: &mut [Row]) {
        let init = self.inits.iter().find(|init| init.gress == table.gress);
        if let Some(init) = init.filter(|_| !table.is_malleable) {
            rows.sort_by_key(|row| init.rank(row));
        }
    }

    pub(super) fn default_update(
        &mut self,
        table: &TableObjects,
        action: Option<&BoundAction>,
    ) -> Vec<Physical> {
        let written = &self.written.tables[table.written.index()];
        let initial = BoundAction {
            action: written.actions[written.default_action.action as usize].action,
            arguments: written.default_action.arguments.clone(),
        };
        let bound = action.cloned().unwrap_or(initial);
        let Some(default) = table.default_table.clone() else {
            let action = action.map(|action| table.action(action, &[]));
            let update = Update::SetDefaultAction { table: table.run, action };
            return vec![Physical::at(TargetIndex(0), update)];
        };
        let mut items = Vec::new();
        for (version, phase) in self.phases(table) {
            let mut rows = table.default_rows(&bound, version);
            self.sort(table, &mut rows);
            for row in rows {
                let entry = NewEntry::direct(row.keys, 0, row.action);
                let update = Update::ModifyEntry { table: default.table, entry };
                items.push(Physical::at(TargetIndex(0), update).in_phase(phase));
            }
        }
        items
    }

    /// Sets the parameters of a pipeline: those of the master wait for the commit.
    pub(super) fn init_update(
        &mut self,
        index: usize,
        table: TableId,
        action: Option<&BoundAction>,
    ) -> Vec<Physical> {
        let init = &mut self.inits[index];
        let initial = &self.written.tables[table.index()].default_action.arguments;
        let arguments = action.map_or(initial, |action| &action.arguments);
        let mut behind: Vec<usize> = Vec::new();
        for (at, value) in arguments.iter().enumerate() {
            if init.words[at] == *value {
                continue;
            }
            init.words[at] = value.clone();
            for (number, loading) in init.tables.iter().enumerate() {
                if loading.parameters.contains(&Loaded::Written(at)) {
                    match number {
                        0 => init.has_changed = true,
                        number if !behind.contains(&number) => behind.push(number),
                        _ => {}
                    }
                }
            }
        }
        let mut items = Vec::new();
        for number in behind {
            init.has_prepared = true;
            let table = init.tables[number].table;
            for (version, phase) in [(init.version ^ 1, PREPARE), (init.version, MIRROR)] {
                let update = Update::ModifyEntry { table, entry: init.entry(number, version) };
                items.push(Physical::at(TargetIndex(0), update).in_phase(phase));
            }
        }
        items
    }
}
