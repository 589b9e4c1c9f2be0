// SPDX-License-Identifier: Apache-2.0
//! Packets of flows with given sizes, such as the web search workload (MP5 §4.4): each port carries several flows at a time and sends
//! their packets at line rate in random order. A flow that has sent all its bytes is followed by a new one.

use super::{MIN_PACKET_BYTES, Sizes, TrafficPacket};
use arithmetic::random::stream::Stream;

/// What random numbers are for.
const PHASE: u64 = 6;
const FLOW: u64 = 7;
const SIZE: u64 = 8;

/// Parameters of such packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebSearch {
    /// The number of ports.
    pub ports: u32,
    /// The number of pipelines: a port sends a smallest packet in `ports / pipelines` cycles.
    pub pipelines: u32,
    /// The number of packets of each port.
    pub per_port: u32,
    /// The lengths of packets.
    pub sizes: Sizes,
    /// The flows that a port carries at a time, at least 1.
    pub flows_at_a_time: u32,
}

/// Returns the packets; `flow_bytes` draws the bytes of a flow. Flows are numbered in the order in which they begin. Times are exact:
/// the sum of the bytes of a port in units of a smallest packet's time, rounded down to cycles.
pub fn web_search(
    options: &WebSearch,
    seed: u64,
    mut flow_bytes: impl FnMut(&mut Stream) -> u64,
) -> Vec<TrafficPacket> {
    let period = u64::from((options.ports / options.pipelines).max(1));
    let mut random = Stream::new(seed, FLOW, 0);
    let mut sizes = Stream::new(seed, SIZE, 0);
    let mut phases = Stream::new(seed, PHASE, 0);
    let mut flows = 0;
    let mut begin = |random: &mut Stream| {
        flows += 1;
        (flows - 1, flow_bytes(random))
    };
    let count = options.flows_at_a_time.max(1);
    let mut active: Vec<Vec<(u32, u64)>> =
        (0..options.ports).map(|_| (0..count).map(|_| begin(&mut random)).collect()).collect();
    let unit = u64::from(MIN_PACKET_BYTES);
    // Times in parts of a cycle: a byte takes `period` parts, and a cycle has `unit` of them.
    let mut next: Vec<u64> = (0..options.ports).map(|_| phases.up_to(period * unit - 1)).collect();
    let mut packets = Vec::with_capacity((options.ports * options.per_port) as usize);
    for _ in 0..options.per_port {
        for port in 0..options.ports {
            let bytes = options.sizes.draw(&mut sizes);
            let active = &mut active[port as usize];
            let place = random.up_to(u64::from(count) - 1) as usize;
            let (flow, left) = active[place];
            active[place] = match left.checked_sub(u64::from(bytes)) {
                Some(left) if left > 0 => (flow, left),
                _ => begin(&mut random),
            };
            let time = &mut next[port as usize];
            packets.push(TrafficPacket { cycle: *time / unit, port, bytes, flow: Some(flow) });
            *time += u64::from(bytes) * period;
        }
    }
    packets
}
