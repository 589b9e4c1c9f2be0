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
    /// The steady throughput: packets that left over packets that arrived, in the last three quarters of the cycles before `end`.
    /// `arrivals` are the cycles of all arrivals.
    pub fn steady(&self, arrivals: &[u64], end: u64) -> f64 {
        let window = end / 4..end;
        let arrived = arrivals.iter().filter(|cycle| window.contains(*cycle)).count();
        let left =
            self.departures.iter().filter(|departure| window.contains(&departure.cycle)).count();
        if arrived == 0 { 1.0 } else { left as f64 / arrived as f64 }
    }

    /// The mean number of cycles from arrival to departure.
    pub fn mean_latency(&self) -> f64 {
        self.measures.latency_sum as f64 / self.departures.len().max(1) as f64
    }
}
