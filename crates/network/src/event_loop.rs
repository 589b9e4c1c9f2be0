// SPDX-License-Identifier: Apache-2.0
//! The event loop of every simulated network: networks of devices and hosts ([`crate::simulation`]), and the networks of
//! Lucid programs, interpreted and compiled.
//!
//! [`Fabric`] holds the time, the links, what is in flight, and the future events. [`run_until`] takes events and inputs in
//! order and hands them to the [`Participants`], who own the nodes. Events at one time are ordered by phase, node, port,
//! and then as they were scheduled; inputs come before events of the same place.

use crate::event_queue::EventQueue;
use crate::links::Links;
use slab::Slab;
use std::ops::ControlFlow;

/// The order of phases at one time, in two bits of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Commands and changes of links.
    Control = 0,
    /// What leaves nodes.
    Egress = 1,
    /// What arrives at nodes, and nodes that act.
    Ingress = 2,
}

/// The most nodes of a network.
pub const MAX_NODES: u32 = 1 << 30;

/// A port behind all others: what arrives at one time is with the node before it acts.
pub const BEHIND_PORTS: u32 = u32::MAX;

/// The order at one time: phase, then node, then port.
#[inline]
pub fn rank(phase: Phase, node: u32, port: u32) -> u64 {
    (phase as u64) << 62 | u64::from(node & (MAX_NODES - 1)) << 32 | u64::from(port)
}

/// In place of an item: a node acts.
const WAKE: u32 = u32::MAX;

/// An item in flight: its number until it is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight(u32);

/// An event that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Whether something leaves or arrives; [`Phase::Ingress`] for a node that acts.
    pub is_departure: bool,
    /// The node.
    pub node: u32,
    /// Its port.
    pub port: u32,
    /// What leaves or arrives; `None` if the node acts.
    pub flight: Option<Flight>,
}

/// Time, links, what is in flight, and future events. `T` is what is in flight.
#[derive(Clone, Debug)]
pub struct Fabric<T> {
    /// The links.
    pub links: Links,
    now_ps: u64,
    queue: EventQueue<u32>,
    in_flight: Slab<T>,
    /// The earliest scheduled wake-up of each node. Later ones in the queue are void.
    wakes: Vec<Option<u64>>,
}

impl<T> Fabric<T> {
    /// At time 0, with nothing in flight.
    pub fn new(links: Links) -> Fabric<T> {
        Fabric {
            links,
            now_ps: 0,
            queue: EventQueue::new(),
            in_flight: Slab::new(),
            wakes: Vec::new(),
        }
    }

    /// The time, in picoseconds.
    #[inline]
    pub fn now_ps(&self) -> u64 {
        self.now_ps
    }

    /// How much is in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Keeps an item.
    #[inline]
    pub fn keep(&mut self, item: T) -> Flight {
        Flight(self.in_flight.insert(item) as u32)
    }

    /// An item in flight.
    #[inline]
    pub fn item(&self, flight: Flight) -> &T {
        &self.in_flight[flight.0 as usize]
    }

    /// An item in flight, for changes.
    #[inline]
    pub fn item_mut(&mut self, flight: Flight) -> &mut T {
        &mut self.in_flight[flight.0 as usize]
    }

    /// Takes an item out of flight.
    #[inline]
    pub fn take(&mut self, flight: Flight) -> T {
        self.in_flight.remove(flight.0 as usize)
    }

    /// Schedules that a kept item leaves ([`Phase::Egress`]) or arrives ([`Phase::Ingress`]) at a port of a node.
    #[inline]
    pub fn schedule(&mut self, time_ps: u64, phase: Phase, at: (u32, u32), flight: Flight) {
        self.queue.push(time_ps, rank(phase, at.0, at.1), flight.0);
    }

    /// Schedules that a node acts, once, at this time, before what arrives at ports behind this one.
    #[inline]
    pub fn schedule_act(&mut self, time_ps: u64, at: (u32, u32)) {
        self.queue.push(time_ps, rank(Phase::Ingress, at.0, at.1), WAKE);
    }

    /// Has a node act at the time that it asks for, unless it is to act by then already. Such an act comes behind all
    /// arrivals of its time; a node asks again after each call.
    #[inline]
    pub fn wake_at(&mut self, node: u32, time_ps: Option<u64>) {
        let Some(time_ps) = time_ps else { return };
        if self.wakes.len() <= node as usize {
            self.wakes.resize(node as usize + 1, None);
        }
        let known = &mut self.wakes[node as usize];
        if known.is_none_or(|known| time_ps < known) {
            *known = Some(time_ps);
            self.schedule_act(time_ps.max(self.now_ps), (node, BEHIND_PORTS));
        }
    }

    /// Notes that a node acts now: what it asked for until now is void.
    #[inline]
    pub fn woken(&mut self, node: u32) {
        if let Some(wake) = self.wakes.get_mut(node as usize)
            && wake.is_some_and(|due_ps| due_ps <= self.now_ps)
        {
            *wake = None;
        }
    }

    /// When the next event is due, in picoseconds, without rearranging the queue.
    pub fn next_time_ps(&self) -> Option<u64> {
        self.queue.next_time_ps()
    }

    /// Time and rank of the next event.
    #[inline]
    fn peek(&mut self) -> Option<(u64, u64)> {
        self.queue.peek()
    }

    #[inline]
    fn pop(&mut self) -> Option<Event> {
        let (_, rank, item) = self.queue.pop()?;
        Some(Event {
            is_departure: rank >> 62 == Phase::Egress as u64,
            node: (rank >> 32) as u32 & (MAX_NODES - 1),
            port: rank as u32,
            flight: (item != WAKE).then_some(Flight(item)),
        })
    }
}

/// The nodes of a network, and its inputs.
pub trait Participants {
    /// What is in flight.
    type Item;
    /// How a run ends before its time.
    type Stop;

    /// The fabric.
    fn fabric(&mut self) -> &mut Fabric<Self::Item>;

    /// Time and rank of the next input.
    fn next_input(&mut self) -> Option<(u64, u64)> {
        None
    }

    /// Takes the next input; its time is now.
    fn take_input(&mut self) -> ControlFlow<Self::Stop> {
        ControlFlow::Continue(())
    }

    /// Something leaves or arrives, or a node acts.
    fn take_event(&mut self, event: Event) -> ControlFlow<Self::Stop>;
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End<S> {
    /// No event and no input is left.
    Finished,
    /// The time is over; events or inputs are left.
    TimeOver,
    /// A participant stopped the run.
    Stopped(S),
}

/// Runs everything until a time, included. Later events remain for another call.
#[inline]
pub fn run_until<P: Participants>(participants: &mut P, until_ps: u64) -> End<P::Stop> {
    loop {
        let input = participants.next_input();
        let fabric = participants.fabric();
        let (next, is_input) = match (input, fabric.peek()) {
            (None, None) => return End::Finished,
            (None, Some(queued)) => (queued, false),
            (Some(input), None) => (input, true),
            // At one time and place inputs come before what nodes send.
            (Some(input), Some(queued)) => (input.min(queued), input <= queued),
        };
        if next.0 > until_ps {
            fabric.now_ps = fabric.now_ps.max(until_ps);
            return End::TimeOver;
        }
        fabric.now_ps = next.0;
        let flow = if is_input {
            participants.take_input()
        } else if let Some(event) = fabric.pop() {
            participants.take_event(event)
        } else {
            ControlFlow::Continue(())
        };
        if let ControlFlow::Break(stop) = flow {
            return End::Stopped(stop);
        }
    }
}
