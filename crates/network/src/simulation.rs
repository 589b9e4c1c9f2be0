// SPDX-License-Identifier: Apache-2.0
//! `Simulation`: nodes joined by links, run by the [`crate::event_loop`]. Time is integer picoseconds. At equal times the
//! order is node, port, sequence, and a node acts when all that arrives at it has arrived, so the same network and seed
//! give the same run.

use crate::event_loop::{self, End as LoopEnd, Event, Fabric, Participants, Phase, rank};
use crate::frame::Frame;
use crate::links::{LinkOptions, LinkStatistics, Links, Loss};
use crate::node::{Departure, FlowControl, Node, NodeError, NodeId, Outbox};
use std::any::Any;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::ops::ControlFlow;

mod agent;
mod watch;

pub use agent::{Agent, Nodes};
pub use watch::{Movement, Unwatched, Watcher};

/// Why a network cannot be built or continued.
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
    /// The agent failed.
    Agent {
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
            SimulationError::Agent { time_ps, error } => {
                write!(formatter, "the control plane stopped at {time_ps} ps: {error}")
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

/// A node with its name.
struct NodeSlot {
    name: String,
    node: Box<dyn Node>,
    /// Whether the agent is called after each call of the node.
    is_observed: bool,
}

/// Something on a link.
#[derive(Debug)]
enum InFlight {
    Frame { frame: Frame, from: (u32, u32), departed_ps: u64 },
    FlowControl(FlowControl),
}

/// A frame that a node sent by a port without a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undelivered {
    /// The sending node.
    pub node: NodeId,
    /// The frame with its port and time.
    pub departure: Departure,
}

/// A change of a link at a time.
type LinkChange = Reverse<(u64, u64, (u32, u32), bool)>;

/// Nodes, links, and frames in flight.
pub struct Simulation {
    nodes: Vec<NodeSlot>,
    fabric: Fabric<InFlight>,
    changes: BinaryHeap<LinkChange>,
    agent: Option<Box<dyn Agent>>,
    /// When the agent acts next.
    next_act_ps: Option<u64>,
    undelivered: Vec<Undelivered>,
    outbox: Outbox,
    /// Nodes that may want another wake-up, because the caller added or changed them.
    touched: Vec<NodeId>,
    steps: u64,
    step_limit: u64,
}

impl Simulation {
    /// Makes an empty network. Random numbers of links derive from the seed.
    pub fn new(seed: u64) -> Simulation {
        Simulation {
            nodes: Vec::new(),
            fabric: Fabric::new(Links::new(seed)),
            changes: BinaryHeap::new(),
            agent: None,
            next_act_ps: None,
            undelivered: Vec::new(),
            outbox: Outbox::default(),
            touched: Vec::new(),
            steps: 0,
            step_limit: u64::MAX,
        }
    }

    /// Sets the largest number of events of all runs together; without it a run has no limit.
    pub fn set_step_limit(&mut self, steps: u64) {
        self.step_limit = steps;
    }

    /// Adds a node.
    pub fn add(&mut self, name: impl Into<String>, node: impl Node) -> NodeId {
        self.nodes.push(NodeSlot { name: name.into(), node: Box::new(node), is_observed: false });
        let id = NodeId((self.nodes.len() - 1) as u32);
        self.touched.push(id);
        id
    }

    /// Connects two ports by a link with equal directions.
    pub fn connect(
        &mut self,
        one: (NodeId, u32),
        other: (NodeId, u32),
        options: LinkOptions,
    ) -> Result<(), SimulationError> {
        self.connect_directions(one, other, [options, options])
    }

    /// Connects two ports by a link whose directions have different options, the first from the first port on.
    pub fn connect_directions(
        &mut self,
        one: (NodeId, u32),
        other: (NodeId, u32),
        options: [LinkOptions; 2],
    ) -> Result<(), SimulationError> {
        for end in [one, other] {
            let slot = self.nodes.get(end.0.0 as usize);
            let slot = slot.ok_or(SimulationError::NoSuchNode(end.0))?;
            if one == other || self.fabric.links.other_end((end.0.0, end.1)).is_some() {
                return Err(SimulationError::PortInUse { node: slot.name.clone(), port: end.1 });
            }
        }
        let ends = [one, other].map(|(node, port)| (node.0, port));
        self.fabric.links.connect_directions(ends, options);
        Ok(())
    }

    /// The links.
    pub fn links(&self) -> &Links {
        &self.fabric.links
    }

    /// Takes the link at a port down or up in both directions, now. Returns whether there is one.
    pub fn set_link_up(&mut self, end: (NodeId, u32), is_up: bool) -> bool {
        let end = (end.0.0, end.1);
        let Some(other) = self.fabric.links.set_up(end, is_up, self.fabric.now_ps()) else {
            return false;
        };
        for (node, port) in [end, other] {
            self.nodes[node as usize].node.link_changed(port, is_up);
            self.schedule_wake(NodeId(node));
            self.observe(NodeId(node));
        }
        true
    }

    /// Takes the link at a port down or up at a time. Returns whether there is one.
    pub fn schedule_link(&mut self, time_ps: u64, end: (NodeId, u32), is_up: bool) -> bool {
        let end = (end.0.0, end.1);
        if self.fabric.links.other_end(end).is_none() {
            return false;
        }
        let time_ps = time_ps.max(self.fabric.now_ps());
        self.changes.push(Reverse((time_ps, rank(Phase::Control, end.0, end.1), end, is_up)));
        true
    }

    /// Returns the statistics of the direction of a link that leaves this port.
    pub fn link_statistics(&self, from: (NodeId, u32)) -> Option<LinkStatistics> {
        self.fabric.links.statistics((from.0.0, from.1))
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
    pub fn node<N: Node>(&self, id: NodeId) -> Option<&N> {
        let node: &dyn Any = self.nodes.get(id.0 as usize)?.node.as_ref();
        node.downcast_ref()
    }

    /// Downcasts a node to its concrete type for changes between runs.
    pub fn node_mut<N: Node>(&mut self, id: NodeId) -> Option<&mut N> {
        let node: &mut dyn Any = self.nodes.get_mut(id.0 as usize)?.node.as_mut();
        self.touched.push(id);
        node.downcast_mut()
    }

    /// Returns the simulation's time in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.fabric.now_ps()
    }

    /// Returns the number of events so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns when the next event is due, in picoseconds; `None` if nothing is left to happen.
    pub fn next_event_ps(&mut self) -> Option<u64> {
        for id in std::mem::take(&mut self.touched) {
            self.schedule_wake(id);
        }
        let change_ps = self.changes.peek().map(|Reverse((time_ps, ..))| *time_ps);
        let others = self.fabric.next_time_ps().into_iter().chain(self.next_act_ps);
        change_ps.into_iter().chain(others).min()
    }

    /// Returns how many frames are on links.
    pub fn in_flight(&self) -> usize {
        self.fabric.in_flight()
    }

    /// Takes the frames that nodes sent by ports without a link since the last call.
    pub fn drain_undelivered(&mut self) -> Vec<Undelivered> {
        std::mem::take(&mut self.undelivered)
    }

    /// Runs until no event is left.
    pub fn run_to_completion(&mut self) -> Result<(), SimulationError> {
        self.run_until(u64::MAX).map(|_| ())
    }

    /// Runs all events until this time, inclusive. Returns whether events are left.
    pub fn run_until(&mut self, until_ps: u64) -> Result<bool, SimulationError> {
        self.run_watched(until_ps, &mut Unwatched)
    }

    /// The same, and shows what happens to a watcher.
    pub fn run_watched(
        &mut self,
        until_ps: u64,
        watcher: &mut dyn Watcher,
    ) -> Result<bool, SimulationError> {
        for id in std::mem::take(&mut self.touched) {
            self.schedule_wake(id);
        }
        match event_loop::run_until(&mut Watched { simulation: self, watcher }, until_ps) {
            LoopEnd::Finished => Ok(false),
            LoopEnd::TimeOver => Ok(true),
            LoopEnd::Stopped(error) => Err(error),
        }
    }

    fn schedule_wake(&mut self, id: NodeId) {
        let wake_ps = self.nodes[id.0 as usize].node.next_wake_ps();
        self.fabric.wake_at(id.0, wake_ps);
    }

    fn call(
        &mut self,
        id: NodeId,
        watcher: &mut dyn Watcher,
        call: impl FnOnce(&mut dyn Node, &mut Outbox) -> Result<(), NodeError>,
    ) -> Result<(), SimulationError> {
        let time_ps = self.fabric.now_ps();
        let mut outbox = std::mem::take(&mut self.outbox);
        outbox.begin(time_ps, watcher.wants_notes());
        let slot = &mut self.nodes[id.0 as usize];
        let called = call(slot.node.as_mut(), &mut outbox);
        called.map_err(|error| SimulationError::Node {
            node: slot.name.clone(),
            time_ps,
            error,
        })?;
        for note in outbox.notes.drain(..) {
            watcher.noted(time_ps, id.0, &note);
        }
        for departure in outbox.departures.drain(..) {
            self.depart(id, departure, watcher);
        }
        for control in outbox.flow_control.drain(..) {
            self.request_flow_control(id, control);
        }
        for other in outbox.rescheduled.drain(..) {
            self.schedule_wake(other);
        }
        match outbox.wake {
            Some(wake_ps) => self.fabric.wake_at(id.0, wake_ps),
            None => self.schedule_wake(id),
        }
        self.outbox = outbox;
        self.observe(id);
        Ok(())
    }

    /// Puts a frame on the link at its port.
    fn depart(&mut self, id: NodeId, departure: Departure, watcher: &mut dyn Watcher) {
        let Departure { port, time_ps, mut frame } = departure;
        let from = (id.0, port);
        let length_bytes = frame.length_bytes();
        let Some((to, carried)) = self.fabric.links.carry(from, time_ps, || length_bytes) else {
            let departure = Departure { port, time_ps, frame };
            watcher.moved(time_ps, Movement::Undelivered { from }, &departure.frame);
            self.undelivered.push(Undelivered { node: id, departure });
            return;
        };
        let accepted_ps = self.fabric.now_ps();
        watcher.moved(time_ps, Movement::Sent { from, accepted_ps }, &frame);
        let carried = match carried {
            Ok(carried) => carried,
            Err(loss) => {
                let lost = Movement::Lost { from, loss, departed_ps: time_ps };
                watcher.moved(time_ps, lost, &frame);
                return;
            }
        };
        if let Some(number) = carried.flipped_bit {
            frame.flip_bit(number);
        }
        let departed_ps = time_ps;
        if let Some(copy_ps) = carried.copy_arrives_ps {
            let copy = InFlight::Frame { frame: frame.clone(), from, departed_ps };
            let flight = self.fabric.keep(copy);
            self.fabric.schedule(copy_ps, Phase::Ingress, to, flight);
        }
        let flight = self.fabric.keep(InFlight::Frame { frame, from, departed_ps });
        self.fabric.schedule(carried.arrives_ps, Phase::Ingress, to, flight);
    }

    fn request_flow_control(&mut self, id: NodeId, control: FlowControl) {
        let ports: Vec<u32> = self.fabric.links.ports_to_others(id.0).collect();
        for port in ports {
            let from = (id.0, port);
            let (Some(to), Some(options)) =
                (self.fabric.links.other_end(from), self.fabric.links.options(from))
            else {
                continue;
            };
            let sent_ps = control.time_ps.max(self.fabric.now_ps());
            let arrives_ps = sent_ps.saturating_add(options.latency_ps);
            let control = FlowControl { time_ps: arrives_ps, ..control };
            let flight = self.fabric.keep(InFlight::FlowControl(control));
            self.fabric.schedule(arrives_ps, Phase::Ingress, to, flight);
        }
    }

    fn take_event(
        &mut self,
        event: Event,
        watcher: &mut dyn Watcher,
    ) -> Result<(), SimulationError> {
        let Event { node, port, flight, .. } = event;
        self.steps += 1;
        if self.steps > self.step_limit {
            let time_ps = self.fabric.now_ps();
            return Err(SimulationError::StepLimit { steps: self.step_limit, time_ps });
        }
        let id = NodeId(node);
        let Some(flight) = flight else {
            self.fabric.woken(node);
            return self.call(id, watcher, |node, outbox| node.wake(outbox));
        };
        match self.fabric.take(flight) {
            InFlight::Frame { frame, from, departed_ps } => {
                let now_ps = self.fabric.now_ps();
                if self.fabric.links.was_down_at(from, departed_ps) {
                    self.fabric.links.count_lost_on_departure(from, frame.length_bytes());
                    let lost = Movement::Lost { from, loss: Loss::Down, departed_ps };
                    watcher.moved(now_ps, lost, &frame);
                    return Ok(());
                }
                let received = Movement::Received { at: (node, port), from, departed_ps };
                watcher.moved(now_ps, received, &frame);
                self.call(id, watcher, |node, outbox| node.receive(port, frame, outbox))
            }
            InFlight::FlowControl(control) => {
                self.nodes[node as usize].node.flow_control(port, control);
                self.schedule_wake(id);
                Ok(())
            }
        }
    }
}

/// A network in a run that someone watches.
struct Watched<'a> {
    simulation: &'a mut Simulation,
    watcher: &'a mut dyn Watcher,
}

impl Participants for Watched<'_> {
    type Item = InFlight;
    type Stop = SimulationError;

    fn fabric(&mut self) -> &mut Fabric<InFlight> {
        &mut self.simulation.fabric
    }

    fn next_input(&mut self) -> Option<(u64, u64)> {
        let change = self.simulation.next_change();
        let act = self.simulation.next_act();
        match (change, act) {
            (Some(change), Some(act)) => Some(change.min(act)),
            (change, act) => change.or(act),
        }
    }

    fn take_input(&mut self) -> ControlFlow<SimulationError> {
        let act = self.simulation.next_act();
        if act.is_some_and(|act| self.simulation.next_change().is_none_or(|change| act < change)) {
            return match self.simulation.act() {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(error),
            };
        }
        if let Some(Reverse((time_ps, _, end, is_up))) = self.simulation.changes.pop() {
            self.simulation.set_link_up((NodeId(end.0), end.1), is_up);
            self.watcher.link_changed(time_ps, end, is_up);
        }
        ControlFlow::Continue(())
    }

    fn take_event(&mut self, event: Event) -> ControlFlow<SimulationError> {
        match self.simulation.take_event(event, self.watcher) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

#[cfg(test)]
mod tests;
