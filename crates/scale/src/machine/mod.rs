// SPDX-License-Identifier: Apache-2.0
//! The multi-pipelined machine, cycle by cycle (MP5 §3.2, §3.4). In each cycle a stage of a pipeline processes exactly one
//! packet or none. A cycle begins with remaps; then packets enter and their addresses are resolved, phantoms and cancellations reach their
//! stages, and each stage takes the packets that the stage before it processed in the last cycle.
//!
//! What a stage computes is [`Work`]'s; which mechanisms there are is [`Design`]'s.

mod any;
mod candidate;
pub mod cells;
mod channel;
mod conveyor;
mod entry;
mod flights;
mod messages;
pub mod outcome;
pub mod queue;
mod recirculation;
mod remap;
pub mod scan;
pub mod single;
mod stages;
mod steering;

pub use any::{AnyMachine, run};

use crate::design::{Design, Entry, FirstMap};
use crate::trace::{Recorder, Shape};
use crate::work::{Access, Work};
use cells::GroupCells;
use channel::Channel;
use conveyor::Conveyor;
use flights::{Flights, NONE};
use outcome::{Arrival, Cause, Departure, Dropped, Left, Made, Measures, Outcome};
use queue::{Bank, Entry as QueueEntry};
use std::collections::VecDeque;

/// The most pipelines of a machine.
pub const MAX_PIPELINES: usize = 64;

/// The size of a machine and what it tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The number of pipelines, 1 to [`MAX_PIPELINES`].
    pub pipelines: usize,
    /// The entries of a ring; a stage has a ring for each pipeline in each pipeline. Without it no queue is bounded.
    pub depth: Option<usize>,
    /// Packets that come to a queue of more entries are marked.
    pub congestion_threshold: Option<usize>,
    /// The outcome has all accesses.
    pub logs_accesses: bool,
}

impl Settings {
    /// Unbounded queues, no marks, all accesses logged.
    pub fn new(pipelines: usize) -> Settings {
        Settings { pipelines, depth: None, congestion_threshold: None, logs_accesses: true }
    }
}

/// A machine at work.
pub struct Machine<P> {
    design: Design,
    settings: Settings,
    stages: usize,
    /// The current cycle.
    cycle: u64,
    /// Where cells are active, by group.
    groups: Vec<GroupCells>,
    /// The queues in front of each stage that has groups.
    banks: Vec<Option<StageQueues>>,
    /// All stages in order.
    parts: Vec<Part>,
    /// Packets behind address resolution (0) and behind each stage, by pipeline; cleared when the next stage takes them.
    registers: Vec<u32>,
    flights: Flights<P>,
    channel: Channel,
    /// Packets in front of the machine: one queue, or one for each pipeline.
    waiting: Vec<VecDeque<(u64, Arrival<P>)>>,
    /// The number of packets of each of these queues that have arrived.
    arrived: Vec<usize>,
    /// The pipeline that takes the next sprayed packet.
    spray: usize,
    next_sequence: u64,
    next_stamp: u64,
    remaps: remap::Remaps,
    resolved: Vec<Access>,
    departures: Vec<Departure<P>>,
    dropped: Vec<Dropped<P>>,
    accesses: Vec<Made>,
    measures: Measures,
}

/// A part of the pipelines.
enum Part {
    /// A stage with queues.
    Stateful(usize),
    /// Stages without queues, one after the other.
    Stateless(Conveyor),
}

/// The queues in front of a stage, and what the stage before it knows of them.
struct StageQueues {
    bank: Bank,
    /// Pipelines with an entry to process after the last cycle, as bits.
    seen_ready: u64,
    /// The lengths of queues after the last cycle.
    seen_lengths: [u32; MAX_PIPELINES],
}

impl<P> Machine<P> {
    /// An empty machine for a program. Panics if the number of pipelines is out of its range, or if a given map does not fit the
    /// program.
    pub fn new<W: Work<Packet = P>>(
        work: &W,
        settings: Settings,
        design: &Design,
        recorder: &mut impl Recorder,
    ) -> Machine<P> {
        let pipelines = settings.pipelines;
        assert!((1..=MAX_PIPELINES).contains(&pipelines), "{pipelines} pipelines");
        let map = first_map(work, pipelines, &design.first_map);
        let stages = work.stages();
        let group_stages: Vec<usize> = work.groups().iter().map(|group| group.stage).collect();
        recorder.begin(Shape {
            pipelines,
            stages,
            group_stages: group_stages.clone(),
            first_map: map.clone(),
        });
        let banks = (0..stages).map(|stage| {
            let first = group_stages.iter().position(|other| *other == stage)?;
            let here = work.groups().iter().filter(|group| group.stage == stage);
            let cells: Vec<u32> = here.map(|group| group.cells).collect();
            Some(StageQueues {
                bank: Bank::new(design.queues, pipelines, settings.depth, first as u32, &cells),
                seen_ready: 0,
                seen_lengths: [0; MAX_PIPELINES],
            })
        });
        let banks: Vec<Option<StageQueues>> = banks.collect();
        let mut parts = Vec::new();
        for (stage, bank) in banks.iter().enumerate() {
            if bank.is_some() {
                parts.push(Part::Stateful(stage));
            } else if let Some(Part::Stateless(conveyor)) = parts.last_mut() {
                conveyor.extend(pipelines);
            } else {
                parts.push(Part::Stateless(Conveyor::new(stage, pipelines)));
            }
        }
        let queues = if matches!(design.entry, Entry::BoundPorts { .. }) { pipelines } else { 1 };
        Machine {
            stages,
            cycle: 0,
            groups: map
                .into_iter()
                .zip(&group_stages)
                .map(|(cells, stage)| GroupCells::new(*stage, cells, pipelines))
                .collect(),
            banks,
            parts,
            registers: vec![NONE; (stages + 1) * pipelines],
            flights: Flights::new(),
            channel: Channel::new(stages),
            waiting: (0..queues).map(|_| VecDeque::new()).collect(),
            arrived: vec![0; queues],
            spray: 0,
            next_sequence: 0,
            next_stamp: 0,
            remaps: remap::Remaps::new(design, group_stages.len()),
            resolved: Vec::new(),
            departures: Vec::new(),
            dropped: Vec::new(),
            accesses: Vec::new(),
            measures: Measures { stage_entries: vec![0; stages], ..Measures::default() },
            design: design.clone(),
            settings,
        }
    }

    /// Gives the machine a packet. Packets come in the order of (cycle, port), and none comes for a cycle that has passed.
    pub fn offer(&mut self, arrival: Arrival<P>) {
        debug_assert!(arrival.cycle >= self.measures.last_arrival.max(self.cycle));
        let queue = self.entry_queue(arrival.port);
        self.measures.arrivals += 1;
        self.measures.last_arrival = arrival.cycle;
        self.waiting[queue].push_back((self.next_sequence, arrival));
        self.next_sequence += 1;
    }

    /// Returns the current cycle.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Says whether no packet is in the machine or in front of it.
    pub fn is_empty(&self) -> bool {
        self.is_idle() && !self.is_waiting()
    }

    /// Says whether packets are in front of the machine.
    pub fn is_waiting(&self) -> bool {
        self.waiting.iter().any(|queue| !queue.is_empty())
    }

    /// Says whether nothing is in the machine, cancelled entries included.
    fn is_idle(&self) -> bool {
        self.flights.used() == 0
            && self.channel.is_empty()
            && self.banks.iter().flatten().all(|queues| {
                (0..self.settings.pipelines).all(|pipeline| queues.bank.len(pipeline) == 0)
            })
    }

    /// Runs one cycle. Says whether anything moved or is on its way to a stage. The recorder is of one type in all cycles.
    pub fn step<W: Work<Packet = P>, R: Recorder>(
        &mut self,
        work: &mut W,
        recorder: &mut R,
    ) -> bool {
        self.remap(work, recorder);
        let mut has_moved = self.enter(work, recorder);
        has_moved |= self.deliver_messages(recorder);
        let mut parts = std::mem::take(&mut self.parts);
        for part in parts.iter_mut().rev() {
            has_moved |= match part {
                Part::Stateful(stage) => self.run_stage(*stage, work, recorder),
                Part::Stateless(conveyor) if R::IS_ACTIVE => {
                    self.run_stages_one_by_one(conveyor, work, recorder)
                }
                Part::Stateless(conveyor) => self.run_conveyor(conveyor, work, recorder),
            };
        }
        self.parts = parts;
        has_moved |= self.depart(work, recorder);
        self.cycle += 1;
        has_moved || !self.channel.is_empty()
    }

    /// Runs until the machine is empty, or until nothing can move any more.
    pub fn drain<W: Work<Packet = P>>(&mut self, work: &mut W, recorder: &mut impl Recorder) {
        while !self.is_empty() {
            if self.is_idle() {
                let next =
                    self.waiting.iter().filter_map(|queue| Some(queue.front()?.1.cycle)).min();
                self.skip_to(next.unwrap_or(self.cycle), work, recorder);
            }
            let has_moved = self.step(work, recorder);
            if !has_moved && !self.is_waiting() {
                self.measures.stalled = self.flights.used();
                return;
            }
        }
    }

    /// Lets cycles pass in which nothing is in the machine. Only remaps happen, and only the first finds counts.
    pub fn skip_to<W: Work<Packet = P>>(
        &mut self,
        cycle: u64,
        work: &mut W,
        recorder: &mut impl Recorder,
    ) {
        while let Some(due) = self.remaps.next_due(self.cycle)
            && due < cycle
        {
            self.cycle = self.cycle.max(due);
            self.remap(work, recorder);
            self.cycle += 1;
            if self.remaps.scans.iter().all(Option::is_none)
                && self.groups.iter().all(|group| group.accesses.iter().all(|count| *count == 0))
            {
                break;
            }
        }
        self.remaps.skip(cycle);
        self.cycle = self.cycle.max(cycle);
    }

    /// Takes the packets that have left.
    pub fn take_left(&mut self) -> Left<P> {
        Left::take(&mut self.departures, &mut self.dropped)
    }

    /// Ends the run.
    pub fn finish(mut self) -> Outcome<P> {
        // Packets that a conveyor drops leave their slot before their time.
        self.measures.cycles = self.cycle.max(self.measures.last_departure);
        self.dropped.sort_by_key(|dropped| (dropped.cycle, std::cmp::Reverse(dropped.stage)));
        self.measures.queue_entries =
            self.measures.stage_entries.iter().copied().max().unwrap_or(0);
        for (index, group) in self.groups.iter().enumerate() {
            let pinned = group.pinned.iter();
            let accesses = pinned.map(|cell| Access { group: index as u32, cell: *cell });
            self.measures.pinned.extend(accesses);
            self.measures.in_flight += group.total_in_flight();
        }
        Outcome {
            departures: self.departures,
            dropped: self.dropped,
            accesses: self.accesses,
            map: self.groups.into_iter().map(|group| group.pipelines).collect(),
            measures: self.measures,
        }
    }

    /// The entries of a queue in order, for pictures of queues in order.
    pub fn queue(&self, stage: usize, pipeline: usize) -> impl Iterator<Item = (u64, QueueEntry)> {
        let entries =
            self.banks[stage].iter().flat_map(move |queues| queues.bank.entries(pipeline));
        entries
            .filter(|entry| entry.flight != NONE)
            .map(|entry| (self.flights.get(entry.flight).sequence, *entry))
    }

    /// Drops a packet at a stage and cancels its remaining accesses over the channel. The packet is there `ahead` cycles from now.
    fn drop_packet(
        &mut self,
        slot: u32,
        stage: usize,
        ahead: u64,
        cause: Cause,
        recorder: &mut impl Recorder,
    ) {
        let flight = self.flights.get_mut(slot);
        let Some(packet) = flight.packet.take() else { return };
        let sequence = flight.sequence;
        let cycle = self.cycle + ahead;
        recorder.record(cycle, crate::trace::Kind::Dropped { packet: sequence });
        self.measures.last_departure = self.measures.last_departure.max(cycle + 1);
        self.dropped.push(Dropped { sequence, cycle, stage, cause, packet });
        let sends = self.design.mechanisms.cancel_on_drop;
        self.cancel_accesses(slot, stage, ahead, u64::MAX, sends, recorder);
        if !sends {
            // The phantoms stay where they are, so the slot stays in use.
            self.flights.get_mut(slot).cancellations += 1;
        }
        self.flights.free(slot);
    }
}

/// The pipeline in which each cell is active at the start.
fn first_map<W: Work>(work: &W, pipelines: usize, first: &FirstMap) -> Vec<Vec<u8>> {
    let groups = work.groups().iter();
    match first {
        FirstMap::Modulo => groups
            .map(|group| (0..group.cells).map(|cell| (cell as usize % pipelines) as u8).collect())
            .collect(),
        FirstMap::FirstPipeline => groups.map(|group| vec![0; group.cells as usize]).collect(),
        FirstMap::Given(map) => {
            let fits = groups.map(|group| group.cells as usize).eq(map.iter().map(Vec::len));
            assert!(fits, "the map has a pipeline for each cell of each group");
            assert!(map.iter().flatten().all(|pipeline| usize::from(*pipeline) < pipelines));
            map.clone()
        }
    }
}
