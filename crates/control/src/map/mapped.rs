// SPDX-License-Identifier: Apache-2.0
//! A control map in front of its targets: runs plans, queues batches behind them, keeps reservations, and detaches
//! and attaches targets. The map decides what a plan does; `reconcile` finds what a target lacks that is attached
//! again.

mod plans;
mod queue;
mod restoring;

use super::reconcile::Record;
use super::{Absence, Added, ControlMap, TargetIndex};
use crate::target::{Batch, Fault, Item, Notification, Outcome, Target, Ticket, Visibility};
use ir::{Program, TableId};
use plans::Running;
use queue::{Joined, Queued};
use restoring::Restoring;
use state::Subscription;
use std::collections::VecDeque;
use std::sync::Arc;

/// A target below.
#[derive(Debug)]
struct Below {
    /// `None` while it is detached.
    target: Option<Box<dyn Target>>,
    /// The program that batches for it are made for.
    program: Arc<Program>,
    /// What was written to it, for maps that go on without it.
    record: Option<Record>,
    /// The writes that bring an attached target up to date; plans wait for them.
    restoring: Option<Restoring>,
    /// The first request since it was attached.
    first_ticket: Ticket,
}

/// A batch that a target below answers as it is.
#[derive(Debug)]
struct Passing {
    ticket: Ticket,
    below: TargetIndex,
    below_ticket: Ticket,
    /// Whether the outcome is that of a batch, which the map rewrites.
    is_batch: bool,
}

/// A barrier at all targets.
#[derive(Debug)]
struct WideBarrier {
    ticket: Ticket,
    waiting: Vec<(TargetIndex, Ticket)>,
    latest: Outcome,
}

/// A map in front of targets: the program as written, as a target.
///
/// Plans begin in the order of their requests; one that [`ControlMap::queues_behind`] another waits for its
/// end. Batches of configuration that wait one behind the other and continue on errors begin as one plan; each gets
/// its own results. Work goes on when [`Target::poll`] or [`Target::notifications`] is called. A reservation here is
/// checked by the map and keeps other batches out until it is committed or released; it holds for targets that
/// no other controller writes to.
pub struct Mapped<M: ControlMap> {
    map: M,
    below: Vec<Below>,
    running: Vec<Box<Running<M::Plan>>>,
    queue: VecDeque<Queued>,
    passing: VecDeque<Passing>,
    barriers: Vec<WideBarrier>,
    reserved: Option<(Ticket, Batch)>,
    answers: VecDeque<(Ticket, Outcome)>,
    /// Notifications from the map's own batches.
    late: Vec<Notification>,
    next_ticket: u64,
}

impl<M: ControlMap> Mapped<M> {
    /// A map in front of these targets, which are its targets from 0 on.
    pub fn new(map: M, targets: Vec<Box<dyn Target>>) -> Mapped<M> {
        let mut mapped = Mapped {
            map,
            below: Vec::new(),
            running: Vec::new(),
            queue: VecDeque::new(),
            passing: VecDeque::new(),
            barriers: Vec::new(),
            reserved: None,
            answers: VecDeque::new(),
            late: Vec::new(),
            next_ticket: 0,
        };
        for target in targets {
            mapped.add(target);
        }
        mapped
    }

    /// The map.
    pub fn map(&self) -> &M {
        &self.map
    }

    /// The map, to change it between batches.
    pub fn map_mut(&mut self) -> &mut M {
        &mut self.map
    }

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

    /// Objects that the map added, in its own namespace.
    pub fn added(&self) -> Vec<Added> {
        self.map.added()
    }

    /// A target below, to reach what the map added.
    pub fn below(&mut self, index: TargetIndex) -> Option<&mut (dyn Target + 'static)> {
        self.below.get_mut(index.0)?.target.as_deref_mut()
    }

    /// How many plans run, and how many requests wait behind them.
    pub fn backlog(&self) -> (usize, usize) {
        (self.running.len(), self.queue.len())
    }

    /// The first answer from below that is missing.
    fn missing(&self) -> Option<(TargetIndex, Ticket)> {
        let passing = self.passing.front().map(|first| (first.below, first.below_ticket));
        let restoring = || {
            let mut below = self.below.iter().enumerate();
            below.find_map(|(at, below)| {
                Some((TargetIndex(at), below.restoring.as_ref()?.below_ticket()))
            })
        };
        { passing.or_else(|| self.running.iter().find_map(|running| running.missing())) }
            .or_else(restoring)
    }

    fn ticket(&mut self) -> Ticket {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        ticket
    }

    fn answer(&mut self, ticket: Ticket, outcome: Outcome) {
        self.answers.push_back((ticket, outcome));
    }

    /// Whether a batch is made for another program.
    fn is_for_another_program(&self, batch: &Batch) -> bool {
        let own = || self.map.program();
        batch.program.as_ref().is_some_and(|program| !Arc::ptr_eq(program, &own()))
    }

    /// Whether a batch can start now: no queued request, reservation or plan holds it up.
    fn is_free_for(&self, batch: &Batch) -> bool {
        self.queue.is_empty()
            && (self.reserved.is_none() || batch.only_reads())
            && !self.running.iter().any(|running| self.map.queues_behind(&running.plan, batch))
    }

    /// Starts batches that can start now.
    fn start(&mut self, Joined { askers, mut batch, at_ps }: Joined) {
        if let [(ticket, _)] = askers[..]
            && let Some(index) = self.map.passes_to(&batch)
            && let Some(Below { target: Some(target), program, record: None, .. }) =
                self.below.get_mut(index.0)
        {
            self.map.pass(&mut batch);
            batch.program = Some(program.clone());
            let below_ticket = target.submit(batch, at_ps);
            let passing = Passing { ticket, below: index, below_ticket, is_batch: true };
            self.passing.push_back(passing);
            return;
        }
        self.map.set_now_ps(at_ps.max(self.now_ps()));
        let plan = self.map.begin(batch);
        let mut running = Running::new(askers, plan, at_ps);
        if self.running.is_empty() {
            // Where the targets take no time, most plans end at once.
            while self.advance(&mut running) {}
            if !running.is_over() {
                self.running.push(Box::new(running));
            }
        } else {
            self.running.push(Box::new(running));
            self.drive();
        }
    }

    /// Advances all plans, barriers and queued requests that can advance.
    fn drive(&mut self) {
        while self.drive_once() {}
    }

    fn drive_once(&mut self) -> bool {
        let mut has_moved = false;
        let mut at = 0;
        while at < self.running.len() {
            let mut running = self.running.swap_remove(at);
            // The order of the others is kept.
            let mut moved = false;
            while self.advance(&mut running) {
                moved = true;
            }
            has_moved |= moved;
            self.running.push(running);
            let last = self.running.len() - 1;
            self.running.swap(at, last);
            match self.running[at].is_over() {
                true => {
                    self.running.remove(at);
                    has_moved = true;
                }
                false => at += 1,
            }
        }
        has_moved |= self.take_restoring();
        has_moved |= self.take_passing();
        has_moved |= self.take_barriers();
        has_moved |= self.take_queued();
        has_moved
    }

    fn take_passing(&mut self) -> bool {
        let mut has_moved = false;
        // In order, as the map expects outcomes in the order of the batches.
        while let Some(first) = self.passing.front() {
            let target = self.below[first.below.0].target.as_mut();
            let Some(mut outcome) = target.and_then(|target| target.poll(first.below_ticket))
            else {
                break;
            };
            if first.is_batch {
                self.map.passed(&mut outcome);
            }
            let ticket = first.ticket;
            self.passing.pop_front();
            self.answer(ticket, outcome);
            has_moved = true;
        }
        has_moved
    }

    fn take_barriers(&mut self) -> bool {
        if self.barriers.is_empty() {
            return false;
        }
        let below = &mut self.below;
        for barrier in &mut self.barriers {
            let latest = &mut barrier.latest;
            barrier.waiting.retain(|(index, ticket)| {
                match below[index.0].target.as_mut().map(|target| target.poll(*ticket)) {
                    Some(None) => true,
                    Some(Some(outcome)) => {
                        latest.applied_ps = latest.applied_ps.max(outcome.applied_ps);
                        latest.known_ps = latest.known_ps.max(outcome.known_ps);
                        false
                    }
                    // A detached target has no packets to wait for.
                    None => false,
                }
            });
        }
        let done = self.barriers.extract_if(.., |barrier| barrier.waiting.is_empty());
        let before = self.answers.len();
        self.answers.extend(done.map(|barrier| (barrier.ticket, barrier.latest)));
        self.answers.len() > before
    }

    fn take_queued(&mut self) -> bool {
        let mut has_moved = false;
        while let Some(first) = self.queue.pop_front() {
            let is_free = match &first {
                Queued::Batch(_, batch, _) => {
                    let rest = std::mem::take(&mut self.queue);
                    let is_free = self.is_free_for(batch);
                    self.queue = rest;
                    is_free
                }
                Queued::Barrier(..) => self.running.is_empty(),
            };
            if !is_free {
                self.queue.push_front(first);
                break;
            }
            has_moved = true;
            match first {
                Queued::Batch(ticket, batch, at_ps) => {
                    let mut joined = Joined::one(ticket, batch, at_ps);
                    if self.map.passes_to(&joined.batch).is_none() {
                        let (mut rest, now_ps) = (std::mem::take(&mut self.queue), self.now_ps());
                        let is_free =
                            |batch: &Batch, at_ps| at_ps <= now_ps && self.is_free_for(batch);
                        joined.take_followers(&mut rest, is_free);
                        self.queue = rest;
                    }
                    self.start(joined);
                }
                Queued::Barrier(ticket, at_ps) => self.begin_barrier(ticket, at_ps),
            }
        }
        has_moved
    }

    fn begin_barrier(&mut self, ticket: Ticket, at_ps: u64) {
        let mut waiting = Vec::new();
        for (index, below) in self.below.iter_mut().enumerate() {
            if let Some(target) = &mut below.target {
                waiting.push((TargetIndex(index), target.barrier(at_ps)));
            }
        }
        self.barriers.push(WideBarrier { ticket, waiting, latest: Outcome::empty(at_ps) });
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

    fn visibility(&self) -> Visibility {
        let targets = self.below.iter().filter_map(|below| below.target.as_ref());
        let below = targets.map(|target| target.visibility()).min().unwrap_or(Visibility::Items);
        self.map.visibility(below)
    }

    fn submit(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        let ticket = self.ticket();
        if self.is_for_another_program(&batch) {
            let outcome = Outcome::failed(batch.items.len(), Fault::Swapped, at_ps);
            self.answer(ticket, outcome);
        } else if self.is_free_for(&batch) {
            self.start(Joined::one(ticket, batch, at_ps));
        } else {
            self.queue.push_back(Queued::Batch(ticket, batch, at_ps));
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
            self.queue.push_back(Queued::Barrier(ticket, at_ps));
            self.drive();
        }
        ticket
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
        if self.running.is_empty()
            && self.passing.is_empty()
            && self.queue.is_empty()
            && self.reserved.is_none()
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

/// The writes of a batch, for the record of a target.
pub(super) fn writes(batch: &Batch) -> impl Iterator<Item = &Item> {
    batch.items.iter().filter(|item| !item.is_read())
}
