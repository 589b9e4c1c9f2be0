// SPDX-License-Identifier: Apache-2.0
//! What the map writes for an update of an entry, a default action or an init table, and in which phase. Rows of the version
//! that packets match wait for the mirror phase; the master entry is written by the commit alone.

use super::init_state::InitState;
use super::objects::TableObjects;
use super::{MIRROR, MalleableMap, PREPARE, Row};
use crate::language::Gress;
use control::map::{Physical, TargetIndex};
use control::target::Fault;
use ir::{Bits, Program, TableId};
use state::{ActionData, BoundAction, NewEntry, Update};
use std::sync::Arc;

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
        for (version, phase) in self.phases(table) {
            let rows = |entry: Option<&NewEntry>| match entry {
                Some(entry) => table.rows(entry, version, below),
                None => Ok(Vec::new()),
            };
            let (mut before, mut after) = (rows(old)?, rows(new)?);
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
            for row in after {
                let is_there = before.iter().any(|other| is_same(&row, other));
                let template = new
                    .cloned()
                    .unwrap_or_else(|| NewEntry::direct(Vec::new(), 0, row.action.clone()));
                let action = ActionData::Direct(row.action);
                let entry = NewEntry { keys: row.keys, priority: row.priority, action, ..template };
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
        let init = &self.inits[index];
        let written = &self.written.tables[table.index()];
        let listed = written.actions[written.default_action.action as usize].action;
        let parameters = &self.written.actions[listed.index()].parameters;
        let arguments =
            action.map_or(&written.default_action.arguments, |action| &action.arguments);
        let changed: Vec<(Arc<str>, Bits)> = parameters
            .iter()
            .zip(arguments)
            .filter(|(parameter, value)| init.words.get(&parameter.name) != Some(*value))
            .map(|(parameter, value)| (parameter.name.clone(), value.clone()))
            .collect();
        let init = &mut self.inits[index];
        let loads = |name: &Arc<str>, run: &Program, handle: ir::ActionId| {
            run.actions[handle.index()].parameters.iter().any(|parameter| parameter.name == *name)
        };
        let mut bins: Vec<usize> = Vec::new();
        for (name, value) in changed {
            for (number, handle) in init.handles.iter().enumerate() {
                if loads(&name, &self.run, handle.1) {
                    match number {
                        0 => init.has_changed = true,
                        number if !bins.contains(&number) => bins.push(number),
                        _ => {}
                    }
                }
            }
            init.words.insert(name, value);
        }
        let mut items = Vec::new();
        for number in bins {
            init.has_prepared = true;
            let table = init.handles[number].0;
            for (version, phase) in [(init.version ^ 1, PREPARE), (init.version, MIRROR)] {
                let entry = init.entry(&self.run, number, version);
                let update = Update::ModifyEntry { table, entry };
                items.push(Physical::at(TargetIndex(0), update).in_phase(phase));
            }
        }
        items
    }
}
