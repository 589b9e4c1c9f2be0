// SPDX-License-Identifier: Apache-2.0
//! What controllers wrote, and when it took effect at the earliest and at the latest: [`Logged`] stands in front of their
//! targets. Which writes there are is the business of `history`.

use control::target::{Batch, Item, Notification, Outcome, Target, Ticket, Visibility};
use ir::{Program, TableId};
use state::{BatchItem, CellValues, Subscription, Update};
use std::sync::{Arc, Mutex, MutexGuard};

/// A batch with writes of the program as written, and when it took effect at the earliest and at the latest.
#[derive(Clone, Debug)]
pub struct Commit {
    pub batch: Batch,
    pub submitted_ps: u64,
    pub known_ps: Option<u64>,
    pub is_ok: bool,
    /// Whether the agent made it.
    pub is_agent: bool,
    pub ticket: Option<Ticket>,
}

/// A legacy write of a cell of the measured register.
#[derive(Clone, Debug)]
pub struct CellWrite {
    pub cell: u64,
    pub value: u64,
    pub submitted_ps: u64,
    pub known_ps: Option<u64>,
    pub ticket: Ticket,
}

/// What controllers wrote.
#[derive(Debug, Default)]
pub struct Log {
    pub commits: Vec<Commit>,
    pub cells: Vec<CellWrite>,
}

pub type SharedLog = Arc<Mutex<Log>>;

pub fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().expect("no thread panics")
}

/// Logs the batches of one controller.
pub struct Logged<T> {
    pub target: T,
    pub log: SharedLog,
    pub is_agent: bool,
}

impl<T: Target> Target for Logged<T> {
    fn program(&self) -> Arc<Program> {
        self.target.program()
    }

    fn now_ps(&self) -> u64 {
        self.target.now_ps()
    }

    fn visibility(&self) -> Visibility {
        self.target.visibility()
    }

    fn submit(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        let (copy, submitted_ps) = (batch.clone(), self.target.now_ps());
        if copy.only_reads() {
            return self.target.submit(batch, at_ps);
        }
        // Controllers take turns, so the log has the order of the map.
        let log = self.log.clone();
        let mut log = lock(&log);
        let ticket = self.target.submit(batch, at_ps);
        match copy.items.as_slice() {
            [Item::State(BatchItem::Update(Update::WriteRegister { cells, values, .. }))] => {
                let CellValues::Same(value) = values else { panic!("one value") };
                let (cell, value) = (cells.first, value.low_u64());
                log.cells.push(CellWrite { cell, value, submitted_ps, known_ps: None, ticket });
            }
            _ => {
                let (batch, is_agent, ticket) = (copy, self.is_agent, Some(ticket));
                let commit =
                    Commit { batch, submitted_ps, known_ps: None, is_ok: false, is_agent, ticket };
                log.commits.push(commit);
            }
        }
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
        let mut log = lock(&self.log);
        let known_ps = Some(self.target.now_ps());
        let is_it = |commit: &&mut Commit| commit.ticket == Some(ticket);
        if let Some(commit) = log.commits.iter_mut().find(is_it) {
            commit.known_ps = known_ps;
            commit.is_ok = outcome.first_fault().is_none();
        } else if let Some(write) = log.cells.iter_mut().find(|write| write.ticket == ticket) {
            assert_eq!(outcome.first_fault(), None);
            write.known_ps = known_ps;
        }
        Some(outcome)
    }

    fn notifications(&mut self) -> Vec<Notification> {
        self.target.notifications()
    }

    fn subscribe(&mut self, tables: &[TableId]) -> Option<Subscription> {
        self.target.subscribe(tables)
    }
}
