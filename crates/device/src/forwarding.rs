// SPDX-License-Identifier: Apache-2.0
//! Bursts through a device: packets take the straight way as long as nothing in the device would show
//! that they did; one that leaves it is completed by the general way before the next is taken. Both
//! ways give the same outputs, statistics and state.

use crate::architecture::{EXIT_EGRESS_DROP, EXIT_INGRESS_DROP, INPUT_TIME, LeftStraight};
use crate::burst::Burst;
use crate::compiled_program::BoundStraight;
use crate::engine::{BurstParts, Engine, Runner};
use crate::environment::BlockEnvironment;
use crate::machine::Machine;
use crate::output::DeviceError;
use crate::packet::{Arrival, Reception};
use crate::pass::Run;
use crate::switch::Switch;
use crate::traffic_manager::Passage;
use crate::view::View;
use interpreter::{Outcome, PacketContext};
use jit::Ending;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// The longest packet that takes the straight way alone.
pub(crate) const LARGEST_SINGLE_BYTES: usize = 1 << 14;

/// Where drops are counted among the ends of the straight unit.
const AT_INGRESS_DROP: usize = (EXIT_INGRESS_DROP - jit::FIRST_WITHOUT_STORAGE) as usize;
const AT_EGRESS_DROP: usize = (EXIT_EGRESS_DROP - jit::FIRST_WITHOUT_STORAGE) as usize;

/// Packets that were dropped after ingress and after egress, of those that ended by exits.
pub(crate) fn drops_of(ended: &[u64]) -> (u64, u64) {
    (ended[AT_INGRESS_DROP], ended[AT_EGRESS_DROP])
}

/// Which code packets run on that go straight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Nothing holds any packet up, whatever its port and queue.
    Plain,
    /// Those whose gates are open go straight.
    Gated(Passage),
}

/// How a packet left the straight way.
pub(crate) struct Leaving {
    pub packet: usize,
    pub ending: Ending,
    pub context: PacketContext,
    pub outputs: [u32; jit::OUTPUTS],
    pub view: View,
}

/// Runs packets on the straight way, until one leaves it. `first_number` is the number of the first
/// packet of the range, and `first_pass` that of the pass that they begin. Returns how far it came.
fn run_straight(
    engine: &mut Engine,
    machine: &mut Machine,
    burst: &mut Burst,
    packets: Range<usize>,
    (first_number, first_pass): (u64, u64),
    way: Way,
) -> Option<Leaving> {
    let largest_port = engine.largest_port();
    let BurstParts { runner, cells, tables, straight_context } = engine.for_burst();
    let Runner::Jit(compiled) = runner else { return None };
    let BoundStraight { bound, .. } = compiled.straight(way != Way::Plain)?;
    let (now_ps, timestamp) = (machine.now_ps, machine.timestamp());
    let run = Cell::new(Run { packet: 0, pass_number: first_pass, counted_bytes: 0, pass: None });
    // The environment is told places in the burst.
    let base = first_number.wrapping_sub(packets.start as u64);
    let clock = Cell::new(now_ps);
    let mut environment = BlockEnvironment {
        clock: &clock,
        seed: machine.options.seed,
        device_id: machine.options.device_id,
        run: &run,
        burst: Some(base),
        log: &mut machine.log,
        tap: None,
    };
    let code = &bound.code;
    let context = straight_context.as_mut()?;
    let mut running = jit::Burst::new(code, &mut bound.instance, &tables, cells, &mut environment);
    running.inputs()[INPUT_TIME] = timestamp;
    let already = burst.sent_count();
    let straight = &mut machine.straight;
    let gates = match way {
        Way::Plain => &[],
        Way::Gated(passage) => machine.traffic.gates(passage),
    };
    let early = running.run(0, burst.packets_mut(), packets.clone(), gates, context, now_ps);
    let (in_ingress, in_egress) = drops_of(&running.ended());
    straight.dropped(in_ingress, in_egress);
    machine.sent += (burst.sent_count() - already) as u64;
    let end = early.as_ref().map_or(packets.end, |early| early.packet + 1);
    straight.count(burst, packets.start..end, already, largest_port);
    let jit::LeftEarly { packet, ending, outputs } = early?;
    let context = straight_context.take()?;
    let view = View::Forwarding(tables.into_shared());
    Some(Leaving { packet, ending, context, outputs, view })
}

/// Does what the general way does with a packet that left the straight one, to where it is queued.
pub(crate) fn go_on(
    engine: &mut Engine,
    machine: &mut Machine,
    burst: &Burst,
    leaving: Leaving,
    number: u64,
    reception: Option<Arc<Reception>>,
) -> Result<(), DeviceError> {
    let Leaving { packet, ending, mut context, outputs, view } = leaving;
    let port = burst.port(packet);
    let bytes = burst.bytes(packet);
    let last_pass = match &mut engine.runner {
        Runner::Jit(compiled) => compiled.last_pass(),
        Runner::Interpreter(_) => 0,
    };
    let run = Run {
        packet: number,
        pass_number: last_pass + reception.as_ref().map_or(0, |reception| reception.passes()),
        counted_bytes: bytes.len() as u32,
        pass: None,
    };
    let (block, outcome) = match ending {
        Ending::Exit(_) | Ending::NoRoom | Ending::Done => {
            context.packet.clear();
            context.packet.extend_from_slice(bytes);
            let exit = match ending {
                Ending::Exit(exit) => Some(exit),
                _ => None,
            };
            let left = LeftStraight { exit, number, port, reception, context, outputs, view };
            return engine.leave_straight(machine, left);
        }
        Ending::StepLimit { block } => (block, Outcome::StepLimit),
        Ending::AssertionFailed { block, origin, is_assume } => {
            (block, Outcome::AssertionFailed { origin, is_assume })
        }
        Ending::ExternFailed { block, target, message } => {
            (block, Outcome::ExternFailed { target, message })
        }
    };
    engine.recycle(context);
    if let Some(reception) = reception {
        reception.add_passes(engine.passes_until(block));
    }
    engine.end(machine, block, &outcome, &run)
}

impl Switch {
    /// Forwards the packets of a burst that no device has taken yet, in order. Each arrives at the
    /// device's time and runs to its end, as by [`Device::inject`] and [`Device::run_to_completion`],
    /// before the next one arrives; what leaves is in the burst's outputs, and not in
    /// [`Device::drain_transmitted`]. After an error the packets behind the failing one can be forwarded
    /// by another call.
    ///
    /// With compiled code, and as long as its port has no rate, latency, pause or anything else that would
    /// hold it up, a packet that goes from one port to one other is changed in place, without an
    /// allocation or a lock.
    pub(crate) fn forward(&mut self, burst: &mut Burst) -> Result<(), DeviceError> {
        self.serve_waiting();
        while let Some(first) = burst.next() {
            let last = match burst.first_beyond(first, self.engine().largest_port()) {
                Some(wrong) if wrong == first => {
                    burst.set_next(first + 1);
                    let (port, largest) = (burst.port(first), self.engine().largest_port());
                    return Err(DeviceError::NoSuchPort { port, largest });
                }
                Some(wrong) => wrong,
                None => burst.len(),
            };
            let last = self.first_at_mac(burst, first..last);
            let is_idle = last > first && self.machine.is_idle() && !self.machine.keeps_a_pace();
            match self.way_of_burst(burst.largest_bytes()).filter(|_| is_idle) {
                Some(way) => self.forward_straight(burst, first..last, way)?,
                None => self.forward_generally(burst, first)?,
            }
        }
        Ok(())
    }

    /// The first packet of a range that ends at the MAC of its port, or the end of the range.
    fn first_at_mac(&self, burst: &Burst, mut packets: Range<usize>) -> usize {
        let (machine, last) = (&self.machine, packets.end);
        if !machine.has_flow_control() {
            return last;
        }
        let ends_there =
            |packet: &usize| machine.ends_at_mac(burst.port(*packet), burst.bytes(*packet));
        packets.find(ends_there).unwrap_or(last)
    }

    /// The straight way that packets of at most so many bytes may take now, one after the other.
    fn way_of_burst(&mut self, length_bytes: usize) -> Option<Way> {
        let most_bytes = self.may_go_straight(length_bytes, 0)?;
        let traffic = &mut self.machine.traffic;
        let now_ps = self.machine.now_ps;
        if traffic.lets_straight_through(most_bytes, now_ps) {
            return Some(Way::Plain);
        }
        let is_gated = traffic.is_mostly_ideal()
            && traffic.next_ready().is_none()
            && traffic.opens_gates(most_bytes, now_ps)
            && self.has_gated_way();
        is_gated.then_some(Way::Gated(Passage::Gone))
    }

    /// The straight way that a packet of so many bytes may take now, in its pass of this number.
    fn way_of_one(&mut self, length_bytes: usize, pass: u64) -> Option<Way> {
        let most_bytes = self.may_go_straight(length_bytes, pass)?;
        let traffic = &mut self.machine.traffic;
        let now_ps = self.machine.now_ps;
        if !traffic.has_gates()
            && (traffic.lets_one_through(most_bytes, now_ps)
                || traffic.lets_straight_through(most_bytes, now_ps))
        {
            return Some(Way::Plain);
        }
        let is_gated = traffic.opens_gates(most_bytes, now_ps) && self.has_gated_way();
        is_gated.then_some(Way::Gated(Passage::Prompt))
    }

    pub(crate) fn has_gated_way(&mut self) -> bool {
        match &mut self.current_engine_and_machine().0.runner {
            Runner::Jit(compiled) => compiled.straight(true).is_some(),
            Runner::Interpreter(_) => false,
        }
    }

    /// Whether a packet of so many bytes in its pass of this number may go straight as far as queues and
    /// wires let it: the most bytes that it may have then.
    fn may_go_straight(&self, length_bytes: usize, pass: u64) -> Option<u64> {
        let engine = self.engine();
        let has_code = match &engine.runner {
            Runner::Jit(compiled) => compiled.has_straight(),
            Runner::Interpreter(_) => false,
        };
        let options = &self.machine.options;
        let may = has_code
            && self.machine.tap.is_none()
            && options.pass_limit.is_none_or(|limit| u64::from(limit) >= pass + 2)
            && options.ingress_latency_ps == 0;
        may.then(|| length_bytes as u64 + engine.most_header_bytes())
    }

    fn forward_straight(
        &mut self,
        burst: &mut Burst,
        packets: Range<usize>,
        way: Way,
    ) -> Result<(), DeviceError> {
        let (first, first_number) = (packets.start, self.receptions);
        let last = packets.end;
        let (engine, machine) = self.current_engine_and_machine();
        let left = run_straight(engine, machine, burst, packets, (first_number, 0), way);
        let Some(leaving) = left else {
            self.receptions += (last - first) as u64;
            burst.set_next(last);
            return Ok(());
        };
        let packet = leaving.packet;
        burst.set_next(packet + 1);
        let number = first_number + (packet - first) as u64;
        self.receptions = number + 1;
        let already = self.machine.transmitted.len();
        let (engine, machine) = self.current_engine_and_machine();
        let done = go_on(engine, machine, burst, leaving, number, None);
        let done = done.and_then(|()| self.run_to_completion());
        self.take_outputs(burst, packet, already);
        done
    }

    fn forward_generally(&mut self, burst: &mut Burst, packet: usize) -> Result<(), DeviceError> {
        burst.set_next(packet + 1);
        let already = self.machine.transmitted.len();
        let bytes = burst.bytes(packet).to_vec();
        let done = self
            .inject(burst.port(packet), self.machine.now_ps, bytes)
            .and_then(|_| self.run_to_completion());
        self.take_outputs(burst, packet, already);
        done
    }

    /// Moves what was sent since then to the burst.
    fn take_outputs(&mut self, burst: &mut Burst, packet: usize, already: usize) {
        let mut taken = 0;
        while self.machine.transmitted.len() > already + taken {
            let sent = &mut self.machine.transmitted[already + taken];
            burst.send_copy(packet, sent.port, sent.queue, &sent.bytes);
            let bytes = std::mem::take(&mut sent.bytes);
            self.machine.recycle_bytes(bytes);
            taken += 1;
        }
        self.machine.transmitted.truncate(already);
    }

    /// Runs a packet that comes to ingress now on the straight way, if it may take it; it is then done, on
    /// its way round, or queued where it has to wait. Else it is handed back.
    pub(crate) fn receive_straight(
        &mut self,
        mut arrival: Box<Arrival>,
    ) -> Result<Option<Box<Arrival>>, DeviceError> {
        let (length, first_pass) = (arrival.bytes.len(), arrival.reception.passes());
        if length > LARGEST_SINGLE_BYTES {
            return Ok(Some(arrival));
        }
        let Some(way) = self.way_of_one(length, first_pass) else { return Ok(Some(arrival)) };
        let mut single = self.take_single();
        single.clear();
        // It is empty, and the length was looked at.
        let _ = single.push(arrival.port, &arrival.bytes);
        let number = arrival.reception.number;
        let (engine, machine) = self.current_engine_and_machine();
        let (sent_before, dropped_before) =
            (machine.sent, machine.straight.dropped_after_ingress());
        let left = run_straight(engine, machine, &mut single, 0..1, (number, first_pass), way);
        let done = match left {
            Some(leaving) => {
                let reception = Some(arrival.reception);
                go_on(engine, machine, &single, leaving, number, reception)
            }
            None => {
                machine.sent = sent_before;
                let queue = single.last_queue();
                // One at most leaves; what has none was dropped, and its passes are nobody's business
                // unless it has copies, which count on.
                match single.outputs().next() {
                    Some(sent) => {
                        arrival.reception.add_passes(2);
                        arrival.bytes.clear();
                        arrival.bytes.extend_from_slice(sent.bytes);
                        machine.leave_straight(sent.port, queue, arrival);
                    }
                    None => {
                        let is_after_ingress =
                            machine.straight.dropped_after_ingress() > dropped_before;
                        arrival.reception.add_passes(if is_after_ingress { 1 } else { 2 });
                    }
                }
                Ok(())
            }
        };
        self.put_single(single);
        done.map(|()| None)
    }
}
