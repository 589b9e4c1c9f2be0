// SPDX-License-Identifier: Apache-2.0
//! A control map in front of its targets: runs plans, queues batches behind them, keeps reservations, and detaches
//! and attaches targets. The map decides what a plan does; `reconcile` finds what a target lacks that is attached
//! again.

mod attaching;
mod plans;
mod queue;
mod requests;
mod restoring;

use super::reconcile::Record;
use super::{Added, ControlMap, TargetIndex};
use crate::target::{Batch, Item, Notification, Outcome, Target, Ticket};
use ir::Program;
use plans::Running;
use queue::{Joined, Queued, Turns};
use restoring::Restoring;
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
/// Plans of one controller begin in the order of its requests; one that [`ControlMap::queues_behind`] another waits for
/// its end, and controllers whose requests wait take turns ([`Target::set_controller`]). Batches of configuration that wait
/// one behind the other and continue on errors begin as one plan; each gets its own results. Work goes on when [`Target::poll`] or [`Target::notifications`] is called. A reservation here is
/// checked by the map and keeps other batches out until it is committed or released; it holds for targets that
/// no other controller writes to.
pub struct Mapped<M: ControlMap> {
    map: M,
    below: Vec<Below>,
    running: Vec<Box<Running<M::Plan>>>,
    queue: Turns,
    /// Whose requests come now.
    controller: u32,
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
            queue: Turns::default(),
            controller: 0,
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

    /// Whether no plan runs, no request is queued and no reservation held.
    fn is_unoccupied(&self) -> bool {
        self.running.is_empty() && self.queue.is_empty() && self.reserved.is_none()
    }

    /// Whether no reservation or plan holds a batch up.
    fn is_free_for(&self, batch: &Batch) -> bool {
        (self.reserved.is_none() || batch.only_reads())
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
        while let Some(first) = self.queue.first() {
            let is_free = match first {
                Queued::Batch(_, batch, _) => self.is_free_for(batch),
                Queued::Barrier(..) => self.running.is_empty(),
            };
            if !is_free {
                break;
            }
            let Some(mut line) = self.queue.begin_turn() else { break };
            has_moved = true;
            match line.requests.pop_front() {
                Some(Queued::Batch(ticket, batch, at_ps)) => {
                    let mut joined = Joined::one(ticket, batch, at_ps);
                    if self.map.passes_to(&joined.batch).is_none() {
                        let now_ps = self.now_ps();
                        let is_free =
                            |batch: &Batch, at_ps| at_ps <= now_ps && self.is_free_for(batch);
                        joined.take_followers(&mut line.requests, is_free);
                    }
                    self.queue.end_turn(line);
                    self.start(joined);
                }
                Some(Queued::Barrier(ticket, at_ps)) => {
                    self.queue.end_turn(line);
                    self.begin_barrier(ticket, at_ps);
                }
                None => {}
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
}

/// The writes of a batch, for the record of a target.
pub(super) fn writes(batch: &Batch) -> impl Iterator<Item = &Item> {
    batch.items.iter().filter(|item| !item.is_read())
}
