// SPDX-License-Identifier: Apache-2.0
//! A program loaded into a device: its interpreter, its state, and its architecture at work. Several
//! may be loaded; they share the device's clock, queues and ports, which are not here.

use crate::architecture::{self, Architecture};
use crate::environment::BlockEnvironment;
use crate::machine::Machine;
use crate::output::{DeviceError, LoadError};
use crate::packet::{Arrival, Generation, Traveller};
use crate::statistics::DropReason;
use crate::trace::PassId;
use crate::traffic_manager::Dequeued;
use interpreter::trace::Recorder;
use interpreter::{Interpreter, Observer, Outcome, PacketContext};
use ir::{CounterId, Operation, Program, RegisterId};
use state::{Cells, Configuration, Store};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Counters above so many cells start anew in a program that is swapped in.
const LARGEST_CARRIED_COUNTER_CELLS: u64 = 1 << 24;

/// So many contexts are kept for later packets. After a burst the rest gives its memory back.
const MOST_FREE_CONTEXTS: usize = 64;

#[derive(Debug)]
pub(crate) struct Engine {
    pub program: Arc<Program>,
    pub generation: Generation,
    pub store: Store,
    pub cells: Cells,
    /// Packets in queues and events that belong to this program.
    pub in_flight: u64,
    /// Loaded, but not swapped in yet.
    pub is_waiting: bool,
    interpreter: Interpreter,
    architecture: Arc<dyn Architecture>,
    /// Storage of packets that are gone, for the next ones.
    free_contexts: Vec<PacketContext>,
}

/// In which pass of which packet a block runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub packet: u64,
    pub pass_number: u32,
    /// What counters and meters count.
    pub counted_bytes: u32,
    /// Where the trace goes.
    pub pass: Option<PassId>,
}

impl Engine {
    pub fn load(
        program: Arc<Program>,
        generation: Generation,
        drop_port: Option<u32>,
    ) -> Result<Engine, LoadError> {
        let architecture = architecture::describe(&program, drop_port)?;
        refuse_externs(&program)?;
        Ok(Engine {
            generation,
            store: Store::new(program.clone()).map_err(LoadError::InitialState)?,
            cells: Cells::new(&program),
            in_flight: 0,
            is_waiting: false,
            interpreter: Interpreter::new(program.clone()),
            architecture,
            free_contexts: Vec::new(),
            program,
        })
    }

    pub fn largest_port(&self) -> u32 {
        self.architecture.largest_port()
    }

    pub fn ingress(&mut self, machine: &mut Machine, arrival: Arrival) -> Result<(), DeviceError> {
        self.architecture.clone().ingress(self, machine, arrival)
    }

    pub fn enqueue(&mut self, machine: &mut Machine, port: u32, packet: Traveller) {
        self.architecture.clone().enqueue(self, machine, port, packet);
    }

    pub fn egress(
        &mut self,
        machine: &mut Machine,
        port: u32,
        packet: Dequeued<Traveller>,
    ) -> Result<(), DeviceError> {
        self.architecture.clone().egress(self, machine, port, packet)
    }

    /// Storage for a packet before its parser.
    pub fn context(&mut self, bytes: Vec<u8>) -> PacketContext {
        let mut context = match self.free_contexts.pop() {
            Some(mut context) => {
                context.reset();
                context
            }
            None => self.interpreter.context(),
        };
        context.packet = bytes;
        context
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
        configuration: &Configuration,
        run: &Run,
    ) -> Result<Outcome, DeviceError> {
        let is_recorded = run.pass.is_some_and(PassId::is_kept);
        let mut observer = is_recorded
            .then(|| Recorder::new(self.program.clone()).watching(self.architecture.drop_slot()));
        let mut environment = BlockEnvironment {
            now_ps: machine.now_ps,
            seed: machine.options.seed,
            device_id: machine.options.device_id,
            run,
            log: &mut machine.log,
        };
        let outcome = self.interpreter.run_block(
            block,
            context,
            configuration,
            &mut self.cells,
            &mut environment,
            observer.as_mut().map(|observer| observer as &mut dyn Observer),
        );
        if let (Some(pass), Some(mut observer), Some(recorder)) =
            (run.pass, observer, &mut machine.recorder)
        {
            let stage = self.architecture.stage_name(block);
            let trees = observer.take().into_iter().map(|tree| tree.with("stage", stage));
            recorder.add(pass, trees);
            recorder.note_store(pass, observer.take_last_store());
        }
        match &outcome {
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
        Ok(outcome)
    }

    /// Runs a control; returns whether the packet goes on.
    pub fn run_control(
        &mut self,
        machine: &mut Machine,
        block: usize,
        context: &mut PacketContext,
        configuration: &Configuration,
        run: &Run,
    ) -> Result<bool, DeviceError> {
        let outcome = self.run(machine, block, context, configuration, run)?;
        Ok(matches!(outcome, Outcome::Returned | Outcome::Exited))
    }

    /// Takes over registers and counters of equal name and shape.
    pub fn carry_state_from(&mut self, other: &Engine) {
        let (mine, theirs) = (&self.program, &other.program);
        for (at, register) in mine.registers.iter().enumerate() {
            let same = theirs.registers.iter().position(|before| {
                before.name == register.name
                    && before.width_bits == register.width_bits
                    && before.size == register.size
            });
            let from = same.and_then(|at| other.cells.register(RegisterId(at as u32)));
            let to = self.cells.register_mut(RegisterId(at as u32));
            if let (Some(from), Some(to)) = (from, to) {
                to.clone_from(from);
            }
        }
        for (at, counter) in mine.counters.iter().enumerate() {
            let to = CounterId(at as u32);
            let same = theirs.counters.iter().position(|before| {
                before.name == counter.name
                    && before.unit == counter.unit
                    && before.size == counter.size
            });
            let Some(from) = same.map(|at| CounterId(at as u32)) else { continue };
            if counter.size.is_none_or(|size| size > LARGEST_CARRIED_COUNTER_CELLS) {
                continue;
            }
            for index in 0..other.cells.counter_size(from) {
                if let Some(value) = other.cells.counter(from, index) {
                    self.cells.set_counter(to, index, value);
                }
            }
        }
    }
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
