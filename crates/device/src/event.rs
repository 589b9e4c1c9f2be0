// SPDX-License-Identifier: Apache-2.0
//! What may happen in a switch at a time, and the order of things that happen at one time. Events are kept by
//! `switch_core` and taken by `event_loop`.

use crate::control_request::ControlWork;
use crate::held_packets::HeldKey;
use crate::packet::{Arrival, EmittedPacket, ProgramId, QueuedPacket};
use crate::timed_pass::TimedPass;
use crate::wire::OutputPath;

/// Something that happens at a time.
#[derive(Debug)]
pub(crate) enum Event {
    /// The driver has something to do for a controller.
    Control(ControlWork),
    /// A neighbour, or a user, pauses a queue or lets it go on.
    FlowControl { path: OutputPath, queue: Option<u32>, paused: bool },
    /// Ingress is over; the packet comes to the queues of a port.
    IngressDone { program: ProgramId, port: u32, packet: Box<QueuedPacket> },
    /// A packet comes back to ingress by an internal path.
    Reentry { program: ProgramId, arrival: Box<Arrival> },
    /// A packet comes back by the port that it was sent by, as a new arrival.
    Loopback(Box<Arrival>),
    /// The next of a source of the packet generator is due.
    Generation(usize),
    /// A packet comes from a port.
    Reception(Box<Arrival>),
    /// A pass that takes time has its next moment, or ends.
    Pass { program: ProgramId, pass: Box<TimedPass> },
    /// A packet that an extern made in ingress comes to the queues of a port.
    Emission { program: ProgramId, port: u32, packet: Box<EmittedPacket> },
    /// The time is over for which an extern holds a packet.
    Release { program: ProgramId, key: HeldKey, serial: u64 },
    /// The time of a flow control frame is over.
    FlowControlEnd { path: OutputPath, queue: u32 },
}

/// Time, class (as the variants of [`Event`] are ordered; ways back to ingress are one class), port,
/// sequence.
pub(crate) type EventKey = (u64, u8, u32, u64);

/// The class of controllers' items: before everything else of their time, packets leaving queues included.
pub(crate) const CONTROL_CLASS: u8 = 0;

/// The class of packets that come back to ingress. The classes of the others stand in [`Event::class`].
pub(crate) const LOOPBACK_CLASS: u8 = 4;

/// The class of passes that take time: behind flow control, before packets that come.
pub(crate) const PASS_CLASS: u8 = 2;

/// The class of the admission of the next packet that waits for ingress.
pub(crate) const ADMISSION_CLASS: u8 = 7;

/// The class of packets that externs have held for long enough: behind everything else of their time.
const RELEASE_CLASS: u8 = 9;

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextEvent {
    /// What is listed as an [`Event`].
    Listed,
    /// A packet comes back by a loopback port.
    ComingBack,
    /// Ingress may take the next of the packets that wait for it.
    Admission,
}

impl Event {
    /// Its class among the events of a time.
    pub fn class(&self) -> u8 {
        match self {
            Event::Control(_) => CONTROL_CLASS,
            Event::FlowControl { .. } => 1,
            Event::Pass { .. } => PASS_CLASS,
            Event::IngressDone { .. } | Event::Emission { .. } => 3,
            Event::Reentry { .. } | Event::Loopback(_) => LOOPBACK_CLASS,
            Event::Generation(_) => 5,
            Event::Reception(_) => 6,
            Event::FlowControlEnd { .. } => 8,
            Event::Release { .. } => RELEASE_CLASS,
        }
    }
}
