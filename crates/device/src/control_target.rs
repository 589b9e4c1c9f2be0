// SPDX-License-Identifier: Apache-2.0
//! A device as a target of controllers, from any thread. Batches of configuration go straight to the store
//! of a device that is running; everything else is served between two packets, by the device's thread while
//! it runs and by the controller's own while the device is idle. Serving is in `driver`.

use crate::device::Shared;
use control::target::{
    Batch, Fault, Item, Notification, Outcome, Reply, Target, Ticket, Visibility,
};
use ir::{Program, TableId};
use state::{BatchItem, Configuration, Store, Subscription};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard, TryLockError, Weak,
};
use std::time::Duration;

/// How often a waiting controller looks whether its device is idle.
const IDLE_CHECK: Duration = Duration::from_millis(1);

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

#[derive(Debug, Default)]
struct Mail {
    outcomes: VecDeque<(Ticket, Outcome)>,
    notifications: VecDeque<Notification>,
}

/// What the device has for one controller.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    mail: Mutex<Mail>,
    arrived: Condvar,
    /// Requests that the device has not answered yet.
    outstanding: AtomicUsize,
}

impl Mailbox {
    fn mail(&self) -> MutexGuard<'_, Mail> {
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

/// The program that new packets meet, and its store.
#[derive(Debug)]
pub(crate) struct Current {
    pub program: Arc<Program>,
    pub store: Arc<Store>,
    /// Whether the device is told of every write: a batch is reserved, or entries may idle out.
    pub sees_all_writes: bool,
}

/// Where requests come in.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Writers of configuration hold it for reading, a swap and a reservation hold it for writing.
    current: RwLock<Current>,
    inbox: Mutex<VecDeque<Request>>,
    /// Requests in the inbox, and calls to look again at those that were held up.
    waiting: AtomicUsize,
    /// Whether requests that pinned versions held up may be tried again.
    looks_again: AtomicBool,
    now_ps: AtomicU64,
    is_gone: AtomicBool,
}

impl Entry {
    /// The entry of a device that runs this program.
    pub fn new(program: Arc<Program>, store: Arc<Store>) -> Entry {
        Entry {
            current: RwLock::new(Current { program, store, sees_all_writes: false }),
            inbox: Mutex::default(),
            waiting: AtomicUsize::new(0),
            looks_again: AtomicBool::new(false),
            now_ps: AtomicU64::new(0),
            is_gone: AtomicBool::new(false),
        }
    }

    /// Keeps writers on other threads out while it is held.
    pub fn current_mut(&self) -> RwLockWriteGuard<'_, Current> {
        self.current.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program that new packets meet.
    pub fn program(&self) -> Arc<Program> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).program.clone()
    }

    /// The current version of its configuration.
    pub fn configuration(&self) -> Arc<Configuration> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.store.configuration()
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

    fn put(&self, request: Request) {
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

/// A controller's access to a device, from any thread. Programs may be swapped meanwhile: batches that were
/// made for another program ([`Batch::made_for`]) are refused.
///
/// Requests of one target are answered in their order, but for those that a latency model or a reservation
/// holds up. Clones are targets of their own. The first call of [`Target::notifications`] begins to listen.
///
/// Without a latency model the items of a batch take effect at one moment between two packets, and a batch of
/// configuration is seen by a pass whole or not at all.
#[derive(Debug)]
pub struct DeviceTarget {
    shared: Weak<Shared>,
    entry: Arc<Entry>,
    visibility: Visibility,
    mailbox: Arc<Mailbox>,
    /// Answers that came at once.
    ready: VecDeque<(Ticket, Outcome)>,
    next_ticket: u64,
    is_listening: bool,
}

impl Clone for DeviceTarget {
    fn clone(&self) -> DeviceTarget {
        DeviceTarget::new(self.shared.clone(), self.entry.clone(), self.visibility)
    }
}

impl DeviceTarget {
    pub(crate) fn new(
        shared: Weak<Shared>,
        entry: Arc<Entry>,
        visibility: Visibility,
    ) -> DeviceTarget {
        DeviceTarget {
            shared,
            entry,
            visibility,
            mailbox: Arc::default(),
            ready: VecDeque::new(),
            next_ticket: 0,
            is_listening: false,
        }
    }

    fn request(&mut self, wanted: Wanted, at_ps: u64) -> Ticket {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        let mailbox = self.mailbox.clone();
        self.mailbox.outstanding.fetch_add(1, Ordering::Relaxed);
        let request = Request { wanted, at_ps, ticket, mailbox };
        let shared = self.shared.upgrade();
        let Some(shared) = shared.filter(|_| !self.entry.is_gone.load(Ordering::Acquire)) else {
            let outcome = Outcome::failed(request.item_count(), Fault::Gone, at_ps);
            request.answer(outcome);
            return ticket;
        };
        match shared.try_run() {
            Some(mut switch) => {
                // Those that came before are served first.
                switch.serve_waiting();
                if let Some((request, outcome)) = switch.serve(request) {
                    drop(switch);
                    self.mailbox.outstanding.fetch_sub(1, Ordering::Relaxed);
                    self.ready.push_back((request.ticket, outcome));
                }
            }
            None => {
                let request = match self.write_beside(request) {
                    Ok(()) => return ticket,
                    Err(request) => request,
                };
                self.entry.put(request);
                // The device may have become idle meanwhile.
                shared.serve_if_idle();
            }
        }
        ticket
    }

    /// Writes a batch of configuration while the device's thread runs packets, if nothing of this target is
    /// under way that it would overtake.
    fn write_beside(&mut self, mut request: Request) -> Result<(), Request> {
        let now_ps = self.entry.now_ps();
        let Wanted::Batch(batch) = &mut request.wanted else { return Err(request) };
        let is_plain = |item: &Item| match item {
            Item::State(item) => !item.touches_cells(),
            Item::Device(_) => false,
        };
        let is_alone = self.mailbox.outstanding.load(Ordering::Acquire) == 1;
        if self.visibility == Visibility::Items
            || request.at_ps > now_ps
            || !is_alone
            || !batch.items.iter().all(is_plain)
        {
            return Err(request);
        }
        let current = self.entry.current.read().unwrap_or_else(PoisonError::into_inner);
        if current.sees_all_writes {
            drop(current);
            return Err(request);
        }
        let ours =
            batch.program.as_ref().is_none_or(|program| Arc::ptr_eq(program, &current.program));
        let outcome = if ours {
            let program = Some(current.program.clone());
            let written = state_batch(std::mem::take(batch), now_ps);
            match current.store.try_write_configuration(written) {
                Ok(outcome) => outcome_of(outcome, now_ps),
                Err(written) => {
                    drop(current);
                    request.wanted = Wanted::Batch(Batch { program, ..target_batch(written) });
                    return Err(request);
                }
            }
        } else {
            Outcome::failed(batch.items.len(), Fault::Swapped, now_ps)
        };
        drop(current);
        self.mailbox.outstanding.fetch_sub(1, Ordering::Relaxed);
        self.ready.push_back((request.ticket, outcome));
        Ok(())
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

fn target_batch(batch: state::Batch) -> Batch {
    Batch::of(batch.items).with(batch.atomicity)
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

impl Target for DeviceTarget {
    fn program(&self) -> Arc<Program> {
        self.entry.program()
    }

    fn now_ps(&self) -> u64 {
        self.entry.now_ps()
    }

    fn visibility(&self) -> Visibility {
        self.visibility
    }

    fn submit(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.request(Wanted::Batch(batch), at_ps)
    }

    fn reserve(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.request(Wanted::Reserve(batch), at_ps)
    }

    fn commit(&mut self, reservation: Ticket, at_ps: u64) -> Ticket {
        self.request(Wanted::Commit(reservation), at_ps)
    }

    fn release(&mut self, reservation: Ticket) {
        let ticket = self.request(Wanted::Release(reservation), 0);
        self.ready.retain(|(of, _)| *of != ticket);
    }

    fn barrier(&mut self, at_ps: u64) -> Ticket {
        self.request(Wanted::Barrier, at_ps)
    }

    fn poll(&mut self, ticket: Ticket) -> Option<Outcome> {
        if let Some(at) = self.ready.iter().position(|(of, _)| *of == ticket) {
            return self.ready.remove(at).map(|(_, outcome)| outcome);
        }
        if self.entry.has_waiting()
            && let Some(shared) = self.shared.upgrade()
        {
            shared.serve_if_idle();
        }
        let mut mail = self.mailbox.mail();
        let at = mail.outcomes.iter().position(|(of, _)| *of == ticket)?;
        mail.outcomes.remove(at).map(|(_, outcome)| outcome)
    }

    fn notifications(&mut self) -> Vec<Notification> {
        if !self.is_listening
            && let Some(shared) = self.shared.upgrade()
        {
            self.is_listening = true;
            shared.run().listen(&self.mailbox);
        }
        self.mailbox.mail().notifications.drain(..).collect()
    }

    fn subscribe(&mut self, tables: &[TableId]) -> Option<Subscription> {
        let current = self.entry.current.read().unwrap_or_else(PoisonError::into_inner);
        Some(current.store.subscribe(tables.iter().copied()))
    }

    fn takes_time(&mut self, ticket: Ticket) -> bool {
        // Of a device that is gone no answer comes.
        let Some(shared) = self.shared.upgrade() else { return true };
        let switch = shared.try_run();
        switch.is_some_and(|switch| switch.takes_time(ticket, &self.mailbox))
    }

    /// Blocks while the device runs on another thread, or while another controller's reservation or pinned
    /// versions hold the request up.
    fn wait(&mut self, ticket: Ticket) -> Outcome {
        loop {
            if let Some(outcome) = self.poll(ticket) {
                return outcome;
            }
            let Some(shared) = self.shared.upgrade() else {
                return Outcome::failed(1, Fault::Gone, self.now_ps());
            };
            let takes_time =
                shared.try_run().is_some_and(|switch| switch.takes_time(ticket, &self.mailbox));
            drop(shared);
            if let Some(outcome) = self.poll(ticket) {
                return outcome;
            }
            if takes_time {
                return Outcome::failed(1, Fault::TakesTime, self.now_ps());
            }
            let mail = self.mailbox.mail();
            let is_there = |mail: &Mail| mail.outcomes.iter().any(|(of, _)| *of == ticket);
            if !is_there(&mail) {
                let waited = self.mailbox.arrived.wait_timeout(mail, IDLE_CHECK);
                drop(waited.unwrap_or_else(PoisonError::into_inner));
            }
        }
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
