// SPDX-License-Identifier: Apache-2.0
//! What devices send goes on its way: round by the recirculation port, over links, out of the network.

use super::arrival::{bare_event, frame, is_bare};
use super::flight::{Flight, Given, Whose};
use super::network::{CompiledSimulation, WAKE};
use super::watch::Watch;
use device::{GENERATED_PACKET, PauseFrame, Transmitted};
use lucid::core::EventId;
use lucid::core::NO_PORT;
use lucid::syntax::ast::EventSort;
use lucid_compiler::wire::{DIRECT_PORT, OUTSIDE_PORT, PlaceKind};
use lucid_reference::interpreter::{Arguments, EventValue};
use lucid_reference::simulation::inputs::{Phase, rank};
use lucid_reference::simulation::{DropReason, ObservationKind, Occurrence, Setup};
use std::sync::Arc;

/// The shortest Ethernet frame, in bytes, without its checksum: shorter packets take as long on a link.
const SHORTEST_PACKET_BYTES: u64 = 60;

/// Where a packet gets, a switch and a port, and when in picoseconds; or why it does not.
type Carried = Result<((u32, u32), u64), DropReason>;

impl CompiledSimulation {
    /// The next thing that a device does by itself is due.
    pub(super) fn wake_in_time(&mut self, at: u32) {
        let switch = &mut self.switches[at as usize];
        let next_ps = switch.installed.device.next_event_ps();
        if let Some(next_ps) = next_ps
            && switch.wakes_at_ps.is_none_or(|known| next_ps < known)
        {
            switch.wakes_at_ps = Some(next_ps);
            self.queue.push(next_ps, rank(Phase::Egress, at, 0), WAKE);
        }
    }

    /// Sends what a device sent on its way. `senders`: of each packet, in order, the occurrence whose egress handler sent it.
    pub(super) fn send_all(
        &mut self,
        setup: &Setup,
        watch: &mut Watch<'_>,
        at: u32,
        senders: &[Option<u64>],
    ) {
        self.wake_in_time(at);
        let switch = &mut self.switches[at as usize];
        let mut transmitted = switch.installed.device.drain_transmitted();
        transmitted.sort_by_key(|packet| packet.sequence);
        // Nothing waits in a queue: what was given before is done.
        let is_idle = switch.installed.device.buffered_bytes() == 0;
        for (number, packet) in transmitted.into_iter().enumerate() {
            let Some(given) = self.switches[at as usize].given.get(&packet.packet) else {
                if packet.packet & GENERATED_PACKET != 0 {
                    self.send_flow_control(setup, at, packet);
                }
                continue;
            };
            let given = given.clone();
            let sender = senders.get(number).copied().flatten();
            let by = sender.or_else(|| given.by());
            // What was known on its way is what it was. Anything else is something that the handler
            // generated, or goes round to become it.
            let known =
                sender.is_none() && given.handled.is_none() && given.is_known && !given.is_users;
            let end = (at, packet.port);
            let claimed = match by {
                Some(by) if !known && watch.wanted && !given.is_users => {
                    self.claim(setup, by, end, &packet.bytes)
                }
                _ => None,
            };
            let (occurrence, event) = match claimed {
                Some((occurrence, event)) => (Some(occurrence), Some(event)),
                None => (known.then_some(given.occurrence), None),
            };
            let time_ps = packet.time_ps;
            let sent = Sent { at, port: packet.port, time_ps, cause: by, occurrence, event };
            self.send(setup, watch, sent, &given, packet.bytes);
        }
        if is_idle {
            self.switches[at as usize].given.clear();
        }
    }

    /// A frame of flow control that a packet generator made goes round. What else a generator makes does not
    /// belong to the run.
    fn send_flow_control(&mut self, setup: &Setup, at: u32, packet: Transmitted) {
        let Transmitted { port, time_ps, bytes, .. } = packet;
        if port == setup.recirculation_ports()[at as usize] && PauseFrame::read(&bytes).is_some() {
            let comes_ps = time_ps.saturating_add(setup.timing().generate_delay_ps);
            let (cause, occurrence, whose) = (None, None, Whose::FlowControl);
            self.fly(at, port, comes_ps, Flight { port, bytes, cause, occurrence, whose });
        }
    }

    /// A packet left a device.
    fn send(
        &mut self,
        setup: &Setup,
        watch: &mut Watch<'_>,
        sent: Sent,
        given: &Given,
        bytes: Vec<u8>,
    ) {
        let Sent { at, port, time_ps, cause, occurrence, event } = sent;
        let whose = if given.is_users { Whose::User } else { Whose::Program };
        if port == setup.recirculation_ports()[at as usize] {
            let comes_ps = time_ps.saturating_add(setup.timing().generate_delay_ps);
            self.fly(at, port, comes_ps, Flight { port, bytes, cause, occurrence, whose });
            return;
        }
        let carried = self.carried(setup, (at, port), time_ps, &bytes);
        if let Some(Ok((to, arrives_ps))) = carried {
            let flight = Flight { port: to.1, bytes, cause, occurrence, whose };
            self.fly(to.0, to.1, arrives_ps, flight);
            return;
        }
        let occurrence = Occurrence(occurrence.unwrap_or_else(|| self.next_occurrence()));
        let event = match watch.wanted {
            true => event.or_else(|| self.contained(setup, given, &bytes)),
            false => None,
        };
        let counts = &mut self.switches[at as usize].counts;
        if let Some(Err(reason)) = carried {
            counts.dropped += 1;
            watch.see(self.now_ps, at, || ObservationKind::Dropped { occurrence, event, reason });
            return;
        }
        counts.left += 1;
        let port = match (given.unhandled, port) {
            // It leaves where it came in.
            (Some((_, came_by)), _) => came_by,
            (None, OUTSIDE_PORT) => NO_PORT,
            (None, port) => port,
        };
        let is_frame = frame(setup, &bytes).is_some();
        if let Some(event) = event {
            if whose == Whose::User {
                // Where it leaves, and as what, is up to the user.
                let mut arguments = Arguments::default();
                let slots = &setup.prepared().events[event.event.0 as usize].slots;
                arguments.set(&event.arguments, slots);
                watch.observer.is_to_leave((at, port), event.event, &arguments);
            }
            watch.see(time_ps, at, || ObservationKind::Left {
                occurrence,
                event,
                port,
                bytes: (!is_frame).then(|| bytes.into()),
            });
        }
    }

    /// To where and when a packet is carried that leaves by a port, if anything is there. Exit events leave
    /// the network whatever the port leads to.
    fn carried(
        &mut self,
        setup: &Setup,
        from: (u32, u32),
        time_ps: u64,
        bytes: &[u8],
    ) -> Option<Carried> {
        let is_linked = self.topology.other_end(from).is_some();
        if !is_linked && from.1 != DIRECT_PORT {
            return None;
        }
        let frame = frame(setup, bytes);
        if is_linked {
            let is_exit = frame.is_some_and(|frame| {
                let sort = |event: EventId| setup.program().events[event.0 as usize].sort;
                frame.place == PlaceKind::Here
                    && frame.event.is_some_and(|(event, _)| sort(event) == EventSort::Exit)
            });
            if is_exit {
                return None;
            }
            let length_bytes = (bytes.len() as u64).max(SHORTEST_PACKET_BYTES);
            return self.topology.carry(from, time_ps, || length_bytes);
        }
        let to = frame.filter(|frame| frame.place == PlaceKind::Switch)?.place_number;
        let lost = &mut self.switches[from.0 as usize].direct_loss;
        Some(match lost.chance(setup.timing().direct_loss) {
            true => Err(DropReason::Loss),
            false => Ok(((to, 0), time_ps)),
        })
    }

    fn fly(&mut self, at: u32, port: u32, time_ps: u64, flight: Flight) {
        let flight = self.flights.insert(flight) as u32;
        self.queue.push(time_ps, rank(Phase::Ingress, at, port), flight);
    }

    /// The event in bytes that left a device. Bare packets do not say which packet event they are: of
    /// all of them, the first whose parameters fit.
    fn contained(&self, setup: &Setup, given: &Given, bytes: &[u8]) -> Option<Arc<EventValue>> {
        if let Some(frame) = frame(setup, bytes) {
            let (event, arguments) = frame.event?;
            return Some(setup.event_value(event, &arguments, u64::from(frame.delay_ns)));
        }
        let candidates = match given.unhandled {
            Some((event, _)) => vec![event],
            None => (0..setup.program().events.len() as u32)
                .map(EventId)
                .filter(|event| is_bare(setup, *event))
                .collect(),
        };
        let event = bare_event(setup, &candidates, bytes)?;
        Some(Arc::new(event))
    }
}

/// A packet that left a device.
struct Sent {
    at: u32,
    port: u32,
    time_ps: u64,
    cause: Option<u64>,
    /// Unknown for a frame that goes round to become an event.
    occurrence: Option<u64>,
    event: Option<Arc<EventValue>>,
}
