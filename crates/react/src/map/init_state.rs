// SPDX-License-Identifier: Apache-2.0
//! The state of a pipeline's init tables: the parameters that packets load, and the version that they match.

use crate::compiler::InitTable;
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
}

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

    /// The entry of an init table behind the master.
    pub(super) fn entry(&self, run: &Program, number: usize, version: u64) -> NewEntry {
        let keys = vec![KeyPattern::Exact(Bits::from_u64(1, version))];
        let arguments = self.arguments(run, number);
        let action = BoundAction { action: self.handles[number].1, arguments };
        NewEntry::direct(keys, 0, action)
    }
}
