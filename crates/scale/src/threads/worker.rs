// SPDX-License-Identifier: Apache-2.0
//! [`Worker`]: one pipeline. It resolves its share of the arriving packets, keeps the order of the accesses to its own cells,
//! and runs packets whose turn it is. Everything it knows of other workers came through rings. One call of
//! [`Worker::step`] does a little, so that a test can interleave workers as it likes.

use super::message::{Flight, Message, Phantom, Share};
use super::placement::Placement;
use super::ring::Links;
use super::turns::Turns;
use crate::work::Work;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Worked,
    /// Nothing: all depends on other workers.
    Idle,
    Ended,
}

/// What a worker has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerCounts {
    /// Arriving packets that it resolved.
    pub packets: u64,
    /// Stages with state that it ran.
    pub accesses: u64,
    /// Packets that it sent to another worker.
    pub migrations: u64,
}

/// A share in resolution.
#[derive(Debug)]
struct Resolving<P> {
    share: Share<P>,
    /// How many are resolved.
    resolved: usize,
    /// The phantoms so far, by owner.
    phantoms: Vec<Vec<Phantom>>,
}

/// A worker.
#[derive(Debug)]
pub(super) struct Worker<W: Work> {
    index: usize,
    placement: Arc<Placement>,
    /// The program with the worker's cells; `None` during a halt.
    pub work: Option<Box<W>>,
    links: Links<Message<W, W::Packet>>,
    stages: usize,
    shares: VecDeque<Share<W::Packet>>,
    resolving: Option<Resolving<W::Packet>>,
    /// Phantoms of batches that came too early.
    batches: BTreeMap<u64, Vec<Phantom>>,
    /// The batch whose phantoms are placed next.
    next_batch: u64,
    /// By group.
    turns: Vec<Turns<Box<Flight<W::Packet>>>>,
    /// Groups of which a packet can go on, each at most once.
    ready: VecDeque<u32>,
    is_listed: Vec<bool>,
    /// Resolved packets that have not run.
    started: VecDeque<Box<Flight<W::Packet>>>,
    /// Packets that have ended, of the first worker.
    pub done: Vec<Box<Flight<W::Packet>>>,
    /// Programs of other workers at a halt, of the first worker.
    pub halted: Vec<(usize, Box<W>)>,
    pub counts: WorkerCounts,
    has_ended: bool,
    /// Where resolution puts accesses.
    scratch: Vec<crate::work::Access>,
}

impl<W: Work> Worker<W> {
    /// Makes the workers of a run. Each work has one pipeline.
    pub(super) fn all(placement: &Arc<Placement>, works: Vec<W>) -> Vec<Worker<W>> {
        let links = Links::mesh(works.len());
        let workers = works.into_iter().zip(links).enumerate();
        let new = |(index, (work, links)): (usize, (W, Links<_>))| Worker {
            index,
            stages: work.stages(),
            work: Some(Box::new(work)),
            links,
            shares: VecDeque::new(),
            resolving: None,
            batches: BTreeMap::new(),
            next_batch: 0,
            turns: (0..placement.groups()).map(|_| Turns::default()).collect(),
            ready: VecDeque::new(),
            is_listed: vec![false; placement.groups()],
            started: VecDeque::new(),
            done: Vec::new(),
            halted: Vec::new(),
            counts: WorkerCounts::default(),
            has_ended: false,
            scratch: Vec::new(),
            placement: placement.clone(),
        };
        workers.map(new).collect()
    }

    /// Sends a message to a worker, which may be itself.
    pub(super) fn send(&mut self, receiver: usize, message: Message<W, W::Packet>) {
        match receiver == self.index {
            true => self.handle(receiver, message),
            false => self.links.send(receiver, message),
        }
    }

    /// Whether sent messages have not all been put into rings.
    pub(super) fn has_waiting(&self) -> bool {
        self.links.has_waiting()
    }

    /// Moves messages that found their rings full.
    pub(super) fn flush(&mut self) {
        self.links.flush();
    }

    /// Whether a step would do something.
    pub(super) fn can_work(&self) -> bool {
        let has_task = !self.started.is_empty() || !self.ready.is_empty();
        let has_share = self.resolving.is_some() || !self.shares.is_empty();
        !self.has_ended && (has_task || has_share || self.links.can_work())
    }

    /// Takes a message from each worker, and then runs a packet as far as it goes, or resolves one.
    pub(super) fn step(&mut self) -> Progress {
        self.links.flush();
        let mut progress = Progress::Idle;
        for sender in 0..self.placement.workers() {
            if let Some(message) = self.links.receive(sender) {
                self.handle(sender, message);
                progress = Progress::Worked;
            }
        }
        if self.has_ended {
            return Progress::Ended;
        }
        if let Some(group) = self.ready.pop_front() {
            self.is_listed[group as usize] = false;
            if let Some(flight) = self.turns[group as usize].take() {
                self.run(flight, true);
                self.list(group);
            }
        } else if let Some(flight) = self.started.pop_front() {
            self.run(flight, false);
        } else if !self.resolve_next() {
            return progress;
        }
        Progress::Worked
    }

    fn handle(&mut self, sender: usize, message: Message<W, W::Packet>) {
        match message {
            Message::Share(share) => self.shares.push_back(share),
            Message::Phantoms(batch, phantoms) => {
                self.batches.insert(batch, phantoms);
                self.place_batches();
            }
            Message::Packet(flight) => self.wait_for_turn(flight),
            Message::Cancelled(phantom) => {
                self.turns[phantom.group as usize].cancel(phantom.number);
                self.list(phantom.group);
            }
            Message::Done(flight) => self.done.push(flight),
            Message::Halt => {
                if let Some(work) = self.work.take() {
                    self.links.send(0, Message::Program(work));
                }
            }
            Message::Program(work) if self.index == 0 => self.halted.push((sender, work)),
            Message::Program(work) => self.work = Some(work),
            Message::End => self.has_ended = true,
        }
    }

    /// Places the phantoms of all batches that have come, in order.
    fn place_batches(&mut self) {
        while let Some(phantoms) = self.batches.remove(&self.next_batch) {
            self.next_batch += 1;
            for Phantom { number, group } in phantoms {
                self.turns[group as usize].place(number);
                self.list(group);
            }
        }
    }

    /// Lists a group if a packet of it can go on.
    fn list(&mut self, group: u32) {
        let at = group as usize;
        if !self.is_listed[at] && self.turns[at].is_ready() {
            self.is_listed[at] = true;
            self.ready.push_back(group);
        }
    }

    /// Resolves a packet. Behind the last one of a share the phantoms go to the owners, and then the packets start. Returns
    /// whether there was one.
    fn resolve_next(&mut self) -> bool {
        let Some(work) = &mut self.work else { return false };
        let workers = self.placement.workers();
        let resolving = match &mut self.resolving {
            Some(resolving) => resolving,
            None => {
                let Some(share) = self.shares.pop_front() else { return false };
                let phantoms = vec![Vec::new(); workers];
                self.resolving.insert(Resolving { share, resolved: 0, phantoms })
            }
        };
        if let Some(flight) = resolving.share.flights.get_mut(resolving.resolved) {
            self.scratch.clear();
            work.resolve(&mut flight.packet, &mut self.scratch);
            for access in &self.scratch {
                let phantom = Phantom { number: flight.number, group: access.group };
                resolving.phantoms[self.placement.owner(*access)].push(phantom);
            }
            flight.accesses.extend_from_slice(&self.scratch);
            resolving.resolved += 1;
            self.counts.packets += 1;
        }
        if resolving.resolved == resolving.share.flights.len()
            && let Some(Resolving { share: Share { batch, flights }, phantoms, .. }) =
                self.resolving.take()
        {
            for (owner, phantoms) in phantoms.into_iter().enumerate() {
                self.send(owner, Message::Phantoms(batch, phantoms));
            }
            self.started.extend(flights);
        }
        true
    }

    /// Lets a packet wait for its turn at its next access.
    fn wait_for_turn(&mut self, flight: Box<Flight<W::Packet>>) {
        let Some(entry) = self.next_access(&flight) else { return self.started.push_back(flight) };
        let group = flight.accesses[entry].group;
        self.turns[group as usize].arrive(flight.number, flight);
        self.list(group);
    }

    /// Returns the access of a packet's next stage that happens.
    #[inline]
    fn next_access(&self, flight: &Flight<W::Packet>) -> Option<usize> {
        let happens = |entry: &usize| {
            flight.cancelled >> entry & 1 == 0
                && self.placement.stage(flight.accesses[*entry]) == flight.stage
        };
        (0..flight.accesses.len()).find(happens)
    }

    /// Runs a packet until it has to wait, goes to another worker, or ends. `has_turn` says that it is its turn at its next
    /// access.
    fn run(&mut self, mut flight: Box<Flight<W::Packet>>, mut has_turn: bool) {
        while flight.stage < self.stages {
            if let Some(entry) = self.next_access(&flight) {
                let access = flight.accesses[entry];
                let owner = self.placement.owner(access);
                if owner != self.index {
                    self.counts.migrations += 1;
                    return self.links.send(owner, Message::Packet(flight));
                }
                let turns = &mut self.turns[access.group as usize];
                if !std::mem::take(&mut has_turn) && !turns.take_turn(flight.number) {
                    return self.wait_for_turn(flight);
                }
                self.counts.accesses += 1;
                self.run_stage(&mut flight);
                self.list(access.group);
            } else {
                self.run_stage(&mut flight);
            }
        }
        self.send(0, Message::Done(flight));
    }

    /// Runs the next stage of a packet and tells the owners of accesses that do not happen.
    fn run_stage(&mut self, flight: &mut Flight<W::Packet>) {
        let Some(work) = &mut self.work else { return };
        let outcome = work.run(flight.stage, 0, &mut flight.packet);
        let mut cancelled = outcome.cancelled;
        if outcome.is_dropped {
            cancelled = u64::MAX;
        }
        let before = flight.stage;
        flight.stage = if outcome.is_dropped { self.stages } else { before + 1 };
        if cancelled & !flight.cancelled == 0 {
            return;
        }
        for entry in 0..flight.accesses.len() {
            let access = flight.accesses[entry];
            let is_new = (cancelled & !flight.cancelled) >> entry & 1 == 1;
            if is_new && self.placement.stage(access) > before {
                let phantom = Phantom { number: flight.number, group: access.group };
                self.send(self.placement.owner(access), Message::Cancelled(phantom));
            }
        }
        flight.cancelled |= cancelled;
    }
}
