// SPDX-License-Identifier: Apache-2.0
//! An upper bound on the throughput of every machine that keeps C1: at most `k` packets enter a cycle, a packet takes a cycle a stage, and
//! a cell takes one packet a cycle in the order of arrival. Nothing else delays a packet, so no machine has an earlier departure.

use crate::judge::Reference;
use crate::work::Group;

/// The earliest departures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The earliest cycle in which each packet is behind its last stage, in the order of arrival.
    pub departures: Vec<u64>,
    /// The last arrival.
    pub last_arrival: u64,
}

impl Bound {
    /// The throughput as the paper's artifact measures it.
    pub fn throughput(&self) -> f64 {
        let last = self.departures.iter().max().copied().unwrap_or(0);
        if last == 0 { 1.0 } else { self.last_arrival as f64 / last as f64 }
    }
}

/// Computes the earliest departures on so many pipelines.
pub fn bound<P>(
    groups: &[Group],
    stages: usize,
    pipelines: usize,
    reference: &Reference<P>,
) -> Bound {
    let mut next: Vec<Vec<u64>> =
        groups.iter().map(|group| vec![0; group.cells as usize]).collect();
    let mut departures = Vec::with_capacity(reference.arrivals.len());
    let (mut entry, mut entered) = (0, 0);
    for (packet, arrival) in reference.arrivals.iter().enumerate() {
        if *arrival > entry {
            (entry, entered) = (*arrival, 0);
        } else if entered == pipelines {
            (entry, entered) = (entry + 1, 0);
        }
        entered += 1;
        // `delay` cycles more than a packet without accesses.
        let mut delay = 0;
        for made in reference.accesses_of(packet) {
            let stage = groups[made.access.group as usize].stage as u64;
            let free = &mut next[made.access.group as usize][made.access.cell as usize];
            let time = (entry + stage + delay).max(*free);
            delay = time - entry - stage;
            *free = time + 1;
        }
        departures.push(entry + stages as u64 + delay);
    }
    Bound { departures, last_arrival: reference.arrivals.last().copied().unwrap_or(0) }
}
