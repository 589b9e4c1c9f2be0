// SPDX-License-Identifier: Apache-2.0
//! A target without a device: the state of a program alone. Batches take effect at once, and nothing about
//! queues or generators is possible. Maps keep such a target for a program that runs nowhere.

use crate::target::{Batch, Fault, Item, Notification, Outcome, Reply, Target, Ticket, Visibility};
use ir::{Program, TableId};
use state::{Atomicity, BatchItem, Cells, Store, Subscription, Update, UpdateError};
use std::collections::VecDeque;
use std::sync::Arc;

/// The state of a program.
#[derive(Debug)]
pub struct StateTarget {
    program: Arc<Program>,
    store: Store,
    cells: Cells,
    now_ps: u64,
    answers: VecDeque<(Ticket, Outcome)>,
    reserved: Option<(Ticket, Batch)>,
    next_ticket: u64,
}

impl StateTarget {
    /// The state that a program begins with.
    pub fn new(program: Arc<Program>) -> Result<StateTarget, UpdateError> {
        Ok(StateTarget {
            store: Store::new(program.clone())?,
            cells: Cells::new(&program),
            program,
            now_ps: 0,
            answers: VecDeque::new(),
            reserved: None,
            next_ticket: 0,
        })
    }

    /// Its configuration.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Its registers, counters and meters.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// Sets the time, in picoseconds.
    pub fn set_now_ps(&mut self, now_ps: u64) {
        self.now_ps = now_ps;
    }

    /// Applies one update now.
    pub(crate) fn update(&mut self, update: Update) -> Result<Reply, Fault> {
        let batch = state::Batch {
            items: vec![BatchItem::Update(update)],
            atomicity: Atomicity::ContinueOnError,
            now_ps: self.now_ps,
        };
        let done = self.store.write_batch_in_place(&mut self.cells, batch);
        let result = done.results.into_iter().next();
        result.map_or(Ok(Reply::Done), |result| result.map(Reply::State).map_err(Fault::Refused))
    }

    fn answer(&mut self, outcome: Outcome) -> Ticket {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.answers.push_back((ticket, outcome));
        ticket
    }

    /// Applies a batch, or says what applying it would answer.
    fn run(&mut self, batch: Batch, is_check: bool) -> Outcome {
        let (now_ps, count) = (self.now_ps, batch.items.len());
        if batch.program.as_ref().is_some_and(|program| !Arc::ptr_eq(program, &self.program)) {
            return Outcome::failed(count, Fault::Swapped, now_ps);
        }
        let of_device = batch.items.iter().position(|item| matches!(item, Item::Device(_)));
        let no_device = || Fault::Unsupported("this target has no device".to_string());
        if let Some(at) = of_device.filter(|_| batch.atomicity != Atomicity::ContinueOnError) {
            return Outcome::aborted(count, at, no_device(), now_ps);
        }
        let is_state: Vec<bool> =
            batch.items.iter().map(|item| matches!(item, Item::State(_))).collect();
        let state = |item| match item {
            Item::State(item) => Some(item),
            Item::Device(_) => None,
        };
        let items: Vec<BatchItem> = batch.items.into_iter().filter_map(state).collect();
        let batch = state::Batch { items, atomicity: batch.atomicity, now_ps };
        let done = match is_check {
            true => self.store.check_batch(&mut self.cells, batch),
            false => self.store.write_batch_in_place(&mut self.cells, batch),
        };
        let mut results = done.results.into_iter();
        let result = |is_state| match is_state {
            true => match results.next() {
                Some(result) => result.map(Reply::State).map_err(Fault::Refused),
                None => Ok(Reply::Done),
            },
            false => Err(no_device()),
        };
        Outcome {
            results: is_state.into_iter().map(result).collect(),
            rolled_back: done.rolled_back,
            ..Outcome::empty(now_ps)
        }
    }
}

impl Target for StateTarget {
    fn program(&self) -> Arc<Program> {
        self.program.clone()
    }

    fn now_ps(&self) -> u64 {
        self.now_ps
    }

    fn visibility(&self) -> Visibility {
        Visibility::Pass
    }

    fn submit(&mut self, batch: Batch, _: u64) -> Ticket {
        let outcome = self.run(batch, false);
        self.answer(outcome)
    }

    fn reserve(&mut self, batch: Batch, _: u64) -> Ticket {
        let outcome = self.run(batch.clone(), true);
        let is_ok = outcome.is_ok();
        let ticket = self.answer(outcome);
        self.reserved = is_ok.then_some((ticket, batch));
        ticket
    }

    fn commit(&mut self, reservation: Ticket, at_ps: u64) -> Ticket {
        match self.reserved.take_if(|(ticket, _)| *ticket == reservation) {
            Some((_, batch)) => self.submit(batch, at_ps),
            None => self.answer(Outcome::failed(1, Fault::NotReserved, at_ps)),
        }
    }

    fn release(&mut self, reservation: Ticket) {
        self.reserved.take_if(|(ticket, _)| *ticket == reservation);
    }

    fn barrier(&mut self, _: u64) -> Ticket {
        self.answer(Outcome::empty(self.now_ps))
    }

    fn poll(&mut self, ticket: Ticket) -> Option<Outcome> {
        let at = self.answers.iter().position(|(of, _)| *of == ticket)?;
        self.answers.remove(at).map(|(_, outcome)| outcome)
    }

    fn notifications(&mut self) -> Vec<Notification> {
        Vec::new()
    }

    fn subscribe(&mut self, tables: &[TableId]) -> Option<Subscription> {
        Some(self.store.subscribe(tables.iter().copied()))
    }
}
