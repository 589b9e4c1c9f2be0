// SPDX-License-Identifier: Apache-2.0
//! `Statistics`: a device's counters of received and transmitted packets by port and of drops by reason. The counters of
//! programs are in the state store.

use crate::burst::Burst;
use crate::drop_reason::DropReason;
use crate::fast_path::OUTPUT_PORT;
use std::collections::BTreeMap;
use std::ops::Range;

/// A port's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortStatistics {
    /// Packets received.
    pub received_packets: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Packets sent.
    pub sent_packets: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
}

/// A device's counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// By port number.
    pub ports: BTreeMap<u32, PortStatistics>,
    /// Packets dropped by reason.
    pub drops: BTreeMap<DropReason, u64>,
    /// Passes through ingress that began by resubmission.
    pub resubmitted: u64,
    /// Passes through ingress that began by recirculation.
    pub recirculated: u64,
    /// Clones made.
    pub cloned: u64,
    /// Copies made by multicast groups.
    pub replicated: u64,
    /// Packets that externs held.
    pub held: u64,
    /// Packets that externs held and released.
    pub released: u64,
    /// Packets that externs made.
    pub emitted: u64,
    /// Digests sent to the control plane.
    pub digests: u64,
    /// Frames of flow control that ended in the MAC of a port.
    pub flow_control_frames: u64,
}

impl Statistics {
    /// Counts a packet that came in at a port.
    pub fn received(&mut self, port: u32, length_bytes: usize) {
        let counters = self.ports.entry(port).or_default();
        counters.received_packets += 1;
        counters.received_bytes += length_bytes as u64;
    }

    /// Counts a packet that left by a port.
    pub fn sent(&mut self, port: u32, length_bytes: usize) {
        let counters = self.ports.entry(port).or_default();
        counters.sent_packets += 1;
        counters.sent_bytes += length_bytes as u64;
    }

    /// Takes back packets that were counted as sent and leave later.
    pub(crate) fn not_sent_yet(&mut self, port: u32, packets: u64, bytes: u64) {
        if let Some(counters) = self.ports.get_mut(&port) {
            counters.sent_packets -= packets;
            counters.sent_bytes -= bytes;
        }
    }

    /// Counts rounds by a loopback port: packets that came in and left by it, and their bytes.
    pub(crate) fn went_round(&mut self, port: u32, rounds: u64, bytes: u64) {
        let counters = self.ports.entry(port).or_default();
        counters.received_packets += rounds;
        counters.received_bytes += bytes;
        counters.sent_packets += rounds;
        counters.sent_bytes += bytes;
    }

    /// Counts a dropped packet.
    pub fn dropped(&mut self, reason: DropReason) {
        *self.drops.entry(reason).or_default() += 1;
    }

    /// Packets dropped for any reason.
    pub fn dropped_packets(&self) -> u64 {
        self.drops.values().sum()
    }
}

/// Largest number of ports that flat arrays count; a device with more ports uses an ordered map.
const MAX_FLAT_PORTS: u32 = 1 << 12;

/// Number of bytes that fit into a tally.
const TALLY_BYTES: u64 = 1 << 32;

/// Smallest room that a packet takes of a tally, so that the sums of port numbers fit too.
const MIN_TALLY_BYTES: u64 = MAX_FLAT_PORTS as u64;

/// Counts packets and bytes by port with one addition per packet. A packet's record has its length in the low 32 bits and
/// its port above; the sum of these records in the port's row gives the bytes in the low bits and, divided by the port
/// number, the packets in the high bits. Port 0 has the packets that the other rows do not account for.
#[derive(Clone, Debug, Default)]
struct Tally {
    /// The length is a power of two.
    rows: Vec<u64>,
    packets: u64,
}

impl Tally {
    fn new(rows: usize) -> Tally {
        Tally { rows: vec![0; rows], packets: 0 }
    }

    /// Returns packets and bytes of each port.
    fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        let packets = |(port, row): (usize, &u64)| (row >> u32::BITS).checked_div(port as u64);
        let others: u64 = self.rows.iter().enumerate().filter_map(packets).sum();
        let at_port_0 = self.packets - others;
        let count = move |row: (usize, &u64)| {
            (packets(row).unwrap_or(at_port_0), row.1 & (TALLY_BYTES - 1))
        };
        self.rows.iter().enumerate().map(count)
    }
}

/// The counters of the fast path: arrays that are added to [`Statistics`] on demand.
#[derive(Clone, Debug, Default)]
pub(crate) struct FastPathStatistics {
    /// Received packets.
    recently_received: Tally,
    /// Transmitted packets.
    recently_sent: Tally,
    /// Number of bytes that certainly fit into both tallies.
    room_bytes: u64,
    /// Counts that are in neither tally.
    ports: BTreeMap<u32, PortStatistics>,
    drops: [u64; 2],
}

impl FastPathStatistics {
    /// Counts the taken packets of a burst, and its outputs from `already` on, of a device with this largest port.
    #[inline]
    pub fn count(&mut self, burst: &Burst, taken: Range<usize>, already: usize, largest_port: u32) {
        let packets = burst.packets();
        let sent = packets.sent_count() - already;
        let bytes = (taken.len() + sent) as u64 * room_of(packets.largest_changed_bytes());
        let has_rows = (packets.largest_input() as usize) < self.recently_received.rows.len();
        if self.room_bytes < bytes || !has_rows {
            return self.count_slowly(burst, taken, already, largest_port);
        }
        self.room_bytes -= bytes;
        self.recently_received.packets += taken.len() as u64;
        self.recently_sent.packets += sent as u64;
        const { assert!(OUTPUT_PORT == 0, "the records have the port in output 0") };
        // After the run of all packets, because counting in between would stall the processor's speculation on packets
        // that count in the same row.
        packets.count_received(taken, &mut self.recently_received.rows);
        packets.count_sent(already, &mut self.recently_sent.rows);
    }

    /// Counts without tallies, or flushes full tallies and starts new ones.
    #[cold]
    fn count_slowly(
        &mut self,
        burst: &Burst,
        taken: Range<usize>,
        already: usize,
        largest_port: u32,
    ) {
        let recent: Vec<_> = self.recent().collect();
        add_to_ports(recent.into_iter(), &mut self.ports);
        // Start new tallies.
        (self.recently_received, self.recently_sent, self.room_bytes) = Default::default();
        for (port, length_bytes) in burst.packets().received(taken) {
            self.received(port, length_bytes);
        }
        for (port, length_bytes) in burst.packets().sent_lengths(already) {
            self.sent(port, length_bytes);
        }
        if largest_port < MAX_FLAT_PORTS {
            let rows = (largest_port as usize + 1).next_power_of_two();
            (self.recently_received, self.recently_sent) = (Tally::new(rows), Tally::new(rows));
            self.room_bytes = TALLY_BYTES - 1;
        }
    }

    fn received(&mut self, port: u32, length_bytes: u32) {
        let counters = self.ports.entry(port).or_default();
        counters.received_packets += 1;
        counters.received_bytes += u64::from(length_bytes);
    }

    /// Counts a packet that left by a port.
    pub fn sent(&mut self, port: u32, length_bytes: u32) {
        let bytes = room_of(length_bytes as usize);
        if let Some(row) = self.recently_sent.rows.get_mut(port as usize)
            && self.room_bytes >= bytes
        {
            self.room_bytes -= bytes;
            self.recently_sent.packets += 1;
            *row += u64::from(port) << u32::BITS | u64::from(length_bytes);
            return;
        }
        let counters = self.ports.entry(port).or_default();
        counters.sent_packets += 1;
        counters.sent_bytes += u64::from(length_bytes);
    }

    /// Counts packets dropped after ingress and after egress.
    #[inline]
    pub fn dropped(&mut self, after_ingress: u64, after_egress: u64) {
        self.drops[0] += after_ingress;
        self.drops[1] += after_egress;
    }

    /// Returns the number of packets dropped after ingress so far.
    pub fn dropped_after_ingress(&self) -> u64 {
        self.drops[0]
    }

    /// Returns the nonzero counts of the tallies by port.
    fn recent(&self) -> impl Iterator<Item = (u32, PortStatistics)> {
        let rows = self.recently_received.counts().zip(self.recently_sent.counts());
        let counters = |(received, sent): ((u64, u64), (u64, u64))| PortStatistics {
            received_packets: received.0,
            received_bytes: received.1,
            sent_packets: sent.0,
            sent_bytes: sent.1,
        };
        let is_used = |row: &(u32, PortStatistics)| row.1 != PortStatistics::default();
        (0..).zip(rows.map(counters)).filter(is_used)
    }

    /// Returns the number of packets that began on the fast path; a looped-back packet counts again.
    pub fn begun(&self) -> u64 {
        let before: u64 = self.ports.values().map(|port| port.received_packets).sum();
        before + self.recently_received.packets
    }

    /// Adds these counters to the device's.
    pub fn add_to(&self, statistics: &mut Statistics) {
        let ports = self.ports.iter().map(|(port, counters)| (*port, *counters));
        add_to_ports(ports.chain(self.recent()), &mut statistics.ports);
        let reasons = [DropReason::IngressDrop, DropReason::EgressDrop];
        for (reason, count) in reasons.into_iter().zip(self.drops) {
            if count > 0 {
                *statistics.drops.entry(reason).or_default() += count;
            }
        }
    }
}

/// Returns the room of a tally that a packet of this largest length takes.
#[inline]
fn room_of(largest_bytes: usize) -> u64 {
    (largest_bytes as u64).max(MIN_TALLY_BYTES)
}

fn add_to_ports(
    counted: impl Iterator<Item = (u32, PortStatistics)>,
    ports: &mut BTreeMap<u32, PortStatistics>,
) {
    for (port, counters) in counted {
        let sum = ports.entry(port).or_default();
        sum.received_packets += counters.received_packets;
        sum.received_bytes += counters.received_bytes;
        sum.sent_packets += counters.sent_packets;
        sum.sent_bytes += counters.sent_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts repeated bursts of packets of these lengths with ingress and egress port, and a single packet each time.
    fn check(largest_bytes: usize, packets: &[(u32, u32, usize)], largest_port: u32, bursts: u64) {
        let mut burst = Burst::new(packets.len(), largest_bytes);
        for (at, &(from, to, length_bytes)) in packets.iter().enumerate() {
            burst.push(from, &vec![0; length_bytes]).expect("it fits");
            burst.send_copy(at, to, 0, &vec![0; length_bytes]);
        }
        let (mut fast_path, mut expected) = (FastPathStatistics::default(), Statistics::default());
        for _ in 0..bursts {
            fast_path.count(&burst, 1..packets.len(), 1, largest_port);
            fast_path.sent(7, 100);
        }
        let mut add = |port, received: (u64, u64), sent: (u64, u64)| {
            let counters = expected.ports.entry(port).or_default();
            counters.received_packets += received.0 * bursts;
            counters.received_bytes += received.1 * bursts;
            counters.sent_packets += sent.0 * bursts;
            counters.sent_bytes += sent.1 * bursts;
        };
        for &(from, to, length_bytes) in &packets[1..] {
            add(from, (1, length_bytes as u64), (0, 0));
            add(to, (0, 0), (1, length_bytes as u64));
        }
        add(7, (0, 0), (1, 100));
        assert_eq!(fast_path.begun(), (packets.len() as u64 - 1) * bursts);
        let mut counted = Statistics::default();
        fast_path.add_to(&mut counted);
        assert_eq!(counted, expected);
    }

    #[test]
    fn tallies_tell_packets_and_bytes_of_every_port() {
        let packets =
            [(1, 1, 9), (0, 511, 64), (511, 0, 1500), (0, 0, 0), (3, 2, 64), (3, 2, 0), (2, 3, 1)];
        check(2000, &packets, 511, 1);
        check(2000, &packets, 511, 1000);
    }

    #[test]
    fn tallies_that_are_full_begin_anew() {
        let long = 1 << 22;
        check(long, &[(1, 1, 0), (0, 4, long), (4, 0, long - 1)], 511, 2000);
        check(1500, &[(1, 1, 0), (0, 4000, 60), (4095, 4095, 61), (4095, 4095, 1)], 4095, 400_000);
    }

    #[test]
    fn ports_without_a_row_are_counted_too() {
        check(100, &[(1, 1, 0), (1 << 20, 3, 60), (5, u32::MAX, 61)], u32::MAX, 10);
        check(100, &[(1, 1, 0), (600, 3, 60), (5, 2, 61)], 511, 10);
    }
}
