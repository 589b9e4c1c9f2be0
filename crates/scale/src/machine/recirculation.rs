// SPDX-License-Identifier: Apache-2.0
//! [`Lanes`]: switches of today: no crossbars, no queues in stages. A packet runs the stages in order until it needs a cell of another
//! pipeline; then it passes the rest untouched and comes back at the input of that pipeline (MP5 §2.3). Or pipelines share
//! nothing, and each packet accesses the cells of its own pipeline.

use super::outcome::{Arrival, Cause, Departure, Dropped, Left, Made, Measures, Outcome};
use super::{Settings, first_map};
use crate::design::{Design, Entry, Path};
use crate::work::{Access, Work};
use std::collections::VecDeque;

/// A packet on its passes.
struct Passing<P> {
    packet: P,
    sequence: u64,
    arrival: u64,
    accesses: Vec<Access>,
    /// Accesses that do not happen, as bits.
    cancelled: u64,
    /// The next of its accesses.
    next: usize,
    /// The next stage that it has to run.
    stage: usize,
    is_reordered: bool,
}

/// Such a switch at work.
pub struct Lanes<P> {
    design: Design,
    settings: Settings,
    stages: usize,
    cycle: u64,
    /// The pipeline of each cell, by group.
    map: Vec<Vec<u8>>,
    group_stages: Vec<usize>,
    /// The last packet of each cell, + 1.
    last: Vec<Vec<u64>>,
    /// Packets in front of each pipeline that are new.
    new: Vec<VecDeque<(u64, Arrival<P>)>>,
    /// Packets in front of each pipeline that come back.
    back: Vec<VecDeque<Passing<P>>>,
    /// The packets in each pipeline, by stage.
    lanes: Vec<VecDeque<Option<Passing<P>>>>,
    next_sequence: u64,
    /// The number of packets that have not left.
    inside: u64,
    departures: Vec<Departure<P>>,
    dropped: Vec<Dropped<P>>,
    accesses: Vec<Made>,
    measures: Measures,
}

impl<P> Lanes<P> {
    /// An empty switch for a program.
    pub fn new<W: Work<Packet = P>>(work: &W, settings: Settings, design: &Design) -> Lanes<P> {
        let pipelines = settings.pipelines;
        let stages = work.stages();
        let map = first_map(work, pipelines, &design.first_map);
        Lanes {
            design: design.clone(),
            settings,
            stages,
            cycle: 0,
            group_stages: work.groups().iter().map(|group| group.stage).collect(),
            last: map.iter().map(|cells| vec![0; cells.len()]).collect(),
            map,
            new: (0..pipelines).map(|_| VecDeque::new()).collect(),
            back: (0..pipelines).map(|_| VecDeque::new()).collect(),
            lanes: (0..pipelines).map(|_| (0..stages).map(|_| None).collect()).collect(),
            next_sequence: 0,
            inside: 0,
            departures: Vec::new(),
            dropped: Vec::new(),
            accesses: Vec::new(),
            measures: Measures { stage_entries: vec![0; stages], ..Measures::default() },
        }
    }

    /// Gives the switch a packet. Packets come in the order of (cycle, port).
    pub fn offer(&mut self, arrival: Arrival<P>) {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        let pipelines = self.settings.pipelines;
        let pipeline = match self.design.entry {
            Entry::Sprayed => sequence as usize % pipelines,
            Entry::BoundPorts { ports } => {
                let share = (ports as usize / pipelines).max(1);
                (arrival.port as usize / share).min(pipelines - 1)
            }
            Entry::FirstPipeline => 0,
        };
        self.inside += 1;
        self.measures.arrivals += 1;
        self.measures.last_arrival = arrival.cycle;
        self.new[pipeline].push_back((sequence, arrival));
    }

    /// Returns the current cycle.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Says whether no packet is in the switch or in front of it.
    pub fn is_empty(&self) -> bool {
        self.inside == 0
    }

    /// Lets cycles pass in which nothing is in the switch.
    pub fn skip_to(&mut self, cycle: u64) {
        self.cycle = self.cycle.max(cycle);
    }

    /// Runs one cycle.
    pub fn step<W: Work<Packet = P>>(&mut self, work: &mut W) {
        for pipeline in 0..self.settings.pipelines {
            let entering = self.enter(pipeline, work);
            self.measures.passes += u64::from(entering.is_some());
            self.lanes[pipeline].push_front(entering);
            for stage in 0..self.stages {
                self.run_stage(pipeline, stage, work);
            }
            if let Some(passing) = self.lanes[pipeline].pop_back().flatten() {
                self.leave(pipeline, passing);
            }
        }
        self.cycle += 1;
    }

    /// Takes the packet that enters a pipeline.
    fn enter<W: Work<Packet = P>>(&mut self, pipeline: usize, work: &mut W) -> Option<Passing<P>> {
        let new = &mut self.new[pipeline];
        let has_new = new.front().is_some_and(|(_, arrival)| arrival.cycle <= self.cycle);
        let goes_back = matches!(self.design.path, Path::Recirculation { first: true }) || !has_new;
        if let Some(passing) = self.back[pipeline].pop_front_if(|_| goes_back) {
            return Some(passing);
        }
        let (sequence, arrival) = if has_new { new.pop_front() } else { None }?;
        let Arrival { cycle: arrival, mut packet, .. } = arrival;
        let mut accesses = Vec::new();
        work.resolve(&mut packet, &mut accesses);
        Some(Passing {
            packet,
            sequence,
            arrival,
            accesses,
            cancelled: 0,
            next: 0,
            stage: 0,
            is_reordered: false,
        })
    }

    /// Runs a stage on its packet, if that needs no cell of another pipeline.
    fn run_stage<W: Work<Packet = P>>(&mut self, pipeline: usize, stage: usize, work: &mut W) {
        let slot = &mut self.lanes[pipeline][stage];
        let Some(passing) = slot.as_mut().filter(|passing| passing.stage == stage) else { return };
        let access = passing.next_access(&self.group_stages);
        if let Some((_, access)) = access.filter(|(at, _)| *at == stage) {
            let (group, cell) = (access.group as usize, access.cell as usize);
            let is_elsewhere = usize::from(self.map[group][cell]) != pipeline;
            if self.design.path != Path::Local && is_elsewhere {
                return;
            }
            passing.next += 1;
            self.measures.accesses += 1;
            let last = &mut self.last[group][cell];
            if *last > passing.sequence + 1 && !passing.is_reordered {
                passing.is_reordered = true;
                self.measures.reordered += 1;
            }
            *last = (*last).max(passing.sequence + 1);
            if self.settings.logs_accesses {
                self.accesses.push(Made { access, sequence: passing.sequence });
            }
        }
        let told = work.run(stage, pipeline, &mut passing.packet);
        passing.cancelled |= told.cancelled;
        passing.stage += 1;
        if told.is_dropped
            && let Some(Passing { sequence, packet, .. }) = slot.take()
        {
            self.inside -= 1;
            let cycle = self.cycle;
            self.measures.last_departure = cycle + 1;
            let cause = Cause::Program;
            self.dropped.push(Dropped { sequence, cycle, stage, cause, packet });
        }
    }

    /// Lets a packet leave a pipeline: it departs or comes back.
    fn leave(&mut self, pipeline: usize, mut passing: Passing<P>) {
        if passing.stage < self.stages {
            let access = passing.next_access(&self.group_stages).map(|(_, access)| access);
            let owner = access.map_or(pipeline, |access| {
                usize::from(self.map[access.group as usize][access.cell as usize])
            });
            self.back[owner].push_back(passing);
            self.measures.waiting = self.measures.waiting.max(self.back[owner].len());
            return;
        }
        self.inside -= 1;
        let cycle = self.cycle + 1;
        let latency = cycle - passing.arrival;
        self.measures.last_departure = cycle;
        self.measures.latency_sum += latency;
        self.measures.latency_max = self.measures.latency_max.max(latency);
        let Passing { sequence, packet, .. } = passing;
        self.departures.push(Departure { sequence, cycle, is_marked: false, packet });
    }

    /// Takes the packets that have left.
    pub fn take_left(&mut self) -> Left<P> {
        Left::take(&mut self.departures, &mut self.dropped)
    }

    /// Ends the run.
    pub fn finish(mut self) -> Outcome<P> {
        self.measures.cycles = self.cycle;
        Outcome {
            departures: self.departures,
            dropped: self.dropped,
            accesses: self.accesses,
            map: self.map,
            measures: self.measures,
        }
    }
}

impl<P> Passing<P> {
    /// The next access that happens, with its stage.
    fn next_access(&mut self, group_stages: &[usize]) -> Option<(usize, Access)> {
        while self.cancelled >> self.next & 1 == 1 {
            self.next += 1;
        }
        let access = *self.accesses.get(self.next)?;
        Some((group_stages[access.group as usize], access))
    }
}
