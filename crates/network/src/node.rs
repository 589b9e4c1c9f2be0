// SPDX-License-Identifier: Apache-2.0
//! What stands in a simulated network: the [`Node`] trait over timed messages, and hosts that send
//! and record them. Devices carry packets; other interpreters carry messages of their own. Links
//! and the order of events are elsewhere.

use std::any::Any;
use std::fmt;

mod device_node;

/// What nodes exchange. Its length counts on links.
pub trait Message {
    /// Length on the wire in bytes.
    fn length_bytes(&self) -> u64;
}

impl Message for Vec<u8> {
    fn length_bytes(&self) -> u64 {
        self.len() as u64
    }
}

/// A message that leaves a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure<M> {
    /// The node's port.
    pub port: u32,
    /// When its last bit left, in picoseconds.
    pub time_ps: u64,
    /// The message.
    pub message: M,
}

/// Asks the other end of every link to pause, or to go on, as priority flow control does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowControl {
    /// When, in picoseconds.
    pub time_ps: u64,
    /// Which priority.
    pub queue: u32,
    /// Pause or go on.
    pub pause: bool,
}

/// A node that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeError {
    /// What happened, for people.
    pub message: String,
}

impl fmt::Display for NodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for NodeError {}

/// Something with ports and a clock of its own. Times never go back: a node is not given a message
/// or told to advance to a time before one it was told earlier.
pub trait Node<M>: Any {
    /// A message arrives at a port.
    fn receive(&mut self, port: u32, time_ps: u64, message: M);

    /// When it next has something to do, in picoseconds.
    fn next_event_ps(&self) -> Option<u64>;

    /// Does everything due until this time, included.
    fn advance(&mut self, until_ps: u64) -> Result<(), NodeError>;

    /// What left since the last call.
    fn drain_departures(&mut self) -> Vec<Departure<M>>;

    /// The other end of the link at this port asks to pause or to go on.
    fn flow_control(&mut self, _port: u32, _control: FlowControl) {}

    /// What this node asks of its neighbours since the last call.
    fn drain_flow_control(&mut self) -> Vec<FlowControl> {
        Vec::new()
    }
}

/// A host with one port, 0: sends what it was given at its times and records what it receives.
#[derive(Clone, Debug)]
pub struct Host<M> {
    /// Still to send, latest first.
    to_send: Vec<(u64, M)>,
    departures: Vec<Departure<M>>,
    received: Vec<(u64, M)>,
}

impl<M> Default for Host<M> {
    fn default() -> Host<M> {
        Host::new(Vec::new())
    }
}

impl<M> Host<M> {
    /// A host that sends these messages at these times in picoseconds; equal times in this order.
    pub fn new(mut sends: Vec<(u64, M)>) -> Host<M> {
        sends.sort_by_key(|send| send.0);
        sends.reverse();
        Host { to_send: sends, departures: Vec::new(), received: Vec::new() }
    }

    /// What it received, with times in picoseconds.
    pub fn received(&self) -> &[(u64, M)] {
        &self.received
    }

    /// Sends one more message; a time that is over means at once.
    pub fn send(&mut self, time_ps: u64, message: M) {
        // The list is popped from its end, so what is sent later stands earlier, and among equal
        // times the message given last stands first.
        let at = self.to_send.partition_point(|send| send.0 > time_ps);
        self.to_send.insert(at, (time_ps, message));
    }
}

impl<M: 'static> Node<M> for Host<M> {
    fn receive(&mut self, _port: u32, time_ps: u64, message: M) {
        self.received.push((time_ps, message));
    }

    fn next_event_ps(&self) -> Option<u64> {
        self.to_send.last().map(|send| send.0)
    }

    fn advance(&mut self, until_ps: u64) -> Result<(), NodeError> {
        while self.to_send.last().is_some_and(|send| send.0 <= until_ps) {
            if let Some((time_ps, message)) = self.to_send.pop() {
                self.departures.push(Departure { port: 0, time_ps, message });
            }
        }
        Ok(())
    }

    fn drain_departures(&mut self) -> Vec<Departure<M>> {
        std::mem::take(&mut self.departures)
    }
}
