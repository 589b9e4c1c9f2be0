// SPDX-License-Identifier: Apache-2.0
//! [`Observed`]: a device's target that remembers the batches it has taken, for the machines in front of the device. And completed
//! batches as text.

use control::target::{Batch, Item, Notification, Outcome, Reply, Target, Ticket, Visibility};
use ir::Program;
use scale::switch_run::CompletedBatch;
use state::{BatchItem, Read};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A target with what it has applied.
pub(super) struct Observed<T> {
    target: T,
    submitted: BTreeMap<Ticket, Vec<Item>>,
    /// The items of each batch that were applied, with their replies.
    pub applied: Vec<Vec<(Item, Reply)>>,
}

impl<T: Target> Observed<T> {
    pub fn new(target: T) -> Observed<T> {
        Observed { target, submitted: BTreeMap::new(), applied: Vec::new() }
    }

    fn note(&mut self, ticket: Ticket, outcome: &Outcome) {
        let Some(items) = self.submitted.remove(&ticket) else { return };
        let applied = items.into_iter().zip(&outcome.results);
        let applied =
            applied.filter_map(|(item, reply)| Some((item, reply.as_ref().ok()?.clone())));
        self.applied.push(applied.collect());
    }
}

impl<T: Target> Target for Observed<T> {
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
        let items = batch.items.clone();
        let ticket = self.target.submit(batch, at_ps);
        self.submitted.insert(ticket, items);
        ticket
    }

    fn reserve(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        let items = batch.items.clone();
        let ticket = self.target.reserve(batch, at_ps);
        self.submitted.insert(ticket, items);
        ticket
    }

    fn commit(&mut self, reservation: Ticket, at_ps: u64) -> Ticket {
        let items = self.submitted.remove(&reservation);
        let ticket = self.target.commit(reservation, at_ps);
        self.submitted.extend(items.map(|items| (ticket, items)));
        ticket
    }

    fn release(&mut self, reservation: Ticket) {
        self.submitted.remove(&reservation);
        self.target.release(reservation);
    }

    fn barrier(&mut self, at_ps: u64) -> Ticket {
        self.target.barrier(at_ps)
    }

    fn poll(&mut self, ticket: Ticket) -> Option<Outcome> {
        let outcome = self.target.poll(ticket)?;
        self.note(ticket, &outcome);
        Some(outcome)
    }

    fn notifications(&mut self) -> Vec<Notification> {
        self.target.notifications()
    }

    fn wait(&mut self, ticket: Ticket) -> Outcome {
        let outcome = self.target.wait(ticket);
        self.note(ticket, &outcome);
        outcome
    }
}

/// Returns what a batch has read, a line for each read of cells, with the times of its arrival and its completion.
pub(super) fn batch_texts(program: &Program, batch: &CompletedBatch) -> Vec<String> {
    let read = |(item, reply): &(Item, Option<Reply>)| {
        let Item::State(BatchItem::Read(read)) = item else { return None };
        let (name, first) = match read {
            Read::Register { register, cells } => {
                (&program.registers[register.index()].name, cells.first)
            }
            Read::Counter { counter, cells } => {
                (&program.counters[counter.index()].name, cells.first)
            }
            Read::Meter { meter, cells } => (&program.meters[meter.index()].name, cells.first),
            _ => return None,
        };
        let found = match reply.clone().map(Reply::into_state) {
            Some(Some(state::Reply::Registers(values))) => {
                let values: Vec<String> =
                    values.iter().map(|value| value.to_biguint().to_string()).collect();
                values.join(" ")
            }
            Some(Some(state::Reply::Counters(values))) => {
                let values: Vec<String> = values
                    .iter()
                    .map(|value| format!("{} packets, {} bytes", value.packets, value.bytes))
                    .collect();
                values.join("; ")
            }
            None => "lost in a full queue".to_string(),
            Some(_) => return None,
        };
        let took_ps = batch.completed_ps - batch.submitted_ps;
        let at = source::quantity::in_largest_unit(batch.submitted_ps);
        let took = source::quantity::in_largest_unit(took_ps);
        Some(format!("{at}: {name}[{first}] = {found} ({took} later)"))
    };
    batch.items.iter().filter_map(read).collect()
}
