// SPDX-License-Identifier: Apache-2.0
//! Sends generated events: by recirculation, over ports and links, to switches, or out of the network.

use super::super::observation::{Destination, DropReason, ObservationKind, Occurrence, Stage};
use super::super::route::{Route, due_ps, for_each_route};
use super::super::setup::Setup;
use super::handling::HandlerRun;
use super::{Content, InFlightEvent, Notifier, Simulation};
use crate::interpreter::{Arguments, EventValue, Generated, SendTo, packet_bytes, to_wire};
use lucid::core::EventId;
use lucid::core::NO_PORT;
use lucid::syntax::ast::EventSort;
use network::event_loop::{Flight, Phase};
use network::links::Loss;
use std::sync::Arc;

/// Shortest frame on a link, in bytes; an event's header before its number has 14.
const SHORTEST_FRAME_BYTES: u64 = 64;
const HEADER_BYTES: u64 = 14;

impl Simulation {
    /// Sends a generated event and its copies.
    pub(super) fn send(
        &mut self,
        setup: &Setup,
        notifier: &mut Notifier<'_>,
        from: u32,
        by: u64,
        generated: Generated,
    ) {
        let Generated { event, arguments, delay_ns, to } = generated;
        // The common case has one copy and needs no list.
        if to == SendTo::Here && setup.program.events[event.0 as usize].sort != EventSort::Exit {
            let what = (event, arguments, delay_ns);
            self.send_copy(setup, notifier, (from, by), what, Route::Recirculate);
            return;
        }
        let mut routes = Vec::new();
        let mut add = |route| routes.push(route);
        for_each_route(setup, &self.fabric.links, (from, event), &to, &mut add);
        let Some(last) = routes.pop() else {
            self.interpreter.pool.give(arguments);
            return;
        };
        for route in routes {
            let what = (event, arguments.clone(), delay_ns);
            self.send_copy(setup, notifier, (from, by), what, route);
        }
        self.send_copy(setup, notifier, (from, by), (event, arguments, delay_ns), last);
    }

    fn send_copy(
        &mut self,
        setup: &Setup,
        notifier: &mut Notifier<'_>,
        (from, by): (u32, u64),
        (event, arguments, delay_ns): (EventId, Arguments, u64),
        route: Route,
    ) {
        let recirculation_port = setup.recirculation_ports[from as usize];
        let is_exit = setup.program.events[event.0 as usize].sort == EventSort::Exit;
        let switch = &mut self.switches[from as usize];
        switch.counts.generated += 1;
        let due_ps = due_ps(&setup.timing, self.fabric.now_ps(), delay_ns)
            .saturating_add(switch.delays.spread_ps(setup.timing.random_delay_range_ps));
        let occurrence = self.occurrences;
        self.occurrences += 1;
        let value = notifier.wanted.then(|| setup.event_value(event, &arguments, delay_ns));
        if let Some(event) = &value {
            let destination = match route {
                Route::Recirculate => Destination::Recirculated { due_ps },
                Route::Switch(to) if to == from => Destination::Recirculated { due_ps },
                Route::Switch(switch) => Destination::Switch { switch, arrives_ps: due_ps },
                Route::Outside => Destination::Port { port: NO_PORT, to: None, arrives_ps: due_ps },
                Route::Port(port) => {
                    let to = self.fabric.links.other_end((from, port)).filter(|_| !is_exit);
                    let latency_ps =
                        self.fabric.links.options((from, port)).map_or(0, |link| link.latency_ps);
                    let arrives_ps = due_ps.saturating_add(latency_ps);
                    Destination::Port { port, to, arrives_ps }
                }
            };
            notifier.notify(self.now_ps(), from, || ObservationKind::Generated {
                occurrence: Occurrence(occurrence),
                by: Occurrence(by),
                event: event.clone(),
                destination,
            });
        }
        let content = Content::Event(event, arguments);
        let (is_packet, to_switch) = (false, None);
        let mut flight =
            InFlightEvent { occurrence, cause: by, content, is_packet, port: 0, to_switch, value };
        let (phase, port) = match route {
            Route::Recirculate => {
                self.switches[from as usize].counts.recirculated += 1;
                flight.port = recirculation_port;
                let phase = if setup.prepared.events[event.0 as usize].egress.is_some() {
                    Phase::Egress
                } else {
                    self.serialize(setup, &mut flight);
                    Phase::Ingress
                };
                (phase, recirculation_port)
            }
            Route::Switch(to) if to >= setup.switches => {
                let value = flight.value.take();
                self.drop_event(notifier, from, occurrence, value, DropReason::Unreachable);
                return;
            }
            Route::Switch(to) => {
                if to == from {
                    self.switches[from as usize].counts.recirculated += 1;
                }
                flight.to_switch = Some(to);
                (Phase::Egress, 0)
            }
            Route::Port(port) => {
                flight.port = port;
                (Phase::Egress, port)
            }
            Route::Outside => {
                flight.port = NO_PORT;
                (Phase::Egress, NO_PORT)
            }
        };
        let flight = self.fabric.keep(flight);
        self.fabric.schedule(due_ps, phase, (from, port), flight);
    }

    /// A packet event that stays in the network travels as a packet, and the parser reads it
    /// where it arrives, if the program has one.
    fn serialize(&self, setup: &Setup, flight: &mut InFlightEvent) {
        if setup.prepared.main_parser.is_none() {
            return;
        }
        if let Content::Event(event, arguments) = &flight.content
            && setup.program.events[event.0 as usize].sort == EventSort::Packet
        {
            let bytes = packet_bytes(&setup.prepared, *event, arguments);
            flight.content = Content::Packet(bytes.into());
        }
    }

    /// An event's time to leave a switch has come.
    pub(super) fn depart(
        &mut self,
        setup: &Setup,
        notifier: &mut Notifier<'_>,
        from: u32,
        port: u32,
        flight: Flight,
    ) {
        let flight = self.fabric.take(flight);
        if let Some(to) = flight.to_switch {
            self.depart_to_switch(setup, notifier, from, to, flight);
            return;
        }
        let Content::Event(event, arguments) = &flight.content else { return };
        let Some(body) = &setup.prepared.events[event.0 as usize].egress else {
            self.leave_by_port(setup, notifier, from, port, flight);
            return;
        };
        let handling = HandlerRun {
            at: from,
            occurrence: flight.occurrence,
            cause: flight.cause,
            event: *event,
            port,
            is_packet: false,
            stage: Stage::Egress,
        };
        self.run_body(setup, notifier, &handling, body, arguments, flight.value.clone());
        // Whatever an egress handler generates leaves by the same port at once.
        let mut generated = std::mem::take(&mut self.interpreter.output.generated);
        for one in generated.drain(..) {
            let occurrence = self.occurrences;
            self.occurrences += 1;
            self.switches[from as usize].counts.generated += 1;
            let value = notifier.wanted.then(|| setup.event_value(one.event, &one.arguments, 0));
            if let Some(event) = &value {
                let is_exit = setup.program.events[one.event.0 as usize].sort == EventSort::Exit;
                let goes_round = port == setup.recirculation_ports[from as usize];
                let port = if is_exit && goes_round { NO_PORT } else { port };
                let to = self.fabric.links.other_end((from, port)).filter(|_| !is_exit);
                let destination = Destination::Port { port, to, arrives_ps: self.now_ps() };
                notifier.notify(self.now_ps(), from, || ObservationKind::Generated {
                    occurrence: Occurrence(occurrence),
                    by: Occurrence(flight.occurrence),
                    event: event.clone(),
                    destination,
                });
            }
            let content = Content::Event(one.event, one.arguments);
            let cause = flight.occurrence;
            let (is_packet, to_switch) = (false, None);
            let next =
                InFlightEvent { occurrence, cause, content, is_packet, port, to_switch, value };
            self.leave_by_port(setup, notifier, from, port, next);
        }
        self.interpreter.output.generated = generated;
    }

    fn length_bytes(setup: &Setup, content: &Content) -> u64 {
        let length = match content {
            Content::Packet(bytes) => bytes.len() as u64,
            Content::Event(event, arguments) => {
                HEADER_BYTES + to_wire(&setup.prepared, *event, arguments).len() as u64
            }
        };
        length.max(SHORTEST_FRAME_BYTES)
    }

    fn leave_by_port(
        &mut self,
        setup: &Setup,
        notifier: &mut Notifier<'_>,
        from: u32,
        port: u32,
        mut flight: InFlightEvent,
    ) {
        let is_exit = matches!(
            &flight.content,
            Content::Event(event, _) if setup.program.events[event.0 as usize].sort == EventSort::Exit
        );
        let goes_round = port == setup.recirculation_ports[from as usize];
        flight.port = if is_exit && goes_round { NO_PORT } else { port };
        if !is_exit && goes_round {
            self.serialize(setup, &mut flight);
            let flight = self.fabric.keep(flight);
            self.fabric.schedule(self.now_ps(), Phase::Ingress, (from, port), flight);
            return;
        }
        if is_exit || self.fabric.links.other_end((from, port)).is_none() {
            self.leave(setup, notifier, from, flight);
            return;
        }
        self.serialize(setup, &mut flight);
        let length = || Self::length_bytes(setup, &flight.content);
        match self.fabric.links.carry((from, port), self.fabric.now_ps(), length) {
            Some((to, Ok(carried))) => {
                flight.port = to.1;
                let flight = self.fabric.keep(flight);
                self.fabric.schedule(carried.arrives_ps, Phase::Ingress, to, flight);
            }
            Some((_, Err(loss))) => {
                self.drop_event(notifier, from, flight.occurrence, flight.value, loss.into());
            }
            None => self.leave(setup, notifier, from, flight),
        }
    }

    fn depart_to_switch(
        &mut self,
        setup: &Setup,
        notifier: &mut Notifier<'_>,
        from: u32,
        to: u32,
        mut flight: InFlightEvent,
    ) {
        self.serialize(setup, &mut flight);
        flight.to_switch = None;
        flight.port = 0;
        let length = || Self::length_bytes(setup, &flight.content);
        let carried = self.fabric.links.carry_to_node(from, to, self.fabric.now_ps(), length);
        let arrives = carried.unwrap_or_else(|| {
            // No links between them: the event is there at once, unless it is lost.
            let lost = &mut self.switches[from as usize].direct_loss;
            if lost.chance(setup.timing.direct_loss) {
                Err(Loss::Random)
            } else {
                Ok(self.now_ps())
            }
        });
        match arrives {
            Ok(arrives_ps) => {
                let flight = self.fabric.keep(flight);
                self.fabric.schedule(arrives_ps, Phase::Ingress, (to, 0), flight);
            }
            Err(loss) => {
                self.drop_event(notifier, from, flight.occurrence, flight.value, loss.into());
            }
        }
    }

    /// An event leaves the network.
    pub(super) fn leave(
        &mut self,
        setup: &Setup,
        notifier: &mut Notifier<'_>,
        from: u32,
        flight: InFlightEvent,
    ) {
        self.switches[from as usize].counts.left += 1;
        let Content::Event(event, arguments) = flight.content else { return };
        if notifier.wanted {
            let is_packet = setup.program.events[event.0 as usize].sort == EventSort::Packet;
            let bytes = is_packet.then(|| packet_bytes(&setup.prepared, event, &arguments).into());
            let value: Arc<EventValue> =
                flight.value.unwrap_or_else(|| setup.event_value(event, &arguments, 0));
            notifier.notify(self.now_ps(), from, || ObservationKind::Left {
                occurrence: Occurrence(flight.occurrence),
                event: value,
                port: flight.port,
                bytes,
                frame: None,
            });
        }
        self.interpreter.pool.give(arguments);
    }
}
