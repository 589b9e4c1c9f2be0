// SPDX-License-Identifier: Apache-2.0
//! The store: the current configuration version and the way to the next one. What single updates do is
//! in `draft`, what reads answer in `read`.

use crate::draft::Draft;
use crate::table::TableState;
use crate::validation::{allowed_action, declared_keys};
use crate::{
    ActionData, Atomicity, Batch, BatchItem, BatchOutcome, BoundAction, Cells, Configuration,
    CrcParameters, DefaultAction, NewEntry, UpdateError,
};
use ir::{ActionCall, Program, Table};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The configuration of one program on one device.
///
/// A version that no packet holds is changed in place; one that is held is left alone, and its parts
/// are copied as far as they change.
#[derive(Debug)]
pub struct Store {
    current: RwLock<Arc<Configuration>>,
}

impl Store {
    /// A store with the entries and default actions that the program gives. Fails only for programs
    /// that the verifier refuses.
    pub fn new(program: Arc<Program>) -> Result<Store, UpdateError> {
        let mut next_generation = 1;
        let tables = program
            .tables
            .iter()
            .map(|table| initial_table(&program, table, &mut next_generation).map(Arc::new))
            .collect::<Result<_, _>>()?;
        let configuration = Configuration {
            version: 0,
            next_generation,
            tables,
            profiles: program.action_profiles.iter().map(|_| Arc::default()).collect(),
            value_sets: program.value_sets.iter().map(|_| Arc::default()).collect(),
            multicast_groups: Arc::new(BTreeMap::new()),
            clone_sessions: Arc::new(BTreeMap::new()),
            crc16: CrcParameters::CRC16,
            crc32: CrcParameters::CRC32,
            program,
        };
        Ok(Store { current: RwLock::new(Arc::new(configuration)) })
    }

    /// The current version. Whoever holds it for long makes updates copy what they change.
    pub fn configuration(&self) -> Arc<Configuration> {
        // Updates check before they change anything, so a panic elsewhere leaves a whole version.
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Carries a batch out. Packets see all of it or nothing of it.
    pub fn write_batch(&self, cells: &mut Cells, batch: Batch) -> BatchOutcome {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        // A single item has nothing to be undone, as it checks before it changes.
        if batch.atomicity == Atomicity::ContinueOnError || batch.items.len() <= 1 {
            run_each(&mut current, cells, batch)
        } else {
            run_together(&mut current, cells, batch)
        }
    }
}

fn run_each(current: &mut Arc<Configuration>, cells: &mut Cells, batch: Batch) -> BatchOutcome {
    let mut is_changed = false;
    let mut results = Vec::with_capacity(batch.items.len());
    for item in batch.items {
        results.push(match item {
            BatchItem::Read(read) => current.answer(cells, &read),
            BatchItem::Update(update) => {
                let configuration = Arc::make_mut(current);
                let result = Draft::new(configuration, cells, batch.now_ps).apply(update);
                if result.is_ok() && !is_changed {
                    is_changed = true;
                    configuration.version += 1;
                }
                result
            }
        });
    }
    BatchOutcome { results, rolled_back: false }
}

fn run_together(current: &mut Arc<Configuration>, cells: &mut Cells, batch: Batch) -> BatchOutcome {
    let count = batch.items.len();
    let mut configuration = Configuration::clone(current);
    let mut draft = Draft::recording(&mut configuration, cells, batch.now_ps);
    let mut results = Vec::with_capacity(count);
    for (at, item) in batch.items.into_iter().enumerate() {
        let result = match item {
            BatchItem::Read(read) => draft.answer(&read),
            BatchItem::Update(update) => draft.apply(update),
        };
        if result.is_err() {
            draft.undo();
            let mut results = vec![Err(UpdateError::Aborted); count];
            results[at] = result;
            return BatchOutcome { results, rolled_back: true };
        }
        results.push(result);
    }
    configuration.version += 1;
    *current = Arc::new(configuration);
    BatchOutcome { results, rolled_back: false }
}

/// A call of the program, with its action instead of the index into the table's list.
fn bound_action(table: &Table, call: &ActionCall) -> Result<BoundAction, UpdateError> {
    let listed = table
        .actions
        .get(call.action as usize)
        .ok_or(UpdateError::NoSuchObject { kind: "action", index: call.action })?;
    Ok(BoundAction { action: listed.action, arguments: call.arguments.clone() })
}

/// The default action that the program gives.
pub(crate) fn initial_default(table: &Table) -> Result<DefaultAction, UpdateError> {
    Ok(DefaultAction {
        action: bound_action(table, &table.default_action)?,
        action_index: table.default_action.action,
        is_initial: true,
    })
}

fn initial_table(
    program: &Program,
    table: &Table,
    next_generation: &mut u64,
) -> Result<TableState, UpdateError> {
    let mut default = initial_default(table)?;
    default.action = crate::validation::fitting_arguments(program, &default.action)?;
    let mut state = TableState::new(table, default);
    for entry in &table.entries {
        let action = bound_action(table, &entry.call)?;
        let entry_of_program = NewEntry {
            keys: declared_keys(table, &entry.keys)?,
            priority: entry.priority,
            action: ActionData::Direct(allowed_action(program, table, &action, false)?),
            idle_timeout_ns: 0,
            metadata: Vec::new(),
            cookie: 0,
        };
        state.insert(entry_of_program, *next_generation, 0, Some(entry.origin));
        *next_generation += 1;
    }
    Ok(state)
}
