// SPDX-License-Identifier: Apache-2.0
//! Plans the flows of a packet trace: their exact numbers of packets, and when they begin and end.

use super::{MEAN_OVER_MEDIAN, MOST_FLOWS, TraceOptions};
use crate::sizes::Pareto;
use arithmetic::random::stream::Stream;

/// The packets of the largest flow over the mean. It fixes the weight of the tail: with CAIDA's median and mean the largest
/// 1 % of the flows have about 58 % of the bytes.
const LARGEST_OVER_MEAN: f64 = 350.0;
/// The most packets of the largest flow as a share of all, in traces of few flows.
const LARGEST_SHARE: f64 = 0.1;
/// Packets per second of a flow, as powers of ten.
const LEAST_RATE: f64 = 1.0;
const MOST_RATE: f64 = 3.5;
/// Purposes of random numbers.
const PACKETS: u64 = 0x7472_6103;
const TIMES: u64 = 0x7472_6104;

/// A flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedFlow {
    pub start_ns: u64,
    pub end_ns: u64,
    pub packets: u32,
    /// By size, the smallest first.
    pub number: u32,
}

/// Plans the flows, the latest first.
pub(super) fn plan(options: &TraceOptions) -> Result<Vec<PlannedFlow>, String> {
    let packets = flow_packets(options)?;
    let duration_ns = options.duration_ps / 1000;
    if duration_ns == 0 {
        return Err("a trace has a duration of 1 ns at least".to_owned());
    }
    let seed = options.seed;
    let mut flows: Vec<PlannedFlow> = (0..)
        .zip(packets)
        .map(|(number, packets)| {
            let mut random = Stream::new(seed, TIMES, u64::from(number));
            let (start_ns, end_ns) = times(packets, duration_ns, &mut random);
            PlannedFlow { start_ns, end_ns, packets, number }
        })
        .collect();
    flows.sort_unstable_by_key(|flow| std::cmp::Reverse((flow.start_ns, flow.number)));
    Ok(flows)
}

/// The times of a flow. Flows are in progress when the trace begins and ends, so its rate is the same all along.
fn times(packets: u32, duration_ns: u64, random: &mut Stream) -> (u64, u64) {
    let exponent = LEAST_RATE + (MOST_RATE - LEAST_RATE) * random.fraction();
    let rate = libm::pow(10.0, exponent);
    let lifetime_ns = (f64::from(packets - 1) / rate * 1e9) as u64;
    let begins_ns = random.up_to(duration_ns - 1);
    let start_ns = begins_ns.saturating_sub(lifetime_ns / 2);
    let end_ns = (begins_ns + lifetime_ns - lifetime_ns / 2).min(duration_ns - 1);
    (start_ns, end_ns)
}

/// The numbers of packets of flows, from small to large. Their sum is exact.
fn flow_packets(options: &TraceOptions) -> Result<Vec<u32>, String> {
    let TraceOptions { packets, flows, median, seed, .. } = *options;
    if !(1..=MOST_FLOWS).contains(&flows) {
        return Err(format!("a trace has 1 to {MOST_FLOWS} flows, not {flows}"));
    }
    if packets < flows || packets > flows.saturating_mul(1 << 20) {
        return Err(format!(
            "{flows} flows have {flows} to {} packets, not {packets}",
            flows.saturating_mul(1 << 20)
        ));
    }
    let mean = packets as f64 / flows as f64;
    let median = median.unwrap_or(mean / MEAN_OVER_MEDIAN);
    let largest = (mean * LARGEST_OVER_MEAN).min((packets as f64 * LARGEST_SHARE).max(mean * 20.0));
    let Some(sizes) = Pareto::with_median_and_mean(median, mean, largest) else {
        return Err(format!(
            "no heavy-tailed distribution has the median {median} and the mean {mean:.2} packets: write a median above 0 \
             and below the mean"
        ));
    };
    // One draw of each of equal shares keeps the tail from depending on luck.
    let mut random = Stream::new(seed, PACKETS, 0);
    let drawn: Vec<f64> = (0..flows)
        .map(|number| sizes.quantile((number as f64 + random.fraction()) / flows as f64))
        .collect();
    let rounded = |drawn: f64, factor: f64| libm::round(drawn * factor).max(1.0) as u64;
    let sum = |factor: f64| drawn.iter().map(|drawn| rounded(*drawn, factor)).sum::<u64>();
    let (mut low, mut high) = (0.0, 4.0);
    for _ in 0..60 {
        let factor = (low + high) / 2.0;
        match sum(factor) <= packets {
            true => low = factor,
            false => high = factor,
        }
    }
    let mut counts: Vec<u32> = drawn.iter().map(|drawn| rounded(*drawn, low) as u32).collect();
    // Some draws round up at one factor together.
    let mut missing = packets - counts.iter().map(|count| u64::from(*count)).sum::<u64>();
    while missing > 0 {
        for count in counts.iter_mut().rev().take(missing.min(flows) as usize) {
            *count += 1;
        }
        missing -= missing.min(flows);
    }
    Ok(counts)
}
