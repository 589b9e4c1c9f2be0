// SPDX-License-Identifier: Apache-2.0
//! Packets that left a device: back to it by the recirculation port, over links, or out of the network.

use super::arrival::{Frame, bare_event, frame, is_bare};
use super::in_flight::{InFlightPacket, PacketOwner, Provenance, TakenPacket};
use super::passes::SentPacket;
use super::simulation::CompiledSimulation;
use super::watch::Watch;
use lucid::core::EventId;
use lucid::core::NO_PORT;
use lucid::syntax::ast::EventSort;
use lucid_compiler::Backend;
use lucid_compiler::wire::{DIRECT_PORT, OUTSIDE_PORT, PlaceKind};
use lucid_reference::interpreter::{Arguments, EventValue};
use lucid_reference::simulation::{DropReason, ObservationKind, Occurrence, Setup};
use network::event_loop::Phase;
use std::sync::Arc;

/// The shortest Ethernet frame, in bytes, without its checksum: shorter packets take as long on a link.
const SHORTEST_PACKET_BYTES: u64 = 60;

/// Where a packet gets, a switch and a port, and when in picoseconds; or why it does not.
type Carried = Result<((u32, u32), u64), DropReason>;

impl CompiledSimulation {
    /// A packet left a device. `sender` is the occurrence whose egress handler sent it, if one did.
    pub(super) fn send(
        &mut self,
        setup: &Setup,
        watch: &mut Watch<'_>,
        (at, sender): (u32, Option<u64>),
        packet: &TakenPacket,
        sent: SentPacket,
    ) {
        let SentPacket { port, arrives_ps: time_ps, comes_back, bytes } = sent;
        let cause = sender.or_else(|| packet.sender());
        // A packet in transit stays the occurrence that it was. Anything else is something that the handler
        // generated, or goes round to become it.
        let is_known =
            sender.is_none() && packet.handled.is_none() && packet.is_known && !packet.is_users;
        let claimed = match cause {
            Some(cause) if !is_known && watch.wanted && !packet.is_users => {
                self.claim(setup, cause, (at, port), &bytes)
            }
            _ => None,
        };
        let (occurrence, event) = match claimed {
            Some((occurrence, event)) => (Some(occurrence), Some(event)),
            None => (is_known.then_some(packet.occurrence), None),
        };
        let owner = if packet.is_users { PacketOwner::UserP4 } else { PacketOwner::Program };
        let mut provenance =
            Provenance { cause, occurrence, is_known: occurrence.is_some(), owner };
        if comes_back {
            // A frame keeps its number while it waits.
            let is_in_transit = sender.is_none() && packet.handled.is_none();
            let waits = |frame: Frame| is_in_transit && frame.delay_ns > 0;
            provenance.occurrence = match occurrence {
                None if frame(setup, &bytes).is_some_and(waits) => Some(packet.occurrence),
                None => Some(self.next_occurrence()),
                known => known,
            };
            self.switches[at as usize].looping.push_back(Some(provenance));
            return;
        }
        if self.is_carried(setup, (at, port), &bytes) {
            let leaves_ps = self.leaves_ps(setup, packet, time_ps);
            let in_flight = InFlightPacket { bytes, provenance, event };
            if leaves_ps > self.now_ps() {
                let flight = self.fabric.keep(in_flight);
                self.fabric.schedule(leaves_ps, Phase::Egress, (at, port), flight);
            } else {
                self.depart(setup, watch, (at, port), in_flight);
            }
            return;
        }
        let occurrence = Occurrence(occurrence.unwrap_or_else(|| self.next_occurrence()));
        let is_frame = frame(setup, &bytes).is_some();
        let is_unclaimed = cause.is_some() && !is_known;
        let event = match watch.wanted && !self.is_another(setup, is_unclaimed, &bytes) {
            true => event.or_else(|| self.contained(setup, packet.unhandled, &bytes)),
            false => event,
        };
        let counts = &mut self.switches[at as usize].counts;
        counts.left += 1;
        let port = match (packet.unhandled, port) {
            // It leaves where it came in.
            (Some((_, came_by)), _) => came_by,
            (None, OUTSIDE_PORT) => NO_PORT,
            (None, port) => port,
        };
        if let Some(event) = event {
            if packet.is_users {
                // Where it leaves, and as what, is up to the user.
                watch.observer.is_to_leave((at, port), bytes.clone());
            }
            let bytes: Arc<[u8]> = bytes.into();
            let (bytes, frame) = match is_frame {
                true => (None, Some(bytes)),
                false => (Some(bytes), None),
            };
            watch.see(time_ps, at, || ObservationKind::Left {
                occurrence,
                event,
                port,
                bytes,
                frame,
            });
        } else {
            watch.see(time_ps, at, || ObservationKind::LeftAsBytes { port, bytes: bytes.into() });
        }
    }

    /// Whether bytes that a handler sent are an event whose name they do not say: without P4 of the user's, bare bytes that
    /// a handler's packet became are an event that it generated.
    fn is_another(&self, setup: &Setup, is_unclaimed: bool, bytes: &[u8]) -> bool {
        is_unclaimed && frame(setup, bytes).is_none() && !self.compiled.options.has_user_p4()
    }

    /// When a packet leaves its switch for another one, in picoseconds. On v1model, whose pipeline takes no time, what a
    /// handler sends leaves after the generate delay at the earliest.
    fn leaves_ps(&self, setup: &Setup, packet: &TakenPacket, sent_ps: u64) -> u64 {
        let is_late = match self.compiled.options.target {
            Backend::V1Model => packet.handled.is_some(),
            Backend::Tna => false,
        };
        match is_late {
            true => sent_ps.max(packet.taken_ps.saturating_add(setup.timing().generate_delay_ps)),
            false => sent_ps,
        }
    }

    /// Whether a packet that leaves by a port goes to another switch. Exit events leave the network whatever the port
    /// leads to.
    fn is_carried(&self, setup: &Setup, from: (u32, u32), bytes: &[u8]) -> bool {
        let is_linked = self.fabric.links.other_end(from).is_some();
        if !is_linked && from.1 != DIRECT_PORT {
            return false;
        }
        let Some(frame) = frame(setup, bytes) else { return is_linked };
        let is_exit = |(event, _): &(EventId, Arguments)| {
            setup.program().events[event.0 as usize].sort == EventSort::Exit
        };
        match is_linked {
            true => frame.place != PlaceKind::Here || !frame.event.as_ref().is_some_and(is_exit),
            false => frame.place == PlaceKind::Switch,
        }
    }

    /// A packet leaves its switch for another one, by a link or directly.
    pub(super) fn depart(
        &mut self,
        setup: &Setup,
        watch: &mut Watch<'_>,
        (at, port): (u32, u32),
        packet: InFlightPacket,
    ) {
        let InFlightPacket { bytes, provenance, event } = packet;
        let length_bytes = (bytes.len() as u64).max(SHORTEST_PACKET_BYTES);
        let now_ps = self.now_ps();
        let carried = match self.fabric.links.carry((at, port), now_ps, || length_bytes) {
            Some((to, Ok(carried))) => Ok((to, carried.arrives_ps)),
            Some((_, Err(loss))) => Err(loss.into()),
            None => self.carry_directly(setup, at, &bytes),
        };
        let reason = match carried {
            Ok((to, arrives_ps)) => {
                let flight = self.fabric.keep(InFlightPacket { bytes, provenance, event });
                self.fabric.schedule(arrives_ps, Phase::Ingress, to, flight);
                return;
            }
            Err(reason) => reason,
        };
        let is_unclaimed = provenance.cause.is_some() && provenance.occurrence.is_none();
        let is_named = watch.wanted && !self.is_another(setup, is_unclaimed, &bytes);
        let event = match is_named {
            true => event.or_else(|| self.contained(setup, None, &bytes)),
            false => event,
        };
        let occurrence = provenance.occurrence;
        let occurrence = Occurrence(occurrence.unwrap_or_else(|| self.next_occurrence()));
        self.switches[at as usize].counts.dropped += 1;
        watch.see(now_ps, at, || ObservationKind::Dropped { occurrence, event, reason });
    }

    /// Carries a packet to the switch that its frame names, without a link.
    fn carry_directly(&mut self, setup: &Setup, from: u32, bytes: &[u8]) -> Carried {
        let to = frame(setup, bytes).map_or(from, |frame| frame.place_number);
        let lost = &mut self.switches[from as usize].direct_loss;
        match lost.chance(setup.timing().direct_loss) {
            true => Err(DropReason::Loss),
            false => Ok(((to, 0), self.now_ps())),
        }
    }

    /// The event in bytes that left a device. Bare packets do not say which packet event they are: of
    /// all of them, the first whose parameters fit.
    fn contained(
        &self,
        setup: &Setup,
        unhandled: Option<(EventId, u32)>,
        bytes: &[u8],
    ) -> Option<Arc<EventValue>> {
        if let Some(frame) = frame(setup, bytes) {
            let (event, arguments) = frame.event?;
            return Some(setup.event_value(event, &arguments, u64::from(frame.delay_ns)));
        }
        let candidates = match unhandled {
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
