// SPDX-License-Identifier: Apache-2.0
//! Requests of controllers to a device's driver, and the state of programs that other threads read while the device runs.
//! `control_target` makes requests, `control_inbox` queues them, `driver` serves them.

use crate::mailbox::{Answer, Mailbox};
use crate::packet::ProgramId;
use control::target::{Batch, Fault, Item, Outcome, Reply, Ticket};
use ir::Program;
use state::{BatchItem, Configuration, Store};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The kind of a request, with its batch or its reservation.
#[derive(Debug)]
pub(crate) enum RequestBody {
    Batch(Batch),
    /// A batch that is served when all passes that began before it have ended.
    AfterPasses(Batch),
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
    /// Results of an earlier request, whose memory those of this one may use.
    pub spare: Vec<Result<Reply, Fault>>,
}

impl Request {
    /// Answers it. A release has no answer.
    pub fn answer(self, outcome: Outcome) {
        let Request { body, ticket, mailbox, .. } = self;
        let spent = match body {
            RequestBody::Release(_) => return mailbox.note_answered(),
            RequestBody::Batch(batch) => batch,
            _ => Batch::default(),
        };
        mailbox.put(Answer { ticket, outcome, spent });
    }

    /// Returns its number of items.
    pub fn item_count(&self) -> usize {
        match &self.body {
            RequestBody::Batch(batch)
            | RequestBody::AfterPasses(batch)
            | RequestBody::Reserve(batch) => batch.items.len(),
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
