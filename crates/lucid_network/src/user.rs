// SPDX-License-Identifier: Apache-2.0
//! Passes through ingress with P4 of the user's around the dispatcher: what came in is not what is handled,
//! and what was generated is not what leaves. Probes show both (`probed`); here the account of a pass follows them.

use super::arrival::Arrival;
use super::handler_runs::{HandlerRun, InterceptedEvent, UserChanges};
use super::in_flight::TakenPacket;
use super::passes::DevicePass;
use super::probed::ProbedPass;
use super::simulation::CompiledSimulation;
use super::watch::Watch;
use lucid_reference::interpreter::{EventValue, Value};
use lucid_reference::simulation::schedule::Dispatch;
use lucid_reference::simulation::{Setup, Stage};

/// A pass through ingress of a program with controls of the user's.
pub(super) struct UserPass<'a> {
    pub(super) at: (u32, u32),
    pub(super) arrival: &'a Arrival,
    /// Whether what came in is the user's already.
    pub(super) is_users: bool,
    pub(super) pass: &'a DevicePass,
}

impl CompiledSimulation {
    /// Corrects what is known of a packet and its handler by what probes saw of the pass. `packet` and `ran` are as
    /// they would be without P4 of the user's.
    pub(super) fn account_for_user(
        &mut self,
        setup: &Setup,
        watch: &mut Watch<'_>,
        pass: UserPass<'_>,
        packet: &mut TakenPacket,
        ran: &mut Option<HandlerRun>,
    ) {
        let UserPass { at, arrival, is_users, pass } = pass;
        let payload = packet.payload.as_ref();
        let probed = self.probes.ingress(setup.program(), payload, &pass.probed);
        let ProbedPass { handled, is_remade, is_diverted, generated } = probed;
        let due = ran.as_ref().map(|ran| (ran.dispatch.event.clone(), ran.dispatch.port));
        let is_due = due.is_some() && due == handled;
        let (occurrence, cause) = (packet.occurrence, packet.cause);
        let arrived = match arrival {
            Arrival::Dispatch { event, arguments, .. }
            | Arrival::Transit(Some((event, arguments))) => Some((*event, arguments.clone())),
            Arrival::NoHandler { .. } | Arrival::Transit(None) | Arrival::Dropped => None,
        };
        let is_taken = match handled {
            Some(_) => !is_due,
            None => is_remade || is_diverted,
        };
        if let Some((event, arguments)) = arrived
            && is_taken
            && !is_users
        {
            let time_ps = self.now_ps();
            let event = InterceptedEvent { time_ps, at, occurrence, cause, event, arguments };
            watch.observer.intercepted(event);
        }
        self.changed_by_user += u64::from(is_taken || is_diverted);
        packet.is_users = is_diverted || handled.is_none() && (is_remade || is_users);
        let changes = UserChanges {
            made: !is_due || is_users,
            diverted: is_diverted,
            generated: Some(generated),
        };
        match (handled, ran.as_mut()) {
            (Some(_), Some(ran)) if is_due => ran.changes = changes,
            (Some((event, port)), _) => {
                packet.occurrence = self.next_occurrence();
                packet.handled = Some(event.event);
                packet.unhandled = None;
                *ran = Some(HandlerRun {
                    occurrence: packet.occurrence,
                    cause,
                    is_packet: matches!(arrival, Arrival::Dispatch { is_packet: true, .. }),
                    dispatch: Dispatch {
                        time_ps: self.now_ps(),
                        switch: at.0,
                        port,
                        stage: Stage::Ingress,
                        event,
                        cause: None,
                        draws: pass.draws.clone(),
                        dequeue_depth: 0,
                    },
                    changes,
                });
            }
            (None, _) => {
                packet.handled = None;
                *ran = None;
            }
        }
    }
}

/// An event as text, without its payload.
pub(super) fn event_text(setup: &Setup, event: &EventValue) -> String {
    let name = &setup.program().events[event.event.0 as usize].name;
    let values = event.arguments.iter().filter_map(|value| match value {
        Value::Int(value) => Some(value.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Payload(_) | Value::Event(_) | Value::Group(_) => None,
    });
    format!("{name}({})", values.collect::<Vec<_>>().join(", "))
}
