// SPDX-License-Identifier: Apache-2.0
//! Packets that come back by loopback ports, many of them one after the other on the straight way: what
//! they have in common is looked up once. It is the way of `device` and `forwarding` for each of them, as
//! long as nothing else happens between them.

use crate::architecture::INPUT_TIME;
use crate::burst::Burst;
use crate::compiled_program::BoundStraight;
use crate::engine::Runner;
use crate::environment::BlockEnvironment;
use crate::forwarding::{LARGEST_SINGLE_BYTES, Leaving, drops_of, go_on};
use crate::machine::{Machine, NextEvent};
use crate::output::DeviceError;
use crate::packet::Arrival;
use crate::pass::Run;
use crate::switch::Switch;
use crate::traffic_manager::Passage;
use crate::view::View;
use std::cell::Cell;

/// After so many the control plane is asked again.
const MOST_ROUNDS: usize = 256;

/// The packet that comes to ingress next, if that is what happens next until a time, and if it may go
/// straight through. The clock is set to it then. Packets that have to wait for ingress are put there.
fn next_round(
    machine: &mut Machine,
    until_ps: u64,
    most_header_bytes: u64,
    gated: bool,
) -> Option<Box<Arrival>> {
    loop {
        let (key, next) = machine.next_event()?;
        let arrival = match next {
            NextEvent::Listed => return None,
            NextEvent::ComingBack => &machine.coming_back.front()?.1,
            NextEvent::Admission => match machine.first_waiting()? {
                (None, arrival) => arrival,
                (Some(_), _) => return None,
            },
        };
        let now_ps = machine.now_ps.max(key.0);
        let length = arrival.bytes.len();
        let limit = machine.options.pass_limit;
        let may_pass = key.0 <= until_ps
            && length <= LARGEST_SINGLE_BYTES
            && limit.is_none_or(|limit| u64::from(limit) >= arrival.reception.passes() + 2)
            && match (gated, length as u64 + most_header_bytes) {
                (false, most_bytes) => machine.traffic.lets_one_through(most_bytes, now_ps),
                (true, most_bytes) => machine.traffic.opens_gates(most_bytes, now_ps),
            };
        if !may_pass {
            return None;
        }
        machine.now_ps = now_ps;
        if next == NextEvent::Admission {
            return machine.admit().map(|(_, arrival)| arrival);
        }
        let (_, arrival) = machine.coming_back.pop_front()?;
        if !machine.obey_flow_control(&arrival)
            && let Some(arrival) = machine.take_turn(None, arrival)
        {
            return Some(arrival);
        }
    }
}

impl Switch {
    /// Runs packets that come back until a time, until something else comes first. What it leaves is done
    /// the usual way.
    pub(crate) fn run_rounds(&mut self, until_ps: u64) -> Result<(), DeviceError> {
        if self.machine.coming_back.is_empty() && self.machine.admission_ps.is_none() {
            return Ok(());
        }
        let is_next = |machine: &Machine| {
            let next = machine.next_event();
            next.is_some_and(|(key, next)| key.0 <= until_ps && next != NextEvent::Listed)
        };
        if !is_next(&self.machine) || !self.has_straight_way() {
            return Ok(());
        }
        // Where queues are paused now and then, all rounds look at gates.
        let traffic = &mut self.machine.traffic;
        let gated = (traffic.has_gates() || !traffic.has_open_ports(self.machine.now_ps))
            && self.has_gated_way();
        let mut single = self.take_single();
        let (engine, machine) = self.current_engine_and_machine();
        engine.prepare_straight_context();
        let (most_header_bytes, largest_port) = (engine.most_header_bytes(), engine.largest_port());
        let forwarding = engine.store.forwarding();
        let mut log = std::mem::take(&mut machine.log);
        let clock = Cell::new(machine.now_ps);
        let run = Cell::new(Run { packet: 0, pass_number: 0, counted_bytes: 0, pass: None });
        let mut left = None;
        if let Runner::Jit(compiled) = &mut engine.runner
            && let Some(BoundStraight { bound, .. }) = compiled.straight(gated)
            && let Some(context) = engine.straight_context.as_mut()
        {
            let mut environment = BlockEnvironment {
                clock: &clock,
                seed: machine.options.seed,
                device_id: machine.options.device_id,
                run: &run,
                burst: None,
                log: &mut log,
                tap: None,
            };
            let mut running = jit::Burst::new(
                &bound.code,
                &mut bound.instance,
                &forwarding,
                &mut engine.cells,
                &mut environment,
            );
            for _ in 0..MOST_ROUNDS {
                let Some(mut arrival) = next_round(machine, until_ps, most_header_bytes, gated)
                else {
                    break;
                };
                let now_ps = machine.now_ps;
                clock.set(now_ps);
                run.set(Run {
                    packet: arrival.reception.number,
                    pass_number: arrival.reception.passes(),
                    counted_bytes: arrival.bytes.len() as u32,
                    pass: None,
                });
                single.clear();
                // It is empty, and the length was looked at.
                let _ = single.push(arrival.port, &arrival.bytes);
                running.inputs()[INPUT_TIME] = machine.timestamp();
                let gates = if gated { machine.traffic.gates(Passage::Prompt) } else { &[] };
                let early = running.run(0, single.packets_mut(), 0..1, gates, context, now_ps);
                machine.straight.count(&single, 0..1, 0, largest_port);
                let (in_ingress, in_egress) = drops_of(&running.ended());
                machine.straight.dropped(in_ingress, in_egress);
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
                        machine.leave_straight(sent.port, queue, arrival);
                    }
                    None => arrival.reception.add_passes(1 + in_egress),
                }
            }
        }
        // Whoever wrote in the meantime wrote behind what stood there.
        std::mem::swap(&mut machine.log, &mut log);
        machine.log.append(&mut log);
        let mut done = Ok(());
        if let Some((arrival, early)) = left
            && let Some(context) = engine.straight_context.take()
        {
            let jit::LeftEarly { packet, ending, outputs } = early;
            let view = View::Forwarding(forwarding);
            let leaving = Leaving { packet, ending, context, outputs, view };
            let number = arrival.reception.number;
            done = go_on(engine, machine, &single, leaving, number, Some(arrival.reception));
        }
        self.put_single(single);
        done
    }

    fn has_straight_way(&self) -> bool {
        let has_code = match &self.engine().runner {
            Runner::Jit(compiled) => compiled.has_straight(),
            Runner::Interpreter(_) => false,
        };
        has_code && self.machine.tap.is_none() && self.machine.options.ingress_latency_ps == 0
    }

    pub(crate) fn take_single(&mut self) -> Box<Burst> {
        let single = self.single.take();
        single.unwrap_or_else(|| Box::new(Burst::new(1, LARGEST_SINGLE_BYTES)))
    }

    pub(crate) fn put_single(&mut self, single: Box<Burst>) {
        self.single = Some(single);
    }
}
