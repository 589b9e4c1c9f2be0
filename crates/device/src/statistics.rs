// SPDX-License-Identifier: Apache-2.0
//! What a device counts about its packets: per port what came in and went out, per reason what was
//! dropped. Counters of the program are state of the program and not here.

use crate::architecture::OUTPUT_PORT;
use crate::burst::Burst;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// Why a packet ended inside the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// Ingress ended with the drop port as output (v1model: `mark_to_drop`).
    IngressDrop,
    /// Egress ended with the drop port as output.
    EgressDrop,
    /// The program set `drop_ctl` (TNA).
    DropControl,
    /// The parser ended with an error, and the program does not look at it (TNA).
    ParserError,
    /// Ingress named neither a port nor a multicast group with members (TNA).
    NoDestination,
    /// The multicast group does not exist or has no members.
    NoReplicas,
    /// The clone session does not exist: the clone is not made, the packet itself goes on.
    NoCloneSession,
    /// A copy was meant for a port whose number the architecture has no bits for.
    NoSuchPort,
    /// The packet's priority names no queue of the port.
    NoSuchQueue,
    /// The queue was full.
    QueueFull,
    /// The shared buffer was full.
    BufferFull,
    /// The packet and its copies took more passes than [`crate::DeviceOptions::pass_limit`].
    PassLimit,
    /// A block took more steps than [`ir::STEP_LIMIT`].
    StepLimit,
    /// An `assert` or `assume` failed; the run stops.
    AssertionFailed,
}

impl DropReason {
    /// A short name for reports, stable across versions.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::IngressDrop => "ingress drop",
            DropReason::EgressDrop => "egress drop",
            DropReason::DropControl => "drop control",
            DropReason::ParserError => "parser error",
            DropReason::NoDestination => "no destination",
            DropReason::NoReplicas => "no replicas",
            DropReason::NoCloneSession => "no clone session",
            DropReason::NoSuchPort => "no such port",
            DropReason::NoSuchQueue => "no such queue",
            DropReason::QueueFull => "queue full",
            DropReason::BufferFull => "buffer full",
            DropReason::PassLimit => "pass limit",
            DropReason::StepLimit => "step limit",
            DropReason::AssertionFailed => "assertion failed",
        }
    }
}

impl DropReason {
    /// Why, for a reader of a trace.
    pub fn sentence(self) -> &'static str {
        match self {
            DropReason::IngressDrop => "ingress ended with the drop port as egress_spec",
            DropReason::EgressDrop => "egress ended with the drop port as egress_spec",
            DropReason::DropControl => "the program set drop_ctl",
            DropReason::ParserError => "the parser ended with an error that the program ignores",
            DropReason::NoDestination => "ingress named no port, and no group with members",
            DropReason::NoReplicas => "the multicast group does not exist or has no members",
            DropReason::NoCloneSession => "the clone session does not exist, so no clone is made",
            DropReason::NoSuchPort => "the port of the copy does not exist",
            DropReason::NoSuchQueue => "the priority names no queue of the port",
            DropReason::QueueFull => "the queue is full",
            DropReason::BufferFull => "the shared buffer is full",
            DropReason::PassLimit => "the packet and its copies took too many passes",
            DropReason::StepLimit => "the block took too many steps",
            DropReason::AssertionFailed => "an assertion did not hold",
        }
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

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

    /// Counts a dropped packet.
    pub fn dropped(&mut self, reason: DropReason) {
        *self.drops.entry(reason).or_default() += 1;
    }

    /// Packets dropped for any reason.
    pub fn dropped_packets(&self) -> u64 {
        self.drops.values().sum()
    }
}

/// A device with more ports counts them in an ordered map.
const MOST_FLAT_PORTS: u32 = 1 << 12;

/// Bits of a number of bytes in a word that has a number of packets above it.
const BYTES_BITS: u32 = 44;

/// One packet in such a word.
const ONE_PACKET: u64 = 1 << BYTES_BITS;

/// So many packets, of no more bytes than a packet in memory has, fit into such a word.
const MOST_RECENT_PACKETS: usize = 1 << 19;
const MOST_RECENT_BYTES: usize = 1 << (BYTES_BITS - 19);

/// What is counted of packets that go straight through: arrays, to be added to [`Statistics`] when
/// somebody asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct StraightStatistics {
    /// What came in by port, of a device with few enough of them, each a number of packets above a number
    /// of bytes; a power of two.
    recently_received: Vec<u64>,
    /// What left, likewise.
    recently_sent: Vec<u64>,
    /// How many packets more fit into both for sure.
    room: usize,
    /// What is in neither.
    ports: BTreeMap<u32, PortStatistics>,
    drops: [u64; 2],
}

impl StraightStatistics {
    /// Counts packets of a burst that a device with ports up to this one has taken, and what left since
    /// there were `already` outputs.
    #[inline]
    pub fn count(&mut self, burst: &Burst, taken: Range<usize>, already: usize, largest_port: u32) {
        let packets = taken.len() + burst.sent_count() - already;
        if self.room < packets || burst.largest_bytes() >= MOST_RECENT_BYTES {
            return self.count_slowly(burst, taken, already, largest_port);
        }
        self.room -= packets;
        // Not while the packets run: the processor would take back again and again what it did of the next
        // ones, which may count in the same row.
        let packets = burst.packets();
        packets.count_received(taken, &mut self.recently_received, ONE_PACKET);
        packets.count_sent(already, OUTPUT_PORT, &mut self.recently_sent, ONE_PACKET);
    }

    /// The same where arrays are full, or will not do.
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
        // From here on these count anew.
        (self.recently_received, self.recently_sent, self.room) = Default::default();
        for (port, length_bytes) in burst.packets().received(taken) {
            self.received(port, length_bytes);
        }
        for (port, length_bytes) in burst.packets().sent_lengths(already, OUTPUT_PORT) {
            self.sent(port, length_bytes);
        }
        if largest_port < MOST_FLAT_PORTS {
            let rows = (largest_port as usize + 1).next_power_of_two();
            (self.recently_received, self.recently_sent) = (vec![0; rows], vec![0; rows]);
            self.room = MOST_RECENT_PACKETS;
        }
    }

    fn received(&mut self, port: u32, length_bytes: u32) {
        let counters = self.ports.entry(port).or_default();
        counters.received_packets += 1;
        counters.received_bytes += u64::from(length_bytes);
    }

    /// Counts a packet that left by a port.
    pub fn sent(&mut self, port: u32, length_bytes: u32) {
        if let Some(sent) = self.recently_sent.get_mut(port as usize)
            && self.room > 0
            && (length_bytes as usize) < MOST_RECENT_BYTES
        {
            self.room -= 1;
            *sent += ONE_PACKET + u64::from(length_bytes);
            return;
        }
        let counters = self.ports.entry(port).or_default();
        counters.sent_packets += 1;
        counters.sent_bytes += u64::from(length_bytes);
    }

    /// Counts packets dropped after ingress, and after egress.
    #[inline]
    pub fn dropped(&mut self, after_ingress: u64, after_egress: u64) {
        self.drops[0] += after_ingress;
        self.drops[1] += after_egress;
    }

    /// What the arrays have of each port that has something there.
    fn recent(&self) -> impl Iterator<Item = (u32, PortStatistics)> {
        let rows = self.recently_received.iter().zip(&self.recently_sent);
        let counters = |(received, sent): (&u64, &u64)| PortStatistics {
            received_packets: received >> BYTES_BITS,
            received_bytes: received & (ONE_PACKET - 1),
            sent_packets: sent >> BYTES_BITS,
            sent_bytes: sent & (ONE_PACKET - 1),
        };
        let is_used = |row: &(u32, PortStatistics)| row.1 != PortStatistics::default();
        (0..).zip(rows.map(counters)).filter(is_used)
    }

    /// How many packets began on the straight way; a packet that comes back counts again.
    pub fn begun(&self) -> u64 {
        let recent = self.recently_received.iter().map(|received| received >> BYTES_BITS);
        self.ports.values().map(|port| port.received_packets).chain(recent).sum()
    }

    /// Adds what was counted here.
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
