// SPDX-License-Identifier: Apache-2.0
//! Requests of controllers to a device's driver: the inbox, the mailboxes for answers, and the state of programs that
//! other threads read while the device runs. `control_target` makes requests, `driver` serves them.

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

/// The kind of a request, with its batch or its reservation.
#[derive(Debug)]
pub(crate) enum RequestBody {
    Batch(Batch),
    Reserve(Batch),
    /// Applies the batch that was reserved under this ticket.
    Commit(Ticket),
    /// Drops the reservation of this ticket.
    Release(Ticket),
    Barrier,
}

/// A request of a controller.
#[derive(Debug)]
pub(crate) struct Request {
    pub body: RequestBody,
    /// The program that it is for.
    pub target: TargetProgram,
    pub at_ps: u64,
    pub ticket: Ticket,
    pub mailbox: Arc<Mailbox>,
}

impl Request {
    /// Answers it. A release has no answer.
    pub fn answer(self, outcome: Outcome) {
        let is_awaited = !matches!(self.body, RequestBody::Release(_));
        self.mailbox.put(is_awaited.then_some((self.ticket, outcome)));
    }

    /// Returns its number of items.
    pub fn item_count(&self) -> usize {
        match &self.body {
            RequestBody::Batch(batch) | RequestBody::Reserve(batch) => batch.items.len(),
            RequestBody::Commit(_) | RequestBody::Release(_) | RequestBody::Barrier => 0,
        }
    }
}

/// Work of the driver that is due at a time.
#[derive(Debug)]
pub(crate) enum ControlWork {
    /// A request for a later time arrives.
    Arrive(Box<Request>),
    /// The next part of the job with this number.
    Piece(u64),
    /// The time bound of a barrier has passed.
    BarrierDue(Box<Request>),
    /// Entries may have reached their idle timeouts.
    IdleCheck,
}

#[derive(Debug, Default)]
pub(crate) struct Mail {
    pub outcomes: VecDeque<(Ticket, Outcome)>,
    pub notifications: VecDeque<Notification>,
}

/// Answers and notifications for one controller.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    mail: Mutex<Mail>,
    pub arrived: Condvar,
    /// Number of requests that the device has not answered yet.
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

/// The program that a target controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetProgram {
    /// The device's current main program.
    Main,
    /// The program with this public number.
    Loaded(ProgramId),
}

/// A program and its store.
#[derive(Debug)]
pub(crate) struct ProgramAndStore {
    pub program: Arc<Program>,
    pub store: Arc<Store>,
    /// Whether the driver has to see every write: a batch is reserved, or entries may idle out.
    pub serializes_writes: bool,
}

/// A program and its store for targets on any thread. Writers of configuration hold the read lock; swaps and
/// reservations hold the write lock.
#[derive(Debug)]
pub(crate) struct SharedProgram(RwLock<ProgramAndStore>);

impl SharedProgram {
    /// Shares a program and its store.
    pub fn new(program: Arc<Program>, store: Arc<Store>) -> SharedProgram {
        SharedProgram(RwLock::new(ProgramAndStore { program, store, serializes_writes: false }))
    }

    /// Takes the read lock, which blocks swaps.
    pub fn current(&self) -> RwLockReadGuard<'_, ProgramAndStore> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the write lock, which blocks writers on other threads.
    pub fn current_mut(&self) -> RwLockWriteGuard<'_, ProgramAndStore> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the program.
    pub fn program(&self) -> Arc<Program> {
        self.current().program.clone()
    }

    /// Returns the current version of its configuration.
    pub fn configuration(&self) -> Arc<Configuration> {
        self.current().store.configuration()
    }
}

/// The queue of requests from targets to the driver.
#[derive(Debug)]
pub(crate) struct ControlInbox {
    /// The main program.
    pub main: SharedProgram,
    requests: Mutex<VecDeque<Request>>,
    /// Number of requests in the queue, plus one if `looks_again` is set.
    waiting: AtomicUsize,
    /// Whether the driver should retry requests that were waiting for a pinned version.
    looks_again: AtomicBool,
    now_ps: AtomicU64,
    pub is_gone: AtomicBool,
}

impl ControlInbox {
    /// Makes the inbox of a device that runs this program.
    pub fn new(program: Arc<Program>, store: Arc<Store>) -> ControlInbox {
        ControlInbox {
            main: SharedProgram::new(program, store),
            requests: Mutex::default(),
            waiting: AtomicUsize::new(0),
            looks_again: AtomicBool::new(false),
            now_ps: AtomicU64::new(0),
            is_gone: AtomicBool::new(false),
        }
    }

    /// Returns the device's time in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.now_ps.load(Ordering::Relaxed)
    }

    /// Publishes the device's time to targets. Returns whether requests wait.
    #[inline]
    pub fn note_time(&self, now_ps: u64) -> bool {
        self.now_ps.store(now_ps, Ordering::Relaxed);
        self.has_waiting()
    }

    /// Returns whether requests wait.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Takes the first request.
    pub fn take(&self) -> Option<Request> {
        let request = self.requests.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        if request.is_some() {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        }
        request
    }

    /// Appends a request.
    pub fn put(&self, request: Request) {
        // Counted first, so that `take` never counts below zero.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push_back(request);
    }

    /// Makes the driver retry waiting requests when a pinned version of this store is released.
    pub fn watch(self: &Arc<ControlInbox>, store: &Store) {
        let inbox = Arc::downgrade(self);
        store.on_release(move || {
            if let Some(inbox) = inbox.upgrade()
                && !inbox.looks_again.swap(true, Ordering::SeqCst)
            {
                inbox.waiting.fetch_add(1, Ordering::SeqCst);
            }
        });
    }

    /// Returns whether a pinned version was released since the last call.
    pub fn take_release(&self) -> bool {
        let is_released = self.looks_again.swap(false, Ordering::SeqCst);
        if is_released {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        }
        is_released
    }

    /// Refuses all further requests, as the device is dropped.
    pub fn close(&self) {
        self.is_gone.store(true, Ordering::Release);
    }
}

/// Converts the state items of a batch to a batch for the state store.
pub(crate) fn state_batch(batch: Batch, now_ps: u64) -> state::Batch {
    let state = |item| match item {
        Item::State(item) => Some(item),
        Item::Device(_) => None,
    };
    let items: Vec<BatchItem> = batch.items.into_iter().filter_map(state).collect();
    state::Batch { items, atomicity: batch.atomicity, now_ps }
}

/// Converts the state store's outcome to a target's.
pub(crate) fn outcome_of(outcome: state::BatchOutcome, now_ps: u64) -> Outcome {
    let result = |result: Result<state::Reply, _>| result.map(Reply::State).map_err(Fault::Refused);
    Outcome {
        results: outcome.results.into_iter().map(result).collect(),
        rolled_back: outcome.rolled_back,
        applied_ps: now_ps,
        known_ps: now_ps,
    }
}

/// Takes a lock if it is free. A poisoned lock is taken too: errors are values here, so a panic elsewhere leaves the
/// switch consistent.
pub(crate) fn try_lock<T>(lock: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match lock.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
