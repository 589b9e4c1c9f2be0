// SPDX-License-Identifier: Apache-2.0
//! Egress handlers that a device ran: each logs what it runs on ([`Options::observed`]), and taps tell in
//! which pass of which packet that was, which random numbers it drew, and what left in that pass.
//!
//! [`Options::observed`]: crate::compile::Options::observed

use super::network::CompiledSimulation;
use super::replaying::Ran;
use super::user::{ByUser, is_told, told_event};
use super::watch::Watch;
use crate::compile::wire::{EGRESS_LOG, OUTSIDE_PORT};
use crate::simulation::schedule::Dispatch;
use crate::simulation::{NO_PORT, Setup, Stage};
use device::tap::{Tapped, TappedEvent};
use std::collections::HashMap;

/// An egress handler that ran.
#[derive(Debug)]
struct EgressRun {
    packet: u64,
    time_ps: u64,
    port: u32,
    line: String,
    draws: Vec<u128>,
}

/// What a device's taps tell of handlers.
#[derive(Debug, Default)]
pub(super) struct Passes {
    /// Random numbers drawn at ingress, by packet.
    pub(super) ingress_draws: HashMap<u64, Vec<u128>>,
    /// What the program tells of passes through ingress, by packet.
    pub(super) ingress_lines: HashMap<u64, Vec<String>>,
    egress: Vec<EgressRun>,
    /// Of each packet that left, in order, the egress handler that ran on it.
    senders: Vec<Option<usize>>,
}

impl Passes {
    pub(super) fn read(taps: Vec<Tapped>) -> Passes {
        let mut passes = Passes::default();
        // Where the pass at hand is: the port at egress, and the handler that ran there.
        let (mut egress_port, mut running) = (None, None);
        for Tapped { time_ps, packet, what, .. } in taps {
            match what {
                TappedEvent::Ingress { .. } => (egress_port, running) = (None, None),
                TappedEvent::Egress { port, .. } => (egress_port, running) = (Some(port), None),
                TappedEvent::Drawn { value } => match running {
                    Some(run) => {
                        let run: &mut EgressRun = &mut passes.egress[run];
                        run.draws.push(value.into());
                    }
                    None => passes.ingress_draws.entry(packet).or_default().push(value.into()),
                },
                TappedEvent::Logged { text } => match egress_port {
                    Some(port) if text.starts_with(EGRESS_LOG) => {
                        running = Some(passes.egress.len());
                        let draws = Vec::new();
                        let run = EgressRun { packet, time_ps, port, line: text, draws };
                        passes.egress.push(run);
                    }
                    None if is_told(&text) => {
                        passes.ingress_lines.entry(packet).or_default().push(text);
                    }
                    _ => {}
                },
                TappedEvent::Sent { .. } => passes.senders.push(running),
                TappedEvent::Queued { .. } | TappedEvent::Dropped { .. } => {}
            }
        }
        passes
    }
}

impl CompiledSimulation {
    /// Tells the egress handlers that ran. Of each packet that left, in order: the occurrence whose egress
    /// handler sent it.
    pub(super) fn egress_dispatched(
        &mut self,
        setup: &Setup,
        watch: &mut Watch<'_>,
        at: u32,
        passes: Passes,
    ) -> Vec<Option<u64>> {
        let mut occurrences = Vec::new();
        for run in passes.egress {
            let Some(given) = self.switches[at as usize].given.get(&run.packet).cloned() else {
                occurrences.push(None);
                continue;
            };
            let line = (EGRESS_LOG, run.line.as_str());
            let Some((event, _)) = told_event(setup, given.payload.as_ref(), line, 0) else {
                let message = format!("an egress handler logged `{}`", run.line);
                self.fault(at, &message);
                return Vec::new();
            };
            // It is on its way already, or a handler has just generated it.
            let cause = given.by();
            let known = (given.handled.is_none() && given.is_known).then_some(given.occurrence);
            let claimed = || self.claim_at_egress(setup, cause?, (at, run.port), &event);
            let occurrence = known.or_else(claimed).unwrap_or_else(|| self.next_occurrence());
            let dispatch = Dispatch {
                time_ps: run.time_ps,
                switch: at,
                port: if run.port == OUTSIDE_PORT { NO_PORT } else { run.port },
                stage: Stage::Egress,
                event,
                cause: None,
                draws: run.draws,
            };
            let cause = if known.is_some() { given.cause } else { cause };
            let by_user = ByUser { made: given.is_users, ..ByUser::default() };
            let ran = Ran { occurrence, cause, is_packet: false, dispatch, by_user };
            self.dispatched(setup, watch, ran);
            occurrences.push(Some(occurrence));
        }
        let occurrence = |run: Option<usize>| occurrences.get(run?).copied().flatten();
        passes.senders.into_iter().map(occurrence).collect()
    }
}
