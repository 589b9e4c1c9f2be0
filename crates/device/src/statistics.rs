// SPDX-License-Identifier: Apache-2.0
//! What a device counts about its packets: per port what came in and went out, per reason what was
//! dropped. Counters of the program are state of the program and not here.

use jit::Tally;
use std::collections::BTreeMap;
use std::fmt;

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

/// A device with more ports counts them in an ordered map, and not in compiled code.
const MOST_FLAT_PORTS: u32 = 1 << 12;

/// Rows for compiled code to count in, one a port; `None` when ports are too many.
pub(crate) fn tally_rows(largest_port: u32) -> Option<u32> {
    (largest_port < MOST_FLAT_PORTS).then(|| (largest_port + 1).next_power_of_two())
}

/// What is counted of packets that go straight through: arrays, to be added to [`Statistics`] when
/// somebody asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct StraightStatistics {
    /// By port, as far as compiled code counts.
    tallies: Vec<Tally>,
    /// What is not in `tallies`.
    further_ports: BTreeMap<u32, PortStatistics>,
    drops: [u64; 2],
}

impl StraightStatistics {
    /// The rows that compiled code counts in.
    #[inline]
    pub fn tallies(&mut self, rows: u32) -> &mut [Tally] {
        if self.tallies.len() < rows as usize {
            self.tallies.resize(rows as usize, Tally::default());
        }
        &mut self.tallies
    }

    /// Counts a packet that came in at a port.
    pub fn received(&mut self, port: u32, length_bytes: u32) {
        let counters = self.further_ports.entry(port).or_default();
        counters.received_packets += 1;
        counters.received_bytes += u64::from(length_bytes);
    }

    /// Counts a packet that left by a port.
    pub fn sent(&mut self, port: u32, length_bytes: u32) {
        if let Some(row) = self.tallies.get_mut(port as usize) {
            row.sent_packets += 1;
            row.sent_bytes += u64::from(length_bytes);
            return;
        }
        let counters = self.further_ports.entry(port).or_default();
        counters.sent_packets += 1;
        counters.sent_bytes += u64::from(length_bytes);
    }

    /// Counts packets dropped after ingress, and after egress.
    #[inline]
    pub fn dropped(&mut self, after_ingress: u64, after_egress: u64) {
        self.drops[0] += after_ingress;
        self.drops[1] += after_egress;
    }

    /// How many packets began on the straight way; a packet that comes back counts again.
    pub fn begun(&self) -> u64 {
        let further = self.further_ports.values().map(|port| port.received_packets);
        self.tallies.iter().map(|row| row.received_packets).chain(further).sum()
    }

    /// Adds what was counted here.
    pub fn add_to(&self, statistics: &mut Statistics) {
        let flat = (0u32..).zip(&self.tallies).map(|(port, row)| {
            let counters = PortStatistics {
                received_packets: row.received_packets,
                received_bytes: row.received_bytes,
                sent_packets: row.sent_packets,
                sent_bytes: row.sent_bytes,
            };
            (port, counters)
        });
        let further = self.further_ports.iter().map(|(port, counters)| (*port, *counters));
        let is_used = |counters: &PortStatistics| *counters != PortStatistics::default();
        for (port, counters) in flat.chain(further).filter(|port| is_used(&port.1)) {
            let sum = statistics.ports.entry(port).or_default();
            sum.received_packets += counters.received_packets;
            sum.received_bytes += counters.received_bytes;
            sum.sent_packets += counters.sent_packets;
            sum.sent_bytes += counters.sent_bytes;
        }
        let reasons = [DropReason::IngressDrop, DropReason::EgressDrop];
        for (reason, count) in reasons.into_iter().zip(self.drops) {
            if count > 0 {
                *statistics.drops.entry(reason).or_default() += count;
            }
        }
    }
}
