// SPDX-License-Identifier: Apache-2.0
//! Nodes of a simulated network: the [`Node`] trait over timed messages, and hosts that send and record messages. Devices
//! exchange packets; other interpreters exchange their own messages. `simulation` orders events, `link` delays messages.

use std::any::Any;
use std::fmt;

mod device_node;

/// A message between nodes. Links need its length.
pub trait Message {
    /// Length on the wire in bytes.
    fn length_bytes(&self) -> u64;
}

impl Message for Vec<u8> {
    fn length_bytes(&self) -> u64 {
        self.len() as u64
    }
}

/// A message that a node sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure<M> {
    /// The node's port.
    pub port: u32,
    /// Time at which its last bit leaves, in picoseconds.
    pub time_ps: u64,
    /// The message.
    pub message: M,
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
pub trait Node<M>: Any {
    /// Receives a message at a port.
    fn receive(&mut self, port: u32, time_ps: u64, message: M);

    /// Returns the time of its next event, in picoseconds.
    fn next_event_ps(&self) -> Option<u64>;

    /// Runs its events until this time, inclusive.
    fn advance(&mut self, until_ps: u64) -> Result<(), NodeError>;

    /// Takes the messages sent since the last call.
    fn drain_departures(&mut self) -> Vec<Departure<M>>;

    /// Receives a flow control request from the other end of the link at this port.
    fn flow_control(&mut self, _port: u32, _control: FlowControl) {}

    /// Takes its flow control requests to its neighbours since the last call.
    fn drain_flow_control(&mut self) -> Vec<FlowControl> {
        Vec::new()
    }
}

/// A host with one port, 0: sends messages at given times and records what it receives.
#[derive(Clone, Debug)]
pub struct Host<M> {
    /// Messages to send, latest first.
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
    /// Makes a host that sends these messages at these times in picoseconds; equal times keep their order.
    pub fn new(mut sends: Vec<(u64, M)>) -> Host<M> {
        sends.sort_by_key(|send| send.0);
        sends.reverse();
        Host { to_send: sends, departures: Vec::new(), received: Vec::new() }
    }

    /// Returns the received messages with times in picoseconds.
    pub fn received(&self) -> &[(u64, M)] {
        &self.received
    }

    /// Adds a message to send; a time in the past means now.
    pub fn send(&mut self, time_ps: u64, message: M) {
        // The list is popped from its end, so later messages are in front, and among equal times the last one added is
        // first.
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
