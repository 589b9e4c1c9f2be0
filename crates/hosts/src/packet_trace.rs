// SPDX-License-Identifier: Apache-2.0
//! [`PacketTrace`]: a generated packet trace with the shape of CAIDA's backbone traces: numbers of packets of flows with a
//! heavy tail, packets of 40 to 64 and of 1,500 bytes, packets in trains. `plan` draws the flows, `flow` their packets.

mod addresses;
mod flow;
mod ipv4_network;
mod plan;
mod summary;

pub use addresses::AddressPool;
pub use ipv4_network::Ipv4Network;
pub use summary::TraceSummary;

use crate::wire::MacAddress;
use crate::wire::ethernet::{self, EthernetHeader};
use addresses::Endpoints;
use flow::Flow;
use network::frame::Frame;
use plan::PlannedFlow;
use slab::Slab;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// The least Ethernet frame without check sequence, in bytes.
const LEAST_FRAME_BYTES: usize = 60;
/// The most flows: a plan has 24 bytes for each.
const MOST_FLOWS: u64 = 100_000_000;
/// The mean number of packets of a flow over its median, if the options give no median: 24 to 4, as in CAIDA's traces.
const MEAN_OVER_MEDIAN: f64 = 6.0;

/// Options of a packet trace. The same options give the same packets on every machine.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceOptions {
    /// Packets, exactly.
    pub packets: u64,
    /// Flows, exactly; each has addresses, protocol and ports of its own.
    pub flows: u64,
    /// The time in which all packets are, in picoseconds.
    pub duration_ps: u64,
    /// The median number of packets of a flow; a sixth of the mean without it.
    pub median: Option<f64>,
    /// Senders.
    pub sources: AddressPool,
    /// Receivers.
    pub destinations: AddressPool,
    /// The Ethernet address of the sender of all frames.
    pub source_mac: MacAddress,
    /// The Ethernet address of the receiver of all frames.
    pub destination_mac: MacAddress,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for TraceOptions {
    /// 10,000 flows in one second.
    fn default() -> TraceOptions {
        TraceOptions {
            packets: 240_000,
            flows: 10_000,
            duration_ps: 1_000_000_000_000,
            median: None,
            sources: AddressPool::internet(),
            destinations: AddressPool::internet(),
            source_mac: MacAddress([2, 0, 0, 0, 0, 1]),
            destination_mac: MacAddress([2, 0, 0, 0, 0, 2]),
            seed: 0,
        }
    }
}

/// A packet of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracePacket {
    /// Its time from the beginning of the trace, in picoseconds; whole nanoseconds.
    pub time_ps: u64,
    /// The number of its flow.
    pub flow: u32,
    /// The length of its IPv4 packet.
    pub ip_bytes: u16,
}

/// The packets of a trace in order of time. Its memory is 24 bytes for each flow, and a flow's state from its first packet
/// to its last.
#[derive(Debug)]
pub struct PacketTrace {
    header: EthernetHeader,
    seed: u64,
    endpoints: Endpoints,
    /// Flows that have not begun, the latest first.
    planned: Vec<PlannedFlow>,
    flows: Slab<Flow>,
    /// The next packet of each flow.
    next: BinaryHeap<Reverse<(u64, usize)>>,
}

impl PacketTrace {
    /// Plans a trace.
    ///
    /// # Errors
    ///
    /// Options that no trace has; the text says what to write.
    pub fn new(options: &TraceOptions) -> Result<PacketTrace, String> {
        let planned = plan::plan(options)?;
        Ok(PacketTrace {
            header: EthernetHeader {
                destination: options.destination_mac,
                source: options.source_mac,
                ether_type: ethernet::IPV4,
            },
            seed: options.seed,
            endpoints: Endpoints::new(options)?,
            planned,
            flows: Slab::new(),
            next: BinaryHeap::new(),
        })
    }

    fn begin_flows(&mut self) {
        while let Some(flow) = self.planned.last() {
            if self.next.peek().is_some_and(|Reverse((time_ns, _))| *time_ns < flow.start_ns) {
                return;
            }
            let flow = Flow::new(flow, &mut self.endpoints, self.seed);
            self.planned.pop();
            let time_ns = flow.next_ns();
            let at = self.flows.insert(flow);
            self.next.push(Reverse((time_ns, at)));
        }
    }

    /// Writes the next packet to a frame, whose memory is used again. `None` behind the last one.
    pub fn next_into(&mut self, frame: &mut Frame) -> Option<TracePacket> {
        self.begin_flows();
        let mut top = self.next.peek_mut()?;
        let Reverse((time_ns, at)) = *top;
        let flow = self.flows.get_mut(at)?;
        frame.bytes.clear();
        frame.bytes.extend_from_slice(&self.header.to_bytes());
        let ip_bytes = flow.write_packet(frame);
        let number = flow.number();
        match flow.is_over() {
            true => {
                self.flows.remove(at);
                PeekMut::pop(top);
            }
            false => *top = Reverse((flow.next_ns(), at)),
        }
        let padding = LEAST_FRAME_BYTES.saturating_sub(frame.length_bytes() as usize);
        frame.absent_bytes += padding as u32;
        Some(TracePacket { time_ps: time_ns * 1000, flow: number, ip_bytes })
    }
}

impl Iterator for PacketTrace {
    type Item = (TracePacket, Frame);

    fn next(&mut self) -> Option<(TracePacket, Frame)> {
        let mut frame = Frame::default();
        Some((self.next_into(&mut frame)?, frame))
    }
}

#[cfg(test)]
mod tests;
