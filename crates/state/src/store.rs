// SPDX-License-Identifier: Apache-2.0
//! The store: the current configuration version and the way to the next one, on both sides. What single
//! updates do is in `draft`, what reads answer in `read`.

use crate::change::Change;
use crate::draft::Draft;
use crate::forwarding::{ForwardingCache, ForwardingGuard, ForwardingState, Publication};
use crate::table::TableState;
use crate::validation::{allowed_action, declared_keys};
use crate::{
    ActionData, Atomicity, Batch, BatchItem, BatchOutcome, BoundAction, Cells, Configuration,
    DefaultAction, NewEntry, Reply, UpdateError,
};
use ir::{ActionCall, Program, Table};
use std::sync::{Arc, PoisonError, RwLock};

/// The configuration of one program on one device.
///
/// It has two sides. The master is the [`Configuration`] that the interpreter and control planes read:
/// a version that no packet holds is changed in place; one that is held is left alone, and its parts
/// are copied as far as they change. The forwarding side is derived from it for compiled packets, once
/// somebody asks for it; its readers never wait, and writers hardly ever wait for them.
#[derive(Debug)]
pub struct Store {
    current: RwLock<Arc<Configuration>>,
    forwarding: Publication,
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
            replication: Arc::new(crate::Replication::of(&program)),
            program,
        };
        Ok(Store {
            current: RwLock::new(Arc::new(configuration)),
            forwarding: Publication::default(),
        })
    }

    /// The current version. Whoever holds it for long makes updates copy what they change.
    pub fn configuration(&self) -> Arc<Configuration> {
        // Updates check before they change anything, so a panic elsewhere leaves a whole version.
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The current version of the forwarding side. Takes the time of building it at the first call, and
    /// constant time after that. Whoever holds it for long makes writers copy it.
    pub fn forwarding(&self) -> Arc<ForwardingState> {
        self.forwarding.load().unwrap_or_else(|| self.begin_forwarding())
    }

    /// The same, to look at for a moment.
    pub fn forwarding_guard(&self) -> ForwardingGuard {
        self.forwarding.guard(|| self.begin_forwarding())
    }

    /// The same, to look at again and again.
    pub fn forwarding_cache(&self) -> ForwardingCache {
        drop(self.forwarding());
        self.forwarding.cache()
    }

    fn begin_forwarding(&self) -> Arc<ForwardingState> {
        // Nobody writes to the master while it is copied.
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        self.forwarding.begin(&current)
    }

    /// Has whoever changes the forwarding side tell of large memory that lookups go to, by address and bytes,
    /// whenever it has moved or grown. The first one to ask is told.
    pub fn set_memory_advisor(&self, advisor: fn(usize, usize)) {
        self.forwarding.set_advisor(advisor);
    }

    /// Copies of the forwarding side in memory, those included that only readers hold. For watching
    /// memory.
    pub fn forwarding_copies(&self) -> usize {
        self.forwarding.copies()
    }

    /// Carries a batch out. Packets see all of it or nothing of it.
    pub fn write_batch(&self, cells: &mut Cells, batch: Batch) -> BatchOutcome {
        self.write_shared(Some(cells), batch)
    }

    /// Carries out a batch of configuration only, as from another thread than that of the packets.
    /// Updates and reads of registers, counters and meters are refused.
    pub fn write_configuration(&self, batch: Batch) -> BatchOutcome {
        self.write_shared(None, batch)
    }

    /// As [`Store::write_batch`], where no other thread has the store: the forwarding side is then
    /// changed in place, without a second copy.
    pub fn write_batch_mut(&mut self, cells: &mut Cells, batch: Batch) -> BatchOutcome {
        let logs = self.forwarding.exists();
        let current = self.current.get_mut().unwrap_or_else(PoisonError::into_inner);
        let (outcome, changes) = carry_out(current, Some(cells), batch, logs);
        if logs && !changes.is_empty() {
            let entries = current.entry_count();
            self.forwarding.publish_in_place(changes, current.version, entries);
        }
        outcome
    }

    /// What [`Store::write_batch`] would answer now. Nothing changes, for packets or for later batches.
    pub fn check_batch(&self, cells: &mut Cells, batch: Batch) -> BatchOutcome {
        self.check_shared(Some(cells), batch)
    }

    /// What [`Store::write_configuration`] would answer now. Nothing changes.
    pub fn check_configuration(&self, batch: Batch) -> BatchOutcome {
        self.check_shared(None, batch)
    }

    fn check_shared(&self, cells: Option<&mut Cells>, batch: Batch) -> BatchOutcome {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        // A version that a reader holds is copied where it changes; the copies go with the draft.
        let mut copy = Arc::get_mut(&mut current).is_none().then(|| Configuration::clone(&current));
        let configuration = match &mut copy {
            Some(copy) => copy,
            None => Arc::make_mut(&mut current),
        };
        let mut draft = Draft::new(configuration, cells, batch.now_ps, false, true);
        let stops = batch.stops_on_error();
        let outcome = draft.carry_out(batch.items, stops);
        draft.undo();
        outcome
    }

    /// Changes the master at will. The forwarding side is built anew when it is asked for next.
    pub(crate) fn rewrite<T>(&mut self, change: impl FnOnce(&mut Configuration) -> T) -> T {
        self.forwarding.withdraw();
        let current = self.current.get_mut().unwrap_or_else(PoisonError::into_inner);
        let configuration = Arc::make_mut(current);
        configuration.version += 1;
        change(configuration)
    }

    fn write_shared(&self, cells: Option<&mut Cells>, batch: Batch) -> BatchOutcome {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        // It cannot come into being meanwhile, as that takes the lock.
        let logs = self.forwarding.exists();
        let (outcome, changes) = carry_out(&mut current, cells, batch, logs);
        if logs && !changes.is_empty() {
            let entries = current.entry_count();
            self.forwarding.publish(changes, current.version, entries);
        }
        outcome
    }
}

/// Carries a batch out on the master; returns what changed where `logs` asks for it.
fn carry_out(
    current: &mut Arc<Configuration>,
    cells: Option<&mut Cells>,
    batch: Batch,
    logs: bool,
) -> (BatchOutcome, Vec<Change>) {
    let is_update = |item: &BatchItem| matches!(item, BatchItem::Update(_));
    if !batch.items.iter().any(is_update) && batch.atomicity == Atomicity::ContinueOnError {
        let answer = |item| match item {
            BatchItem::Read(read) => current.answer_with(cells.as_deref(), &read),
            BatchItem::Update(_) => Ok(Reply::Done),
        };
        let results = batch.items.into_iter().map(answer).collect();
        return (BatchOutcome { results, rolled_back: false }, Vec::new());
    }
    let stops = batch.stops_on_error();
    let configuration = Arc::make_mut(current);
    let mut draft = Draft::new(configuration, cells, batch.now_ps, logs, stops);
    let outcome = draft.carry_out(batch.items, stops);
    let changes = match outcome.rolled_back {
        true => {
            draft.undo();
            Vec::new()
        }
        false => draft.finish(),
    };
    (outcome, changes)
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

pub(crate) fn initial_table(
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

/// Whether a table's entries and default action are those that its program gives.
pub(crate) fn is_as_declared(program: &Program, table: &Table, state: &TableState) -> bool {
    let content = |state: &TableState| {
        let mut entries: Vec<_> =
            state.entries().map(|entry| (entry.generation, entry.to_new_entry())).collect();
        entries.sort_by_key(|(generation, _)| *generation);
        entries.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>()
    };
    state.len() == table.entries.len()
        && state.default_action().is_initial
        && initial_table(program, table, &mut 1)
            .is_ok_and(|initial| content(&initial) == content(state))
}
