// SPDX-License-Identifier: Apache-2.0
//! [`TraceSummary`]: the statistics of a packet trace that papers publish.

use super::TracePacket;

/// Statistics of packets, which [`TraceSummary::add`] takes one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceSummary {
    /// IPv4 packets and bytes by flow.
    flows: Vec<(u32, u64)>,
    /// Packets of up to 64 bytes.
    pub small: u64,
    /// Packets of 1,400 bytes and more.
    pub large: u64,
}

impl TraceSummary {
    /// Counts a packet.
    pub fn add(&mut self, packet: &TracePacket) {
        let at = packet.flow as usize;
        if self.flows.len() <= at {
            self.flows.resize(at + 1, (0, 0));
        }
        self.flows[at].0 += 1;
        self.flows[at].1 += u64::from(packet.ip_bytes);
        self.small += u64::from(packet.ip_bytes <= 64);
        self.large += u64::from(packet.ip_bytes >= 1400);
    }

    /// The number of flows.
    pub fn flows(&self) -> u64 {
        self.flows.iter().filter(|(packets, _)| *packets > 0).count() as u64
    }

    /// The number of packets.
    pub fn packets(&self) -> u64 {
        self.flows.iter().map(|(packets, _)| u64::from(*packets)).sum()
    }

    /// The sum of their lengths.
    pub fn bytes(&self) -> u64 {
        self.flows.iter().map(|(_, bytes)| bytes).sum()
    }

    /// The median number of packets of a flow.
    pub fn median_packets(&self) -> u32 {
        let mut packets: Vec<u32> = self.flows.iter().map(|flow| flow.0).collect();
        let middle = packets.len() / 2;
        if packets.is_empty() {
            return 0;
        }
        *packets.select_nth_unstable(middle).1
    }

    /// The share of bytes that a share of the flows has, those with the most bytes.
    pub fn bytes_of_largest(&self, share: f64) -> f64 {
        let mut bytes: Vec<u64> = self.flows.iter().map(|flow| flow.1).collect();
        bytes.sort_unstable_by(|one, other| other.cmp(one));
        let count = libm::ceil(bytes.len() as f64 * share) as usize;
        bytes.iter().take(count).sum::<u64>() as f64 / self.bytes().max(1) as f64
    }
}
