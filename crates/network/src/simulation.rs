// SPDX-License-Identifier: Apache-2.0
//! `Simulation`: discrete-event simulation of nodes joined by links. Time is integer picoseconds. At equal times
//! deliveries come before events of nodes, then the order is node, port, sequence, so the same network and seed give
//! the same run.

use crate::link::{LinkDirection, LinkOptions, LinkStatistics};
use crate::node::{FlowControl, Message, Node, NodeError};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

pub mod topology;

/// The number of a node in a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// Why a simulation cannot be built or continued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimulationError {
    /// A link names a node that does not exist.
    NoSuchNode(NodeId),
    /// A port has a link already.
    PortInUse {
        /// The node's name.
        node: String,
        /// Its port.
        port: u32,
    },
    /// A node failed.
    Node {
        /// The node's name.
        node: String,
        /// When, in picoseconds.
        time_ps: u64,
        /// Why.
        error: NodeError,
    },
    /// The run needed more steps than its limit.
    StepLimit {
        /// The limit.
        steps: u64,
        /// The time that the run reached, in picoseconds.
        time_ps: u64,
    },
}

impl fmt::Display for SimulationError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimulationError::NoSuchNode(node) => {
                write!(formatter, "a link names node number {}, which does not exist", node.0)
            }
            SimulationError::PortInUse { node, port } => {
                write!(formatter, "port {port} of `{node}` has a link already")
            }
            SimulationError::Node { node, time_ps, error } => {
                write!(formatter, "`{node}` stopped at {time_ps} ps: {error}")
            }
            SimulationError::StepLimit { steps, time_ps } => write!(
                formatter,
                "the simulation did not end within {steps} steps; it came to {time_ps} ps (is \
                 there a forwarding loop?)"
            ),
        }
    }
}

impl std::error::Error for SimulationError {}

/// Default of [`Simulation::set_step_limit`].
pub const DEFAULT_STEP_LIMIT: u64 = 100_000_000;

/// A node with its name.
struct NodeSlot<M> {
    name: String,
    node: Box<dyn Node<M>>,
}

/// The direction of a link that leaves a port, and the port at its other end.
struct LinkEnd {
    direction: LinkDirection,
    to: (NodeId, u32),
}

enum Delivery<M> {
    Message(M),
    FlowControl(FlowControl),
}

/// A message that a node sent by a port without a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undelivered<M> {
    /// The sending node.
    pub node: NodeId,
    /// Its port.
    pub port: u32,
    /// When, in picoseconds.
    pub time_ps: u64,
    /// The message.
    pub message: M,
}

/// Nodes, links, and messages in flight.
pub struct Simulation<M> {
    nodes: Vec<NodeSlot<M>>,
    link_ends: BTreeMap<(NodeId, u32), LinkEnd>,
    in_flight: BTreeMap<(u64, NodeId, u32, u64), Delivery<M>>,
    undelivered: Vec<Undelivered<M>>,
    sequence: u64,
    seed: u64,
    now_ps: u64,
    steps: u64,
    step_limit: u64,
}

impl<M: Message + 'static> Simulation<M> {
    /// Makes an empty network. Losses on links derive from the seed.
    pub fn new(seed: u64) -> Simulation<M> {
        Simulation {
            nodes: Vec::new(),
            link_ends: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            undelivered: Vec::new(),
            sequence: 0,
            seed,
            now_ps: 0,
            steps: 0,
            step_limit: DEFAULT_STEP_LIMIT,
        }
    }

    /// Sets the largest number of deliveries and node events of all runs together.
    pub fn set_step_limit(&mut self, steps: u64) {
        self.step_limit = steps;
    }

    /// Adds a node.
    pub fn add(&mut self, name: impl Into<String>, node: impl Node<M>) -> NodeId {
        self.nodes.push(NodeSlot { name: name.into(), node: Box::new(node) });
        NodeId((self.nodes.len() - 1) as u32)
    }

    /// Connects two ports by a link with equal directions.
    pub fn connect(
        &mut self,
        one: (NodeId, u32),
        other: (NodeId, u32),
        options: LinkOptions,
    ) -> Result<(), SimulationError> {
        self.connect_directions(one, other, options, options)
    }

    /// Connects two ports by a link whose directions have different options.
    pub fn connect_directions(
        &mut self,
        one: (NodeId, u32),
        other: (NodeId, u32),
        forth: LinkOptions,
        back: LinkOptions,
    ) -> Result<(), SimulationError> {
        for end in [one, other] {
            let slot = self.slot(end.0)?;
            if self.link_ends.contains_key(&end) || (one == other) {
                return Err(SimulationError::PortInUse { node: slot.name.clone(), port: end.1 });
            }
        }
        for (from, to, options) in [(one, other, forth), (other, one, back)] {
            let number = self.link_ends.len() as u64;
            let direction =
                LinkDirection::new(options, self.seed ^ number.wrapping_mul(0x9e37_79b9));
            self.link_ends.insert(from, LinkEnd { direction, to });
        }
        Ok(())
    }

    /// Takes the link at a port down or up in both directions. Returns whether there is one.
    pub fn set_link_up(&mut self, end: (NodeId, u32), is_up: bool) -> bool {
        let Some(link_end) = self.link_ends.get_mut(&end) else { return false };
        link_end.direction.set_up(is_up);
        let other = link_end.to;
        if let Some(link_end) = self.link_ends.get_mut(&other) {
            link_end.direction.set_up(is_up);
        }
        true
    }

    /// Returns the statistics of the direction of a link that leaves this port.
    pub fn link_statistics(&self, from: (NodeId, u32)) -> Option<LinkStatistics> {
        self.link_ends.get(&from).map(|link_end| link_end.direction.statistics())
    }

    fn slot(&self, id: NodeId) -> Result<&NodeSlot<M>, SimulationError> {
        self.nodes.get(id.0 as usize).ok_or(SimulationError::NoSuchNode(id))
    }

    /// Returns a node's name.
    pub fn name(&self, id: NodeId) -> Option<&str> {
        self.nodes.get(id.0 as usize).map(|slot| slot.name.as_str())
    }

    /// Returns the node with this name.
    pub fn named(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|slot| slot.name == name).map(|at| NodeId(at as u32))
    }

    /// Downcasts a node to its concrete type.
    pub fn node<N: Node<M>>(&self, id: NodeId) -> Option<&N> {
        let node: &dyn Any = self.nodes.get(id.0 as usize)?.node.as_ref();
        node.downcast_ref()
    }

    /// Downcasts a node to its concrete type for changes between runs.
    pub fn node_mut<N: Node<M>>(&mut self, id: NodeId) -> Option<&mut N> {
        let node: &mut dyn Any = self.nodes.get_mut(id.0 as usize)?.node.as_mut();
        node.downcast_mut()
    }

    /// Returns the simulation's time in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.now_ps
    }

    /// Returns the time of the next delivery or event of a node.
    pub fn next_event_ps(&self) -> Option<u64> {
        let delivery = self.in_flight.first_key_value().map(|(key, _)| key.0);
        let event = self.nodes.iter().filter_map(|slot| slot.node.next_event_ps()).min();
        delivery.into_iter().chain(event).min().map(|time| time.max(self.now_ps))
    }

    /// Takes the messages that nodes sent by ports without a link since the last call.
    pub fn drain_undelivered(&mut self) -> Vec<Undelivered<M>> {
        std::mem::take(&mut self.undelivered)
    }

    /// Runs until no event is left.
    pub fn run_to_completion(&mut self) -> Result<(), SimulationError> {
        while let Some(time_ps) = self.next_event_ps() {
            self.step(time_ps)?;
        }
        Ok(())
    }

    /// Runs all events until this time, inclusive.
    pub fn run_until(&mut self, until_ps: u64) -> Result<(), SimulationError> {
        while let Some(time_ps) = self.next_event_ps().filter(|time| *time <= until_ps) {
            self.step(time_ps)?;
        }
        self.now_ps = self.now_ps.max(until_ps);
        Ok(())
    }

    fn count_step(&mut self) -> Result<(), SimulationError> {
        self.steps += 1;
        if self.steps > self.step_limit {
            return Err(SimulationError::StepLimit {
                steps: self.step_limit,
                time_ps: self.now_ps,
            });
        }
        Ok(())
    }

    fn step(&mut self, time_ps: u64) -> Result<(), SimulationError> {
        self.now_ps = time_ps;
        while let Some(entry) =
            self.in_flight.first_entry().filter(|entry| entry.key().0 <= time_ps)
        {
            let ((_, node, port, _), delivery) = entry.remove_entry();
            self.count_step()?;
            let Some(slot) = self.nodes.get_mut(node.0 as usize) else { continue };
            match delivery {
                Delivery::Message(message) => slot.node.receive(port, time_ps, message),
                Delivery::FlowControl(control) => slot.node.flow_control(port, control),
            }
        }
        for number in 0..self.nodes.len() {
            let id = NodeId(number as u32);
            let slot = &mut self.nodes[number];
            if slot.node.next_event_ps().is_some_and(|event| event <= time_ps) {
                slot.node.advance(time_ps).map_err(|error| SimulationError::Node {
                    node: slot.name.clone(),
                    time_ps,
                    error,
                })?;
                self.count_step()?;
            }
            self.collect(id);
        }
        Ok(())
    }

    /// Puts the messages that a node sent onto its links.
    fn collect(&mut self, id: NodeId) {
        let slot = &mut self.nodes[id.0 as usize];
        let departures = slot.node.drain_departures();
        let controls = slot.node.drain_flow_control();
        for departure in departures {
            let from = (id, departure.port);
            let time_ps = departure.time_ps.max(self.now_ps);
            let Some(link_end) = self.link_ends.get_mut(&from) else {
                let message = departure.message;
                self.undelivered.push(Undelivered { node: id, port: from.1, time_ps, message });
                continue;
            };
            let length_bytes = departure.message.length_bytes();
            if let Some(arrives_ps) = link_end.direction.carry(time_ps, length_bytes) {
                let key = (arrives_ps, link_end.to.0, link_end.to.1, self.sequence);
                self.sequence += 1;
                self.in_flight.insert(key, Delivery::Message(departure.message));
            }
        }
        for control in controls {
            for link_end in
                self.link_ends.range((id, 0)..=(id, u32::MAX)).map(|(_, link_end)| link_end)
            {
                let sent_ps = control.time_ps.max(self.now_ps);
                let arrives_ps = sent_ps.saturating_add(link_end.direction.options().latency_ps);
                let key = (arrives_ps, link_end.to.0, link_end.to.1, self.sequence);
                self.sequence += 1;
                let control = FlowControl { time_ps: arrives_ps, ..control };
                self.in_flight.insert(key, Delivery::FlowControl(control));
            }
        }
    }
}

#[cfg(test)]
mod tests;
