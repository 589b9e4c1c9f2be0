// SPDX-License-Identifier: Apache-2.0
//! Fast path for bursts of looped-back packets. It looks the program, ports and queues up once a burst instead of once a
//! packet. Each packet has the effects that `event_loop` and `fast_path_run` would give it; any other event ends the
//! burst.

use crate::compiled_program::BoundFastPath;
use crate::configuration_view::ConfigurationView;
use crate::engine::{BlockRunner, Engine};
use crate::environment::BlockEnvironment;
use crate::event::NextEvent;
use crate::fast_path::{FastPathKind, INPUT_TIME};
use crate::fast_path_run::{
    MAX_SINGLE_BYTES, UnfinishedPacket, drops_of, resume_on_slow_path, transmit_completed,
};
use crate::output::DeviceError;
use crate::packet::Arrival;
use crate::pass::PassInfo;
use crate::switch::Switch;
use crate::switch_core::SwitchCore;
use crate::traffic_manager::GateKind;
use std::cell::Cell;

/// Packets forwarded between two polls of the control queue.
const CONTROL_POLL_INTERVAL: usize = 256;

/// Dequeues the next looped-back packet if it is the next event until a time and may take the fast path. Sets
/// the clock to its arrival. Packets that have to wait move to the ingress queue.
fn next_loopback(
    core: &mut SwitchCore,
    until_ps: u64,
    max_header_bytes: u64,
    gated: bool,
) -> Option<Box<Arrival>> {
    loop {
        let (key, next) = core.next_event()?;
        let arrival = match next {
            NextEvent::Listed => return None,
            NextEvent::LoopedBack => &core.looped_back.front()?.1,
            NextEvent::IngressSlot => match core.first_waiting()? {
                (None, arrival) => arrival,
                (Some(_), _) => return None,
            },
        };
        let now_ps = core.now_ps.max(key.time_ps);
        let length = arrival.bytes.len();
        let limit = core.options.pass_limit;
        let may_pass = key.time_ps <= until_ps
            && length <= MAX_SINGLE_BYTES
            && limit.is_none_or(|limit| u64::from(limit) >= arrival.reception.passes() + 2)
            && match (gated, length as u64 + max_header_bytes) {
                (false, max_bytes) => core.traffic.can_transmit_now(max_bytes, now_ps),
                (true, max_bytes) => core.traffic.refresh_gates(max_bytes, now_ps),
            };
        if !may_pass {
            return None;
        }
        core.now_ps = now_ps;
        if next == NextEvent::IngressSlot {
            return core.take_waiting().map(|(_, arrival)| arrival);
        }
        let (_, arrival) = core.looped_back.pop_front()?;
        if !core.obey_flow_control(&arrival)
            && let Some(arrival) = core.wait_for_ingress(None, arrival)
        {
            return Some(arrival);
        }
    }
}

impl Switch {
    /// Runs looped-back packets until a time or until another event comes first. The event loop handles the rest.
    pub(crate) fn run_loopback_bursts(&mut self, until_ps: u64) -> Result<(), DeviceError> {
        if self.core.looped_back.is_empty() && self.core.next_slot_ps.is_none() {
            return Ok(());
        }
        let is_next = |core: &SwitchCore| {
            let next = core.next_event();
            next.is_some_and(|(key, next)| key.time_ps <= until_ps && next != NextEvent::Listed)
        };
        // With admission rules, the rule is applied to each packet separately.
        let Some(id) =
            self.only_program.filter(|id| is_next(&self.core) && self.has_fast_path(*id))
        else {
            return Ok(());
        };
        // If queues are paused at times, all packets check gates.
        let traffic = &mut self.core.traffic;
        let gates = FastPathKind::Gated(GateKind::IdleWire);
        let gated = (traffic.has_gates() || !traffic.has_open_ports(self.core.now_ps))
            && self.has_code(id, gates);
        let kind = if gated { gates } else { FastPathKind::Plain };
        let mut single = self.take_single();
        let Some((program, core)) = self.program_and_core(id) else { return Ok(()) };
        program.prepare_fast_context();
        let (max_header_bytes, largest_port) = (program.max_header_bytes(), program.largest_port());
        let forwarding = program.store.forwarding();
        let mut log = std::mem::take(&mut core.log);
        let clock = Cell::new(core.now_ps);
        let run = Cell::new(PassInfo { packet: 0, pass_number: 0, counted_bytes: 0, pass: None });
        let mut left = None;
        let BlockRunner { engine, cells, .. } = &mut program.executor.runner;
        if let Engine::Jit(compiled) = engine
            && let Some(BoundFastPath { bound, .. }) = compiled.fast_path(kind)
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
                let Some(arrival) = next_loopback(core, until_ps, max_header_bytes, gated) else {
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
                // The burst is empty and the length is within the limit.
                let _ = single.push(arrival.port, &arrival.bytes);
                running.inputs()[INPUT_TIME] = core.timestamp();
                let gates = if gated { core.traffic.gates(GateKind::IdleWire) } else { &[] };
                let early = running.run(0, single.packets_mut(), 0..1, gates, context, now_ps);
                core.fast_path.count(&single, 0..1, 0, largest_port);
                let (in_ingress, in_egress) = drops_of(&running.exit_counts());
                core.fast_path.dropped(in_ingress, in_egress);
                if let Some(early) = early {
                    left = Some((arrival, early));
                    break;
                }
                transmit_completed(core, id, &single, arrival, (kind, 1 + in_egress));
            }
        }
        // Lines written during the run follow the earlier ones.
        std::mem::swap(&mut core.log, &mut log);
        core.log.append(&mut log);
        let mut done = Ok(());
        if let Some((arrival, early)) = left
            && let Some(context) = program.fast_context.take()
        {
            let jit::EarlyExit { packet, exit: ending, outputs } = early;
            let view = ConfigurationView::Forwarding(forwarding);
            let unfinished = UnfinishedPacket { packet, ending, context, outputs, view };
            let number = arrival.reception.number;
            done = resume_on_slow_path(
                program,
                core,
                &single,
                unfinished,
                number,
                Some(arrival.reception),
            );
        }
        self.put_single(single);
        done
    }
}
