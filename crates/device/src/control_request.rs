// SPDX-License-Identifier: Apache-2.0
//! Requests of controllers on their way to a device's driver: the inbox, the answers' mailboxes, and what other
//! threads may know of the device while it runs. Making requests is in `control_target`, serving them in
//! `driver`.

use crate::packet::ProgramId;
use control::target::{Batch, Fault, Item, Notification, Outcome, Reply, Ticket};
use ir::Program;
use state::{BatchItem, Configuration, Store};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
    TryLockError,
};

/// What a controller asks for.
#[derive(Debug)]
pub(crate) enum Wanted {
    Batch(Batch),
    Reserve(Batch),
    /// Of what was reserved under this ticket.
    Commit(Ticket),
    Release(Ticket),
    Barrier,
}

/// A request on its way to the device.
#[derive(Debug)]
pub(crate) struct Request {
    pub wanted: Wanted,
    /// Of which program it speaks.
    pub of: TargetProgram,
    pub at_ps: u64,
    pub ticket: Ticket,
    pub mailbox: Arc<Mailbox>,
}

impl Request {
    /// Answers it, if its controller waits for an answer.
    pub fn answer(self, outcome: Outcome) {
        let is_awaited = !matches!(self.wanted, Wanted::Release(_));
        self.mailbox.put(is_awaited.then_some((self.ticket, outcome)));
    }

    /// How many items it has.
    pub fn item_count(&self) -> usize {
        match &self.wanted {
            Wanted::Batch(batch) | Wanted::Reserve(batch) => batch.items.len(),
            Wanted::Commit(_) | Wanted::Release(_) | Wanted::Barrier => 0,
        }
    }
}

/// Work of the driver that is due at a time.
#[derive(Debug)]
pub(crate) enum ControlWork {
    /// A request that was made for later.
    Arrive(Box<Request>),
    /// The next piece of a job.
    Piece(u64),
    /// A barrier whose bound is over.
    BarrierDue(Box<Request>),
    /// Entries may have idled out.
    IdleCheck,
}

#[derive(Debug, Default)]
pub(crate) struct Mail {
    pub outcomes: VecDeque<(Ticket, Outcome)>,
    pub notifications: VecDeque<Notification>,
}

/// What the device has for one controller.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    mail: Mutex<Mail>,
    pub arrived: Condvar,
    /// Requests that the device has not answered yet.
    pub outstanding: AtomicUsize,
}

impl Mailbox {
    pub fn mail(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, answer: Option<(Ticket, Outcome)>) {
        self.mail().outcomes.extend(answer);
        self.outstanding.fetch_sub(1, Ordering::Release);
        self.arrived.notify_all();
    }

    /// Adds a notification.
    pub fn notify(&self, notification: Notification) {
        self.mail().notifications.push_back(notification);
    }
}

/// Which program a target speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetProgram {
    /// The device's main program, whichever it is.
    Main,
    /// The one that users know by this number.
    Loaded(ProgramId),
}

/// A program and its store.
#[derive(Debug)]
pub(crate) struct Current {
    pub program: Arc<Program>,
    pub store: Arc<Store>,
    /// Whether every write goes through the device: a batch is reserved, or entries may idle out.
    pub sees_all_writes: bool,
}

/// What targets know of a program on any thread. Writers of configuration hold it for reading; swaps and
/// reservations hold it for writing.
#[derive(Debug)]
pub(crate) struct Known(RwLock<Current>);

impl Known {
    /// What is known of this program.
    pub fn new(program: Arc<Program>, store: Arc<Store>) -> Known {
        Known(RwLock::new(Current { program, store, sees_all_writes: false }))
    }

    /// Keeps swaps out while it is held.
    pub fn current(&self) -> RwLockReadGuard<'_, Current> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps writers on other threads out while it is held.
    pub fn current_mut(&self) -> RwLockWriteGuard<'_, Current> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program.
    pub fn program(&self) -> Arc<Program> {
        self.current().program.clone()
    }

    /// The current version of its configuration.
    pub fn configuration(&self) -> Arc<Configuration> {
        self.current().store.configuration()
    }
}

/// Where requests come in.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Of the main program.
    pub main: Known,
    inbox: Mutex<VecDeque<Request>>,
    /// Requests in the inbox, and calls to look again at those that were held up.
    waiting: AtomicUsize,
    /// Whether requests that pinned versions held up may be tried again.
    looks_again: AtomicBool,
    now_ps: AtomicU64,
    pub is_gone: AtomicBool,
}

impl Entry {
    /// The entry of a device that runs this program.
    pub fn new(program: Arc<Program>, store: Arc<Store>) -> Entry {
        Entry {
            main: Known::new(program, store),
            inbox: Mutex::default(),
            waiting: AtomicUsize::new(0),
            looks_again: AtomicBool::new(false),
            now_ps: AtomicU64::new(0),
            is_gone: AtomicBool::new(false),
        }
    }

    /// The device's time in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.now_ps.load(Ordering::Relaxed)
    }

    /// Tells targets the time; says whether requests wait.
    #[inline]
    pub fn note_time(&self, now_ps: u64) -> bool {
        self.now_ps.store(now_ps, Ordering::Relaxed);
        self.has_waiting()
    }

    /// Whether requests wait.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Takes the first request that waits.
    pub fn take(&self) -> Option<Request> {
        let request = self.inbox.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        if request.is_some() {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        }
        request
    }

    /// Puts a request behind those that wait.
    pub fn put(&self, request: Request) {
        // Counted first, so that `take` never counts below zero.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).push_back(request);
    }

    /// Has the driver called when a pinned version of this store is released.
    pub fn watch(self: &Arc<Entry>, store: &Store) {
        let entry = Arc::downgrade(self);
        store.on_release(move || {
            if let Some(entry) = entry.upgrade()
                && !entry.looks_again.swap(true, Ordering::SeqCst)
            {
                entry.waiting.fetch_add(1, Ordering::SeqCst);
            }
        });
    }

    /// Whether a pinned version was released since the last call.
    pub fn take_release(&self) -> bool {
        let is_released = self.looks_again.swap(false, Ordering::SeqCst);
        if is_released {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        }
        is_released
    }

    /// The device is gone.
    pub fn close(&self) {
        self.is_gone.store(true, Ordering::Release);
    }
}

/// The state store's batch of one that has items about state only.
pub(crate) fn state_batch(batch: Batch, now_ps: u64) -> state::Batch {
    let state = |item| match item {
        Item::State(item) => Some(item),
        Item::Device(_) => None,
    };
    let items: Vec<BatchItem> = batch.items.into_iter().filter_map(state).collect();
    state::Batch { items, atomicity: batch.atomicity, now_ps }
}

/// The state store's outcome as a target's.
pub(crate) fn outcome_of(outcome: state::BatchOutcome, now_ps: u64) -> Outcome {
    let result = |result: Result<state::Reply, _>| result.map(Reply::State).map_err(Fault::Refused);
    Outcome {
        results: outcome.results.into_iter().map(result).collect(),
        rolled_back: outcome.rolled_back,
        applied_ps: now_ps,
        known_ps: now_ps,
    }
}

/// A lock that may be poisoned: a panic elsewhere leaves a whole switch, as errors are values.
pub(crate) fn try_lock<T>(lock: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match lock.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
