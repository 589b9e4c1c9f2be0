// SPDX-License-Identifier: Apache-2.0
//! A portion as a target: its batches below, its reservations, and the answers that it gives itself.

use super::claims::Object;
use super::{IdRanges, Inner, SharedTarget};
use crate::target::{Batch, Fault, Notification, Outcome, Reply, Target, Ticket, Visibility};
use ir::{Program, TableId, ValueSetId};
use state::{Reply as StateReply, Subscription};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// Pause between two polls of a portion that waits for its answer.
const POLL_INTERVAL: Duration = Duration::from_micros(200);

/// What a portion does with the result of an item below.
#[derive(Clone, Debug)]
pub(super) enum After {
    /// Returns it.
    Keep,
    /// Records that the target now has an object of this portion.
    Own(Object),
    /// Records that an object of this portion is removed.
    Disown(Object),
    /// Records objects of this portion that were added and removed.
    Replace { there: Vec<Object>, gone: Vec<Object> },
    /// Leaves other portions' objects out; entries are of this table.
    Filter(Option<TableId>),
    /// Leaves other portions' members of this value set out.
    FilterMembers(ValueSetId),
}

/// The plan of one item: refused here, or sent as items below.
#[derive(Clone, Debug)]
pub(super) enum Plan {
    Refused(Fault),
    Below(Vec<After>),
}

/// A batch that was sent to the target.
#[derive(Clone, Debug)]
struct UnderWay {
    ticket: Ticket,
    plans: Vec<Plan>,
    /// [`Inner::epoch`] of its items.
    epoch: u64,
    /// Whether an item that fails undoes the others.
    stops_on_error: bool,
    /// Whether it is a reservation.
    is_reservation: bool,
}

/// One controller's share of a target. Numbers outside its ranges and entries that it did not write do not
/// exist for it, and neither do members of value sets that it did not put there; the first to set a table's default
/// action, or the parameters of a calculation, owns that. Default actions, CRC parameters and cells of arrays that
/// are not divided are seen by all. After a swap of the program what has equal names keeps its owner. What a portion
/// owned that was dropped stays where it is, out of reach for the others.
#[derive(Debug)]
pub struct Portion {
    pub(super) shared: SharedTarget,
    pub(super) number: usize,
    pub(super) ids: IdRanges,
    under_way: VecDeque<UnderWay>,
    /// Reservations that the target keeps.
    reserved: HashMap<Ticket, UnderWay>,
    /// Answers without the target's part.
    answers: VecDeque<(Ticket, Outcome)>,
}

impl Portion {
    /// Creates the portion with this number.
    pub(super) fn new(shared: SharedTarget, number: usize, ids: IdRanges) -> Portion {
        Portion {
            shared,
            number,
            ids,
            under_way: VecDeque::new(),
            reserved: HashMap::new(),
            answers: VecDeque::new(),
        }
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    fn plan(&self, inner: &mut Inner, batch: Batch) -> (Vec<Plan>, Batch) {
        let mut items = Vec::with_capacity(batch.items.len());
        let mut plans = Vec::with_capacity(batch.items.len());
        for item in batch.items {
            plans.push(match self.items(inner, item, &mut items) {
                Ok(after) => Plan::Below(after),
                Err(fault) => Plan::Refused(fault),
            });
        }
        (plans, Batch { items, atomicity: batch.atomicity, program: batch.program })
    }

    fn send(
        &mut self,
        batch: Batch,
        is_reservation: bool,
        send: impl FnOnce(&mut dyn Target, Batch) -> Ticket,
    ) -> Ticket {
        let shared = self.shared.clone();
        let mut inner = shared.current();
        let stops_on_error = batch.stops_on_error();
        let (plans, below) = self.plan(&mut inner, batch);
        let refused = plans.iter().enumerate().find_map(|(at, plan)| match plan {
            Plan::Refused(fault) => Some((at, fault.clone())),
            Plan::Below(_) => None,
        });
        if let Some((at, fault)) = refused.filter(|_| stops_on_error || is_reservation) {
            // No item is sent then. An empty batch keeps the order of requests.
            inner.give_up(&plans);
            let ticket = inner.target.submit(Batch::default(), 0);
            let now_ps = inner.target.now_ps();
            self.answers.push_back((ticket, Outcome::aborted(plans.len(), at, fault, now_ps)));
            return ticket;
        }
        let ticket = send(&mut *inner.target, below);
        let epoch = inner.epoch;
        self.under_way.push_back(UnderWay { ticket, plans, epoch, stops_on_error, is_reservation });
        ticket
    }

    fn take(&mut self, ticket: Ticket, outcome: Outcome) -> Outcome {
        if let Some(at) = self.answers.iter().position(|(of, _)| *of == ticket)
            && let Some((_, answer)) = self.answers.remove(at)
        {
            return Outcome {
                applied_ps: outcome.applied_ps,
                known_ps: outcome.known_ps,
                ..answer
            };
        }
        let at = self.under_way.iter().position(|under_way| under_way.ticket == ticket);
        let Some(under_way) = at.and_then(|at| self.under_way.remove(at)) else {
            return outcome;
        };
        let shared = self.shared.clone();
        let mut inner = shared.inner();
        // An entry that was removed may have been reported before.
        inner.route_notifications();
        let UnderWay { plans, epoch, stops_on_error, is_reservation, .. } = under_way.clone();
        if epoch != inner.epoch {
            // The swap has dropped its program and its claims.
            return outcome_of_before(plans, outcome);
        }
        if is_reservation {
            match outcome.is_ok() {
                true => drop(self.reserved.insert(ticket, under_way)),
                false => inner.give_up(&plans),
            }
        }
        let mut outcome = self.outcome(&mut inner, plans, outcome, is_reservation);
        if stops_on_error && !outcome.is_ok() && !outcome.rolled_back {
            // A single item was left for the target, which had nothing to undo.
            outcome.rolled_back = true;
            let others = outcome.results.iter_mut().filter(|result| result.is_ok());
            others.for_each(|result| *result = Err(Fault::ABORTED));
        }
        outcome
    }

    /// Removes a reservation, whether its answer has been taken or not.
    fn take_reservation(&mut self, reservation: Ticket) -> Option<UnderWay> {
        let is_it = |under_way: &UnderWay| under_way.ticket == reservation;
        let at = self.under_way.iter().position(is_it);
        let unseen = at.and_then(|at| self.under_way.remove(at));
        self.reserved.remove(&reservation).or(unseen)
    }
}

/// The outcome of a batch whose program was swapped since: one result an item.
fn outcome_of_before(plans: Vec<Plan>, below: Outcome) -> Outcome {
    let mut results = below.results.into_iter();
    let result = |plan| match plan {
        Plan::Refused(fault) => Err(fault),
        Plan::Below(list) => {
            let last = { results.by_ref() }.take(list.len()).reduce(|one, other| one.and(other));
            last.unwrap_or(Ok(Reply::State(StateReply::Done)))
        }
    };
    Outcome { results: plans.into_iter().map(result).collect(), ..below }
}

impl Drop for Portion {
    fn drop(&mut self) {
        // No caller takes further notifications.
        self.shared.inner().notifications[self.number] = None;
    }
}

impl Target for Portion {
    fn program(&self) -> Arc<Program> {
        self.shared.inner().target.program()
    }

    fn now_ps(&self) -> u64 {
        self.shared.inner().target.now_ps()
    }

    fn visibility(&self) -> Visibility {
        self.shared.inner().target.visibility()
    }

    fn submit(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.send(batch, false, |target, batch| target.submit(batch, at_ps))
    }

    fn reserve(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.send(batch, true, |target, batch| target.reserve(batch, at_ps))
    }

    fn commit(&mut self, reservation: Ticket, at_ps: u64) -> Ticket {
        let reserved = self.take_reservation(reservation);
        let ticket = self.shared.inner().target.commit(reservation, at_ps);
        if let Some(under_way) = reserved {
            self.under_way.push_back(UnderWay { ticket, is_reservation: false, ..under_way });
        }
        ticket
    }

    fn release(&mut self, reservation: Ticket) {
        let reserved = self.take_reservation(reservation);
        let mut inner = self.shared.inner();
        inner.target.release(reservation);
        if let Some(under_way) = reserved {
            inner.give_up(&under_way.plans);
        }
    }

    fn barrier(&mut self, at_ps: u64) -> Ticket {
        self.shared.inner().target.barrier(at_ps)
    }

    fn poll(&mut self, ticket: Ticket) -> Option<Outcome> {
        let outcome = self.shared.inner().target.poll(ticket)?;
        Some(self.take(ticket, outcome))
    }

    /// Includes changes by other portions.
    fn subscribe(&mut self, tables: &[TableId]) -> Option<Subscription> {
        self.shared.inner().target.subscribe(tables)
    }

    fn notifications(&mut self) -> Vec<Notification> {
        let mut inner = self.shared.inner();
        inner.route_notifications();
        inner.notifications[self.number].iter_mut().flat_map(|mailbox| mailbox.drain(..)).collect()
    }

    fn takes_time(&mut self, ticket: Ticket) -> bool {
        self.shared.inner().target.takes_time(ticket)
    }

    /// Does not block other portions.
    fn wait(&mut self, ticket: Ticket) -> Outcome {
        loop {
            if let Some(outcome) = self.poll(ticket) {
                return outcome;
            }
            let mut inner = self.shared.inner();
            if inner.target.takes_time(ticket) {
                // The answer may have arrived since.
                let answer = inner.target.poll(ticket);
                let now_ps = inner.target.now_ps();
                drop(inner);
                return match answer {
                    Some(outcome) => self.take(ticket, outcome),
                    None => Outcome::failed(1, Fault::TakesTime, now_ps),
                };
            }
            drop(inner);
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Inner {
    /// Withdraws the claims of requests that are not sent.
    pub(super) fn give_up(&mut self, plans: &[Plan]) {
        for plan in plans {
            let Plan::Below(list) = plan else { continue };
            for after in list {
                let objects = match after {
                    After::Own(object) | After::Disown(object) => std::slice::from_ref(object),
                    After::Replace { there, gone } => {
                        gone.iter().for_each(|object| self.claims.settle(object, None));
                        there
                    }
                    After::Keep | After::Filter(_) | After::FilterMembers(_) => continue,
                };
                objects.iter().for_each(|object| self.claims.settle(object, None));
            }
        }
    }
}
