// SPDX-License-Identifier: Apache-2.0
//! `Subscription`: changes of chosen tables. Writers mark changed tables with a few atomic stores; a subscriber
//! checks with one atomic load, or waits. The store calls no code of subscribers.

use crate::{Batch, BatchItem, Update};
use ir::{ActionProfileId, Program, TableId};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

/// A table that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableChange {
    /// Which.
    pub table: TableId,
    /// The version of the configuration in which it changed last.
    pub version: u64,
}

/// Marks of one subscriber.
#[derive(Debug)]
struct Marks {
    /// By table, the version of the last change not taken yet; 0 if there is none.
    tables: Vec<(TableId, AtomicU64)>,
    has_changed: AtomicBool,
    waiting: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Marks {
    fn mark(&self, table: TableId, version: u64) -> bool {
        let own = self.tables.iter().find(|(of, _)| *of == table);
        own.map(|(_, changed)| changed.fetch_max(version, Ordering::Release)).is_some()
    }

    fn raise(&self) {
        self.has_changed.store(true, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // A subscriber that has checked before is waiting once the lock is free.
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.changed.notify_all();
        }
    }
}

/// Changes of chosen tables of a store: of their entries, of their default actions, and of members and groups of
/// their action profiles. It ends when it is dropped.
///
/// A change is marked before packets or reads see the version that has it. So code that was made for the tables of
/// version `v`, and finds no change after it has taken a version, may use it with that version.
#[derive(Debug)]
pub struct Subscription {
    marks: Arc<Marks>,
    store: Weak<Subscriptions>,
}

impl Subscription {
    /// Whether a table has changed since the last [`Subscription::take`]: one atomic load.
    #[inline]
    pub fn has_changed(&self) -> bool {
        self.marks.has_changed.load(Ordering::Acquire)
    }

    /// Tables that have changed since the last call, in the order in which they were named. A table that changed
    /// several times is there once, with its last version.
    pub fn take(&self) -> Vec<TableChange> {
        if !self.marks.has_changed.swap(false, Ordering::SeqCst) {
            return Vec::new();
        }
        let changes = self.marks.tables.iter().filter_map(|(table, changed)| {
            let version = changed.swap(0, Ordering::Acquire);
            (version > 0).then_some(TableChange { table: *table, version })
        });
        changes.collect()
    }

    /// Waits until a table changes, at most for this time. Returns whether one has.
    pub fn wait(&self, timeout: Duration) -> bool {
        let until = Instant::now().checked_add(timeout);
        let marks = &self.marks;
        marks.waiting.fetch_add(1, Ordering::SeqCst);
        let mut guard = marks.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !marks.has_changed.load(Ordering::SeqCst) {
            let rest = until.map(|until| until.saturating_duration_since(Instant::now()));
            if rest == Some(Duration::ZERO) {
                break;
            }
            let rest = rest.unwrap_or(Duration::MAX);
            let waited = marks.changed.wait_timeout(guard, rest);
            guard = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(guard);
        marks.waiting.fetch_sub(1, Ordering::SeqCst);
        self.has_changed()
    }

    /// Returns whether the store was dropped, for example after a swap of programs. Its tables do not change any
    /// more.
    pub fn is_over(&self) -> bool {
        self.store.strong_count() == 0
    }
}

/// The subscribers of one store.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    /// Upper bound of their number; writers stop here while it is 0.
    count: AtomicUsize,
    list: RwLock<Vec<Weak<Marks>>>,
}

impl Subscriptions {
    pub(crate) fn subscribe(
        self: &Arc<Subscriptions>,
        tables: impl IntoIterator<Item = TableId>,
    ) -> Subscription {
        let marks = Arc::new(Marks {
            tables: tables.into_iter().map(|table| (table, AtomicU64::new(0))).collect(),
            has_changed: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        });
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        list.retain(|other| other.strong_count() > 0);
        list.push(Arc::downgrade(&marks));
        self.count.store(list.len(), Ordering::SeqCst);
        Subscription { marks, store: Arc::downgrade(self) }
    }

    /// Returns whether there may be subscribers.
    #[inline]
    pub(crate) fn exist(&self) -> bool {
        self.count.load(Ordering::SeqCst) > 0
    }

    /// Returns the tables that the items of a batch may change, with the indexes of the items.
    pub(crate) fn candidates(&self, program: &Program, batch: &Batch) -> Vec<(usize, TableId)> {
        let mut found = Vec::new();
        for (at, item) in batch.items.iter().enumerate() {
            let BatchItem::Update(update) = item else { continue };
            match subject(update) {
                Subject::Table(table) => found.push((at, table)),
                Subject::Profile(profile) => {
                    let tables = (0..program.tables.len() as u32).map(TableId);
                    let uses = |table: &TableId| {
                        program.tables[table.index()].implementation == Some(profile)
                    };
                    found.extend(tables.filter(uses).map(|table| (at, table)));
                }
                Subject::Other => {}
            }
        }
        found
    }

    /// Tables changed in a version.
    pub(crate) fn mark(&self, tables: impl Iterator<Item = TableId> + Clone, version: u64) {
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        let mut has_ended = false;
        for marks in list.iter() {
            let Some(marks) = marks.upgrade() else {
                has_ended = true;
                continue;
            };
            // Each table is marked, so no short circuit.
            let marked = tables.clone().filter(|table| marks.mark(*table, version)).count();
            if marked > 0 {
                marks.raise();
            }
        }
        drop(list);
        if has_ended {
            let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
            list.retain(|marks| marks.strong_count() > 0);
            self.count.store(list.len(), Ordering::SeqCst);
        }
    }
}

/// The table or profile that an update changes.
enum Subject {
    Table(TableId),
    Profile(ActionProfileId),
    Other,
}

fn subject(update: &Update) -> Subject {
    match update {
        Update::InsertEntry { table, .. }
        | Update::ModifyEntry { table, .. }
        | Update::DeleteEntry { table, .. }
        | Update::ModifyEntryAt { table, .. }
        | Update::DeleteEntryAt { table, .. }
        | Update::ClearEntries { table }
        | Update::SetDefaultAction { table, .. } => Subject::Table(*table),
        Update::InsertMember { profile, .. }
        | Update::ModifyMember { profile, .. }
        | Update::DeleteMember { profile, .. }
        | Update::InsertGroup { profile, .. }
        | Update::ModifyGroup { profile, .. }
        | Update::DeleteGroup { profile, .. } => Subject::Profile(*profile),
        _ => Subject::Other,
    }
}
