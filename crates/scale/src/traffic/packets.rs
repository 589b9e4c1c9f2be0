// SPDX-License-Identifier: Apache-2.0
//! Packets on ports at line rate, as in the paper's artifact: each port sends one packet after the other.

use super::{MIN_PACKET_BYTES, TrafficPacket};
use arithmetic::random::stream::Stream;

/// What random numbers are for.
const PHASE: u64 = 3;
const FLOW: u64 = 4;
const SIZE: u64 = 5;

/// Which flows packets belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pattern {
    /// All flows alike.
    Uniform,
    /// 95 % of packets belong to the first 30 % of flows (MP5 §4.3.1, skewed).
    Skewed,
}

/// The lengths of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// All alike, in bytes.
    Fixed(u32),
    /// One of two lengths in bytes, evenly.
    Bimodal(u32, u32),
}

impl Sizes {
    /// The length of a packet.
    pub(super) fn draw(self, random: &mut Stream) -> u32 {
        match self {
            Sizes::Fixed(bytes) => bytes,
            Sizes::Bimodal(small, large) => {
                if random.up_to(1) == 0 {
                    small
                } else {
                    large
                }
            }
        }
    }
}

/// Parameters of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketOptions {
    /// The number of ports.
    pub ports: u32,
    /// The number of pipelines: a port sends a smallest packet in `ports / pipelines` cycles.
    pub pipelines: u32,
    /// The number of packets of each port.
    pub per_port: u32,
    /// The lengths.
    pub sizes: Sizes,
    /// The flows.
    pub pattern: Pattern,
    /// The number of flows.
    pub flows: u32,
}

/// Returns the packets, port by port in turn. A port's first packet arrives at a random time within the time of a smallest packet.
pub fn packets(options: &PacketOptions, seed: u64) -> Vec<TrafficPacket> {
    let period = u64::from((options.ports / options.pipelines).max(1));
    let mut phases = Stream::new(seed, PHASE, options.pattern as u64);
    let mut next: Vec<u64> = (0..options.ports).map(|_| phases.up_to(period - 1)).collect();
    let mut flows = Stream::new(seed, FLOW, options.pattern as u64);
    let mut sizes = Stream::new(seed, SIZE, options.pattern as u64);
    let mut packets = Vec::with_capacity((options.ports * options.per_port) as usize);
    let long = (30 * options.flows).div_ceil(100);
    for _ in 0..options.per_port {
        for port in 0..options.ports {
            let bytes = options.sizes.draw(&mut sizes);
            let flow = match (options.flows, options.pattern) {
                (0, _) => None,
                (count, Pattern::Uniform) => Some(flows.up_to(u64::from(count) - 1) as u32),
                (count, Pattern::Skewed) => {
                    let is_long = flows.up_to(99) >= 5 || long == count;
                    let (first, last) = if is_long { (0, long - 1) } else { (long, count - 1) };
                    Some(first + flows.up_to(u64::from(last - first)) as u32)
                }
            };
            let cycle = next[port as usize];
            packets.push(TrafficPacket { cycle, port, bytes, flow });
            next[port as usize] += u64::from(bytes / MIN_PACKET_BYTES) * period;
        }
    }
    packets
}
