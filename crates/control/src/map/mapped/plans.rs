// SPDX-License-Identifier: Apache-2.0
//! Running plans: submits their steps to the targets below and collects the outcomes.

use super::{Below, Mapped, writes};
use crate::map::{Absence, ControlMap, Step, TargetIndex};
use crate::target::{Batch, Fault, Outcome, Ticket};

/// A request of a step at a target.
#[derive(Debug)]
struct Waiting {
    index: TargetIndex,
    /// `None` while the target is detached.
    ticket: Option<Ticket>,
    /// The request that the target had when it was detached.
    lost: Option<Ticket>,
    outcome: Option<Outcome>,
    /// For a batch: to record its writes, or to submit it when the target is attached again.
    batch: Option<Batch>,
    /// How many items it has.
    item_count: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Submit,
    Reserve,
    Commit,
    Barrier,
}

/// A running plan.
#[derive(Debug)]
pub(super) struct Running<P> {
    /// The batches of the plan with their numbers of items; none for a batch of the map itself.
    askers: Vec<(Ticket, usize)>,
    pub plan: P,
    /// When the controller knows the outcomes of the last step, in picoseconds.
    now_ps: u64,
    waiting: Vec<Waiting>,
    reserved: Vec<(TargetIndex, Ticket, Batch)>,
    is_answered: bool,
    is_over: bool,
}

impl<P> Running<P> {
    pub fn new(askers: Vec<(Ticket, usize)>, plan: P, at_ps: u64) -> Running<P> {
        Running { askers, ..Running::of_map(plan, at_ps) }
    }

    /// A question of the map itself.
    pub fn of_map(plan: P, at_ps: u64) -> Running<P> {
        Running {
            askers: Vec::new(),
            plan,
            now_ps: at_ps,
            waiting: Vec::new(),
            reserved: Vec::new(),
            is_answered: false,
            is_over: false,
        }
    }

    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// A request below whose answer is missing.
    pub fn missing(&self) -> Option<(TargetIndex, Ticket)> {
        let mut waiting = self.waiting.iter().filter(|waiting| waiting.outcome.is_none());
        waiting.find_map(|waiting| Some((waiting.index, waiting.ticket?)))
    }

    /// A target went: its answers do not come any more.
    pub fn lose(&mut self, index: TargetIndex) {
        for waiting in &mut self.waiting {
            if waiting.index == index && waiting.outcome.is_none() {
                waiting.lost = waiting.ticket.take();
            }
        }
        self.reserved.retain(|(of, ..)| *of != index);
    }
}

impl<M: ControlMap> Mapped<M> {
    /// Goes one step on with a plan, if it can. Returns whether it did.
    pub(super) fn advance(&mut self, running: &mut Running<M::Plan>) -> bool {
        if running.is_over {
            return false;
        }
        for waiting in &mut running.waiting {
            self.look_after(waiting, running.now_ps);
        }
        if running.waiting.iter().any(|waiting| waiting.outcome.is_none()) {
            return false;
        }
        let done = std::mem::take(&mut running.waiting);
        let mut seen = Vec::with_capacity(done.len());
        for waiting in done {
            let Waiting { index, ticket, outcome, batch, kind, .. } = waiting;
            let Some(outcome) = outcome else { continue };
            running.now_ps = running.now_ps.max(outcome.known_ps);
            if let (Kind::Reserve, Some(ticket), Some(batch)) = (kind, ticket, batch)
                && outcome.is_ok()
            {
                running.reserved.push((index, ticket, batch));
            }
            seen.push(outcome);
        }
        let step = self.map.step(&mut running.plan, seen);
        self.take_step(running, step);
        true
    }

    fn take_step(&mut self, running: &mut Running<M::Plan>, step: Step) {
        let wait = |(index, batch, kind): (_, Option<Batch>, _)| {
            let item_count = batch.as_ref().map_or(1, |batch| batch.items.len());
            Waiting { index, ticket: None, lost: None, outcome: None, batch, item_count, kind }
        };
        match step {
            Step::Submit(batches) => {
                let batches = batches.into_iter();
                let waiting = batches.map(|(index, batch)| (index, Some(batch), Kind::Submit));
                running.waiting = waiting.map(wait).collect();
            }
            Step::Reserve(batches) => {
                let batches = batches.into_iter();
                let waiting = batches.map(|(index, batch)| (index, Some(batch), Kind::Reserve));
                running.waiting = waiting.map(wait).collect();
            }
            Step::Barrier(indexes) => {
                let waiting = indexes.into_iter().map(|index| (index, None, Kind::Barrier));
                running.waiting = waiting.map(wait).collect();
            }
            Step::Commit => {
                for (index, reservation, batch) in std::mem::take(&mut running.reserved) {
                    let mut waiting = wait((index, Some(batch), Kind::Commit));
                    if let Some(target) = &mut self.below[index.0].target {
                        waiting.ticket = Some(target.commit(reservation, running.now_ps));
                    }
                    running.waiting.push(waiting);
                }
            }
            Step::Release => {
                for (index, reservation, _) in std::mem::take(&mut running.reserved) {
                    if let Some(target) = &mut self.below[index.0].target {
                        target.release(reservation);
                    }
                }
            }
            Step::Answer(mut outcome) => {
                outcome.known_ps = outcome.known_ps.max(running.now_ps);
                running.is_answered = true;
                match running.askers[..] {
                    [] => {
                        let notifications = self.map.background_answer(outcome);
                        self.late.extend(notifications);
                    }
                    [(ticket, _)] => self.answer(ticket, outcome),
                    ref askers => {
                        let Outcome { results, rolled_back, applied_ps, known_ps } = outcome;
                        let mut results = results.into_iter();
                        for (ticket, count) in askers {
                            let results = results.by_ref().take(*count).collect();
                            let own = Outcome { results, rolled_back, applied_ps, known_ps };
                            self.answer(*ticket, own);
                        }
                    }
                }
            }
            Step::End => {
                running.is_over = true;
                for (ticket, _) in running.askers.iter().filter(|_| !running.is_answered) {
                    self.answer(*ticket, Outcome::empty(running.now_ps));
                }
            }
        }
    }

    /// Sends what waits for its target, and takes the answer if it is there.
    fn look_after(&mut self, waiting: &mut Waiting, now_ps: u64) {
        if waiting.outcome.is_some() {
            return;
        }
        let absence = self.map.absence();
        let Below { target, program, record, restoring, first_ticket } =
            &mut self.below[waiting.index.0];
        if restoring.is_some() {
            return;
        }
        let Some(target) = target else {
            waiting.outcome = match (absence, waiting.kind, &mut waiting.batch) {
                (Absence::Defer, ..) => None,
                (Absence::GoOn, Kind::Submit | Kind::Reserve | Kind::Commit, Some(batch)) => {
                    let is_reservation = waiting.kind == Kind::Reserve;
                    Some(record.as_mut().map_or_else(
                        || Outcome::failed(batch.items.len(), Fault::Away, now_ps),
                        |record| record.stand_in(batch, is_reservation, now_ps),
                    ))
                }
                // A detached target has no packets in flight.
                (_, Kind::Barrier, _) => Some(Outcome::empty(now_ps)),
                _ => Some(Outcome::failed(waiting.item_count, Fault::Away, now_ps)),
            };
            return;
        };
        if waiting.ticket.is_none()
            && let Some(lost) = waiting.lost.take_if(|lost| *lost < *first_ticket)
        {
            waiting.outcome = target.poll(lost);
            if waiting.outcome.is_some() {
                return;
            }
        }
        let ticket = match waiting.ticket {
            Some(ticket) => ticket,
            None => {
                let batch = || {
                    let batch = waiting.batch.clone().unwrap_or_default();
                    batch.made_for(program.clone())
                };
                let ticket = match waiting.kind {
                    Kind::Submit | Kind::Commit => match record {
                        // The record, or a target that comes back, needs the batch once more.
                        _ if absence != Absence::Refuse => target.submit(batch(), now_ps),
                        _ => {
                            let batch = waiting.batch.take().unwrap_or_default();
                            target.submit(batch.made_for(program.clone()), now_ps)
                        }
                    },
                    Kind::Reserve => target.reserve(batch(), now_ps),
                    Kind::Barrier => target.barrier(now_ps),
                };
                waiting.ticket = Some(ticket);
                ticket
            }
        };
        waiting.outcome = target.poll(ticket);
        if let (Some(outcome), Some(batch), Some(record)) =
            (&waiting.outcome, &waiting.batch, record)
            && matches!(waiting.kind, Kind::Submit | Kind::Commit)
            && writes(batch).next().is_some()
        {
            record.note(batch, outcome);
        }
    }

    /// Puts an answer that was waited for where it belongs.
    pub(super) fn put_back(&mut self, index: TargetIndex, ticket: Ticket, outcome: Outcome) {
        let is_first = self
            .passing
            .front()
            .is_some_and(|first| (first.below, first.below_ticket) == (index, ticket));
        if is_first && let Some(first) = self.passing.pop_front() {
            let mut outcome = outcome;
            if first.is_batch {
                self.map.passed(&mut outcome);
            }
            self.answer(first.ticket, outcome);
            return;
        }
        let mut outcome = Some(outcome);
        if let Some(restoring) = &mut self.below[index.0].restoring {
            restoring.put_back(ticket, &mut outcome);
        }
        for running in &mut self.running {
            for waiting in &mut running.waiting {
                if waiting.index == index && waiting.ticket == Some(ticket) {
                    waiting.outcome = waiting.outcome.take().or_else(|| outcome.take());
                    let record = self.below[index.0].record.as_mut();
                    if let (Some(record), Some(outcome), Some(batch)) =
                        (record, &waiting.outcome, &waiting.batch)
                        && matches!(waiting.kind, Kind::Submit | Kind::Commit)
                    {
                        record.note(batch, outcome);
                    }
                }
            }
        }
    }
}
