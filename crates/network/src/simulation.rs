// SPDX-License-Identifier: Apache-2.0
//! Discrete-event simulation of nodes joined by links. Time is integer picoseconds; at one time
//! deliveries come before the nodes' own events, and ties go by node, port and sequence, so the
//! same network and seed give the same run.

use crate::link::{LinkDirection, LinkOptions, LinkStatistics};
use crate::node::{FlowControl, Message, Node, NodeError};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

pub mod topology;

/// A node of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// Why a simulation cannot be built or go on.
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
        /// How far the run came, in picoseconds.
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

/// How many deliveries and node events a run may take, unless set otherwise.
pub const DEFAULT_STEP_LIMIT: u64 = 100_000_000;

struct Member<M> {
    name: String,
    node: Box<dyn Node<M>>,
}

struct Joint {
    direction: LinkDirection,
    to: (NodeId, u32),
}

enum Delivery<M> {
    Message(M),
    FlowControl(FlowControl),
}

/// A message that left by a port without a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray<M> {
    /// The node it left.
    pub node: NodeId,
    /// By which port.
    pub port: u32,
    /// When, in picoseconds.
    pub time_ps: u64,
    /// The message.
    pub message: M,
}

/// Nodes, links, and what is under way between them.
pub struct Simulation<M> {
    members: Vec<Member<M>>,
    joints: BTreeMap<(NodeId, u32), Joint>,
    under_way: BTreeMap<(u64, NodeId, u32, u64), Delivery<M>>,
    strays: Vec<Stray<M>>,
    sequence: u64,
    seed: u64,
    now_ps: u64,
    steps: u64,
    step_limit: u64,
}

impl<M: Message + 'static> Simulation<M> {
    /// An empty network; losses on links derive from the seed.
    pub fn new(seed: u64) -> Simulation<M> {
        Simulation {
            members: Vec::new(),
            joints: BTreeMap::new(),
            under_way: BTreeMap::new(),
            strays: Vec::new(),
            sequence: 0,
            seed,
            now_ps: 0,
            steps: 0,
            step_limit: DEFAULT_STEP_LIMIT,
        }
    }

    /// Sets how many deliveries and node events all runs together may take.
    pub fn set_step_limit(&mut self, steps: u64) {
        self.step_limit = steps;
    }

    /// Adds a node.
    pub fn add(&mut self, name: impl Into<String>, node: impl Node<M>) -> NodeId {
        self.members.push(Member { name: name.into(), node: Box::new(node) });
        NodeId((self.members.len() - 1) as u32)
    }

    /// Joins two ports by a link.
    pub fn connect(
        &mut self,
        one: (NodeId, u32),
        other: (NodeId, u32),
        options: LinkOptions,
    ) -> Result<(), SimulationError> {
        self.connect_directions(one, other, options, options)
    }

    /// Joins two ports by a link whose direction from `one` to `other` is not as the way back.
    pub fn connect_directions(
        &mut self,
        one: (NodeId, u32),
        other: (NodeId, u32),
        forth: LinkOptions,
        back: LinkOptions,
    ) -> Result<(), SimulationError> {
        for end in [one, other] {
            let member = self.member(end.0)?;
            if self.joints.contains_key(&end) || (one == other) {
                return Err(SimulationError::PortInUse { node: member.name.clone(), port: end.1 });
            }
        }
        for (from, to, options) in [(one, other, forth), (other, one, back)] {
            let number = self.joints.len() as u64;
            let direction =
                LinkDirection::new(options, self.seed ^ number.wrapping_mul(0x9e37_79b9));
            self.joints.insert(from, Joint { direction, to });
        }
        Ok(())
    }

    /// Takes the link at a port down or up in both directions. Returns whether there is one.
    pub fn set_link_up(&mut self, end: (NodeId, u32), is_up: bool) -> bool {
        let Some(joint) = self.joints.get_mut(&end) else { return false };
        joint.direction.set_up(is_up);
        let other = joint.to;
        if let Some(joint) = self.joints.get_mut(&other) {
            joint.direction.set_up(is_up);
        }
        true
    }

    /// What the direction of a link that leaves this port did.
    pub fn link_statistics(&self, from: (NodeId, u32)) -> Option<LinkStatistics> {
        self.joints.get(&from).map(|joint| joint.direction.statistics())
    }

    fn member(&self, id: NodeId) -> Result<&Member<M>, SimulationError> {
        self.members.get(id.0 as usize).ok_or(SimulationError::NoSuchNode(id))
    }

    /// A node's name.
    pub fn name(&self, id: NodeId) -> Option<&str> {
        self.members.get(id.0 as usize).map(|member| member.name.as_str())
    }

    /// The node with this name.
    pub fn named(&self, name: &str) -> Option<NodeId> {
        self.members.iter().position(|member| member.name == name).map(|at| NodeId(at as u32))
    }

    /// A node as what it is.
    pub fn node<N: Node<M>>(&self, id: NodeId) -> Option<&N> {
        let node: &dyn Any = self.members.get(id.0 as usize)?.node.as_ref();
        node.downcast_ref()
    }

    /// A node as what it is, to change it: between runs, at the simulation's time.
    pub fn node_mut<N: Node<M>>(&mut self, id: NodeId) -> Option<&mut N> {
        let node: &mut dyn Any = self.members.get_mut(id.0 as usize)?.node.as_mut();
        node.downcast_mut()
    }

    /// How far the simulation came, in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.now_ps
    }

    /// When the next thing happens.
    pub fn next_event_ps(&self) -> Option<u64> {
        let delivery = self.under_way.first_key_value().map(|(key, _)| key.0);
        let event = self.members.iter().filter_map(|member| member.node.next_event_ps()).min();
        delivery.into_iter().chain(event).min().map(|time| time.max(self.now_ps))
    }

    /// Messages that left by ports without a link, since the last call.
    pub fn drain_strays(&mut self) -> Vec<Stray<M>> {
        std::mem::take(&mut self.strays)
    }

    /// Runs until nothing is left to happen.
    pub fn run_to_completion(&mut self) -> Result<(), SimulationError> {
        while let Some(time_ps) = self.next_event_ps() {
            self.step(time_ps)?;
        }
        Ok(())
    }

    /// Runs everything until this time, included.
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
            self.under_way.first_entry().filter(|entry| entry.key().0 <= time_ps)
        {
            let ((_, node, port, _), delivery) = entry.remove_entry();
            self.count_step()?;
            let Some(member) = self.members.get_mut(node.0 as usize) else { continue };
            match delivery {
                Delivery::Message(message) => member.node.receive(port, time_ps, message),
                Delivery::FlowControl(control) => member.node.flow_control(port, control),
            }
        }
        for number in 0..self.members.len() {
            let id = NodeId(number as u32);
            let member = &mut self.members[number];
            if member.node.next_event_ps().is_some_and(|event| event <= time_ps) {
                member.node.advance(time_ps).map_err(|error| SimulationError::Node {
                    node: member.name.clone(),
                    time_ps,
                    error,
                })?;
                self.count_step()?;
            }
            self.collect(id);
        }
        Ok(())
    }

    /// Puts what a node sent onto its links.
    fn collect(&mut self, id: NodeId) {
        let member = &mut self.members[id.0 as usize];
        let departures = member.node.drain_departures();
        let controls = member.node.drain_flow_control();
        for departure in departures {
            let from = (id, departure.port);
            let time_ps = departure.time_ps.max(self.now_ps);
            let Some(joint) = self.joints.get_mut(&from) else {
                let message = departure.message;
                self.strays.push(Stray { node: id, port: from.1, time_ps, message });
                continue;
            };
            let length_bytes = departure.message.length_bytes();
            if let Some(arrives_ps) = joint.direction.carry(time_ps, length_bytes) {
                let key = (arrives_ps, joint.to.0, joint.to.1, self.sequence);
                self.sequence += 1;
                self.under_way.insert(key, Delivery::Message(departure.message));
            }
        }
        for control in controls {
            for joint in self.joints.range((id, 0)..=(id, u32::MAX)).map(|(_, joint)| joint) {
                let sent_ps = control.time_ps.max(self.now_ps);
                let arrives_ps = sent_ps.saturating_add(joint.direction.options().latency_ps);
                let key = (arrives_ps, joint.to.0, joint.to.1, self.sequence);
                self.sequence += 1;
                let control = FlowControl { time_ps: arrives_ps, ..control };
                self.under_way.insert(key, Delivery::FlowControl(control));
            }
        }
    }
}

#[cfg(test)]
mod tests;
