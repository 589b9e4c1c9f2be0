// SPDX-License-Identifier: Apache-2.0
//! A Lucid switch as a node of `network`'s simulation, beside devices and hosts that exchange bytes.
//!
//! Incoming packets go through the program's parser. Outgoing events are bytes: a packet event is its own
//! bytes; any other event is an Ethernet frame of the type [`LUCID_ETHER_TYPE`] with both addresses zero, then
//! the event's number in 16 bits and its arguments. An incoming frame of this type becomes its event without
//! the parser, so Lucid switches of one program need no parser to exchange events.

use super::observation::{Observation, ObservationKind, Observer};
use super::setup::Setup;
use super::simulator::{Outcome, Simulation};
use crate::interpreter::{Arguments, EventValue, Parsed, from_wire, has_wire_form, to_wire};
use lucid::core::LUCID_ETHER_TYPE;
use lucid::core::NO_PORT;
use network::frame::Frame;
use network::node::{Node, NodeError, Outbox};
use std::sync::Arc;

/// Bytes before an event's number: two addresses and a type.
const HEADER_BYTES: usize = 14;

/// A switch that runs a Lucid program and exchanges packets.
#[derive(Debug)]
pub struct LucidNode {
    simulation: Simulation,
}

impl LucidNode {
    /// Makes a node of switch 0 of a run, without links, so that every event sent to a port leaves.
    pub fn new(setup: Setup) -> LucidNode {
        LucidNode { simulation: Simulation::new(Arc::new(setup)) }
    }

    /// The simulation of the switch: its state and counters.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }
}

/// An event as an Ethernet frame, as a [`LucidNode`] sends it. `None` if it has groups or events for
/// arguments, which have no bits on the wire.
pub fn frame_of(setup: &Setup, event: &EventValue) -> Option<Vec<u8>> {
    let prepared = &setup.prepared;
    let mut arguments = Arguments::default();
    arguments.set(&event.arguments, &prepared.events[event.event.0 as usize].slots);
    if !has_wire_form(&arguments) {
        return None;
    }
    let mut frame = vec![0; HEADER_BYTES - 2];
    frame.extend_from_slice(&LUCID_ETHER_TYPE.to_be_bytes());
    frame.extend(to_wire(prepared, event.event, &arguments));
    Some(frame)
}

/// Collects the packets that leave by ports.
struct DepartureObserver<'a> {
    setup: &'a Setup,
    outbox: &'a mut Outbox,
}

impl Observer for DepartureObserver<'_> {
    fn observe(&mut self, observation: Observation) {
        let ObservationKind::Left { event, port, bytes, .. } = observation.kind else { return };
        if port == NO_PORT {
            return;
        }
        let message = match bytes {
            Some(bytes) => bytes.to_vec(),
            None => {
                let Some(frame) = frame_of(self.setup, &event) else { return };
                frame
            }
        };
        self.outbox.send(port, observation.time_ps, message.into());
    }
}

impl Node for LucidNode {
    fn receive(&mut self, port: u32, frame: Frame, outbox: &mut Outbox) -> Result<(), NodeError> {
        let (time_ps, message) = (outbox.now_ps(), frame.into_bytes());
        let is_event = message.get(HEADER_BYTES - 2..HEADER_BYTES)
            == Some(LUCID_ETHER_TYPE.to_be_bytes().as_slice());
        if is_event {
            let prepared = self.simulation.setup().prepared.clone();
            if let Parsed::Event(event, arguments) = from_wire(&prepared, &message[HEADER_BYTES..])
            {
                self.simulation.inject_event(time_ps, (0, port), event, arguments);
                return Ok(());
            }
        }
        self.simulation.inject_packet(time_ps, 0, port, &message);
        Ok(())
    }

    fn next_wake_ps(&self) -> Option<u64> {
        self.simulation.next_time_ps()
    }

    fn wake(&mut self, outbox: &mut Outbox) -> Result<(), NodeError> {
        let setup = self.simulation.setup().clone();
        let until_ps = outbox.now_ps();
        let mut leaving = DepartureObserver { setup: &setup, outbox };
        match self.simulation.run_until(until_ps, &mut leaving) {
            Outcome::Stopped(fault) => Err(NodeError { message: fault.message.clone() }),
            Outcome::Finished | Outcome::TimeOver => Ok(()),
        }
    }
}
