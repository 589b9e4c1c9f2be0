// SPDX-License-Identifier: Apache-2.0
//! Switches of today: no crossbars, no queues in stages. A packet runs the stages in order until it needs a cell of another pipeline;
//! then it passes the rest untouched and comes back at the input of that pipeline (MP5 §2.3). Or pipelines share nothing,
//! and each packet accesses the cells of its own pipeline.

use super::outcome::{Arrival, Cause, Departure, Dropped, Made, Measures, Outcome};
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

/// Runs packets, sorted by (cycle, port), through such a switch.
pub(super) fn run<W: Work>(
    work: &mut W,
    arrivals: Vec<Arrival<W::Packet>>,
    settings: Settings,
    design: &Design,
) -> Outcome<W::Packet> {
    let pipelines = settings.pipelines;
    let stages = work.stages();
    let map = first_map(work, pipelines, &design.first_map);
    let group_stages: Vec<usize> = work.groups().iter().map(|group| group.stage).collect();
    let mut last: Vec<Vec<u64>> = map.iter().map(|cells| vec![0; cells.len()]).collect();
    let mut measures = Measures {
        arrivals: arrivals.len() as u64,
        last_arrival: arrivals.last().map_or(0, |arrival| arrival.cycle),
        stage_entries: vec![0; stages],
        ..Measures::default()
    };
    let mut new: Vec<VecDeque<(u64, Arrival<W::Packet>)>> =
        (0..pipelines).map(|_| VecDeque::new()).collect();
    for (sequence, arrival) in (0_u64..).zip(arrivals) {
        let pipeline = match design.entry {
            Entry::Sprayed => sequence as usize % pipelines,
            Entry::BoundPorts { ports } => {
                let share = (ports as usize / pipelines).max(1);
                (arrival.port as usize / share).min(pipelines - 1)
            }
            Entry::FirstPipeline => 0,
        };
        new[pipeline].push_back((sequence, arrival));
    }
    let mut back: Vec<VecDeque<Passing<W::Packet>>> =
        (0..pipelines).map(|_| VecDeque::new()).collect();
    let mut lanes: Vec<VecDeque<Option<Passing<W::Packet>>>> =
        (0..pipelines).map(|_| (0..stages).map(|_| None).collect()).collect();
    let mut outcome = Outcome {
        departures: Vec::new(),
        dropped: Vec::new(),
        accesses: Vec::new(),
        map,
        measures: Measures::default(),
    };
    let mut left = measures.arrivals;
    let mut cycle = 0;
    while left > 0 {
        for pipeline in 0..pipelines {
            let has_new = new[pipeline].front().is_some_and(|(_, arrival)| arrival.cycle <= cycle);
            let first = matches!(design.path, Path::Recirculation { first: true }) || !has_new;
            let entering = match back[pipeline].pop_front() {
                Some(passing) if first => Some(passing),
                other => {
                    if let Some(passing) = other {
                        back[pipeline].push_front(passing);
                    }
                    let arrived = if has_new { new[pipeline].pop_front() } else { None };
                    arrived.map(|(sequence, Arrival { cycle: arrival, mut packet, .. })| {
                        let mut accesses = Vec::new();
                        work.resolve(&mut packet, &mut accesses);
                        Passing {
                            packet,
                            sequence,
                            arrival,
                            accesses,
                            cancelled: 0,
                            next: 0,
                            stage: 0,
                            is_reordered: false,
                        }
                    })
                }
            };
            measures.passes += u64::from(entering.is_some());
            lanes[pipeline].push_front(entering);
            for (stage, slot) in lanes[pipeline].iter_mut().enumerate().take(stages) {
                let Some(passing) = slot else { continue };
                if passing.stage != stage {
                    continue;
                }
                let access = passing.next_access(&group_stages);
                let here = access.filter(|(at, _)| *at == stage).map(|(_, access)| access);
                if let Some(access) = here {
                    let owner = outcome.map[access.group as usize][access.cell as usize];
                    if design.path != Path::Local && usize::from(owner) != pipeline {
                        continue;
                    }
                    passing.next += 1;
                    measures.accesses += 1;
                    let last = &mut last[access.group as usize][access.cell as usize];
                    if *last > passing.sequence + 1 && !passing.is_reordered {
                        passing.is_reordered = true;
                        measures.reordered += 1;
                    }
                    *last = (*last).max(passing.sequence + 1);
                    if settings.logs_accesses {
                        outcome.accesses.push(Made { access, sequence: passing.sequence });
                    }
                }
                let told = work.run(stage, pipeline, &mut passing.packet);
                passing.cancelled |= told.cancelled;
                passing.stage += 1;
                if told.is_dropped
                    && let Some(Passing { sequence, packet, .. }) = slot.take()
                {
                    left -= 1;
                    measures.last_departure = cycle + 1;
                    let cause = Cause::Program;
                    outcome.dropped.push(Dropped { sequence, cycle, stage, cause, packet });
                }
            }
            let Some(mut passing) = lanes[pipeline].pop_back().flatten() else { continue };
            if passing.stage < stages {
                let access = passing.next_access(&group_stages).map(|(_, access)| access);
                let owner = access.map_or(pipeline, |access| {
                    usize::from(outcome.map[access.group as usize][access.cell as usize])
                });
                back[owner].push_back(passing);
                measures.waiting = measures.waiting.max(back[owner].len());
                continue;
            }
            left -= 1;
            let latency = cycle + 1 - passing.arrival;
            measures.last_departure = cycle + 1;
            measures.latency_sum += latency;
            measures.latency_max = measures.latency_max.max(latency);
            let (sequence, packet) = (passing.sequence, passing.packet);
            outcome.departures.push(Departure {
                sequence,
                cycle: cycle + 1,
                is_marked: false,
                packet,
            });
        }
        cycle += 1;
    }
    measures.cycles = cycle;
    outcome.measures = measures;
    outcome
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
