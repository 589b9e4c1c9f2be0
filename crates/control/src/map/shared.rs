// SPDX-License-Identifier: Apache-2.0
//! Several controllers, or maps, before one target. Each has a [`Portion`]: it owns the entries that it wrote,
//! takes numbers of members, groups and sessions from ranges of its own, and neither sees nor reaches what
//! belongs to another. `claims` holds owners, `requests` translates items, `outcomes` translates results.

mod claims;
mod outcomes;
mod requests;

use crate::target::{Batch, Fault, Notification, Outcome, Reply, Target, Ticket, Visibility};
use claims::{Claims, Object, entry_name};
use ir::{CounterId, MeterId, Program, RegisterId, TableId, ValueSetId};
use state::{EntryRecord, Read, Reply as StateReply, Subscription};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a portion that waits looks whether its answer is there.
const LOOK: Duration = Duration::from_micros(200);

/// Numbers that a portion may give to objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdRanges {
    /// Members of action profiles.
    pub members: Range<u32>,
    /// Groups of action selectors.
    pub groups: Range<u32>,
    /// Multicast groups.
    pub multicast_groups: Range<u32>,
    /// Clone sessions.
    pub clone_sessions: Range<u32>,
}

impl IdRanges {
    /// The same range of numbers for every kind of object.
    pub fn same(range: Range<u32>) -> IdRanges {
        IdRanges {
            members: range.clone(),
            groups: range.clone(),
            multicast_groups: range.clone(),
            clone_sessions: range,
        }
    }
}

/// An array of cells that may be divided between portions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellArray {
    /// A register.
    Register(RegisterId),
    /// A counter that is not direct.
    Counter(CounterId),
    /// A meter that is not direct.
    Meter(MeterId),
}

#[derive(Debug)]
struct Inner {
    target: Box<dyn Target>,
    /// The program that claims speak of.
    program: Arc<Program>,
    /// How often the program was swapped.
    epoch: u64,
    claims: Claims,
    /// Who has which cells of arrays that are divided.
    division: HashMap<CellArray, Vec<(usize, Range<u64>)>>,
    /// What is to be told each portion; `None` for one that is gone.
    notifications: Vec<Option<VecDeque<Notification>>>,
}

impl Inner {
    /// The owner of an entry that the target has.
    fn owner_of(&self, table: TableId, record: &EntryRecord) -> Option<usize> {
        let program = self.target.program();
        let name = entry_name(&program, table, &record.keys, record.priority);
        self.claims.owner(&Object::Entry(name))
    }

    /// Takes what the target has to tell to those whom it concerns.
    fn route_notifications(&mut self) {
        for notification in self.target.notifications() {
            self.deliver(notification);
        }
    }

    fn deliver(&mut self, notification: Notification) {
        if matches!(notification, Notification::Swapped { .. }) {
            self.renew();
        }
        let owner = match &notification {
            Notification::IdleTimeout { table, entry, .. } => Some(self.owner_of(*table, entry)),
            _ => None,
        };
        for (number, mailbox) in self.notifications.iter_mut().enumerate() {
            if let Some(mailbox) = mailbox
                && owner.is_none_or(|owner| owner == Some(number))
            {
                mailbox.push_back(notification.clone());
            }
        }
    }

    /// Requests are not made after all.
    fn give_up(&mut self, plans: &[Plan]) {
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

    /// Claims are about the program that runs now. Objects of equal names keep their owners; where the target
    /// answers at once, only as far as the target has them still.
    fn renew(&mut self) {
        let program = self.target.program();
        if Arc::ptr_eq(&program, &self.program) {
            return;
        }
        let before = std::mem::replace(&mut self.program, program.clone());
        self.epoch += 1;
        self.claims = std::mem::take(&mut self.claims).renewed(&before, &program);
        let division = std::mem::take(&mut self.division);
        let renewed = division.into_iter().filter_map(|(array, shares)| {
            Some((claims::renewed_array(array, &before, &program)?, shares))
        });
        self.division = renewed.collect();
        for table in (0..program.tables.len() as u32).map(TableId) {
            let read = Batch::one(Read::Entries { table }).made_for(program.clone());
            let Ok(StateReply::Entries(list)) = self.target.execute(read).into_reply() else {
                continue;
            };
            let names = list.iter().map(|entry| {
                (entry_name(&program, table, &entry.keys, entry.priority), entry.handle)
            });
            self.claims.keep_entries(table, names.collect());
        }
    }
}

/// A target that portions share.
#[derive(Clone, Debug)]
pub struct SharedTarget(Arc<Mutex<Inner>>);

impl SharedTarget {
    /// A target to be shared. Its controllers write by portions only; entries of its program's own belong to
    /// nobody.
    pub fn new(target: Box<dyn Target>) -> SharedTarget {
        let program = target.program();
        let claims = Claims::of_program(&program);
        SharedTarget(Arc::new(Mutex::new(Inner {
            target,
            program,
            epoch: 0,
            claims,
            division: HashMap::new(),
            notifications: Vec::new(),
        })))
    }

    /// One more portion, with numbers and cells of its own. An array of which some portion has cells is divided:
    /// each reaches its own cells only.
    pub fn portion_with_cells(
        &self,
        ids: IdRanges,
        cells: impl IntoIterator<Item = (CellArray, Range<u64>)>,
    ) -> Portion {
        let portion = self.portion(ids);
        let mut inner = self.inner();
        for (array, range) in cells {
            inner.division.entry(array).or_default().push((portion.number, range));
        }
        drop(inner);
        portion
    }

    /// One more portion, with numbers of its own.
    pub fn portion(&self, ids: IdRanges) -> Portion {
        let mut inner = self.inner();
        // The first call of a target's notifications begins to listen.
        let _ = inner.target.notifications();
        inner.notifications.push(Some(VecDeque::new()));
        let number = inner.notifications.len() - 1;
        drop(inner);
        Portion {
            shared: self.clone(),
            number,
            ids,
            under_way: VecDeque::new(),
            reserved: HashMap::new(),
            answers: VecDeque::new(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, with claims about the program that runs now.
    fn current(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.inner();
        inner.renew();
        inner
    }
}

/// What is done to the result of an item below.
#[derive(Clone, Debug)]
enum After {
    /// It is the answer.
    Keep,
    /// It put an object of this portion there.
    Own(Object),
    /// It removed an object of this portion.
    Disown(Object),
    /// It put objects of this portion there, and removed others.
    Replace { there: Vec<Object>, gone: Vec<Object> },
    /// Others' objects are left out; entries are of this table.
    Filter(Option<TableId>),
    /// Others' members of this value set are left out.
    FilterMembers(ValueSetId),
}

/// An item of a batch: refused here, or so many items below.
#[derive(Clone, Debug)]
enum Plan {
    Refused(Fault),
    Below(Vec<After>),
}

/// A batch of a portion below.
#[derive(Clone, Debug)]
struct UnderWay {
    ticket: Ticket,
    plans: Vec<Plan>,
    /// [`Inner::epoch`] of its items.
    epoch: u64,
    /// Whether an item that fails undoes the others.
    stops_on_error: bool,
    /// Whether it is checked only, and kept to be committed.
    is_reservation: bool,
}

/// One controller's share of a target. Numbers outside its ranges and entries that it did not write do not
/// exist for it, and neither do members of value sets that it did not put there; the first to set a table's default
/// action, or the parameters of a calculation, owns that. Default actions, CRC parameters and cells of arrays that
/// are not divided are seen by all. After a swap of the program what has equal names keeps its owner. What a portion
/// owned that was dropped stays where it is, out of reach for the others.
#[derive(Debug)]
pub struct Portion {
    shared: SharedTarget,
    number: usize,
    ids: IdRanges,
    under_way: VecDeque<UnderWay>,
    /// Reservations that the target keeps.
    reserved: HashMap<Ticket, UnderWay>,
    /// Answers that came without the target.
    answers: VecDeque<(Ticket, Outcome)>,
}

impl Portion {
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
            // None of its items is wanted then. An empty batch keeps the place among the requests.
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
            // Its program is gone, and what it claimed there.
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

    /// A reservation, whether its answer has been taken or not.
    fn take_reservation(&mut self, reservation: Ticket) -> Option<UnderWay> {
        let is_it = |under_way: &UnderWay| under_way.ticket == reservation;
        let at = self.under_way.iter().position(is_it);
        let unseen = at.and_then(|at| self.under_way.remove(at));
        self.reserved.remove(&reservation).or(unseen)
    }
}

/// The outcome of a batch whose program was swapped meanwhile: one result an item.
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
        // Nobody takes what would come.
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

    /// Of changes that other portions make too.
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

    /// Other portions go on meanwhile.
    fn wait(&mut self, ticket: Ticket) -> Outcome {
        loop {
            if let Some(outcome) = self.poll(ticket) {
                return outcome;
            }
            let mut inner = self.shared.inner();
            if inner.target.takes_time(ticket) {
                // Unless it has just come.
                let answer = inner.target.poll(ticket);
                let now_ps = inner.target.now_ps();
                drop(inner);
                return match answer {
                    Some(outcome) => self.take(ticket, outcome),
                    None => Outcome::failed(1, Fault::TakesTime, now_ps),
                };
            }
            drop(inner);
            std::thread::sleep(LOOK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_target::StateTarget;

    #[test]
    fn nothing_is_kept_for_a_portion_that_was_dropped() {
        let program = Arc::new(ir::text::parse("ir test\norigin @0\n").expect("it is sound"));
        let target = StateTarget::new(program).expect("it is sound");
        let shared = SharedTarget::new(Box::new(target));
        let [one, two] = [0, 1].map(|base| shared.portion(IdRanges::same(base..base + 1)));
        let tell = || {
            let time_ps = 1;
            let mut inner = shared.inner();
            inner.deliver(Notification::Link { time_ps, port: 1, is_up: true });
            let kept =
                inner.notifications.iter().map(|mailbox| mailbox.as_ref().map(VecDeque::len));
            kept.collect::<Vec<_>>()
        };
        assert_eq!(tell(), [Some(1), Some(1)]);
        drop(one);
        assert_eq!(tell(), [None, Some(2)]);
        drop(two);
        assert_eq!(tell(), [None, None]);
    }
}
