// SPDX-License-Identifier: Apache-2.0
//! A driver below the control map that fails now and then, and drivers with a mistake.

use control::state_target::StateTarget;
use control::target::{Batch, Fault, Item, Notification, Outcome, Target, Ticket, Visibility};
use ir::{KeyPattern, Program, TableId};
use state::{Atomicity, BatchItem, EntryHandle, NewEntry, Subscription, Update, UpdateError};
use std::collections::HashMap;
use std::sync::Arc;
use testing::Choices;

/// A mistake of the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mistake {
    /// None.
    #[default]
    None,
    /// What an atomic batch did before it failed stays.
    NotUndone,
    /// The handle of an entry is looked up when the entry is added first, and kept when it is deleted.
    KeptHandles,
}

/// An entry of a table by keys and priority.
type Name = (TableId, Vec<KeyPattern>, i64);

/// A driver that refuses some of the batches which may be undone.
pub struct Driver {
    target: Box<dyn Target>,
    choices: Choices,
    mistake: Mistake,
    /// Tickets of batches that fail, with their numbers of items.
    failing: HashMap<Ticket, usize>,
    /// What was written, for handles.
    mirror: StateTarget,
    handles: HashMap<Name, EntryHandle>,
}

impl Driver {
    pub fn new(target: Box<dyn Target>, seed: u64, mistake: Mistake) -> Driver {
        let mirror = StateTarget::new(target.program()).expect("the program is whole");
        Driver {
            target,
            choices: Choices::from_seed(seed ^ 0xd41_7e5),
            mistake,
            failing: HashMap::new(),
            mirror,
            handles: HashMap::new(),
        }
    }

    /// Replaces the entry of a modification by the one that has its handle now.
    fn by_handle(&mut self, table: TableId, entry: &mut NewEntry) {
        let name = (table, entry.keys.clone(), entry.priority);
        let configuration = self.mirror.store().configuration();
        let current = configuration.entry_handle(table, &entry.keys, entry.priority);
        let kept = self.handles.get(&name).copied().or(current.ok());
        let state = configuration.table(table).expect("a table of the program");
        if let Some(found) = kept.and_then(|handle| state.shared_entry(handle)) {
            entry.keys.clone_from(&found.keys);
            entry.priority = found.priority;
        }
    }

    /// Records a batch, and writes entries by the handles that were kept.
    fn note(&mut self, batch: &mut Batch) {
        for item in &mut batch.items {
            let Item::State(BatchItem::Update(update)) = item else { continue };
            if let Update::ModifyEntry { table, entry } = update {
                let table = *table;
                self.by_handle(table, entry);
            }
            if update.touches_cells() {
                continue;
            }
            self.mirror.execute(Batch::one(update.clone()));
            if let Update::InsertEntry { table, entry } = update {
                let configuration = self.mirror.store().configuration();
                if let Ok(at) = configuration.entry_handle(*table, &entry.keys, entry.priority) {
                    let name = (*table, entry.keys.clone(), entry.priority);
                    self.handles.entry(name).or_insert(at);
                }
            }
        }
    }
}

impl Target for Driver {
    fn program(&self) -> Arc<Program> {
        self.target.program()
    }

    fn now_ps(&self) -> u64 {
        self.target.now_ps()
    }

    fn visibility(&self) -> Visibility {
        self.target.visibility()
    }

    fn submit(&mut self, mut batch: Batch, at_ps: u64) -> Ticket {
        let count = batch.items.len();
        let may_fail = batch.atomicity == Atomicity::RollbackOnError && !batch.only_reads();
        let fails = may_fail && self.choices.one_in(8);
        if self.mistake == Mistake::KeptHandles && !fails {
            self.note(&mut batch);
        }
        if !fails {
            return self.target.submit(batch, at_ps);
        }
        match self.mistake {
            Mistake::NotUndone => {
                batch.items.truncate(count.div_ceil(2));
                batch.atomicity = Atomicity::ContinueOnError;
            }
            // The program has no such table.
            _ => {
                let table = TableId(u32::MAX);
                batch.items.push(Update::SetDefaultAction { table, action: None }.into());
            }
        }
        let ticket = self.target.submit(batch, at_ps);
        self.failing.insert(ticket, count);
        ticket
    }

    fn reserve(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.target.reserve(batch, at_ps)
    }

    fn commit(&mut self, reservation: Ticket, at_ps: u64) -> Ticket {
        self.target.commit(reservation, at_ps)
    }

    fn release(&mut self, reservation: Ticket) {
        self.target.release(reservation);
    }

    fn barrier(&mut self, at_ps: u64) -> Ticket {
        self.target.barrier(at_ps)
    }

    fn next_event_ps(&self) -> Option<u64> {
        self.target.next_event_ps()
    }

    fn poll(&mut self, ticket: Ticket) -> Option<Outcome> {
        let outcome = self.target.poll(ticket)?;
        let Some(count) = self.failing.remove(&ticket) else { return Some(outcome) };
        let fault = Fault::Refused(UpdateError::NoSuchObject { kind: "table", index: u32::MAX });
        let failed = Outcome::aborted(count, 0, fault, outcome.applied_ps);
        Some(Outcome { known_ps: outcome.known_ps, ..failed })
    }

    fn notifications(&mut self) -> Vec<Notification> {
        self.target.notifications()
    }

    fn subscribe(&mut self, tables: &[TableId]) -> Option<Subscription> {
        self.target.subscribe(tables)
    }

    fn takes_time(&mut self, ticket: Ticket) -> bool {
        self.target.takes_time(ticket)
    }
}
