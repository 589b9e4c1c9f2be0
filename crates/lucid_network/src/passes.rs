// SPDX-License-Identifier: Apache-2.0
//! A device's passes as its taps show them: what came to ingress or egress, the random numbers, lines and probed
//! values of its blocks, the queues that the packet was put into, and what left.

use device::tap::{EgressPacket, Tapped, TappedEvent};
use device::{IngressSource, OutputPath};
use ir::{Bits, RequestId};

/// The half of a device that a packet goes through, or neither.
#[derive(Debug)]
pub(super) enum Half {
    /// A packet comes to ingress.
    Ingress { port: u32, source: IngressSource, arrived_ps: u64, bytes: Vec<u8> },
    /// A packet comes from a queue of a port.
    Egress {
        port: u32,
        queue: u32,
        depth_packets: u32,
        /// The packet, where only bytes go to egress.
        packet: Option<EgressPacket>,
    },
    /// Packets come back and go round again without the program, in order.
    Circulation { rounds: u64 },
}

/// A packet that left by a port.
#[derive(Debug)]
pub(super) struct SentPacket {
    pub(super) port: u32,
    pub(super) arrives_ps: u64,
    pub(super) comes_back: bool,
    pub(super) bytes: Vec<u8>,
}

/// A pass of a packet through one half of a device.
#[derive(Debug)]
pub(super) struct DevicePass {
    pub(super) time_ps: u64,
    /// The device's number of the packet.
    pub(super) packet: u64,
    pub(super) half: Half,
    pub(super) draws: Vec<u128>,
    /// Lines of the log with their times.
    pub(super) lines: Vec<(u64, String)>,
    pub(super) probed: Vec<(RequestId, Vec<Bits>)>,
    /// Ports and queues that copies of the packet stand in, in order.
    pub(super) queued: Vec<(u32, u32)>,
    pub(super) sent: Vec<SentPacket>,
}

/// Sorts what taps saw by passes, in their order.
pub(super) fn passes(taps: Vec<Tapped>) -> Vec<DevicePass> {
    let mut passes: Vec<DevicePass> = Vec::new();
    for Tapped { time_ps, packet, what, .. } in taps {
        let half = match what {
            TappedEvent::Ingress { port, by, arrived_ps, bytes } => {
                Half::Ingress { port, source: by, arrived_ps, bytes }
            }
            TappedEvent::Egress { port, queue, depth_packets, packet, .. } => {
                Half::Egress { port, queue, depth_packets, packet }
            }
            TappedEvent::Circulated { rounds } => Half::Circulation { rounds },
            within => {
                if let Some(pass) = passes.last_mut() {
                    pass.note(time_ps, within);
                }
                continue;
            }
        };
        passes.push(DevicePass {
            time_ps,
            packet,
            half,
            draws: Vec::new(),
            lines: Vec::new(),
            probed: Vec::new(),
            queued: Vec::new(),
            sent: Vec::new(),
        });
    }
    passes
}

impl DevicePass {
    fn note(&mut self, time_ps: u64, what: TappedEvent) {
        match what {
            TappedEvent::Drawn { value } => self.draws.push(value.into()),
            TappedEvent::Logged { text } => self.lines.push((time_ps, text)),
            TappedEvent::Probed { request, values } => self.probed.push((request, values)),
            TappedEvent::Queued { path: OutputPath::Port(port), queue, .. } => {
                self.queued.push((port, queue));
            }
            TappedEvent::Sent { port, arrives_ps, comes_back, bytes, .. } => {
                self.sent.push(SentPacket { port, arrives_ps, comes_back, bytes });
            }
            TappedEvent::Queued { .. }
            | TappedEvent::Circulated { .. }
            | TappedEvent::Ingress { .. }
            | TappedEvent::Egress { .. }
            | TappedEvent::Dropped { .. }
            | TappedEvent::Extern { .. } => {}
        }
    }
}
