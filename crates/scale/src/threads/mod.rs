// SPDX-License-Identifier: Apache-2.0
//! MP5 on threads: [`Workers`] run one program on several pipelines, a thread each, with the results of one. The caller's
//! thread is the first.
//!
//! Packets are numbered in order of arrival and go to workers in batches, to each that has few packets; the first
//! worker, which also takes packets in and out, gets a batch when it has nothing else to do. A worker resolves a batch and tells each
//! owner of cells which packets will access them: *phantoms*, which owners put in order of arrival (`turns`). A packet that
//! reaches an access goes to the owner of the cell and runs there when it is its turn. So packets access each cell in the order
//! of arrival (MP5's C1), at any speed of the workers. Only the owner accesses a cell, so there is no lock. Workers send each
//! other messages through rings (`ring`).
//!
//! Packets end in any order; [`Workers::pop`] returns them in order of arrival.

mod message;
mod others;
mod placement;
mod ring;
mod turns;
mod worker;

pub use others::Schedule;
pub use placement::Placement;
pub use worker::WorkerCounts;

use crate::work::Work;
use message::{Flight, Message, Share};
use others::Others;
use std::collections::VecDeque;
use std::sync::Arc;
use worker::{Progress, Worker};

/// The largest number of workers.
pub const MAX_WORKERS: usize = 64;

/// How many packets are under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Packets that a worker resolves together.
    pub batch: usize,
    /// Packets after which [`Workers::is_full`].
    pub packets: usize,
}

/// Batches after which a worker beside the first one gets no more.
const BATCHES_OF_A_WORKER: usize = 4;

impl Default for Window {
    fn default() -> Window {
        Window { batch: 32, packets: 1024 }
    }
}

/// A program on several workers. Each has a [`Work`] of one pipeline.
#[derive(Debug)]
pub struct Workers<W: Work> {
    first: Worker<W>,
    others: Others<W>,
    placement: Arc<Placement>,
    window: Window,
    /// Packets that are not enough for a batch yet.
    open: Vec<Box<Flight<W::Packet>>>,
    next_batch: u64,
    next_number: u64,
    /// Batches that no worker has, in order of arrival.
    waiting: VecDeque<Share<W::Packet>>,
    /// Packets under way, by the worker that resolves them.
    loads: Vec<usize>,
    /// The packets under way from the oldest on; those that have ended.
    ended: VecDeque<Option<Box<Flight<W::Packet>>>>,
}

impl<W: Work> Workers<W> {
    fn of(
        works: Vec<W>,
        window: Window,
        others: impl FnOnce(Vec<Worker<W>>) -> std::io::Result<Others<W>>,
    ) -> std::io::Result<Workers<W>> {
        let placement = Arc::new(Placement::new(works[0].groups(), works.len()));
        let mut workers = Worker::all(&placement, works);
        let first = workers.remove(0);
        Ok(Workers {
            first,
            others: others(workers)?,
            window,
            open: Vec::new(),
            next_batch: 0,
            next_number: 0,
            waiting: VecDeque::new(),
            loads: vec![0; placement.workers()],
            placement,
            ended: VecDeque::new(),
        })
    }

    /// Starts a worker for each work, the first on the caller's thread, on which `schedule` chooses who takes the next step.
    ///
    /// # Panics
    ///
    /// Without a work.
    pub fn scheduled(works: Vec<W>, window: Window, schedule: Schedule) -> Workers<W> {
        let others = |workers| Ok(Others::Scheduled { workers, schedule });
        Workers::of(works, window, others).expect("no thread is made")
    }

    /// Returns the owners of cells.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// Returns the number of packets under way.
    pub fn in_flight(&self) -> usize {
        self.ended.len()
    }

    /// Whether the oldest packet should be taken before the next one is pushed.
    pub fn is_full(&self) -> bool {
        self.ended.len() >= self.window.packets
    }

    /// Returns the number of packets that a worker resolves together.
    pub fn batch(&self) -> usize {
        self.window.batch
    }

    /// A packet arrives.
    pub fn push(&mut self, packet: W::Packet) {
        self.open.push(Box::new(Flight::new(self.next_number, packet)));
        self.next_number += 1;
        self.ended.push_back(None);
        if self.open.len() >= self.window.batch {
            self.close_batch();
        }
    }

    /// Makes a batch of the packets that have come, also if they are few.
    fn close_batch(&mut self) {
        let flights = std::mem::take(&mut self.open);
        self.waiting.push_back(Share { batch: self.next_batch, flights });
        self.next_batch += 1;
        self.share();
    }

    /// Gives batches to the workers beside the first one that have few packets.
    fn share(&mut self) {
        while !self.waiting.is_empty() {
            let others = 1..self.loads.len();
            let Some(least) = others.min_by_key(|worker| self.loads[*worker]) else { return };
            if self.loads[least] >= BATCHES_OF_A_WORKER * self.window.batch {
                return;
            }
            self.share_with(least);
        }
    }

    /// Gives the oldest batch to a worker. False if there is none.
    fn share_with(&mut self, resolver: usize) -> bool {
        let Some(mut share) = self.waiting.pop_front() else { return false };
        self.loads[resolver] += share.flights.len();
        share.flights.iter_mut().for_each(|flight| flight.resolver = resolver);
        self.first.send(resolver, Message::Share(share));
        true
    }

    /// Returns the oldest packet under way when it has ended; works meanwhile. `None` if no packet is under way.
    ///
    /// # Panics
    ///
    /// A worker has panicked.
    pub fn pop(&mut self) -> Option<W::Packet> {
        let oldest = self.next_number - self.ended.len() as u64;
        if self.open.first().is_some_and(|first| first.number == oldest) {
            self.close_batch();
        }
        loop {
            for flight in self.first.done.drain(..) {
                let place = (flight.number - oldest) as usize;
                self.loads[flight.resolver] -= 1;
                self.ended[place] = Some(flight);
            }
            self.share();
            match self.ended.front()? {
                Some(_) => return self.ended.pop_front().flatten().map(|flight| flight.packet),
                None => self.step(),
            }
        }
    }

    fn step(&mut self) {
        let is_idle = self.first.step() == Progress::Idle && !self.share_with(0);
        self.others.work(is_idle);
    }

    /// Gives the caller the works of all workers, in order. No packet is under way.
    ///
    /// # Panics
    ///
    /// A packet is under way, or a worker has panicked.
    pub fn with_works<T>(&mut self, act: impl FnOnce(&mut [&mut W]) -> T) -> T {
        assert!(self.ended.is_empty(), "packets are under way");
        let workers = self.placement.workers();
        for other in 1..workers {
            self.first.send(other, Message::Halt);
        }
        self.others.wake();
        while self.first.halted.len() + 1 < workers {
            self.step();
        }
        let mut halted = std::mem::take(&mut self.first.halted);
        halted.sort_by_key(|(worker, _)| *worker);
        let own = self.first.work.as_deref_mut();
        let mut works: Vec<&mut W> =
            own.into_iter().chain(halted.iter_mut().map(|(_, work)| &mut **work)).collect();
        let done = act(&mut works);
        for (worker, work) in halted {
            self.first.send(worker, Message::Program(work));
        }
        done
    }

    /// Ends the workers and returns what each has done, in order.
    pub fn end(mut self) -> Vec<WorkerCounts> {
        let others = self.end_others();
        let counts = others.iter().map(|worker| worker.counts);
        std::iter::once(self.first.counts).chain(counts).collect()
    }

    fn end_others(&mut self) -> Vec<Worker<W>> {
        for other in 1..self.placement.workers() {
            self.first.send(other, Message::End);
        }
        while self.first.has_waiting() {
            self.others.wake();
            std::thread::yield_now();
            self.first.flush();
        }
        self.others.end()
    }
}

impl<W: Work + Send + 'static> Workers<W>
where
    W::Packet: Send,
{
    /// Starts a worker for each work, the first on the caller's thread, the others on threads of their own.
    ///
    /// # Errors
    ///
    /// The system has no further thread.
    ///
    /// # Panics
    ///
    /// Without a work.
    pub fn start(works: Vec<W>, window: Window) -> std::io::Result<Workers<W>> {
        Workers::of(works, window, Others::on_threads)
    }
}

/// Workers end with their run, also if it stops early.
impl<W: Work> Drop for Workers<W> {
    fn drop(&mut self) {
        if !matches!(&self.others, Others::Scheduled { .. }) {
            self.end_others();
        }
    }
}
