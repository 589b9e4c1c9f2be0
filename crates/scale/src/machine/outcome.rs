// SPDX-License-Identifier: Apache-2.0
//! What goes into a machine and what comes out: arrivals, departures, losses, measures.

use crate::work::Access;

/// A packet that arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival<P> {
    /// The cycle, from 0.
    pub cycle: u64,
    /// The port. Packets of one cycle enter in the order of ports (MP5 §2.2.1).
    pub port: u32,
    /// The packet.
    pub packet: P,
}

/// A packet that left behind the last stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure<P> {
    /// Its place in the order of arrival, from 0.
    pub sequence: u64,
    /// The cycle at whose beginning it is behind the last stage.
    pub cycle: u64,
    /// It waited in a queue longer than the threshold.
    pub is_marked: bool,
    /// The packet.
    pub packet: P,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// The program dropped it. This is no loss.
    Program,
    /// A ring was full, so the packet or its phantom had no place in it.
    FullRing,
    /// A stateful packet had waited longer than the starvation threshold.
    Starvation,
}

/// A packet that left in front of the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped<P> {
    /// Its place in the order of arrival, from 0.
    pub sequence: u64,
    /// The cycle.
    pub cycle: u64,
    /// The stage.
    pub stage: usize,
    /// Why.
    pub cause: Cause,
    /// The packet as it was.
    pub packet: P,
}

/// Packets that have left a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left<P> {
    /// Those that left behind the last stage, in order.
    pub departures: Vec<Departure<P>>,
    /// Those that were dropped, in order.
    pub dropped: Vec<Dropped<P>>,
}

impl<P> Left<P> {
    /// Takes all packets of these lists.
    pub(super) fn take(
        departures: &mut Vec<Departure<P>>,
        dropped: &mut Vec<Dropped<P>>,
    ) -> Left<P> {
        Left { departures: std::mem::take(departures), dropped: std::mem::take(dropped) }
    }
}

/// An access in the order in which a machine made them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Made {
    /// The cell.
    pub access: Access,
    /// The packet's place in the order of arrival.
    pub sequence: u64,
}

/// What a machine did and what came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome<P> {
    /// Packets in the order in which they left.
    pub departures: Vec<Departure<P>>,
    /// Packets that were dropped, in order.
    pub dropped: Vec<Dropped<P>>,
    /// All accesses in order, if the settings ask for them.
    pub accesses: Vec<Made>,
    /// The pipeline in which each cell is active at the end, by group.
    pub map: Vec<Vec<u8>>,
    /// Measures.
    pub measures: Measures,
}

/// Measures of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// The number of packets that arrived.
    pub arrivals: u64,
    /// The cycle of the last arrival.
    pub last_arrival: u64,
    /// The cycle of the last departure or drop.
    pub last_departure: u64,
    /// The number of simulated cycles.
    pub cycles: u64,
    /// Packets that met some cell after a packet that arrived later (C1, MP5 §3).
    pub reordered: u64,
    /// The number of accesses.
    pub accesses: u64,
    /// Cycles that a stage spent on entries of accesses that do not happen.
    pub wasted: u64,
    /// Cells that moved at intervals.
    pub remaps: u64,
    /// Cells that moved when a packet was resolved to them.
    pub touches: u64,
    /// The most entries in a queue of a stage and pipeline, phantoms included.
    pub queue_entries: u32,
    /// The most packets in a queue of a stage and pipeline.
    pub queue_packets: u32,
    /// The most entries in a queue, by stage.
    pub stage_entries: Vec<u32>,
    /// The most packets that waited in front of the machine.
    pub waiting: usize,
    /// The sum over departed packets of the cycles from arrival to departure.
    pub latency_sum: u64,
    /// The most cycles from arrival to departure.
    pub latency_max: u64,
    /// Passes through a pipeline; more than packets only with recirculation.
    pub passes: u64,
    /// Cells whose in-flight counter was full, which never move again: group and cell.
    pub pinned: Vec<Access>,
    /// Packets in flight that the counters still know at the end.
    pub in_flight: u64,
    /// Packets that were left in the machine when nothing could move any more. Only machines without one of their mechanisms
    /// stall.
    pub stalled: usize,
}

impl Measures {
    /// The throughput as the paper's artifact measures it: the last arrival over the last departure, the drain included.
    pub fn throughput(&self) -> f64 {
        if self.last_departure == 0 {
            1.0
        } else {
            self.last_arrival as f64 / self.last_departure as f64
        }
    }
}

impl<P> Outcome<P> {
    /// The steady throughput, from 0 to 1: packets that left or that the program dropped, over those that could have left. That is what
    /// a machine of so many pipelines lets leave in which packets wait for no state: one a pipeline and cycle, each as long
    /// after it entered as this machine's fastest packet. Both are counted in the last three quarters of the cycles before
    /// `end`. A machine that works off what waited before keeps up: it has 1. `arrivals` are the cycles of arrivals, in order.
    pub fn steady(&self, arrivals: &[u64], pipelines: usize, end: u64) -> f64 {
        let latency = |departure: &Departure<P>| {
            departure.cycle.checked_sub(*arrivals.get(departure.sequence as usize)?)
        };
        let fastest = self.departures.iter().filter_map(latency).min().unwrap_or(0);
        let window = end / 4..end;
        let (mut cycle, mut entered) = (0, 0);
        let mut possible = 0;
        for arrival in arrivals {
            if *arrival > cycle {
                (cycle, entered) = (*arrival, 0);
            } else if entered == pipelines {
                (cycle, entered) = (cycle + 1, 0);
            }
            entered += 1;
            possible += usize::from(window.contains(&cycle));
        }
        let is_inside = |cycle: u64| window.contains(&cycle.saturating_sub(fastest));
        let left = self.departures.iter().filter(|departure| is_inside(departure.cycle)).count();
        let of_program = self.dropped.iter().filter(|it| it.cause == Cause::Program);
        let gone = left + of_program.filter(|dropped| is_inside(dropped.cycle)).count();
        if possible == 0 { 1.0 } else { (gone as f64 / possible as f64).min(1.0) }
    }

    /// The mean number of cycles from arrival to departure.
    pub fn mean_latency(&self) -> f64 {
        self.measures.latency_sum as f64 / self.departures.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets that leave so many cycles after they arrive, on two pipelines.
    #[track_caller]
    fn check(arrivals: &[u64], latencies: &[u64], end: u64, expected: f64) {
        let departures = (0..).zip(arrivals.iter().zip(latencies));
        let departures = departures.map(|(sequence, (arrival, latency))| Departure {
            sequence,
            cycle: arrival + latency,
            is_marked: false,
            packet: (),
        });
        let outcome = Outcome {
            departures: departures.collect(),
            dropped: Vec::new(),
            accesses: Vec::new(),
            map: Vec::new(),
            measures: Measures::default(),
        };
        assert!((outcome.steady(arrivals, 2, end) - expected).abs() < 1e-9);
    }

    #[test]
    fn steady_throughput_is_a_share_of_what_could_leave() {
        let each: Vec<u64> = (0..40).collect();
        check(&each, &[5; 40], 40, 1.0);
        // Half the rate: the packet of cycle c leaves at 2c + 5, and the window is cycles 10 to 39.
        let half: Vec<u64> = (0..40).map(|at| 5 + at).collect();
        check(&each, &half, 40, 0.5);
        // A burst leaves as fast as two pipelines let it.
        let burst: Vec<u64> = (0..20).map(|at| 5 + at / 2).collect();
        check(&[8; 20], &burst, 12, 1.0);
        let slow: Vec<u64> = (0..20).map(|at| 5 + at).collect();
        check(&[8; 20], &slow, 12, 0.5);
        // What waited before the window leaves in it.
        let late: Vec<u64> = [0; 4].into_iter().chain(10..40).collect();
        let latencies: Vec<u64> = [20; 4].into_iter().chain([5; 30]).collect();
        check(&late, &latencies, 40, 1.0);
        check(&[], &[], 12, 1.0);
    }
}
