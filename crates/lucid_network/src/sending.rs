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
use lucid_compiler::wire::{DIRECT_PORT, OUTSIDE_PORT, PlaceKind};
use lucid_reference::interpreter::EventValue;
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
        let carried = self.carried(setup, (at, port), time_ps, &bytes);
        if let Some(Ok((to, arrives_ps))) = carried {
            let in_flight = InFlightPacket { port: to.1, bytes, provenance };
            let flight = self.fabric.keep(in_flight);
            self.fabric.schedule(arrives_ps, Phase::Ingress, to, flight);
            return;
        }
        let occurrence = Occurrence(occurrence.unwrap_or_else(|| self.next_occurrence()));
        let is_frame = frame(setup, &bytes).is_some();
        // Without P4 of the user's, bare bytes that a handler's packet became are an event that it generated.
        let is_another =
            cause.is_some() && !is_known && !is_frame && !self.compiled.options.has_user_p4();
        let event = match watch.wanted && !is_another {
            true => event.or_else(|| self.contained(setup, packet, &bytes)),
            false => event,
        };
        let counts = &mut self.switches[at as usize].counts;
        if let Some(Err(reason)) = carried {
            counts.dropped += 1;
            watch.see(self.now_ps(), at, || ObservationKind::Dropped { occurrence, event, reason });
            return;
        }
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

    /// To where and when a packet is carried that leaves by a port, if anything is there. Exit events leave
    /// the network whatever the port leads to.
    fn carried(
        &mut self,
        setup: &Setup,
        from: (u32, u32),
        time_ps: u64,
        bytes: &[u8],
    ) -> Option<Carried> {
        let is_linked = self.fabric.links.other_end(from).is_some();
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
            let (to, carried) = self.fabric.links.carry(from, time_ps, || length_bytes)?;
            return Some(match carried {
                Ok(carried) => Ok((to, carried.arrives_ps)),
                Err(loss) => Err(loss.into()),
            });
        }
        let to = frame.filter(|frame| frame.place == PlaceKind::Switch)?.place_number;
        let lost = &mut self.switches[from.0 as usize].direct_loss;
        Some(match lost.chance(setup.timing().direct_loss) {
            true => Err(DropReason::Loss),
            false => Ok(((to, 0), time_ps)),
        })
    }

    /// The event in bytes that left a device. Bare packets do not say which packet event they are: of
    /// all of them, the first whose parameters fit.
    fn contained(
        &self,
        setup: &Setup,
        packet: &TakenPacket,
        bytes: &[u8],
    ) -> Option<Arc<EventValue>> {
        if let Some(frame) = frame(setup, bytes) {
            let (event, arguments) = frame.event?;
            return Some(setup.event_value(event, &arguments, u64::from(frame.delay_ns)));
        }
        let candidates = match packet.unhandled {
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
