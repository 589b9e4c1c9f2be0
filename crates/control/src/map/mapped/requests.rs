// SPDX-License-Identifier: Apache-2.0
//! The program as written as a target: requests start, wait their turn or pass to the target below.

use super::plans::Running;
use super::queue::{Joined, Queued};
use super::{Below, Mapped, Passing};
use crate::map::{ControlMap, TargetIndex};
use crate::target::{Batch, Fault, Notification, Outcome, Target, Ticket, Visibility};
use ir::{Program, TableId};
use state::Subscription;
use std::sync::Arc;

impl<M: ControlMap> Target for Mapped<M> {
    fn program(&self) -> Arc<Program> {
        self.map.program()
    }

    /// The latest time of the targets below.
    fn now_ps(&self) -> u64 {
        let targets = self.below.iter().filter_map(|below| below.target.as_ref());
        targets.map(|target| target.now_ps()).max().unwrap_or(0)
    }

    /// The first event of the targets below.
    fn next_event_ps(&self) -> Option<u64> {
        let targets = self.below.iter().filter_map(|below| below.target.as_ref());
        targets.filter_map(|target| target.next_event_ps()).min()
    }

    fn is_served_beside(&self) -> bool {
        let mut targets = self.below.iter().filter_map(|below| below.target.as_ref());
        targets.any(|target| target.is_served_beside())
    }

    fn visibility(&self) -> Visibility {
        let targets = self.below.iter().filter_map(|below| below.target.as_ref());
        let below = targets.map(|target| target.visibility()).min().unwrap_or(Visibility::Items);
        self.map.visibility(below)
    }

    fn set_controller(&mut self, controller: u32) {
        self.controller = controller;
    }

    fn submit(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        let ticket = self.ticket();
        if self.is_for_another_program(&batch) {
            let outcome = Outcome::failed(batch.items.len(), Fault::Swapped, at_ps);
            self.answer(ticket, outcome);
        } else if self.queue.is_empty() && self.is_free_for(&batch) {
            self.start(Joined::one(ticket, batch, at_ps));
        } else {
            self.queue.push(self.controller, Queued::Batch(ticket, batch, at_ps));
            self.drive();
        }
        ticket
    }

    fn reserve(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.drive();
        let ticket = self.ticket();
        let count = batch.items.len();
        let outcome = if self.is_for_another_program(&batch) {
            Outcome::failed(count, Fault::Swapped, at_ps)
        } else if self.reserved.is_some() || !self.queue.is_empty() || !self.running.is_empty() {
            let why = "other batches are pending; reserve when they have been answered";
            Outcome::failed(count, Fault::Unsupported(why.to_string()), at_ps)
        } else {
            self.map.check(&batch)
        };
        if outcome.is_ok() {
            self.reserved = Some((ticket, batch));
        }
        self.answer(ticket, outcome);
        ticket
    }

    fn commit(&mut self, reservation: Ticket, at_ps: u64) -> Ticket {
        let ticket = self.ticket();
        match self.reserved.take_if(|(of, _)| *of == reservation) {
            Some((_, batch)) => self.start(Joined::one(ticket, batch, at_ps)),
            None => self.answer(ticket, Outcome::failed(1, Fault::NotReserved, at_ps)),
        }
        self.drive();
        ticket
    }

    fn release(&mut self, reservation: Ticket) {
        self.reserved.take_if(|(of, _)| *of == reservation);
        self.drive();
    }

    fn barrier(&mut self, at_ps: u64) -> Ticket {
        let ticket = self.ticket();
        if self.queue.is_empty() && self.running.is_empty() {
            self.begin_barrier(ticket, at_ps);
            self.take_barriers();
        } else {
            self.queue.push(self.controller, Queued::Barrier(ticket, at_ps));
            self.drive();
        }
        ticket
    }

    fn joins_barriers(&self) -> bool {
        let is_joining =
            |below: &Below| below.target.as_ref().is_some_and(|it| it.joins_barriers());
        matches!(&self.below[..], [only] if is_joining(only))
    }

    /// Takes batches that the only target answers unchanged, while nothing else is pending.
    fn submit_after_passes(&mut self, mut batch: Batch, at_ps: u64) -> Result<Ticket, Batch> {
        if !self.joins_barriers()
            || !self.is_unoccupied()
            || self.is_for_another_program(&batch)
            || self.map.passes_to(&batch) != Some(TargetIndex(0))
        {
            return Err(batch);
        }
        let ticket = self.ticket();
        let Below { target: Some(target), program, record: None, .. } = &mut self.below[0] else {
            return Err(batch);
        };
        self.map.pass(&mut batch);
        batch.program = Some(program.clone());
        let below_ticket = target.submit_after_passes(batch, at_ps)?;
        let passing = Passing { ticket, below: TargetIndex(0), below_ticket, is_batch: true };
        self.passing.push_back(passing);
        Ok(ticket)
    }

    fn poll(&mut self, ticket: Ticket) -> Option<Outcome> {
        // Other answers may wait to be taken for long.
        let is_there = self.answers.iter().any(|(of, _)| *of == ticket);
        if !is_there || !self.running.is_empty() {
            self.drive();
        }
        let at = self.answers.iter().position(|(of, _)| *of == ticket)?;
        self.answers.remove(at).map(|(_, outcome)| outcome)
    }

    fn recycle(&mut self, outcome: Outcome) {
        if let Some(Below { target: Some(target), .. }) = self.below.first_mut() {
            target.recycle(outcome);
        }
    }

    fn notifications(&mut self) -> Vec<Notification> {
        self.drive();
        let mut found = Vec::new();
        for index in 0..self.below.len() {
            let Some(target) = &mut self.below[index].target else { continue };
            for notification in target.notifications() {
                if let Notification::Swapped { program, .. } = &notification {
                    self.below[index].program = program.clone();
                }
                found.extend(self.map.notify(TargetIndex(index), notification));
            }
        }
        let now_ps = self.now_ps();
        self.map.set_now_ps(now_ps);
        while let Some(plan) = self.map.background() {
            self.running.push(Box::new(Running::of_map(plan, now_ps)));
            self.drive();
        }
        found.append(&mut self.late);
        found.sort_by_key(Notification::time_ps);
        found
    }

    fn subscribe(&mut self, tables: &[TableId]) -> Option<Subscription> {
        self.map.subscribe(tables)
    }

    fn takes_time(&mut self, _: Ticket) -> bool {
        let Some((index, below_ticket)) = self.missing() else { return true };
        let target = self.below[index.0].target.as_mut();
        target.is_none_or(|target| target.takes_time(below_ticket))
    }

    /// Blocks where a target below does.
    fn wait(&mut self, ticket: Ticket) -> Outcome {
        loop {
            if let Some(outcome) = self.poll(ticket) {
                return outcome;
            }
            let Some((index, below_ticket)) = self.missing() else {
                return Outcome::failed(1, Fault::TakesTime, self.now_ps());
            };
            let Some(target) = &mut self.below[index.0].target else {
                return Outcome::failed(1, Fault::Away, self.now_ps());
            };
            let outcome = target.wait(below_ticket);
            if outcome.first_fault().is_some_and(|(_, fault)| *fault == Fault::TakesTime) {
                return outcome;
            }
            self.put_back(index, below_ticket, outcome);
        }
    }

    fn execute(&mut self, mut batch: Batch) -> Outcome {
        // With no pending request, a batch that one target answers unchanged needs no ticket here.
        if self.is_unoccupied()
            && self.passing.is_empty()
            && !self.is_for_another_program(&batch)
            && let Some(index) = self.map.passes_to(&batch)
            && let Some(Below { target: Some(target), program, record: None, .. }) =
                self.below.get_mut(index.0)
        {
            self.map.pass(&mut batch);
            batch.program = Some(program.clone());
            let mut outcome = target.execute(batch);
            self.map.passed(&mut outcome);
            return outcome;
        }
        let now_ps = self.now_ps();
        let ticket = self.submit(batch, now_ps);
        self.wait(ticket)
    }
}
