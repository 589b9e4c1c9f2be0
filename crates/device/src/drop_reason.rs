// SPDX-License-Identifier: Apache-2.0
//! `DropReason`: why a device drops a packet, with a stable name and a sentence for each reason. `statistics` counts
//! drops.

use std::fmt;

/// Why the device dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// Ingress ended with the drop port as output (v1model: `mark_to_drop`).
    IngressDrop,
    /// Egress ended with the drop port as output.
    EgressDrop,
    /// The program set `drop_ctl` (TNA).
    DropControl,
    /// The parser ended with an error that the program does not read (TNA).
    ParserError,
    /// Ingress named neither a port nor a multicast group with members (TNA).
    NoDestination,
    /// The multicast group does not exist or has no members.
    NoReplicas,
    /// The clone session does not exist: the device makes no clone; the packet itself continues.
    NoCloneSession,
    /// The port of a copy exceeds the architecture's largest port.
    NoSuchPort,
    /// The packet's priority names no queue of the port.
    NoSuchQueue,
    /// The queue was full.
    QueueFull,
    /// The shared buffer was full.
    BufferFull,
    /// The packet and its copies took more passes than [`crate::DeviceOptions::pass_limit`].
    PassLimit,
    /// An extern dropped it, or held it until its program was unloaded.
    Extern,
    /// A block took more steps than [`ir::STEP_LIMIT`].
    StepLimit,
    /// An `assert` or `assume` failed; the run stops.
    AssertionFailed,
    /// The admission rule drops the packet ([`crate::Admission`]).
    NotAdmitted,
    /// The caller that ran the pass had no room for it in a queue in front of a stage.
    StageQueue,
}

impl DropReason {
    /// Returns a short name for reports, stable across versions.
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
            DropReason::Extern => "extern",
            DropReason::StepLimit => "step limit",
            DropReason::AssertionFailed => "assertion failed",
            DropReason::NotAdmitted => "not admitted",
            DropReason::StageQueue => "stage queue",
        }
    }
}

impl DropReason {
    /// Returns the reason as a sentence for traces.
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
            DropReason::Extern => "an extern dropped it, or held it until its program went",
            DropReason::StepLimit => "the block took too many steps",
            DropReason::AssertionFailed => "an assertion did not hold",
            DropReason::NotAdmitted => "no program is admitted for packets like this one",
            DropReason::StageQueue => {
                "a queue in front of a stage had no room, or others had waited too long"
            }
        }
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
