// SPDX-License-Identifier: Apache-2.0
//! Events of a switch and their order at equal times. `switch_core` holds the event queue, `event_loop` handles the events.

use crate::control_request::ControlWork;
use crate::held_packets::HeldKey;
use crate::packet::{Arrival, EmittedPacket, ProgramId, QueuedPacket};
use crate::timed_pass::TimedPass;
use crate::wire::OutputPath;

/// A scheduled event.
#[derive(Debug)]
pub(crate) enum Event {
    /// The driver has work for a controller.
    Control(ControlWork),
    /// A neighbour or a user pauses or resumes a queue.
    FlowControl { path: OutputPath, queue: Option<u32>, paused: bool },
    /// Ingress finished; the packet enters the traffic manager.
    IngressDone { program: ProgramId, port: u32, packet: Box<QueuedPacket> },
    /// A packet arrives at ingress by an internal path.
    Reentry { program: ProgramId, arrival: Box<Arrival> },
    /// A looped-back packet arrives at its port.
    Loopback(Box<Arrival>),
    /// A source of the packet generator makes its next packet.
    Generation(usize),
    /// A packet arrives at a port from outside.
    Reception(Box<Arrival>),
    /// A timed pass reaches its next moment or its end.
    Pass { program: ProgramId, pass: Box<TimedPass> },
    /// A packet that an extern emitted in ingress enters the traffic manager.
    Emission { program: ProgramId, port: u32, packet: Box<EmittedPacket> },
    /// The hold time of a packet that an extern holds ends.
    Release { program: ProgramId, key: HeldKey, serial: u64 },
    /// The pause time of a flow control frame ends.
    FlowControlEnd { path: OutputPath, queue: u32 },
}

/// The place of an event in the order of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EventKey {
    pub time_ps: u64,
    /// [`Event::class`].
    pub class: u8,
    /// The port of the packet, else 0.
    pub port: u32,
    pub sequence: u64,
}

/// The class of controllers' items: before all other events of their time, dequeues included.
pub(crate) const CONTROL_CLASS: u8 = 0;

/// The class of packets that return to ingress. [`Event::class`] has the classes of the others.
pub(crate) const LOOPBACK_CLASS: u8 = 4;

/// The class of timed passes: after flow control, before arrivals.
pub(crate) const PASS_CLASS: u8 = 2;

/// The class of the next ingress slot for a packet that waits.
pub(crate) const INGRESS_SLOT_CLASS: u8 = 7;

/// The class of packets from outside.
pub(crate) const RECEPTION_CLASS: u8 = 6;

/// The class of the end of a hold: after all other events of its time.
const RELEASE_CLASS: u8 = 9;

/// The kind of the next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextEvent {
    /// An [`Event`] of the event queue.
    Listed,
    /// A looped-back packet arrives.
    LoopedBack,
    /// Ingress may take the first of the packets that wait for it.
    IngressSlot,
}

impl Event {
    /// Returns its class: events of one time are handled in the order of their classes.
    pub fn class(&self) -> u8 {
        match self {
            Event::Control(_) => CONTROL_CLASS,
            Event::FlowControl { .. } => 1,
            Event::Pass { .. } => PASS_CLASS,
            Event::IngressDone { .. } | Event::Emission { .. } => 3,
            Event::Reentry { .. } | Event::Loopback(_) => LOOPBACK_CLASS,
            Event::Generation(_) => 5,
            Event::Reception(_) => RECEPTION_CLASS,
            Event::FlowControlEnd { .. } => 8,
            Event::Release { .. } => RELEASE_CLASS,
        }
    }
}
