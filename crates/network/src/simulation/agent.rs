// SPDX-License-Identifier: Apache-2.0
//! [`Agent`]: acts on nodes at times of its own without a link, as a control plane does. It acts after the changes of links
//! at its time and before everything that leaves or arrives then.

use super::{NodeSlot, Simulation, SimulationError};
use crate::event_loop::{BEHIND_PORTS, MAX_NODES, Phase, rank};
use crate::node::{Node, NodeError, NodeId};
use std::any::Any;
use std::cmp::Reverse;

/// Acts on nodes from outside. Times of calls never decrease.
pub trait Agent: Any {
    /// When it acts next, in picoseconds; asked after each call.
    fn next_act_ps(&self) -> Option<u64>;

    /// Does everything that is due until now.
    fn act(&mut self, nodes: &mut Nodes<'_>) -> Result<(), NodeError>;

    /// A node that it observes has acted or received something.
    fn observe(&mut self, node: NodeId, now_ps: u64);
}

/// The nodes of a simulation during an act.
pub struct Nodes<'s> {
    slots: &'s mut [NodeSlot],
    now_ps: u64,
    /// Nodes that were changed: the simulation wakes them now.
    changed: Vec<NodeId>,
}

impl<'s> Nodes<'s> {
    pub(super) fn new(slots: &'s mut [NodeSlot], now_ps: u64) -> Nodes<'s> {
        Nodes { slots, now_ps, changed: Vec::new() }
    }

    pub(super) fn into_changed(self) -> Vec<NodeId> {
        self.changed
    }

    /// The time, in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.now_ps
    }

    /// Downcasts a node to its concrete type for changes. The simulation wakes it behind all arrivals of this time.
    pub fn node_mut<N: Node>(&mut self, id: NodeId) -> Option<&mut N> {
        let node: &mut dyn Any = self.slots.get_mut(id.0 as usize)?.node.as_mut();
        self.changed.push(id);
        node.downcast_mut()
    }
}

/// The place of an agent's act among the inputs of a time: behind changes of links.
fn agent_rank() -> u64 {
    rank(Phase::Control, MAX_NODES - 1, BEHIND_PORTS)
}

impl Simulation {
    /// Sets the agent, which observes these nodes.
    pub fn set_agent(&mut self, agent: impl Agent, observed: &[NodeId]) {
        for (number, slot) in self.nodes.iter_mut().enumerate() {
            slot.is_observed = observed.contains(&NodeId(number as u32));
        }
        self.next_act_ps = agent.next_act_ps();
        self.agent = Some(Box::new(agent));
    }

    /// Downcasts the agent to its concrete type, for changes between runs.
    pub fn agent_mut<A: Agent>(&mut self) -> Option<&mut A> {
        let agent: &mut dyn Any = self.agent.as_mut()?.as_mut();
        agent.downcast_mut()
    }

    /// Downcasts the agent to its concrete type.
    pub fn agent<A: Agent>(&self) -> Option<&A> {
        let agent: &dyn Any = self.agent.as_ref()?.as_ref();
        agent.downcast_ref()
    }

    /// Shows the agent a node that it observes.
    #[inline]
    pub(super) fn observe(&mut self, id: NodeId) {
        if self.nodes[id.0 as usize].is_observed
            && let Some(agent) = &mut self.agent
        {
            agent.observe(id, self.fabric.now_ps());
            self.next_act_ps = agent.next_act_ps();
        }
    }

    /// Has the agent act.
    pub(super) fn act(&mut self) -> Result<(), SimulationError> {
        let Some(mut agent) = self.agent.take() else { return Ok(()) };
        let time_ps = self.fabric.now_ps();
        let mut nodes = Nodes::new(&mut self.nodes, time_ps);
        let acted = agent.act(&mut nodes);
        for id in nodes.into_changed() {
            self.fabric.wake_at(id.0, Some(time_ps));
        }
        self.next_act_ps = agent.next_act_ps();
        self.agent = Some(agent);
        acted.map_err(|error| SimulationError::Agent { time_ps, error })
    }

    /// Time and rank of the next change of a link.
    pub(super) fn next_change(&self) -> Option<(u64, u64)> {
        self.changes.peek().map(|Reverse((time_ps, rank, ..))| (*time_ps, *rank))
    }

    /// Time and rank of the agent's next act.
    pub(super) fn next_act(&self) -> Option<(u64, u64)> {
        self.next_act_ps.map(|time_ps| (time_ps.max(self.fabric.now_ps()), agent_rank()))
    }
}
