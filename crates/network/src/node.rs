// SPDX-License-Identifier: Apache-2.0
//! Nodes of a simulated network: the [`Node`] trait, what a node hands to the network ([`Outbox`]), and a node that sends
//! and records frames ([`Recorder`]). `simulation` calls nodes, `links` delays frames.

use crate::frame::Frame;
use device::Outputs;
use std::any::Any;
use std::fmt;

mod device_node;

/// The number of a node in a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A frame that a node sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The node's port.
    pub port: u32,
    /// Time at which its last bit leaves, in picoseconds; not before the call in which the node sends it.
    pub time_ps: u64,
    /// The frame.
    pub frame: Frame,
}

/// A request to the other end of every link to pause or resume a priority, as in priority flow control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowControl {
    /// When, in picoseconds.
    pub time_ps: u64,
    /// Which priority.
    pub queue: u32,
    /// Whether to pause (`true`) or to resume (`false`).
    pub pause: bool,
}

/// What a node hands to the network during a call.
#[derive(Debug, Default)]
pub struct Outbox {
    now_ps: u64,
    pub(crate) departures: Vec<Departure>,
    pub(crate) flow_control: Vec<FlowControl>,
    pub(crate) rescheduled: Vec<NodeId>,
    /// When the node wants to be woken, if it has said so.
    pub(crate) wake: Option<Option<u64>>,
    /// Memory for what devices send, empty between calls.
    pub(crate) outputs: Outputs,
    wants_notes: bool,
    pub(crate) notes: Vec<Note>,
}

/// What happened to a packet inside a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A tapped event of a device ([`device::DeviceOptions::tap`]).
    Device(device::Tapped),
    /// A host dropped a frame.
    Dropped {
        /// The reason, as results name it.
        reason: &'static str,
        /// The frame.
        frame: Frame,
    },
}

impl Outbox {
    /// An empty one for calls at a time.
    pub fn at(now_ps: u64) -> Outbox {
        Outbox { now_ps, ..Outbox::default() }
    }

    pub(crate) fn begin(&mut self, now_ps: u64, wants_notes: bool) {
        (self.now_ps, self.wants_notes) = (now_ps, wants_notes);
        self.wake = None;
    }

    /// Whether [`Outbox::note`] has an effect.
    pub fn wants_notes(&self) -> bool {
        self.wants_notes
    }

    /// Reports what happened to a packet, if the network wants to know. `note` is called only then.
    #[inline]
    pub fn note(&mut self, note: impl FnOnce() -> Note) {
        if self.wants_notes {
            self.notes.push(note());
        }
    }

    /// The time of the call, in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.now_ps
    }

    /// Sends a frame whose last bit leaves at this time, now or later.
    pub fn send(&mut self, port: u32, time_ps: u64, frame: Frame) {
        self.departures.push(Departure { port, time_ps: time_ps.max(self.now_ps), frame });
    }

    /// Sends a flow control request to all neighbours.
    pub fn request_flow_control(&mut self, control: FlowControl) {
        self.flow_control.push(control);
    }

    /// Has the network ask another node again when it wants to be woken. A controller calls this for a switch that it
    /// gave work.
    pub fn reschedule(&mut self, node: NodeId) {
        self.rescheduled.push(node);
    }

    /// Says when the node wants to be woken, so that the network need not ask it ([`Node::next_wake_ps`]) after this call.
    pub fn wake_at(&mut self, time_ps: Option<u64>) {
        self.wake = Some(time_ps);
    }

    /// Takes the frames sent so far.
    pub fn take_departures(&mut self) -> Vec<Departure> {
        std::mem::take(&mut self.departures)
    }
}

/// Why a node failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeError {
    /// The reason, for users.
    pub message: String,
}

impl fmt::Display for NodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for NodeError {}

/// A participant with ports and a clock. Times of calls never decrease.
pub trait Node: Any {
    /// Receives a frame at a port, now.
    fn receive(&mut self, port: u32, frame: Frame, outbox: &mut Outbox) -> Result<(), NodeError>;

    /// When it wants to be woken, in picoseconds; asked after each call. `None` if only a frame can make it act.
    fn next_wake_ps(&self) -> Option<u64>;

    /// Does everything that is due until now.
    fn wake(&mut self, outbox: &mut Outbox) -> Result<(), NodeError>;

    /// Receives a flow control request from the other end of the link at this port.
    fn flow_control(&mut self, _port: u32, _control: FlowControl) {}

    /// The link at a port went down or came up.
    fn link_changed(&mut self, _port: u32, _is_up: bool) {}
}

/// A node with one port, 0, that sends frames at given times and records what it receives.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// Frames to send, latest first.
    to_send: Vec<(u64, Frame)>,
    received: Vec<(u64, Frame)>,
}

impl Recorder {
    /// Makes a node that sends these frames at these times in picoseconds; equal times keep their order.
    pub fn new(sends: impl IntoIterator<Item = (u64, Vec<u8>)>) -> Recorder {
        let mut to_send: Vec<(u64, Frame)> =
            sends.into_iter().map(|(time_ps, bytes)| (time_ps, bytes.into())).collect();
        to_send.sort_by_key(|send| send.0);
        to_send.reverse();
        Recorder { to_send, received: Vec::new() }
    }

    /// Returns the received frames with times in picoseconds.
    pub fn received(&self) -> &[(u64, Frame)] {
        &self.received
    }

    /// Adds a frame to send; a time in the past means now.
    pub fn send(&mut self, time_ps: u64, frame: impl Into<Frame>) {
        // The list is popped from its end, so later frames are in front, and among equal times the last one added is
        // first.
        let at = self.to_send.partition_point(|send| send.0 > time_ps);
        self.to_send.insert(at, (time_ps, frame.into()));
    }
}

impl Node for Recorder {
    fn receive(&mut self, _port: u32, frame: Frame, outbox: &mut Outbox) -> Result<(), NodeError> {
        self.received.push((outbox.now_ps(), frame));
        Ok(())
    }

    fn next_wake_ps(&self) -> Option<u64> {
        self.to_send.last().map(|send| send.0)
    }

    fn wake(&mut self, outbox: &mut Outbox) -> Result<(), NodeError> {
        while self.to_send.last().is_some_and(|send| send.0 <= outbox.now_ps()) {
            if let Some((time_ps, frame)) = self.to_send.pop() {
                outbox.send(0, time_ps, frame);
            }
        }
        Ok(())
    }
}
