// SPDX-License-Identifier: Apache-2.0
//! Fast path for bursts of looped-back packets. Looks the program, ports and queues up once a burst instead of
//! once a packet; it does for each packet what `event_loop` and `fast_path_run` do, as long as nothing else
//! happens between them.

use crate::compiled_program::BoundFastPath;
use crate::configuration_view::ConfigurationView;
use crate::engine::{BlockRunner, Engine};
use crate::environment::BlockEnvironment;
use crate::event::NextEvent;
use crate::fast_path::INPUT_TIME;
use crate::fast_path_run::{LARGEST_SINGLE_BYTES, Leaving, drops_of, go_on};
use crate::output::DeviceError;
use crate::packet::Arrival;
use crate::pass::PassInfo;
use crate::switch::Switch;
use crate::switch_core::SwitchCore;
use crate::traffic_manager::Passage;
use std::cell::Cell;

/// Packets forwarded between two polls of the control queue.
const CONTROL_POLL_INTERVAL: usize = 256;

/// Dequeues the next looped-back packet if it is the next event until a time and may take the fast path. Sets
/// the clock to its arrival. Packets that have to wait move to the ingress queue.
fn next_loopback(
    core: &mut SwitchCore,
    until_ps: u64,
    most_header_bytes: u64,
    gated: bool,
) -> Option<Box<Arrival>> {
    loop {
        let (key, next) = core.next_event()?;
        let arrival = match next {
            NextEvent::Listed => return None,
            NextEvent::ComingBack => &core.coming_back.front()?.1,
            NextEvent::Admission => match core.first_waiting()? {
                (None, arrival) => arrival,
                (Some(_), _) => return None,
            },
        };
        let now_ps = core.now_ps.max(key.0);
        let length = arrival.bytes.len();
        let limit = core.options.pass_limit;
        let may_pass = key.0 <= until_ps
            && length <= LARGEST_SINGLE_BYTES
            && limit.is_none_or(|limit| u64::from(limit) >= arrival.reception.passes() + 2)
            && match (gated, length as u64 + most_header_bytes) {
                (false, most_bytes) => core.traffic.lets_one_through(most_bytes, now_ps),
                (true, most_bytes) => core.traffic.opens_gates(most_bytes, now_ps),
            };
        if !may_pass {
            return None;
        }
        core.now_ps = now_ps;
        if next == NextEvent::Admission {
            return core.admit().map(|(_, arrival)| arrival);
        }
        let (_, arrival) = core.coming_back.pop_front()?;
        if !core.obey_flow_control(&arrival)
            && let Some(arrival) = core.take_turn(None, arrival)
        {
            return Some(arrival);
        }
    }
}

impl Switch {
    /// Runs packets that come back until a time, until something else comes first. What it leaves is done
    /// the usual way.
    pub(crate) fn run_loopback_bursts(&mut self, until_ps: u64) -> Result<(), DeviceError> {
        if self.core.coming_back.is_empty() && self.core.admission_ps.is_none() {
            return Ok(());
        }
        let is_next = |core: &SwitchCore| {
            let next = core.next_event();
            next.is_some_and(|(key, next)| key.0 <= until_ps && next != NextEvent::Listed)
        };
        // Where a rule chooses, each packet is asked for by itself.
        let Some(id) = self.only.filter(|id| is_next(&self.core) && self.has_fast_path(*id)) else {
            return Ok(());
        };
        // Where queues are paused now and then, all rounds look at gates.
        let traffic = &mut self.core.traffic;
        let gated = (traffic.has_gates() || !traffic.has_open_ports(self.core.now_ps))
            && self.has_gated_code(id);
        let mut single = self.take_single();
        let Some((program, core)) = self.program_and_core(id) else { return Ok(()) };
        program.prepare_fast_context();
        let (most_header_bytes, largest_port) =
            (program.most_header_bytes(), program.largest_port());
        let forwarding = program.store.forwarding();
        let mut log = std::mem::take(&mut core.log);
        let clock = Cell::new(core.now_ps);
        let run = Cell::new(PassInfo { packet: 0, pass_number: 0, counted_bytes: 0, pass: None });
        let mut left = None;
        let BlockRunner { engine, cells, .. } = &mut program.executor.runner;
        if let Engine::Jit(compiled) = engine
            && let Some(BoundFastPath { bound, .. }) = compiled.fast_path(gated)
            && let Some(context) = program.fast_context.as_mut()
        {
            let mut environment = BlockEnvironment {
                clock: &clock,
                seed: core.options.seed,
                device_id: core.options.device_id,
                run: &run,
                burst: None,
                log: &mut log,
                tap: None,
            };
            let mut running = jit::Burst::new(
                &bound.code,
                &mut bound.instance,
                &forwarding,
                cells,
                &mut environment,
            );
            for _ in 0..CONTROL_POLL_INTERVAL {
                let Some(mut arrival) = next_loopback(core, until_ps, most_header_bytes, gated)
                else {
                    break;
                };
                let now_ps = core.now_ps;
                clock.set(now_ps);
                run.set(PassInfo {
                    packet: arrival.reception.number,
                    pass_number: arrival.reception.passes(),
                    counted_bytes: arrival.bytes.len() as u32,
                    pass: None,
                });
                single.clear();
                // It is empty, and the length was looked at.
                let _ = single.push(arrival.port, &arrival.bytes);
                running.inputs()[INPUT_TIME] = core.timestamp();
                let gates = if gated { core.traffic.gates(Passage::Prompt) } else { &[] };
                let early = running.run(0, single.packets_mut(), 0..1, gates, context, now_ps);
                core.fast_path.count(&single, 0..1, 0, largest_port);
                let (in_ingress, in_egress) = drops_of(&running.exit_counts());
                core.fast_path.dropped(in_ingress, in_egress);
                if let Some(early) = early {
                    left = Some((arrival, early));
                    break;
                }
                let queue = single.last_queue();
                match single.outputs().next() {
                    Some(sent) => {
                        arrival.reception.add_passes(2);
                        arrival.bytes.clear();
                        arrival.bytes.extend_from_slice(sent.bytes);
                        core.leave_fast_path(id, sent.port, queue, arrival);
                    }
                    None => arrival.reception.add_passes(1 + in_egress),
                }
            }
        }
        // Whoever wrote in the meantime wrote behind what stood there.
        std::mem::swap(&mut core.log, &mut log);
        core.log.append(&mut log);
        let mut done = Ok(());
        if let Some((arrival, early)) = left
            && let Some(context) = program.fast_context.take()
        {
            let jit::EarlyExit { packet, exit: ending, outputs } = early;
            let view = ConfigurationView::Forwarding(forwarding);
            let leaving = Leaving { packet, ending, context, outputs, view };
            let number = arrival.reception.number;
            done = go_on(program, core, &single, leaving, number, Some(arrival.reception));
        }
        self.put_single(single);
        done
    }
}
