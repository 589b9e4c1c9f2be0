// SPDX-License-Identifier: Apache-2.0
//! Egress handlers that a device ran: each logs what it runs on ([`Options::observed`]), and taps tell in
//! which pass of which packet that was, which random numbers it drew, and what left in that pass.
//!
//! [`Options::observed`]: crate::compile::Options::observed

use super::network::{CompiledSimulation, Given};
use super::replaying::Ran;
use super::watch::Watch;
use crate::compile::wire::{EGRESS_LOG, OUTSIDE_PORT};
use crate::core::{EventId, Type};
use crate::interpreter::{EventValue, Place, Value};
use crate::simulation::schedule::Dispatch;
use crate::simulation::{NO_PORT, Setup, Stage};
use device::tap::{Tapped, TappedEvent};
use std::collections::HashMap;
use std::sync::Arc;

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
                TappedEvent::Logged { text } => {
                    if let (Some(port), true) = (egress_port, is_egress_line(&text)) {
                        running = Some(passes.egress.len());
                        let draws = Vec::new();
                        passes.egress.push(EgressRun { packet, time_ps, port, line: text, draws });
                    }
                }
                TappedEvent::Sent { .. } => passes.senders.push(running),
                TappedEvent::Queued { .. } | TappedEvent::Dropped { .. } => {}
            }
        }
        passes
    }
}

/// Whether a line of the log is one by which an egress handler tells what it runs on.
pub(super) fn is_egress_line(text: &str) -> bool {
    text.starts_with(EGRESS_LOG)
}

/// The event that an egress handler ran on, by what it logged.
fn logged_event(setup: &Setup, given: &Given, line: &str) -> Option<Arc<EventValue>> {
    let (number, rest) = line.strip_prefix(EGRESS_LOG)?.split_once(": ")?;
    let number: u32 = number.parse().ok()?;
    let mut values = rest.split(' ').map(str::parse::<u128>);
    let payload_is_empty = values.next()?.ok()? == 1;
    let declared = setup.program.events.get(number as usize)?;
    let mut arguments = Vec::new();
    for parameter in &declared.parameters {
        arguments.push(match parameter.ty {
            Type::Int(_) => Value::Int(values.next()?.ok()?),
            Type::Bool => Value::Bool(values.next()?.ok()? != 0),
            Type::Payload if payload_is_empty => Value::Payload(Arc::from([])),
            Type::Payload => Value::Payload(given.payload.clone().unwrap_or_else(|| [].into())),
            Type::Event | Type::Group => return None,
        });
    }
    let event = EventId(number);
    Some(Arc::new(EventValue { event, arguments, delay_ns: 0, place: Place::Here }))
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
            let Some(event) = logged_event(setup, &given, &run.line) else {
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
            self.dispatched(setup, watch, Ran { occurrence, cause, is_packet: false, dispatch });
            occurrences.push(Some(occurrence));
        }
        let occurrence = |run: Option<usize>| occurrences.get(run?).copied().flatten();
        passes.senders.into_iter().map(occurrence).collect()
    }
}
