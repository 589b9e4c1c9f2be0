// SPDX-License-Identifier: Apache-2.0
//! A program loaded into a device: what runs its blocks, its state, and its architecture at work.
//! Several may be loaded; they share the device's clock, queues and ports, which are not here.

use crate::architecture::{self, Architecture, LeftStraight};
use crate::compiled_program::{CompiledProgram, ProgramCode};
use crate::environment::BlockEnvironment;
use crate::machine::Machine;
use crate::options::{DeviceOptions, EngineChoice, Shape};
use crate::output::{DeviceError, LoadError};
use crate::packet::{Arrival, Generation, Traveller};
use crate::pass::{Half, Pass, Run};
use crate::pass_timing::PassSchedule;
use crate::statistics::DropReason;
use crate::tap::TappedEvent;
use crate::trace::PassId;
use crate::traffic_manager::Dequeued;
use crate::view::View;
use interpreter::trace::Recorder;
use interpreter::{Interpreter, Observer, Outcome, PacketContext};
use ir::{Operation, Program};
use state::forwarding::{ForwardingCache, ForwardingGuard, ForwardingState};
use state::{Cells, Store};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::{Deref, RangeInclusive};
use std::sync::Arc;

/// So many contexts are kept for later packets. After a burst the rest gives its memory back.
const MOST_FREE_CONTEXTS: usize = 64;

/// A command for all ports means so many.
const MOST_PORTS: u32 = 512;

/// What runs blocks.
#[derive(Debug)]
pub(crate) enum Runner {
    Interpreter(Interpreter),
    Jit(Box<CompiledProgram>),
}

#[derive(Debug)]
pub(crate) struct Engine {
    pub program: Arc<Program>,
    pub generation: Generation,
    pub store: Arc<Store>,
    pub cells: Cells,
    /// Packets in queues and events that belong to this program.
    pub in_flight: u64,
    /// Loaded, but not swapped in yet.
    pub is_waiting: bool,
    pub runner: Runner,
    pub architecture: Arc<dyn Architecture>,
    /// Where passes take time.
    pub schedule: Option<PassSchedule>,
    shape: Shape,
    largest_port: u32,
    most_header_bytes: u64,
    /// Storage of packets that are gone, for the next ones.
    free_contexts: Vec<PacketContext>,
    /// The tables as packets see them, from burst to burst, as long as only the device itself writes to the
    /// store; dropped before it does.
    kept_tables: Option<ForwardingCache>,
    /// What packets on the straight way have in common; it goes with one that leaves it.
    pub straight_context: Option<PacketContext>,
}

/// What a burst needs of its engine.
pub(crate) struct BurstParts<'e> {
    pub runner: &'e mut Runner,
    pub cells: &'e mut Cells,
    pub tables: Tables<'e>,
    /// [`Engine::straight_context`]: it is there.
    pub straight_context: &'e mut Option<PacketContext>,
}

/// One version of the tables, for a burst.
pub(crate) enum Tables<'e> {
    Kept(&'e Arc<ForwardingState>),
    Guarded(ForwardingGuard),
}

impl Tables<'_> {
    /// A share of the version, for a packet that needs it for longer.
    pub fn into_shared(self) -> Arc<ForwardingState> {
        match self {
            Tables::Kept(state) => state.clone(),
            Tables::Guarded(guard) => guard.into_shared(),
        }
    }
}

impl Deref for Tables<'_> {
    type Target = ForwardingState;

    #[inline]
    fn deref(&self) -> &ForwardingState {
        match self {
            Tables::Kept(state) => state,
            Tables::Guarded(guard) => guard,
        }
    }
}

impl Engine {
    /// Loads a program; with another engine that runs it on compiled code in the same way, the code is
    /// shared.
    pub fn load(
        program: Arc<Program>,
        generation: Generation,
        options: &DeviceOptions,
        like: Option<&Engine>,
    ) -> Result<Engine, LoadError> {
        let architecture = architecture::describe(&program, options.drop_port)?;
        refuse_externs(&program)?;
        let schedule = match &options.pass_timing {
            None => None,
            Some(_) if options.effective_engine() == EngineChoice::Jit => {
                return Err(LoadError::PassTimingOnJit);
            }
            Some(timing) => Some(PassSchedule::new(
                &program,
                timing,
                (architecture.ingress_blocks(), options.ingress_latency_ps),
                (architecture.egress_blocks(), options.egress_latency_ps),
            )?),
        };
        let runner = match options.effective_engine() {
            EngineChoice::Interpreter => Runner::Interpreter(Interpreter::new(program.clone())),
            EngineChoice::Jit => {
                let code = match like.and_then(|like| like.code_for(&program, &options.shape())) {
                    Some(code) => code,
                    None => {
                        let queue_count = options.traffic_manager.least_queue_count();
                        let straight = architecture.straight(&program, queue_count);
                        let code = ProgramCode::new(&program, straight);
                        Arc::new(code.map_err(|error| LoadError::NotCompiled(error.message))?)
                    }
                };
                Runner::Jit(Box::new(CompiledProgram::new(code)))
            }
        };
        let store = Store::new(program.clone()).map_err(LoadError::InitialState)?;
        if matches!(runner, Runner::Jit(_)) {
            store.set_memory_advisor(jit::prefer_large_pages);
        }
        Ok(Engine {
            generation,
            store: Arc::new(store),
            cells: Cells::new(&program),
            in_flight: 0,
            is_waiting: false,
            runner,
            largest_port: architecture.largest_port(),
            architecture,
            schedule,
            shape: options.shape(),
            most_header_bytes: most_header_bytes(&program),
            free_contexts: Vec::new(),
            kept_tables: None,
            straight_context: None,
            program,
        })
    }

    /// Its code, if that serves a device of this shape for this program.
    fn code_for(&self, program: &Arc<Program>, shape: &Shape) -> Option<Arc<ProgramCode>> {
        match &self.runner {
            Runner::Jit(compiled) if Arc::ptr_eq(program, &self.program) => {
                (self.shape == *shape).then(|| compiled.code().clone())
            }
            _ => None,
        }
    }

    #[inline]
    pub fn largest_port(&self) -> u32 {
        self.largest_port
    }

    /// The numbered ports that a controller means: one, or all of a common size.
    pub fn ports(&self, port: Option<u32>) -> RangeInclusive<u32> {
        port.map_or(0..=self.largest_port.min(MOST_PORTS - 1), |port| port..=port)
    }

    /// Sets options that are otherwise on the program's architecture.
    pub fn set_defaults(&self, options: &mut DeviceOptions) {
        self.architecture.set_defaults(options);
    }

    pub fn ingress(&mut self, machine: &mut Machine, arrival: Arrival) -> Result<(), DeviceError> {
        if let Some(tap) = &mut machine.tap {
            let what = TappedEvent::Ingress {
                port: arrival.port,
                by: arrival.entrance.into(),
                arrived_ps: arrival.arrived_ps,
                bytes: arrival.bytes.clone(),
            };
            let reception = &arrival.reception;
            tap.at(reception.number, reception.passes()).note(machine.now_ps, what);
        }
        match self.architecture.clone().begin_ingress(self, machine, arrival) {
            Some(pass) => self.start_pass(machine, pass),
            None => Ok(()),
        }
    }

    pub fn enqueue(&mut self, machine: &mut Machine, port: u32, packet: Traveller) {
        machine.tap_last_pass(&packet.reception);
        self.architecture.clone().enqueue(self, machine, port, packet);
    }

    pub fn egress(
        &mut self,
        machine: &mut Machine,
        port: u32,
        packet: Dequeued<Traveller>,
    ) -> Result<(), DeviceError> {
        if let Some(tap) = &mut machine.tap {
            let what = TappedEvent::Egress {
                port,
                queue: packet.queue,
                enqueued_ps: packet.enqueued_ps,
                depth_packets: packet.depth_packets,
                packet: self.architecture.at_egress(&packet.item),
            };
            let reception = &packet.item.reception;
            tap.at(reception.number, reception.passes()).note(machine.now_ps, what);
        }
        match self.architecture.clone().begin_egress(self, machine, port, packet) {
            Some(pass) => self.start_pass(machine, pass),
            None => Ok(()),
        }
    }

    /// How long a pass takes from its beginning to its finish.
    pub fn duration_ps(&self, half: Half) -> u64 {
        self.schedule.as_ref().map_or(0, |schedule| schedule.half(half).duration_ps)
    }

    /// From the finish of a pass through ingress to the queues, in picoseconds.
    pub fn time_to_queues_ps(&self, machine: &Machine) -> u64 {
        match &self.schedule {
            Some(_) => 0,
            None => machine.options.ingress_latency_ps,
        }
    }

    /// From a queue to the wire, in picoseconds.
    pub fn time_to_wire_ps(&self, machine: &Machine) -> u64 {
        match &self.schedule {
            Some(schedule) => schedule.egress.duration_ps,
            None => machine.options.egress_latency_ps,
        }
    }

    fn start_pass(&mut self, machine: &mut Machine, pass: Pass) -> Result<(), DeviceError> {
        match self.duration_ps(pass.half) {
            0 => self.run_pass(machine, pass),
            _ => {
                self.begin_timed(machine, pass);
                Ok(())
            }
        }
    }

    /// Runs a pass to its end at once, on the configuration as it is now.
    fn run_pass(&mut self, machine: &mut Machine, mut pass: Pass) -> Result<(), DeviceError> {
        let architecture = self.architecture.clone();
        let view = self.view();
        for &block in architecture.blocks(pass.half) {
            let outcome = self.run(machine, block, &mut pass.packet.context, &view, &pass.run)?;
            match architecture.after_block(self, machine, pass, block, &outcome) {
                Some(goes_on) => pass = goes_on,
                None => return Ok(()),
            }
        }
        architecture.finish(self, machine, &view, pass)
    }

    /// How many passes a fresh packet has made when it is in a block of the straight way.
    pub fn passes_until(&self, block: usize) -> u64 {
        match self.architecture.stage_name(block) {
            "egress" | "checksum computation" | "deparser" => 2,
            _ => 1,
        }
    }

    /// Goes on with a packet that left the straight way.
    pub fn leave_straight(
        &mut self,
        machine: &mut Machine,
        left: LeftStraight,
    ) -> Result<(), DeviceError> {
        self.architecture.clone().leave_straight(self, machine, left)
    }

    /// The configuration of the pass that begins now.
    pub fn view(&self) -> View {
        match &self.runner {
            Runner::Interpreter(_) => View::Configuration(self.store.configuration()),
            Runner::Jit(_) => View::Forwarding(self.store.forwarding()),
        }
    }

    /// Storage for a packet before its parser.
    pub fn context(&mut self, bytes: Vec<u8>) -> PacketContext {
        let mut context = match self.free_contexts.pop() {
            Some(mut context) => {
                context.reset();
                context
            }
            None => self.new_context(),
        };
        context.packet = bytes;
        context
    }

    /// Sees to it that there is storage for packets on the straight way, with whatever an earlier packet
    /// left in it: their code begins by itself.
    #[inline]
    pub fn prepare_straight_context(&mut self) {
        if self.straight_context.is_none() {
            self.make_straight_context();
        }
    }

    /// What a burst needs, with the current version of the tables.
    #[inline]
    pub fn for_burst(&mut self) -> BurstParts<'_> {
        self.prepare_straight_context();
        // While other threads may write, the version is given back after each burst.
        if self.store.has_concurrent_writers() {
            self.forget_tables();
        } else if self.kept_tables.is_none() {
            self.kept_tables = Some(self.store.forwarding_cache());
        }
        let kept = self.kept_tables.as_mut().and_then(ForwardingCache::get);
        let tables = match kept {
            Some(state) => Tables::Kept(state),
            None => Tables::Guarded(self.store.forwarding_guard()),
        };
        let Engine { runner, cells, straight_context, .. } = self;
        BurstParts { runner, cells, tables, straight_context }
    }

    /// Gives back the version of the tables that was kept, before the store is written to.
    #[inline]
    pub fn forget_tables(&mut self) {
        self.kept_tables = None;
    }

    #[cold]
    fn make_straight_context(&mut self) {
        let mut context = self.free_contexts.pop().unwrap_or_else(|| self.new_context());
        context.begin_pass();
        self.straight_context = Some(context);
    }

    /// The most that a packet can grow by headers.
    #[inline]
    pub fn most_header_bytes(&self) -> u64 {
        self.most_header_bytes
    }

    fn new_context(&self) -> PacketContext {
        match &self.runner {
            Runner::Interpreter(interpreter) => interpreter.context(),
            Runner::Jit(compiled) => PacketContext::with_layout(compiled.layout().clone()),
        }
    }

    /// Takes the storage of a packet that is gone, to be used again. It may as well be dropped.
    pub fn recycle(&mut self, context: PacketContext) {
        if self.free_contexts.len() < MOST_FREE_CONTEXTS {
            self.free_contexts.push(context);
        }
    }

    /// Runs a block. A packet at its step limit is counted as dropped here; a failed assertion is
    /// the error.
    pub fn run(
        &mut self,
        machine: &mut Machine,
        block: usize,
        context: &mut PacketContext,
        view: &View,
        run: &Run,
    ) -> Result<Outcome, DeviceError> {
        let mut observer = run.pass.is_some_and(PassId::is_kept).then(|| self.recorder());
        let (clock, run_of_environment) = (Cell::new(machine.now_ps), Cell::new(*run));
        let mut environment = BlockEnvironment::of_one(machine, &clock, &run_of_environment);
        let outcome = match (&mut self.runner, view) {
            (Runner::Interpreter(interpreter), View::Configuration(configuration)) => interpreter
                .run_block(
                    block,
                    context,
                    configuration,
                    &mut self.cells,
                    &mut environment,
                    observer.as_mut().map(|observer| observer as &mut dyn Observer),
                ),
            (Runner::Jit(compiled), View::Forwarding(forwarding)) => compiled
                .run_block(block, context, forwarding, &mut self.cells, &mut environment)
                .map_err(|error| DeviceError::NotCompiled { message: error.message })?,
            // A view is of the side that its engine reads.
            (Runner::Interpreter(_), View::Forwarding(_))
            | (Runner::Jit(_), View::Configuration(_)) => {
                unreachable!("the view is of the other engine")
            }
        };
        self.record(machine, block, run, observer);
        self.end(machine, block, &outcome, run)?;
        Ok(outcome)
    }

    /// Makes the observer of a block for the trace.
    pub fn recorder(&self) -> Recorder {
        Recorder::new(self.program.clone()).watching(self.architecture.drop_slot())
    }

    /// Adds what was seen of a block to the trace of its pass.
    pub fn record(
        &self,
        machine: &mut Machine,
        block: usize,
        run: &Run,
        observer: Option<Recorder>,
    ) {
        if let (Some(pass), Some(mut observer), Some(recorder)) =
            (run.pass, observer, &mut machine.recorder)
        {
            let stage = self.architecture.stage_name(block);
            let trees = observer.take().into_iter().map(|tree| tree.with("stage", stage));
            recorder.add(pass, trees);
            recorder.note_store(pass, observer.take_last_store());
        }
    }

    /// What follows from how a block ended: see [`Engine::run`].
    pub fn end(
        &self,
        machine: &mut Machine,
        block: usize,
        outcome: &Outcome,
        run: &Run,
    ) -> Result<(), DeviceError> {
        match outcome {
            Outcome::StepLimit => machine.drop_packet(DropReason::StepLimit, run.pass),
            Outcome::AssertionFailed { origin, is_assume } => {
                machine.drop_packet(DropReason::AssertionFailed, run.pass);
                return Err(DeviceError::AssertionFailed {
                    is_assume: *is_assume,
                    origin: *origin,
                    block: self.program.blocks[block].name.clone(),
                    packet: run.packet,
                    time_ps: machine.now_ps,
                });
            }
            Outcome::ExternFailed { message, .. } => {
                return Err(DeviceError::ExternFailed {
                    message: message.clone(),
                    block: self.program.blocks[block].name.clone(),
                    packet: run.packet,
                    time_ps: machine.now_ps,
                });
            }
            Outcome::Returned | Outcome::Exited | Outcome::Rejected(_) => {}
        }
        Ok(())
    }

    /// Runs a control; returns whether the packet goes on.
    pub fn run_control(
        &mut self,
        machine: &mut Machine,
        block: usize,
        context: &mut PacketContext,
        view: &View,
        run: &Run,
    ) -> Result<bool, DeviceError> {
        let outcome = self.run(machine, block, context, view, run)?;
        Ok(matches!(outcome, Outcome::Returned | Outcome::Exited))
    }

    /// Takes over what has equal name and shape: see [`state::carry`].
    pub fn carry_state_from(&mut self, other: &Engine) {
        let from = (&*other.store, &other.cells, &*other.program);
        // Nobody else has the store of a program that has not run yet.
        if let Some(store) = Arc::get_mut(&mut self.store) {
            state::carry(from, (store, &mut self.cells, &self.program));
        }
    }
}

/// Bytes of all headers of a program together.
fn most_header_bytes(program: &Program) -> u64 {
    let bits = |header: &ir::Header| {
        let fields = &program.header_types[header.ty.index()].fields;
        fields.iter().map(|field| u64::from(field.ty.width_bits())).sum::<u64>()
    };
    program.headers.iter().map(bits).sum::<u64>().div_ceil(8)
}

/// A device provides no externs beyond its architecture's, so a program that calls one is refused
/// before its first packet.
fn refuse_externs(program: &Program) -> Result<(), LoadError> {
    let mut names = BTreeSet::new();
    let instructions = program
        .regions
        .iter()
        .flat_map(|region| &region.blocks)
        .flat_map(|block| &block.instructions);
    for instruction in instructions {
        if let Operation::CallExtern { target, method, .. } = &instruction.operation
            && let Some(called) = program.externs.get(target.index())
        {
            names.insert(match (called.instance.is_empty(), method.is_empty()) {
                (true, true) => called.type_name.to_string(),
                (true, false) => format!("{}.{method}", called.type_name),
                (false, _) => {
                    format!("{}.{method} (of {})", called.instance, called.type_name)
                }
            });
        }
    }
    if names.is_empty() {
        Ok(())
    } else {
        Err(LoadError::UnsupportedExterns(names.into_iter().collect()))
    }
}
