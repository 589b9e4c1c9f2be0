// SPDX-License-Identifier: Apache-2.0
//! Egress handlers that a device ran. Taps tell in which pass of which packet one ran, which random numbers
//! it drew, how deep the queue was, and what left in that pass. On what it ran is told by the line that a
//! handler for v1model logs ([`Options::observed`]); for Tofino by the bytes that came to egress
//! ([`super::departure`]).
//!
//! [`Options::observed`]: lucid_compiler::Options::observed

use super::departure::handled_at_egress;
use super::network::CompiledSimulation;
use super::replaying::Ran;
use super::user::{ByUser, is_told, told_event};
use super::watch::Watch;
use device::tap::{EgressPacket, Tapped, TappedEvent};
use lucid::core::NO_PORT;
use lucid_compiler::wire::{EGRESS_LOG, OUTSIDE_PORT};
use lucid_reference::simulation::schedule::Dispatch;
use lucid_reference::simulation::{Setup, Stage};
use std::collections::HashMap;

/// An egress handler that ran, or a pass of a packet in which one may have run.
#[derive(Debug)]
struct EgressRun {
    packet: u64,
    time_ps: u64,
    port: u32,
    on: RanOn,
    draws: Vec<u128>,
    depth_packets: u32,
}

/// What tells on what it ran.
#[derive(Debug)]
enum RanOn {
    /// It logged this.
    Line(String),
    /// This came to egress, where a handler may have run or not.
    Packet(EgressPacket),
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
        let (mut egress, mut running) = (None, None);
        for Tapped { time_ps, packet, what, .. } in taps {
            match what {
                TappedEvent::Ingress { .. } => (egress, running) = (None, None),
                TappedEvent::Egress { port, depth_packets, packet: came, .. } => {
                    (egress, running) = (Some((port, depth_packets)), None);
                    if let Some(came) = came {
                        running = Some(passes.egress.len());
                        let (draws, on) = (Vec::new(), RanOn::Packet(came));
                        passes.egress.push(EgressRun {
                            packet,
                            time_ps,
                            port,
                            on,
                            draws,
                            depth_packets,
                        });
                    }
                }
                TappedEvent::Drawn { value } => match running {
                    Some(run) => {
                        let run: &mut EgressRun = &mut passes.egress[run];
                        run.draws.push(value.into());
                    }
                    None => passes.ingress_draws.entry(packet).or_default().push(value.into()),
                },
                TappedEvent::Logged { text } => match egress {
                    Some((port, depth_packets)) if text.starts_with(EGRESS_LOG) => {
                        running = Some(passes.egress.len());
                        let (draws, on) = (Vec::new(), RanOn::Line(text));
                        passes.egress.push(EgressRun {
                            packet,
                            time_ps,
                            port,
                            on,
                            draws,
                            depth_packets,
                        });
                    }
                    None if is_told(&text) => {
                        passes.ingress_lines.entry(packet).or_default().push(text);
                    }
                    _ => {}
                },
                TappedEvent::Sent { .. } => passes.senders.push(running),
                TappedEvent::Queued { .. }
                | TappedEvent::Dropped { .. }
                | TappedEvent::Extern { .. } => {}
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
            let event = match &run.on {
                RanOn::Line(line) => {
                    let line = (EGRESS_LOG, line.as_str());
                    told_event(setup, given.payload.as_ref(), line, 0).map(|told| told.0)
                }
                RanOn::Packet(EgressPacket { replica, bytes }) => {
                    match handled_at_egress(setup, self.compiled(), *replica, bytes) {
                        Some(event) => Some(event),
                        None => {
                            occurrences.push(None);
                            continue;
                        }
                    }
                }
            };
            let Some(event) = event else {
                let message = format!("an egress handler logged something else: {:?}", run.on);
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
                dequeue_depth: run.depth_packets.into(),
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
