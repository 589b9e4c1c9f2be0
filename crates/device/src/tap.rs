// SPDX-License-Identifier: Apache-2.0
//! Taps: the sequence of events of packets in a device, for checks of a run from outside, such as an oracle that replays
//! it. Unlike traces, taps contain only random draws, log lines, and values at probes from blocks, and both engines give
//! the same taps. The values at probes follow when all blocks of the pass have run.

use crate::drop_reason::DropReason;
use crate::ingress_source::IngressSource;
use crate::wire::OutputPath;
use ir::{Bits, RequestId};
use state::externs::EmitTo;
use std::sync::Arc;

/// One event of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tapped {
    /// In device time.
    pub time_ps: u64,
    /// Number of the received packet. Copies have the number of their original.
    pub packet: u64,
    /// Counts the passes of the packet and its copies, through ingress or egress, from 0.
    pub pass: u64,
    /// The event.
    pub what: TappedEvent,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TappedEvent {
    /// Start of a pass through ingress.
    Ingress {
        /// Ingress port. A packet from an internal path keeps the port of its last pass.
        port: u32,
        /// Where the packet is from.
        by: IngressSource,
        /// Time of arrival. Earlier than the event if the packet waited for ingress.
        arrived_ps: u64,
        /// The packet before the pass.
        bytes: Vec<u8>,
    },
    /// A random draw of the running block.
    Drawn {
        /// The lowest 64 bits.
        value: u64,
    },
    /// A log line of the running block.
    Logged {
        /// The line.
        text: String,
    },
    /// A probe in a block of the pass ([`ir::ready::ReadyProgram::lower_with_probes`]).
    Probed {
        /// The request of the probe. Its label and fields give the place and the names of the values.
        request: RequestId,
        /// The values of the fields.
        values: Vec<Bits>,
    },
    /// The packet was enqueued.
    Queued {
        /// The path of the queue.
        path: OutputPath,
        /// Number of the queue.
        queue: u32,
        /// Buffer space of the packet.
        length_bytes: u64,
    },
    /// Start of a pass through egress.
    Egress {
        /// The port of the queue.
        port: u32,
        /// The queue.
        queue: u32,
        /// Time of the enqueue event.
        enqueued_ps: u64,
        /// Packets left in the queue.
        depth_packets: u32,
        /// The packet at the egress parser. `None` for architectures without egress parser.
        packet: Option<EgressPacket>,
    },
    /// The packet was transmitted at a port.
    Sent {
        /// The port.
        port: u32,
        /// The queue of the packet.
        queue: u32,
        /// Arrival of the last bit after the latency of the port, at a neighbour or again at this device.
        arrives_ps: u64,
        /// Whether the port is a loopback port.
        comes_back: bool,
        /// The packet on the wire.
        bytes: Vec<u8>,
    },
    /// The packet was dropped.
    Dropped {
        /// The reason.
        reason: DropReason,
        /// The path whose queue refused it.
        refused_by: Option<OutputPath>,
    },
    /// Packets came back by loopback ports and went round again without the program ([`crate::circulation`]): in order,
    /// each packet that comes back next. Packet and pass of the event have no meaning.
    Circulated {
        /// The number of rounds, of all packets together.
        rounds: u64,
    },
    /// An action of an extern that the last block called.
    Extern {
        /// Control-plane name of the instance, or name of the function.
        name: Arc<str>,
        /// The action.
        action: ExternAction,
    },
}

/// Actions of externs on packets, except drops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExternAction {
    /// The extern holds the packet.
    Held {
        /// Number of the held packet.
        ticket: u64,
        /// Latest time of the release, in picoseconds.
        until_ps: Option<u64>,
    },
    /// The extern released the packet.
    Released {
        /// Number of the held packet.
        ticket: u64,
    },
    /// The extern generated a packet.
    Emitted {
        /// Destination of the new packet.
        to: EmitTo,
        /// The new packet.
        bytes: Vec<u8>,
    },
}

/// A packet at an egress parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EgressPacket {
    /// Index among the copies of a multicast group.
    pub replica: u32,
    /// The packet without the metadata of the architecture.
    pub bytes: Vec<u8>,
}

/// Collects events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tap {
    /// Current packet and pass.
    packet: u64,
    pass: u64,
    seen: Vec<Tapped>,
}

impl Tap {
    /// Sets packet and pass of the following events.
    pub fn set_pass(&mut self, packet: u64, pass: u64) -> &mut Tap {
        (self.packet, self.pass) = (packet, pass);
        self
    }

    /// Appends an event of the current pass.
    pub fn record(&mut self, time_ps: u64, what: TappedEvent) {
        let Tap { packet, pass, .. } = *self;
        self.seen.push(Tapped { time_ps, packet, pass, what });
    }

    /// Appends rounds of circulating packets. Those that follow one another are one event.
    pub fn record_rounds(&mut self, time_ps: u64, more: u64) {
        if let Some(Tapped { what: TappedEvent::Circulated { rounds }, .. }) = self.seen.last_mut()
        {
            *rounds += more;
            return;
        }
        self.record(time_ps, TappedEvent::Circulated { rounds: more });
    }

    /// Moves the events of another tap to the end.
    pub fn append(&mut self, other: &mut Tap) {
        self.seen.append(&mut other.seen);
    }

    pub fn take(&mut self) -> Vec<Tapped> {
        std::mem::take(&mut self.seen)
    }
}
