// SPDX-License-Identifier: Apache-2.0
//! `LoadedProgram`: a program in a device with its executor, configuration, architecture and packets in flight. All loaded
//! programs share the clock, queues and ports of `switch_core`.

use crate::architecture::Architecture;
use crate::architectures;
use crate::compiled_program::{CompiledProgram, ProgramCode};
use crate::configuration_view::ConfigurationView;
use crate::control_request::SharedProgram;
use crate::engine::{BlockRunner, Engine, RandomSource, StageNames};
use crate::executor::Executor;
use crate::externs;
use crate::fast_path::FastPathExit;
use crate::held_packets::HeldPackets;
use crate::options::{CodeOptions, DeviceOptions, EngineChoice};
use crate::output::{DeviceError, LoadError};
use crate::packet::{Arrival, ProgramId, QueuedPacket};
use crate::pass::{EgressAhead, Gress, Half, Pass, PassEnd, PassHold, PassInfo, ProgramLease};
use crate::pass_timing::PassSchedule;
use crate::services::{Membership, Services};
use crate::switch_core::SwitchCore;
use crate::tap::TappedEvent;
use crate::trace::{Cause, TraceNode};
use crate::traffic_manager::Dequeued;
use interpreter::{Interpreter, PacketContext};
use ir::architecture::{BlockRole, role_of};
use ir::lowering::PROBE_REQUEST;
use ir::{Program, RequestId};
use state::forwarding::{ForwardingCache, ForwardingState};
use state::{Cells, Store};
use std::ops::{Deref, RangeInclusive};
use std::sync::Arc;

/// Number of ports that a command for all ports affects.
const MAX_PORTS: u32 = 512;

#[derive(Debug)]
pub(crate) struct LoadedProgram {
    pub store: Arc<Store>,
    pub executor: Executor,
    pub membership: Membership,
    /// Packets that its externs hold.
    pub held: HeldPackets,
    /// The times of passes, with [`DeviceOptions::pass_timing`].
    pub schedule: Option<PassSchedule>,
    code_options: CodeOptions,
    largest_port: u32,
    /// The half of the pipeline of each block.
    block_gress: Vec<Gress>,
    max_header_bytes: u64,
    /// The most bytes of a packet that its parsers read; `None` without a limit, and if it reads the payload.
    max_read_bytes: Option<usize>,
    /// The version of the tables, kept between bursts. The device drops it before it writes. After a pause of packets,
    /// other threads that write may find it pinned and copy the tables that they change once more.
    kept_tables: Option<ForwardingCache>,
    /// Storage for packets on the fast path. A packet that takes an exit takes the storage with it.
    pub fast_context: Option<PacketContext>,
    /// The program and its store for targets on other threads.
    pub shared_program: Arc<SharedProgram>,
    /// Whether it is, or was, the main program.
    pub has_been_main: bool,
    /// Whether it is unloaded when its last packet has left.
    pub is_leaving: bool,
    /// The code that owns the program's cells, if this code was replaced.
    pub borrows_cells_of: Option<ProgramId>,
}

/// The parts of a program that a burst uses.
pub(crate) struct BurstParts<'e> {
    pub engine: &'e mut Engine,
    pub cells: &'e mut Cells,
    pub tables: Tables<'e>,
    /// [`LoadedProgram::fast_context`]: it is there.
    pub fast_context: &'e mut Option<PacketContext>,
}

/// One version of the tables, for a burst.
pub(crate) enum Tables<'e> {
    Kept(&'e Arc<ForwardingState>),
    Shared(Arc<ForwardingState>),
}

impl Tables<'_> {
    /// Converts to a shared reference, for a packet that needs the version beyond the burst.
    pub fn into_shared(self) -> Arc<ForwardingState> {
        match self {
            Tables::Kept(state) => state.clone(),
            Tables::Shared(state) => state,
        }
    }
}

impl Deref for Tables<'_> {
    type Target = ForwardingState;

    #[inline]
    fn deref(&self) -> &ForwardingState {
        match self {
            Tables::Kept(state) => state,
            Tables::Shared(state) => state,
        }
    }
}

impl LoadedProgram {
    /// Loads a program. Shares the machine code of `like` if that has the same program and code options.
    pub fn load(
        program: Arc<Program>,
        options: &DeviceOptions,
        like: Option<&LoadedProgram>,
    ) -> Result<LoadedProgram, LoadError> {
        let architecture = architectures::instantiate(&program, options)?;
        let cells = externs::provide(&program, &*architecture, &options.externs)?;
        let schedule = match &options.pass_timing {
            None => None,
            Some(_) if options.effective_engine() == EngineChoice::Jit => {
                return Err(LoadError::PassTimingOnJit);
            }
            Some(timing) => Some(PassSchedule::new(
                &program,
                timing,
                (architecture.blocks(Gress::Ingress), options.ingress_latency_ps),
                (architecture.blocks(Gress::Egress), options.egress_latency_ps),
            )?),
        };
        let engine = match options.effective_engine() {
            EngineChoice::Interpreter => Engine::Interpreter(Interpreter::new(program.clone())),
            EngineChoice::Jit => {
                let code =
                    match like.and_then(|like| like.code_for(&program, &options.code_options())) {
                        Some(code) => code,
                        None => {
                            let queue_count = options.traffic_manager.min_queue_count();
                            let fast_path = architecture.fast_path(&program, queue_count);
                            Arc::new(ProgramCode::new(&program, fast_path))
                        }
                    };
                let compiled = CompiledProgram::new(code, options.may_use_fast_path())
                    .map_err(|error| LoadError::NotCompiled(error.message))?;
                Engine::Jit(Box::new(compiled))
            }
        };
        let store = Store::new(program.clone()).map_err(LoadError::InitialState)?;
        if matches!(engine, Engine::Jit(_)) {
            store.set_memory_advisor(jit::prefer_large_pages);
        }
        let described: Vec<Option<&BlockRole>> =
            program.blocks.iter().map(|block| role_of(&program, block)).collect();
        let stages = StageNames {
            names: described.iter().map(|role| role.map_or("", |role| role.display_name)).collect(),
            drop_slot: architecture.drop_slot(),
        };
        let random = RandomSource { seed: options.seed, device_id: options.device_id };
        let lease = Arc::new(ProgramLease { id: ProgramId(0), name: ProgramId(0) });
        let times_ps = match &schedule {
            Some(schedule) => (0, schedule.egress.duration_ps),
            None => (options.ingress_latency_ps, options.egress_latency_ps),
        };
        let store = Arc::new(store);
        Ok(LoadedProgram {
            shared_program: Arc::new(SharedProgram::new(program.clone(), store.clone())),
            has_been_main: false,
            is_leaving: false,
            borrows_cells_of: None,
            store,
            membership: Membership {
                lease: lease.clone(),
                in_flight: 0,
                hold: Arc::new(PassHold),
                time_to_queues_ps: times_ps.0,
                time_to_wire_ps: times_ps.1,
            },
            held: HeldPackets::default(),
            largest_port: architecture.largest_port(),
            schedule,
            code_options: options.code_options(),
            block_gress: described
                .iter()
                .map(|role| role.map_or(Gress::Ingress, |it| it.gress))
                .collect(),
            max_header_bytes: max_header_bytes(&program),
            max_read_bytes: ir::reading::max_read_bytes(&program),
            kept_tables: None,
            fast_context: None,
            executor: Executor {
                runner: BlockRunner::new(program, engine, cells, stages, random),
                architecture,
                lease,
            },
        })
    }

    /// Returns the number of its code in the device, which packets carry.
    pub fn id(&self) -> ProgramId {
        self.membership.lease.id
    }

    /// Returns the program's public number: that of its first code.
    pub fn name(&self) -> ProgramId {
        self.membership.lease.name
    }

    /// Sets its numbers, before the first pass.
    pub fn set_id(&mut self, id: ProgramId, name: ProgramId) {
        let lease = Arc::new(ProgramLease { id, name });
        self.executor.lease = lease.clone();
        self.membership.lease = lease;
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.executor.runner.program
    }

    /// Returns the engine of its blocks.
    pub fn engine(&self) -> &Engine {
        &self.executor.runner.engine
    }

    /// Returns the engine of its blocks for a run.
    pub fn engine_mut(&mut self) -> &mut Engine {
        &mut self.executor.runner.engine
    }

    /// Returns its registers, counters and meters.
    pub fn cells(&self) -> &Cells {
        &self.executor.runner.cells
    }

    /// Returns its store and its cells for writing.
    pub fn state_mut(&mut self) -> (&Arc<Store>, &mut Cells) {
        (&self.store, &mut self.executor.runner.cells)
    }

    /// Returns its machine code, if that fits a program and code options.
    fn code_for(
        &self,
        program: &Arc<Program>,
        code_options: &CodeOptions,
    ) -> Option<Arc<ProgramCode>> {
        match self.engine() {
            Engine::Jit(compiled) if Arc::ptr_eq(program, self.program()) => {
                (self.code_options == *code_options).then(|| compiled.code().clone())
            }
            _ => None,
        }
    }

    #[inline]
    pub fn largest_port(&self) -> u32 {
        self.largest_port
    }

    /// Returns the ports that a controller names: one, or all up to a limit.
    pub fn ports(&self, port: Option<u32>) -> RangeInclusive<u32> {
        port.map_or(0..=self.largest_port.min(MAX_PORTS - 1), |port| port..=port)
    }

    /// Completes options with the defaults of the program's architecture.
    pub fn set_defaults(&self, options: &mut DeviceOptions) {
        self.executor.architecture.set_defaults(options);
    }

    /// Returns whether a pass belongs to this loaded program.
    pub fn is_of(&self, pass: &Pass) -> bool {
        Arc::ptr_eq(&pass.lease, &self.membership.lease)
    }

    /// Returns whether the program has no packet in the device and no pass with a caller.
    pub fn is_done(&self) -> bool {
        self.membership.in_flight == 0 && Arc::strong_count(&self.membership.hold) == 1
    }

    /// Returns whether it was unloaded and its last packet has left.
    pub fn has_left(&self) -> bool {
        self.is_leaving && self.is_done()
    }

    /// Returns its architecture with the services of the device for this program.
    pub fn with_services<'s>(
        &'s mut self,
        core: &'s mut SwitchCore,
    ) -> (&'s Arc<dyn Architecture>, Services<'s>) {
        let Executor { runner, architecture, .. } = &mut self.executor;
        (architecture, Services::new(runner, core, &mut self.membership))
    }

    pub fn ingress(&mut self, core: &mut SwitchCore, arrival: Arrival) -> Result<(), DeviceError> {
        if let Some(tap) = &mut core.tap {
            let what = TappedEvent::Ingress {
                port: arrival.port,
                by: arrival.source,
                arrived_ps: arrival.arrived_ps,
                bytes: arrival.bytes.clone(),
            };
            let reception = &arrival.reception;
            tap.set_pass(reception.number, reception.passes()).record(core.now_ps, what);
        }
        let (architecture, mut services) = self.with_services(core);
        match architecture.begin_ingress(&mut services, arrival) {
            Some(pass) => self.start_pass(core, pass),
            None => Ok(()),
        }
    }

    pub fn enqueue(&mut self, core: &mut SwitchCore, port: u32, packet: Box<QueuedPacket>) {
        core.tap_last_pass(&packet.reception);
        let (architecture, mut services) = self.with_services(core);
        architecture.enqueue(&mut services, port, packet);
    }

    pub fn egress(
        &mut self,
        core: &mut SwitchCore,
        port: u32,
        packet: Dequeued<Box<QueuedPacket>>,
    ) -> Result<(), DeviceError> {
        if let Some(tap) = &mut core.tap {
            let what = TappedEvent::Egress {
                port,
                queue: packet.queue,
                enqueued_ps: packet.enqueued_ps,
                depth_packets: packet.depth_packets,
                packet: self.executor.architecture.at_egress(&packet.item),
            };
            let reception = &packet.item.reception;
            tap.set_pass(reception.number, reception.passes()).record(core.now_ps, what);
        }
        let (architecture, mut services) = self.with_services(core);
        match architecture.begin_egress(&mut services, port, packet) {
            Some(pass) => self.start_pass(core, pass),
            None => Ok(()),
        }
    }

    /// Returns the duration of a pass in picoseconds: 0 if passes take no time.
    pub fn duration_ps(&self, half: Half) -> u64 {
        self.schedule.as_ref().map_or(0, |schedule| schedule.half(half.gress()).duration_ps)
    }

    /// Runs a pass, or hands it to the caller. The pass reads the current configuration; a timed pass reads the
    /// configuration of each of its moments.
    fn start_pass(&mut self, core: &mut SwitchCore, mut pass: Pass) -> Result<(), DeviceError> {
        if core.caller_takes(&pass) {
            pass.view = Some(self.view());
            pass.hold = Some(self.membership.hold.clone());
            core.handed_out.push(pass);
            return Ok(());
        }
        match self.duration_ps(pass.half) {
            0 => {
                pass.view = Some(self.view());
                self.run_pass(core, pass)
            }
            _ => {
                self.begin_timed(core, pass);
                Ok(())
            }
        }
    }

    /// Runs a pass without duration to its end.
    fn run_pass(&mut self, core: &mut SwitchCore, mut pass: Pass) -> Result<(), DeviceError> {
        let mut ran = Ok(());
        while ran.is_ok() && pass.next_block().is_some() {
            ran = self.executor.run(&mut pass, core.now_ps).map(|_| ());
            core.take_record(&mut pass);
        }
        let finished = self.finish(core, pass);
        ran.and(finished)
    }

    /// Finishes a pass after its last block, or counts the drop of one that has ended.
    pub fn finish(&mut self, core: &mut SwitchCore, mut pass: Pass) -> Result<(), DeviceError> {
        core.take_record(&mut pass);
        if core.tap.is_some() {
            self.note_probes(core, &mut pass);
        }
        match pass.ended {
            None => {
                if !pass.packet.context.actions.is_empty() {
                    let actions = std::mem::take(&mut pass.packet.context.actions);
                    return self.act_and_finish(core, pass, actions);
                }
                let (architecture, mut services) = self.with_services(core);
                return architecture.finish(&mut services, pass);
            }
            Some(PassEnd::Dropped(reason)) => core.drop_packet(reason, pass.run.pass),
            Some(PassEnd::Failed) => {}
        }
        self.executor.runner.recycle(pass.packet.context);
        Ok(())
    }

    /// Returns whether egress may run ahead of the arrival of packets.
    pub fn egress_runs_ahead(&self) -> bool {
        self.executor.architecture.egress_runs_ahead()
    }

    /// Finishes a packet whose egress has run ahead: transmits it or counts the drop.
    pub fn finish_behind_egress(
        &mut self,
        core: &mut SwitchCore,
        mut pass: Pass,
    ) -> Result<(), DeviceError> {
        core.take_record(&mut pass);
        let Pass { egress, packet, .. } = pass;
        let QueuedPacket { reception, context, .. } = *packet;
        let (_, mut services) = self.with_services(core);
        if services.next_pass(&reception, None).is_some() {
            match egress {
                EgressAhead::Sent { port, queue } => {
                    let departure = services.departure(port, queue);
                    services.transmit(departure, reception, context.outgoing_packet(), None);
                }
                EgressAhead::Dropped(reason) => services.drop_packet(reason, None),
                EgressAhead::No | EgressAhead::Allowed(_) => {}
            }
        }
        services.recycle(context);
        Ok(())
    }

    /// Moves the values of probes in a pass to the tap.
    fn note_probes(&self, core: &mut SwitchCore, pass: &mut Pass) {
        let declared = &self.program().requests;
        let is_probe = |request: RequestId| &*declared[request.index()].name == PROBE_REQUEST;
        let requests = &mut pass.packet.context.requests;
        for (request, values) in requests.extract_if(.., |(request, _)| is_probe(*request)) {
            if let Some(tap) = &mut core.tap {
                tap.record(core.now_ps, TappedEvent::Probed { request, values });
            }
        }
    }

    /// Copies a pass. `None` at the pass limit.
    pub fn fork(&mut self, core: &mut SwitchCore, pass: &Pass) -> Option<Pass> {
        let PassInfo { packet, pass: parent, counted_bytes, .. } = pass.run;
        let (_, mut services) = self.with_services(core);
        let pass_number = services.next_pass(&pass.packet.reception, parent)?;
        let step = || TraceNode::new(pass.gress().name(), "");
        let trace = services.begin_trace(packet, pass_number, (Cause::Clone, parent), step);
        let mut copy = pass.copy(PassInfo { packet, pass_number, counted_bytes, pass: trace });
        copy.packet.parent = trace;
        Some(copy)
    }

    /// Returns the number of passes that a packet has begun when it runs a block of the fast path.
    pub fn passes_until(&self, block: usize) -> u64 {
        match self.block_gress[block] {
            Gress::Ingress => 1,
            Gress::Egress => 2,
        }
    }

    /// Continues a packet that took an exit of the fast path.
    pub fn resume_after_exit(
        &mut self,
        core: &mut SwitchCore,
        left: FastPathExit,
    ) -> Result<(), DeviceError> {
        let (architecture, mut services) = self.with_services(core);
        architecture.resume_after_exit(&mut services, left)
    }

    /// Returns the configuration for a pass that begins now.
    pub fn view(&self) -> ConfigurationView {
        self.executor.runner.view(&self.store)
    }

    /// Ensures that there is storage for packets on the fast path. It need not be cleared: the code initializes it.
    #[inline]
    pub fn prepare_fast_context(&mut self) {
        if self.fast_context.is_none() {
            self.make_fast_context();
        }
    }

    /// Returns the parts that a burst uses, with the current version of the tables.
    #[inline]
    pub fn for_burst(&mut self) -> BurstParts<'_> {
        self.prepare_fast_context();
        let kept = self.kept_tables.get_or_insert_with(|| self.store.forwarding_cache());
        let tables = match kept.get() {
            Some(state) => Tables::Kept(state),
            None => Tables::Shared(self.store.forwarding()),
        };
        let BlockRunner { engine, cells, .. } = &mut self.executor.runner;
        BurstParts { engine, cells, tables, fast_context: &mut self.fast_context }
    }

    /// Releases the kept version of the tables before a write to the store.
    #[inline]
    pub fn forget_tables(&mut self) {
        self.kept_tables = None;
    }

    #[cold]
    fn make_fast_context(&mut self) {
        let mut context = self.executor.runner.used_context();
        context.begin_pass();
        self.fast_context = Some(context);
    }

    /// Returns the largest number of bytes that added headers can take.
    #[inline]
    pub fn max_header_bytes(&self) -> u64 {
        self.max_header_bytes
    }

    /// Returns the most bytes of a packet that its parsers read, if there is a limit and it does not read the payload.
    #[inline]
    pub fn max_read_bytes(&self) -> Option<usize> {
        self.max_read_bytes
    }

    /// Copies the state of objects with equal name and shape: see [`state::migrate`].
    pub fn migrate_state_from(&mut self, other: &LoadedProgram) {
        let both = (other.shared_program.clone(), self.shared_program.clone());
        // Both locks keep other threads from writing, and this is the only reference to the store that is written.
        let (_before, mut now) = (both.0.current_mut(), both.1.current_mut());
        now.store = other.store.clone();
        self.forget_tables();
        if let Some(store) = Arc::get_mut(&mut self.store) {
            let from = (&*other.store, other.cells(), &**other.program());
            let BlockRunner { cells, program, .. } = &mut self.executor.runner;
            state::migrate(from, (store, cells, program));
        }
        now.store = self.store.clone();
    }
}

/// Returns the length of all headers of a program together.
fn max_header_bytes(program: &Program) -> u64 {
    let bits = |header: &ir::Header| {
        let fields = &program.header_types[header.ty.index()].fields;
        fields.iter().map(|field| u64::from(field.ty.width_bits())).sum::<u64>()
    };
    program.headers.iter().map(bits).sum::<u64>().div_ceil(8)
}
