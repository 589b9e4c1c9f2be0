// SPDX-License-Identifier: Apache-2.0
//! The state of a pipeline's init tables: the parameters that packets load, and the version that they match.

use super::rows::Row;
use crate::compiler::{InitParameter, InitTable};
use crate::language::Gress;
use ir::{ActionId, Bits, KeyPattern, Program, TableId};
use state::{BoundAction, NewEntry};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The state of a pipeline's init tables.
#[derive(Clone, Debug)]
pub(super) struct InitState {
    pub(super) gress: Gress,
    pub(super) tables: Vec<InitTable>,
    /// Handles of the tables and their actions.
    pub(super) handles: Vec<(TableId, ActionId)>,
    /// The parameters of each table as the batches so far leave them; the version is not among them.
    pub(super) words: BTreeMap<Arc<str>, Bits>,
    /// The version that packets match.
    pub(super) version: u64,
    /// Whether the batch changes rows of malleable tables.
    pub(super) has_prepared: bool,
    /// Whether the batch changes parameters of the master.
    pub(super) has_changed: bool,
    /// The alternatives that packets in flight may have loaded, the latest first.
    pub(super) recent: Vec<Vec<(usize, usize)>>,
}

/// Commits whose packets may be in flight together. The wait of each dialogue leaves two.
const MAX_RECENT: usize = 8;

impl InitState {
    /// The arguments of an init action of the program as run.
    pub(super) fn arguments(&self, run: &Program, number: usize) -> Vec<Bits> {
        let parameters = &run.actions[self.handles[number].1.index()].parameters;
        let arguments = parameters.iter().map(|parameter| match self.words.get(&parameter.name) {
            Some(value) => value.clone(),
            // The version is the only parameter that the program as written lacks.
            None => Bits::from_u64(1, self.version),
        });
        arguments.collect()
    }

    /// Records the alternatives of a commit.
    pub(super) fn note_alternatives(&mut self, run: &Program) {
        let mut chosen = Vec::new();
        for (init, (_, action)) in self.tables.iter().zip(&self.handles) {
            let names = run.actions[action.index()].parameters.iter();
            for (parameter, (is, _)) in names.zip(&init.parameters) {
                if let (InitParameter::Selector(field), Some(value)) =
                    (is, self.words.get(&parameter.name))
                {
                    chosen.push((*field, value.low_u64() as usize));
                }
            }
        }
        if self.recent.first() != Some(&chosen) {
            self.recent.retain(|other| *other != chosen);
            self.recent.insert(0, chosen);
            self.recent.truncate(MAX_RECENT);
        }
    }

    /// The place of a row of a table without versions in the order of writes. Packets that loaded later alternatives come
    /// to the table later, so their rows are written first.
    pub(super) fn rank(&self, row: &Row) -> usize {
        let is_loaded = |chosen: &Vec<(usize, usize)>| {
            row.choice.iter().all(|(field, alternative)| {
                chosen.iter().all(|(other, loaded)| other != field || loaded == alternative)
            })
        };
        self.recent.iter().position(is_loaded).unwrap_or(usize::MAX)
    }

    /// The entry of an init table behind the master.
    pub(super) fn entry(&self, run: &Program, number: usize, version: u64) -> NewEntry {
        let keys = vec![KeyPattern::Exact(Bits::from_u64(1, version))];
        let arguments = self.arguments(run, number);
        let action = BoundAction { action: self.handles[number].1, arguments };
        NewEntry::direct(keys, 0, action)
    }
}
