// SPDX-License-Identifier: Apache-2.0
//! Targets of a map that come and go. `restoring` brings one up to date that is back.

use super::restoring::Restoring;
use super::{Below, Mapped, Passing};
use crate::map::reconcile::Record;
use crate::map::{Absence, ControlMap, TargetIndex};
use crate::target::{Fault, Outcome, Target, Ticket};
use std::collections::VecDeque;

impl<M: ControlMap> Mapped<M> {
    /// Adds a target.
    pub fn add(&mut self, target: Box<dyn Target>) -> TargetIndex {
        let program = target.program();
        let goes_on = self.map.absence() == Absence::GoOn;
        let record = goes_on.then(|| Record::new(program.clone())).flatten();
        self.below.push(Below {
            target: Some(target),
            program,
            record,
            restoring: None,
            first_ticket: Ticket(0),
        });
        TargetIndex(self.below.len() - 1)
    }

    /// Detaches a target. Batches that wait for its answer get [`Fault::Away`], or wait, as the map decides.
    pub fn detach(&mut self, index: TargetIndex) -> Option<Box<dyn Target>> {
        self.drive();
        let target = self.below.get_mut(index.0)?.target.take();
        self.lose(index);
        self.drive();
        target
    }

    /// Attaches a target again, with any state. Where the map goes on without its targets, the target first gets the
    /// writes that it lacks, in the time that it takes; plans that need it wait for them. The outcome for the ticket is
    /// that of those writes. Requests that the same target has done before it was detached are not sent again.
    pub fn attach(&mut self, index: TargetIndex, mut target: Box<dyn Target>) -> Ticket {
        let (ticket, now_ps) = (self.ticket(), target.now_ps());
        let Some(below) = self.below.get_mut(index.0) else {
            self.answer(ticket, Outcome::failed(1, Fault::Gone, now_ps));
            return ticket;
        };
        below.program = target.program();
        // When this is answered, so is what the target was asked before it went.
        let reads = below.record.as_ref().map(Record::reads).unwrap_or_default();
        below.first_ticket = target.submit(reads.made_for(below.program.clone()), now_ps);
        below.restoring = Some(Restoring::new(ticket, below.first_ticket));
        below.target = Some(target);
        self.drive();
        ticket
    }

    /// Whether a target is there.
    pub fn is_attached(&self, index: TargetIndex) -> bool {
        self.below.get(index.0).is_some_and(|below| below.target.is_some())
    }

    /// Answers the requests that a detached target leaves open.
    fn lose(&mut self, index: TargetIndex) {
        let (lost, kept): (VecDeque<Passing>, _) =
            std::mem::take(&mut self.passing).into_iter().partition(|one| one.below == index);
        self.passing = kept;
        for passing in lost {
            let outcome = Outcome::failed(1, Fault::Away, 0);
            self.answer(passing.ticket, outcome);
        }
        for running in &mut self.running {
            running.lose(index);
        }
        let restoring = self.below.get_mut(index.0).and_then(|below| below.restoring.take());
        if let Some(restoring) = restoring {
            self.answer(restoring.ticket(), Outcome::failed(1, Fault::Away, 0));
        }
    }
}
