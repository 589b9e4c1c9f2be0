// SPDX-License-Identifier: Apache-2.0
//! Runs packets on the fast path: the conditions for it, the run over a range of a burst, and the continuation on the
//! slow path of a packet that took an exit. Outputs, statistics and state are the same on both paths.

use crate::burst::Burst;
use crate::compiled_program::BoundFastPath;
use crate::configuration_view::ConfigurationView;
use crate::engine::Engine;
use crate::environment::BlockEnvironment;
use crate::fast_path::{
    EXIT_EGRESS_DROP, EXIT_INGRESS_DROP, FastPathExit, FastPathKind, INPUT_TIME, OUTPUT_QUEUE,
    OUTPUT_QUEUED_LENGTH,
};
use crate::loaded_program::{BurstParts, LoadedProgram};
use crate::output::DeviceError;
use crate::packet::{Arrival, ProgramId, Reception};
use crate::pass::PassInfo;
use crate::switch::Switch;
use crate::switch_core::SwitchCore;
use crate::traffic_manager::GateKind;
use interpreter::{Outcome, PacketContext};
use jit::UnitExit;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// Largest length of a packet that takes the fast path in a burst of its own.
pub(crate) const MAX_SINGLE_BYTES: usize = 1 << 14;

/// Indexes of the drop counts among the exits of a unit that end a packet.
const AT_INGRESS_DROP: usize = (EXIT_INGRESS_DROP - jit::FIRST_WITHOUT_STORAGE) as usize;
const AT_EGRESS_DROP: usize = (EXIT_EGRESS_DROP - jit::FIRST_WITHOUT_STORAGE) as usize;

/// Returns the numbers of packets dropped after ingress and after egress.
pub(crate) fn drops_of(ended: &[u64]) -> (u64, u64) {
    (ended[AT_INGRESS_DROP], ended[AT_EGRESS_DROP])
}

/// A packet that did not complete the fast path.
pub(crate) struct UnfinishedPacket {
    pub packet: usize,
    pub ending: UnitExit,
    pub context: PacketContext,
    pub outputs: [u32; jit::MAX_OUTPUTS],
    pub view: ConfigurationView,
}

/// Runs a range of packets on the fast path until one does not complete it, and returns that packet. `first_number` is
/// the number of the first packet, `first_pass` the number of the pass that each begins.
pub(crate) fn run_fast_path(
    program: &mut LoadedProgram,
    core: &mut SwitchCore,
    burst: &mut Burst,
    packets: Range<usize>,
    (first_number, first_pass): (u64, u64),
    kind: FastPathKind,
) -> Option<UnfinishedPacket> {
    let largest_port = program.largest_port();
    let BurstParts { engine, cells, tables, fast_context } = program.for_burst();
    let Engine::Jit(compiled) = engine else { return None };
    let BoundFastPath { bound, .. } = compiled.fast_path(kind)?;
    let (now_ps, timestamp) = (core.now_ps, core.timestamp());
    let run =
        Cell::new(PassInfo { packet: 0, pass_number: first_pass, counted_bytes: 0, pass: None });
    // The environment counts packets from the beginning of the burst.
    let base = first_number.wrapping_sub(packets.start as u64);
    let clock = Cell::new(now_ps);
    let mut environment = BlockEnvironment {
        clock: &clock,
        seed: core.options.seed,
        device_id: core.options.device_id,
        run: &run,
        burst: Some(base),
        log: &mut core.log,
        tap: None,
    };
    let code = &bound.code;
    let context = fast_context.as_mut()?;
    let mut running = jit::Burst::new(code, &mut bound.instance, &tables, cells, &mut environment);
    running.inputs()[INPUT_TIME] = timestamp;
    let already = burst.sent_count();
    let fast_path = &mut core.fast_path;
    let gates = match kind {
        FastPathKind::Plain => &[],
        FastPathKind::Gated(kind) => core.traffic.gates(kind),
        FastPathKind::Planned => core.traffic.plan_rows(),
    };
    let early = running.run(0, burst.packets_mut(), packets.clone(), gates, context, now_ps);
    let (in_ingress, in_egress) = drops_of(&running.exit_counts());
    fast_path.dropped(in_ingress, in_egress);
    core.sent += (burst.sent_count() - already) as u64;
    let end = early.as_ref().map_or(packets.end, |early| early.packet + 1);
    fast_path.count(burst, packets.start..end, already, largest_port);
    let jit::EarlyExit { packet, exit: ending, outputs } = early?;
    let context = fast_context.take()?;
    let view = ConfigurationView::Forwarding(tables.into_shared());
    Some(UnfinishedPacket { packet, ending, context, outputs, view })
}

/// Continues a packet that did not complete the fast path, until it is queued, transmitted or dropped.
pub(crate) fn resume_on_slow_path(
    program: &mut LoadedProgram,
    core: &mut SwitchCore,
    burst: &Burst,
    unfinished: UnfinishedPacket,
    number: u64,
    reception: Option<Arc<Reception>>,
) -> Result<(), DeviceError> {
    let UnfinishedPacket { packet, ending, mut context, outputs, view } = unfinished;
    let port = burst.port(packet);
    let bytes = burst.bytes(packet);
    let last_pass = match program.engine_mut() {
        Engine::Jit(compiled) => compiled.last_pass(),
        Engine::Interpreter(_) => 0,
    };
    let run = PassInfo {
        packet: number,
        pass_number: last_pass + reception.as_ref().map_or(0, |reception| reception.passes()),
        counted_bytes: bytes.len() as u32,
        pass: None,
    };
    let (block, outcome) = match ending {
        UnitExit::Exit(_) | UnitExit::NoRoom | UnitExit::Done => {
            context.packet.clear();
            context.packet.extend_from_slice(bytes);
            let exit = match ending {
                UnitExit::Exit(exit) => Some(exit),
                _ => None,
            };
            let left = FastPathExit { exit, number, port, reception, context, outputs, view };
            return program.resume_after_exit(core, left);
        }
        UnitExit::StepLimit { block } => (block, Outcome::StepLimit),
        UnitExit::AssertionFailed { block, origin, is_assume } => {
            (block, Outcome::AssertionFailed { origin, is_assume })
        }
        UnitExit::ExternFailed { block, target, message } => {
            (block, Outcome::ExternFailed { target, message })
        }
    };
    program.executor.runner.recycle(context);
    if let Some(reception) = reception {
        reception.add_passes(program.passes_until(block));
    }
    let consequences = program.executor.runner.consequences(block, &outcome, &run, core.now_ps);
    if let (Some(reason), _) = consequences {
        core.drop_packet(reason, None);
    }
    consequences.1.map_or(Ok(()), Err)
}

/// Transmits a packet that completed the fast path in a burst of its own. If no packet left the burst, the packet was
/// dropped after this many passes; its copies count on from there.
#[inline]
pub(crate) fn transmit_completed(
    core: &mut SwitchCore,
    program: ProgramId,
    single: &Burst,
    mut arrival: Box<Arrival>,
    (kind, passes_if_dropped): (FastPathKind, u64),
) {
    match single.outputs().next() {
        Some(sent) => {
            arrival.reception.add_passes(2);
            arrival.bytes.clear();
            let stored = sent.bytes.len() - arrival.absent_bytes as usize;
            arrival.bytes.extend_from_slice(&sent.bytes[..stored]);
            let outputs = single.last_outputs();
            let queued_bytes =
                (kind == FastPathKind::Planned).then_some(outputs[OUTPUT_QUEUED_LENGTH]);
            core.transmit_completed(
                program,
                sent.port,
                outputs[OUTPUT_QUEUE],
                arrival,
                queued_bytes,
            );
        }
        None => arrival.reception.add_passes(passes_if_dropped),
    }
}

impl Switch {
    /// Returns the variant of the fast path that packets of at most `length_bytes` may take now, one after the other.
    pub(crate) fn fast_path_of_burst(
        &mut self,
        id: ProgramId,
        length_bytes: usize,
    ) -> Option<FastPathKind> {
        let max_bytes = self.fits_fast_path(id, length_bytes, 0)?;
        let traffic = &mut self.core.traffic;
        let now_ps = self.core.now_ps;
        if traffic.can_bypass_queues(max_bytes, now_ps) {
            return Some(FastPathKind::Plain);
        }
        let gated = FastPathKind::Gated(GateKind::InstantWire);
        let is_gated = traffic.is_mostly_ideal()
            && traffic.next_ready().is_none()
            && traffic.refresh_gates(max_bytes, now_ps)
            && self.has_code(id, gated);
        is_gated.then_some(gated)
    }

    /// Returns the variant of the fast path that one packet may take now in this pass.
    fn fast_path_of_one(
        &mut self,
        id: ProgramId,
        length_bytes: usize,
        pass: u64,
    ) -> Option<FastPathKind> {
        let max_bytes = self.fits_fast_path(id, length_bytes, pass)?;
        let now_ps = self.core.now_ps;
        if self.core.options.plans_departures
            && self.has_code(id, FastPathKind::Planned)
            && self.core.traffic.refresh_plans(max_bytes, now_ps)
        {
            return Some(FastPathKind::Planned);
        }
        let traffic = &mut self.core.traffic;
        if !traffic.has_gates()
            && (traffic.can_transmit_now(max_bytes, now_ps)
                || traffic.can_bypass_queues(max_bytes, now_ps))
        {
            return Some(FastPathKind::Plain);
        }
        let gated = FastPathKind::Gated(GateKind::IdleWire);
        (traffic.refresh_gates(max_bytes, now_ps) && self.has_code(id, gated)).then_some(gated)
    }

    /// Returns whether a program has this variant of the fast path.
    pub(crate) fn has_code(&mut self, id: ProgramId, kind: FastPathKind) -> bool {
        match self.programs.get_mut(id).map(LoadedProgram::engine_mut) {
            Some(Engine::Jit(compiled)) => compiled.fast_path(kind).is_some(),
            Some(Engine::Interpreter(_)) | None => false,
        }
    }

    /// Returns the largest length that a packet may have after added headers, if it may take the fast path in this pass,
    /// queues and wires aside.
    fn fits_fast_path(&self, id: ProgramId, length_bytes: usize, pass: u64) -> Option<u64> {
        let program = self.programs.get(id)?;
        let has_code = match program.engine() {
            Engine::Jit(compiled) => compiled.has_fast_path(),
            Engine::Interpreter(_) => false,
        };
        let options = &self.core.options;
        let may = has_code
            && options.may_use_fast_path()
            && options.pass_limit.is_none_or(|limit| u64::from(limit) >= pass + 2)
            && !self.core.caller_takes_any();
        may.then(|| length_bytes as u64 + program.max_header_bytes())
    }

    /// Runs an arriving packet on the fast path: it is then transmitted, dropped, looped back or queued. Hands the packet
    /// back if it may not take the fast path.
    pub(crate) fn receive_fast(
        &mut self,
        id: ProgramId,
        mut arrival: Box<Arrival>,
    ) -> Result<Option<Box<Arrival>>, DeviceError> {
        let (length, first_pass) = (arrival.length_bytes(), arrival.reception.passes());
        let kind = match length {
            0..=MAX_SINGLE_BYTES => self.fast_path_of_one(id, length, first_pass),
            _ => None,
        };
        if arrival.absent_bytes > 0
            && (kind.is_none() || !self.reads_at_most(id, arrival.bytes.len()))
        {
            arrival.store_absent();
        }
        let Some(kind) = kind else { return Ok(Some(arrival)) };
        let mut single = self.take_single();
        single.clear();
        single.push_short(arrival.port, &arrival.bytes, arrival.absent_bytes);
        let number = arrival.reception.number;
        let Some((program, core)) = self.program_and_core(id) else { return Ok(None) };
        let (sent_before, dropped_before) = (core.sent, core.fast_path.dropped_after_ingress());
        let left = run_fast_path(program, core, &mut single, 0..1, (number, first_pass), kind);
        let done = match left {
            Some(unfinished) => {
                single.clear_behind(0, arrival.bytes.len());
                let reception = Some(arrival.reception);
                resume_on_slow_path(program, core, &single, unfinished, number, reception)
            }
            None => {
                core.sent = sent_before;
                let is_after_ingress = core.fast_path.dropped_after_ingress() > dropped_before;
                let passes_if_dropped = if is_after_ingress { 1 } else { 2 };
                transmit_completed(core, id, &single, arrival, (kind, passes_if_dropped));
                Ok(())
            }
        };
        self.put_single(single);
        done.map(|()| None)
    }

    /// Returns whether a program reads at most so many bytes of a packet.
    fn reads_at_most(&self, id: ProgramId, bytes: usize) -> bool {
        let most = self.programs.get(id).and_then(LoadedProgram::max_read_bytes);
        most.is_some_and(|most| most <= bytes)
    }

    /// Returns whether packets may take the fast path, queues aside.
    pub(crate) fn has_fast_path(&self, id: ProgramId) -> bool {
        let has_code = match self.programs.get(id).map(LoadedProgram::engine) {
            Some(Engine::Jit(compiled)) => compiled.has_fast_path(),
            Some(Engine::Interpreter(_)) | None => false,
        };
        has_code && self.core.options.may_use_fast_path() && !self.core.caller_takes_any()
    }

    pub(crate) fn take_single(&mut self) -> Box<Burst> {
        let single = self.single.take();
        single.unwrap_or_else(|| Box::new(Burst::new(1, MAX_SINGLE_BYTES)))
    }

    pub(crate) fn put_single(&mut self, single: Box<Burst>) {
        self.single = Some(single);
    }
}
