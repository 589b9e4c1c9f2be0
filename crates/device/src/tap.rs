// SPDX-License-Identifier: Apache-2.0
//! Taps: what happens to packets in a device, in order, for whoever checks a run from outside (an oracle
//! that replays it, say). Unlike a trace, a tap tells nothing of what happens inside blocks but the random
//! numbers drawn there, the lines logged, and the values at probes; and both engines give the same. Values at
//! probes are noted when the blocks of the pass are over.

use crate::drop_reason::DropReason;
use crate::ingress_source::IngressSource;
use crate::wire::OutputPath;
use ir::{Bits, RequestId};
use state::externs::EmitTo;
use std::sync::Arc;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tapped {
    /// When, in picoseconds.
    pub time_ps: u64,
    /// Number of the received packet that it happened to, or to a copy of which.
    pub packet: u64,
    /// The pass of the packet and its copies, through ingress or egress, in which it happened, from 0.
    pub pass: u64,
    /// What.
    pub what: TappedEvent,
}

/// What may happen to a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TappedEvent {
    /// It comes to ingress: a pass begins.
    Ingress {
        /// The port that it came by; from an internal path that of the pass before.
        port: u32,
        /// How it came.
        by: IngressSource,
        /// When it had arrived, in picoseconds: before the pass where it had to wait for it.
        arrived_ps: u64,
        /// It, as it came.
        bytes: Vec<u8>,
    },
    /// It draws a random number in the block that runs.
    Drawn {
        /// The lowest 64 bits of the number.
        value: u64,
    },
    /// The block that runs writes a line to the log.
    Logged {
        /// The line.
        text: String,
    },
    /// It passed a probe in a block of the pass ([`ir::ready::ReadyProgram::lower_with_probes`]).
    Probed {
        /// The probe's request, whose label and fields say where it stands and what it gives.
        request: RequestId,
        /// The values of the fields.
        values: Vec<Bits>,
    },
    /// It stands in a queue now.
    Queued {
        /// Of which path.
        path: OutputPath,
        /// Which queue.
        queue: u32,
        /// How much it fills of the buffer.
        length_bytes: u64,
    },
    /// It comes from a queue to egress: a pass begins.
    Egress {
        /// The port of the queue.
        port: u32,
        /// The queue.
        queue: u32,
        /// When it was queued, in picoseconds.
        enqueued_ps: u64,
        /// How many packets stand in the queue behind it.
        depth_packets: u32,
        /// What goes to egress, where only bytes do.
        packet: Option<EgressPacket>,
    },
    /// It leaves by a port.
    Sent {
        /// The port.
        port: u32,
        /// The queue that it was in.
        queue: u32,
        /// When its last bit arrives at the end of the port's latency, in picoseconds: at a neighbour, or
        /// at this device again.
        arrives_ps: u64,
        /// Whether the port gives it back.
        comes_back: bool,
        /// It, as it leaves.
        bytes: Vec<u8>,
    },
    /// It is dropped.
    Dropped {
        /// Why.
        reason: DropReason,
    },
    /// An extern that the block before called does something with it.
    Extern {
        /// The instance's control-plane name; of a function its name.
        name: Arc<str>,
        /// What.
        action: ExternAction,
    },
}

/// What an extern may do with a packet, but for drops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExternAction {
    /// It holds the packet.
    Held {
        /// Its number for it.
        ticket: u64,
        /// At most until this time, in picoseconds.
        until_ps: Option<u64>,
    },
    /// It lets the packet go on.
    Released {
        /// Its number for it.
        ticket: u64,
    },
    /// It makes another packet of it.
    Emitted {
        /// Where the new one goes.
        to: EmitTo,
        /// The new one.
        bytes: Vec<u8>,
    },
}

/// A packet as it comes to an egress parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EgressPacket {
    /// Which copy it is of those of a multicast group.
    pub replica: u32,
    /// It, without the architecture's metadata in front.
    pub bytes: Vec<u8>,
}

/// Collects what happens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tap {
    /// The packet at work, and its pass.
    packet: u64,
    pass: u64,
    seen: Vec<Tapped>,
}

impl Tap {
    /// What follows happens to this packet in this pass.
    pub fn at(&mut self, packet: u64, pass: u64) -> &mut Tap {
        (self.packet, self.pass) = (packet, pass);
        self
    }

    pub fn note(&mut self, time_ps: u64, what: TappedEvent) {
        let Tap { packet, pass, .. } = *self;
        self.seen.push(Tapped { time_ps, packet, pass, what });
    }

    /// Adds what another one has seen.
    pub fn append(&mut self, other: &mut Tap) {
        self.seen.append(&mut other.seen);
    }

    pub fn take(&mut self) -> Vec<Tapped> {
        std::mem::take(&mut self.seen)
    }
}
