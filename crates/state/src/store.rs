// SPDX-License-Identifier: Apache-2.0
//! `Store`: holds the current configuration version and publishes the next one, for the interpreter
//! (`Configuration`) and for compiled code (`ForwardingState`). `draft` applies updates, `read` answers reads,
//! `versions` counts pinned versions.

use crate::change::Change;
use crate::draft::Draft;
use crate::forwarding::{ForwardingCache, ForwardingState, Publication};
use crate::initial::initial_table;
use crate::subscription::{Subscription, Subscriptions};
use crate::versions::{Ledger, VersionToken};
use crate::{
    Atomicity, Batch, BatchItem, BatchOutcome, Cells, Configuration, Reply, UpdateError,
    VersionStatistics,
};
use ir::{Program, TableId};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

/// The configuration of one program on one device.
///
/// It has two sides. The master is the [`Configuration`] that the interpreter and control planes read. A batch changes a
/// version in place if no reader holds it, else it copies the parts that change. The forwarding side is derived from
/// the master on the first request, for compiled code; its readers and writers never wait for each other.
///
/// # Pinned versions
///
/// A version that a reader holds is *pinned* once it is not current any more. Writers proceed while at most
/// [`Store::MAX_PINNED_VERSIONS`] older versions are pinned, on both sides together. With more, `try_write_...` hands the
/// batch back and `write_...` waits for a release. Reads, checks and updates of cells are not affected.
#[derive(Debug)]
pub struct Store {
    current: RwLock<Arc<Configuration>>,
    forwarding: Publication,
    versions: Arc<Ledger>,
    subscriptions: Arc<Subscriptions>,
}

/// How a change reaches the forwarding side.
#[derive(Clone, Copy, Debug)]
enum WriteMode {
    /// Changes a copy, because packets may read the current version.
    Copy,
    /// Changes the current version.
    InPlace,
}

/// The result of a batch.
struct AppliedBatch {
    outcome: BatchOutcome,
    /// The changes of the configuration, if they are recorded.
    changes: Vec<Change>,
    /// Whether the configuration has changed.
    is_changed: bool,
    /// Whether readers held the old version, so that it was copied.
    is_copied: bool,
}

/// A batch refused for pinned versions, and the count of releases to wait for.
struct RefusedBatch {
    batch: Batch,
    releases: u64,
}

impl Store {
    /// Largest number of pinned older versions while a batch changes the configuration.
    pub const MAX_PINNED_VERSIONS: usize = 16;

    /// A store with the entries and default actions that the program gives. Fails only for programs
    /// that the verifier refuses.
    pub fn new(program: Arc<Program>) -> Result<Store, UpdateError> {
        let mut next_generation = 1;
        let tables = program
            .tables
            .iter()
            .map(|table| initial_table(&program, table, &mut next_generation).map(Arc::new))
            .collect::<Result<_, _>>()?;
        let versions = Arc::new(Ledger::default());
        let configuration = Configuration {
            token: VersionToken::new(&versions, 0),
            next_generation,
            tables,
            profiles: program.action_profiles.iter().map(|_| Arc::default()).collect(),
            value_sets: program.value_sets.iter().map(|_| Arc::default()).collect(),
            replication: Arc::new(crate::Replication::of(&program)),
            program,
        };
        Ok(Store {
            current: RwLock::new(Arc::new(configuration)),
            forwarding: Publication::new(versions.clone()),
            versions,
            subscriptions: Arc::default(),
        })
    }

    /// The current version. Holding it makes updates copy what they change.
    pub fn configuration(&self) -> Arc<Configuration> {
        self.read().clone()
    }

    fn read(&self) -> RwLockReadGuard<'_, Arc<Configuration>> {
        // Updates check before they change anything, so a panic elsewhere leaves a whole version.
        self.current.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> RwLockWriteGuard<'_, Arc<Configuration>> {
        self.current.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The current version of the forwarding side. Takes the time of building it at the first call, and
    /// constant time after that. Holding it makes writers copy the tables that they change.
    pub fn forwarding(&self) -> Arc<ForwardingState> {
        self.forwarding.load().unwrap_or_else(|| self.begin_forwarding())
    }

    /// Returns a cache of the current version of the forwarding side for repeated reads.
    pub fn forwarding_cache(&self) -> ForwardingCache {
        drop(self.forwarding());
        self.forwarding.cache()
    }

    fn begin_forwarding(&self) -> Arc<ForwardingState> {
        // The read lock blocks writers while the master is copied.
        self.forwarding.begin(&self.read())
    }

    /// Sets the function that changes of the forwarding side call with address and size of large memory that lookups
    /// read, whenever it has moved or grown. The first one set stays.
    pub fn set_memory_advisor(&self, advisor: fn(usize, usize)) {
        self.forwarding.set_advisor(advisor);
    }

    /// Returns the largest number of copies of a part of the forwarding side, such as a table, including copies that
    /// only readers hold.
    pub fn forwarding_copies(&self) -> usize {
        self.forwarding.copies()
    }

    /// Returns the number of older versions that readers hold, on either side. A version held on both sides counts
    /// once.
    pub fn pinned_versions(&self) -> usize {
        self.version_statistics().pinned
    }

    /// What pinned versions have cost so far.
    pub fn version_statistics(&self) -> VersionStatistics {
        let current = self.read();
        self.forwarding.take_back();
        self.versions.statistics(current.version())
    }

    /// Sets the function to call when a pinned version is released after a refused batch, so that the writer can
    /// retry. It runs on the thread that releases the version, possibly within a call to the store: it may wake a
    /// thread but must not use the store.
    pub fn on_release(&self, callback: impl Fn() + Send + Sync + 'static) {
        self.versions.set_callback(Arc::new(callback));
    }

    /// Subscribes to changes of these tables. Writers of other tables and lookups pay nothing for it.
    pub fn subscribe(&self, tables: impl IntoIterator<Item = TableId>) -> Subscription {
        self.subscriptions.subscribe(tables)
    }

    /// Waits until a batch would not be refused for pinned versions, at most for this time. Returns whether
    /// that is so.
    pub fn wait_for_release(&self, timeout: Duration) -> bool {
        let until = Instant::now().checked_add(timeout);
        loop {
            let refused = self.refuses(&self.read());
            let Some(releases) = refused else { return true };
            if !self.versions.wait(releases, until) {
                return false;
            }
        }
    }

    /// Applies a batch. Packets see all of it or nothing of it. While too many versions are pinned, the call blocks
    /// until one is released; a thread that may hold the pins itself uses [`Store::try_write_batch`].
    pub fn write_batch(&self, cells: &mut Cells, batch: Batch) -> BatchOutcome {
        self.write(Some(cells), batch, WriteMode::Copy)
    }

    /// Applies a batch of configuration only, from another thread than that of the packets. Updates and reads of
    /// registers, counters and meters are errors. Blocks like [`Store::write_batch`].
    pub fn write_configuration(&self, batch: Batch) -> BatchOutcome {
        self.write(None, batch, WriteMode::Copy)
    }

    /// As [`Store::write_batch`], while no packet runs: the forwarding side is changed in place, without a
    /// second copy, where no reader holds it. A reader that begins meanwhile waits.
    pub fn write_batch_in_place(&self, cells: &mut Cells, batch: Batch) -> BatchOutcome {
        self.write(Some(cells), batch, WriteMode::InPlace)
    }

    /// As [`Store::write_batch`], but hands the batch back while too many versions are pinned.
    pub fn try_write_batch(&self, cells: &mut Cells, batch: Batch) -> Result<BatchOutcome, Batch> {
        self.try_write(Some(cells), batch, WriteMode::Copy)
            .map_err(|refused| self.hand_back(refused))
    }

    /// As [`Store::write_configuration`], but hands the batch back while too many versions are pinned.
    pub fn try_write_configuration(&self, batch: Batch) -> Result<BatchOutcome, Batch> {
        self.try_write(None, batch, WriteMode::Copy).map_err(|refused| self.hand_back(refused))
    }

    /// As [`Store::write_batch_in_place`], but hands the batch back while too many versions are pinned.
    pub fn try_write_batch_in_place(
        &self,
        cells: &mut Cells,
        batch: Batch,
    ) -> Result<BatchOutcome, Batch> {
        self.try_write(Some(cells), batch, WriteMode::InPlace)
            .map_err(|refused| self.hand_back(refused))
    }

    fn hand_back(&self, refused: RefusedBatch) -> Batch {
        self.versions.count_refusal();
        refused.batch
    }

    /// Returns the argument of [`Ledger::wait`] while too many versions are pinned beside the current one.
    fn refuses(&self, current: &Configuration) -> Option<u64> {
        let (version, most) = (current.version(), Store::MAX_PINNED_VERSIONS);
        if !self.versions.may_refuse(most) {
            return None;
        }
        // The publication may hold some of them.
        self.forwarding.release_retired();
        self.versions.refuse(version, most)
    }

    /// Returns what [`Store::write_batch`] would return now, without any effect.
    pub fn check_batch(&self, cells: &mut Cells, batch: Batch) -> BatchOutcome {
        self.check_shared(Some(cells), batch)
    }

    /// Returns what [`Store::write_configuration`] would return now, without any effect.
    pub fn check_configuration(&self, batch: Batch) -> BatchOutcome {
        self.check_shared(None, batch)
    }

    fn check_shared(&self, cells: Option<&mut Cells>, batch: Batch) -> BatchOutcome {
        let mut current = self.lock();
        // A version that a reader holds is copied where it changes; the copies go with the draft.
        let mut copy = Arc::get_mut(&mut current).is_none().then(|| Configuration::clone(&current));
        let configuration = match &mut copy {
            Some(copy) => copy,
            None => Arc::make_mut(&mut current),
        };
        let mut draft = Draft::new(configuration, cells, batch.now_ps, false, true);
        let stops = batch.stops_on_error();
        let outcome = draft.apply_items(batch.items, stops);
        draft.undo();
        outcome
    }

    /// Changes the master arbitrarily. The forwarding side is rebuilt on the next request.
    pub(crate) fn rewrite<T>(&mut self, change: impl FnOnce(&mut Configuration) -> T) -> T {
        self.forwarding.withdraw();
        let current = self.current.get_mut().unwrap_or_else(PoisonError::into_inner);
        let configuration = Arc::make_mut(current);
        configuration.advance();
        if self.subscriptions.exist() {
            let tables = (0..configuration.tables.len() as u32).map(TableId);
            self.subscriptions.mark(tables, configuration.version());
        }
        change(configuration)
    }

    fn write(&self, mut cells: Option<&mut Cells>, batch: Batch, mode: WriteMode) -> BatchOutcome {
        let mut refused = match self.try_write(cells.as_deref_mut(), batch, mode) {
            Ok(outcome) => return outcome,
            Err(refused) => refused,
        };
        self.versions.count_refusal();
        loop {
            self.versions.wait(refused.releases, None);
            refused = match self.try_write(cells.as_deref_mut(), refused.batch, mode) {
                Ok(outcome) => return outcome,
                Err(refused) => refused,
            };
        }
    }

    fn try_write(
        &self,
        cells: Option<&mut Cells>,
        batch: Batch,
        mode: WriteMode,
    ) -> Result<BatchOutcome, RefusedBatch> {
        let mut current = self.lock();
        if batch.changes_configuration()
            && let Some(releases) = self.refuses(&current)
        {
            return Err(RefusedBatch { batch, releases });
        }
        // Its creation takes the lock, so this stays true.
        let logs = self.forwarding.exists();
        let subscriptions = Some(&self.subscriptions).filter(|list| list.exist());
        let candidates = subscriptions.map(|list| list.candidates(current.program(), &batch));
        let applied = apply_batch(&mut current, cells, batch, logs);
        let version = current.version();
        if let (Some(list), true) = (candidates.filter(|list| !list.is_empty()), applied.is_changed)
        {
            // Mark before any reader sees the version.
            let results = &applied.outcome.results;
            let changed = list.iter().filter(|(at, _)| results.get(*at).is_some_and(Result::is_ok));
            self.subscriptions.mark(changed.map(|(_, table)| *table), version);
        }
        let copied_tables = match (applied.changes.is_empty(), mode) {
            (true, _) => 0,
            (false, WriteMode::Copy) => self.forwarding.publish(applied.changes, version),
            (false, WriteMode::InPlace) => {
                self.forwarding.publish_in_place(applied.changes, version)
            }
        };
        if applied.is_changed {
            let is_copied = applied.is_copied || copied_tables > 0;
            self.versions.note_batch(version, is_copied, copied_tables);
        }
        Ok(applied.outcome)
    }
}

/// Applies a batch to the master; `logs` records the changes.
fn apply_batch(
    current: &mut Arc<Configuration>,
    cells: Option<&mut Cells>,
    batch: Batch,
    logs: bool,
) -> AppliedBatch {
    let is_update = |item: &BatchItem| matches!(item, BatchItem::Update(_));
    if !batch.items.iter().any(is_update) && batch.atomicity == Atomicity::ContinueOnError {
        let answer = |item| match item {
            BatchItem::Read(read) => current.answer_with(cells.as_deref(), &read),
            BatchItem::Update(_) => Ok(Reply::Done),
        };
        let results = batch.items.into_iter().map(answer).collect();
        let outcome = BatchOutcome { results, rolled_back: false };
        return AppliedBatch { outcome, changes: Vec::new(), is_changed: false, is_copied: false };
    }
    let held = Arc::get_mut(current).is_none().then(|| current.clone());
    let stops = batch.stops_on_error();
    let configuration = Arc::make_mut(current);
    let mut draft = Draft::new(configuration, cells, batch.now_ps, logs, stops);
    let outcome = draft.apply_items(batch.items, stops);
    let (changes, is_changed) = match outcome.rolled_back {
        true => {
            draft.undo();
            (Vec::new(), false)
        }
        false => draft.finish(),
    };
    let is_copied = held.is_some() && is_changed;
    if let Some(held) = held
        && !is_changed
    {
        // A version is one object: the one that readers hold stays current.
        *current = held;
    }
    AppliedBatch { outcome, changes, is_changed, is_copied }
}
