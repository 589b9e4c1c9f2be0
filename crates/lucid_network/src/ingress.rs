// SPDX-License-Identifier: Apache-2.0
//! Passes through ingress: which packet a device took, which handler ran on it, and what is known of what leaves.

use super::arrival::{Arrival, classify, unread, wire_bytes};
use super::handler_runs::{HandlerRun, UserChanges};
use super::in_flight::{PacketOwner, Provenance, TakenPacket};
use super::passes::DevicePass;
use super::simulation::CompiledSimulation;
use super::unsupported_packets::short_for_tofino;
use super::user::UserPass;
use super::watch::Watch;
use lucid::core::NO_PORT;
use lucid_compiler::Backend;
use lucid_reference::interpreter::{Arguments, Value};
use lucid_reference::simulation::schedule::Dispatch;
use lucid_reference::simulation::{DropReason, ObservationKind, Occurrence, Setup, Stage};
use std::sync::Arc;

impl CompiledSimulation {
    /// Reports and replays the handler of a packet that ingress took. Returns `None` if that stopped the run.
    pub(super) fn take(
        &mut self,
        setup: &Setup,
        watch: &mut Watch<'_>,
        at: u32,
        (port, arrived_ps, bytes): (u32, u64, &[u8]),
        provenance: Provenance,
        pass: &DevicePass,
    ) -> Option<TakenPacket> {
        let Provenance { cause, occurrence, is_known, owner } = provenance;
        let is_users = owner == PacketOwner::UserP4;
        self.passes += 1;
        let target = self.compiled.options.target;
        // A parser for Tofino knows when the packet arrived, not when the pass begins.
        let time_ps = match target {
            Backend::V1Model => self.now_ps(),
            Backend::Tna => arrived_ps,
        };
        let around = self.surroundings(setup, (at, port), time_ps);
        let arrival = classify((setup, self.compiled()), &around, bytes);
        if let Some(fault) = short_for_tofino((setup, target), at, &arrival, bytes) {
            self.stopped.get_or_insert(Box::new(fault));
            return None;
        }
        let is_known = cause.is_none() || is_known;
        let occurrence = occurrence.unwrap_or_else(|| self.next_occurrence());
        let now_ps = self.now_ps();
        let payload = match &arrival {
            Arrival::Dispatch { arguments, .. } | Arrival::Transit(Some((_, arguments))) => {
                payload_of(arguments)
            }
            Arrival::NoHandler { .. } | Arrival::Transit(None) | Arrival::Dropped => None,
        };
        let (handled, unhandled) = (None, None);
        let mut packet = TakenPacket {
            cause,
            occurrence,
            taken_ps: now_ps,
            handled,
            unhandled,
            is_known,
            payload,
            is_users,
        };
        let mut ran = None;
        match &arrival {
            Arrival::Dispatch { event, arguments, port, is_packet } => {
                packet.handled = Some(*event);
                let dispatch = Dispatch {
                    time_ps: now_ps,
                    switch: at,
                    port: *port,
                    stage: Stage::Ingress,
                    event: setup.event_value(*event, arguments, 0),
                    cause: None,
                    draws: pass.draws.clone(),
                    dequeue_depth: 0,
                };
                let (is_packet, changes) = (*is_packet, UserChanges::default());
                ran = Some(HandlerRun { occurrence, cause, is_packet, dispatch, changes });
            }
            Arrival::NoHandler { event, port, .. } => {
                packet.unhandled = Some((*event, *port));
            }
            Arrival::Transit(_) => self.rounds += 1,
            Arrival::Dropped => {
                self.switches[at as usize].counts.dropped += 1;
                watch.see(now_ps, at, || ObservationKind::Dropped {
                    occurrence: Occurrence(occurrence),
                    event: None,
                    reason: DropReason::Parser,
                });
            }
        }
        if self.compiled.options.has_user_p4() {
            let pass = UserPass { at: (at, port), arrival: &arrival, is_users, pass };
            self.account_for_user(setup, watch, pass, &mut packet, &mut ran);
        }
        if let Arrival::NoHandler { event, arguments, port } = &arrival
            && *port != NO_PORT
            && !packet.is_users
            && packet.handled.is_none()
        {
            let mut expected = wire_bytes(setup, *event, arguments);
            if watch.judges && target == Backend::Tna {
                expected.extend_from_slice(unread(
                    (setup, self.compiled()),
                    &around,
                    *event,
                    bytes,
                ));
            }
            watch.observer.is_to_leave((at, *port), expected);
        }
        if let Some(ran) = ran {
            self.dispatched(setup, watch, ran);
        }
        Some(packet)
    }
}

/// The payload among an event's arguments.
fn payload_of(arguments: &Arguments) -> Option<Arc<[u8]>> {
    arguments.objects.iter().find_map(|object| match object {
        Value::Payload(bytes) => Some(bytes.clone()),
        _ => None,
    })
}
