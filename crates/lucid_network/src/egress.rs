// SPDX-License-Identifier: Apache-2.0
//! Egress handlers that a device ran. Taps tell when and where a packet came to egress, which random numbers were
//! drawn there, and how deep the queue was. The event is read from the probe of the handler for v1model, and for
//! Tofino from the bytes that came to egress (`egress_bytes`).

use super::egress_bytes::handled_at_egress;
use super::handler_runs::{HandlerRun, UserChanges};
use super::in_flight::TakenPacket;
use super::passes::{DevicePass, Half};
use super::simulation::CompiledSimulation;
use super::watch::Watch;
use device::tap::EgressPacket;
use lucid::core::NO_PORT;
use lucid_compiler::wire::OUTSIDE_PORT;
use lucid_reference::simulation::schedule::Dispatch;
use lucid_reference::simulation::{Setup, Stage};

impl CompiledSimulation {
    /// Tells and replays the egress handler that ran in a pass, if one did; its occurrence.
    pub(super) fn egress_ran(
        &mut self,
        setup: &Setup,
        watch: &mut Watch<'_>,
        at: u32,
        pass: &DevicePass,
        taken: &TakenPacket,
    ) -> Option<u64> {
        let Half::Egress { port, depth_packets, packet, .. } = &pass.half else { return None };
        let event = match packet {
            Some(EgressPacket { replica, bytes }) => {
                handled_at_egress(setup, self.compiled(), *replica, bytes)
            }
            None => {
                let payload = taken.payload.as_ref();
                self.probes.egress_handler(setup.program(), payload, &pass.probed)
            }
        }?;
        let cause = taken.sender();
        let known = (taken.handled.is_none() && taken.is_known).then_some(taken.occurrence);
        let claimed = || self.claim_at_egress(setup, cause?, (at, *port), &event);
        let occurrence = known.or_else(claimed).unwrap_or_else(|| self.next_occurrence());
        let dispatch = Dispatch {
            time_ps: pass.time_ps,
            switch: at,
            port: if *port == OUTSIDE_PORT { NO_PORT } else { *port },
            stage: Stage::Egress,
            event,
            cause: None,
            draws: pass.draws.clone(),
            dequeue_depth: (*depth_packets).into(),
        };
        let cause = if known.is_some() { taken.cause } else { cause };
        let changes = UserChanges { made: taken.is_users, ..UserChanges::default() };
        let ran = HandlerRun { occurrence, cause, is_packet: false, dispatch, changes };
        self.dispatched(setup, watch, ran);
        Some(occurrence)
    }
}
