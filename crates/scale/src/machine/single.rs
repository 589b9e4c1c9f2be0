// SPDX-License-Identifier: Apache-2.0
//! The single pipeline that the others are compared with (MP5 §2.2): one pipeline whose clock is `rate` times as fast, so that it takes
//! `rate` packets a cycle of the others. Packets of one cycle enter in the order of ports.

use super::outcome::{Arrival, Outcome};
use super::{Settings, run};
use crate::design::{Design, FirstMap};
use crate::work::Work;

/// Runs packets through a single pipeline. `work` has one pipeline. Cycles of the outcome are those of the slower machine, the one in
/// which something has happened by its end.
pub fn run_single<W: Work>(
    work: &mut W,
    mut arrivals: Vec<Arrival<W::Packet>>,
    rate: u64,
) -> Outcome<W::Packet> {
    let rate = rate.max(1);
    arrivals.sort_by_key(|arrival| (arrival.cycle, arrival.port));
    let last_arrival = arrivals.last().map_or(0, |arrival| arrival.cycle);
    let mut arrived: Vec<u64> = Vec::with_capacity(arrivals.len());
    for arrival in &mut arrivals {
        arrived.push(arrival.cycle);
        arrival.cycle *= rate;
    }
    // Packets cannot overtake each other in one pipeline, so it needs no phantoms.
    let design = Design { has_phantoms: false, ..Design::fixed(FirstMap::FirstPipeline) };
    let mut outcome = run(work, arrivals, Settings::new(1), &design, &mut ());
    let measures = &mut outcome.measures;
    measures.last_arrival = last_arrival;
    measures.last_departure = measures.last_departure.div_ceil(rate);
    measures.cycles = measures.cycles.div_ceil(rate);
    (measures.latency_sum, measures.latency_max) = (0, 0);
    for left in &mut outcome.departures {
        left.cycle = left.cycle.div_ceil(rate);
        let latency = left.cycle - arrived[left.sequence as usize];
        measures.latency_sum += latency;
        measures.latency_max = measures.latency_max.max(latency);
    }
    for dropped in &mut outcome.dropped {
        dropped.cycle /= rate;
    }
    outcome
}
