// SPDX-License-Identifier: Apache-2.0
//! `Engine` and `BlockRunner`: the interpreter or the machine code of a program, the cells that its blocks write, and a
//! pool of packet storage. Executors and architectures decide which block runs when.

use crate::compiled_program::{CompiledProgram, ProgramCode};
use crate::configuration_view::ConfigurationView;
use crate::drop_reason::DropReason;
use crate::environment::BlockEnvironment;
use crate::output::{DeviceError, LogLine};
use crate::pass::PassInfo;
use crate::tap::Tap;
use crate::trace::{PassId, TraceNode};
use interpreter::trace::{Recorder, StoreSite};
use interpreter::{Interpreter, Observer, Outcome, PacketContext};
use ir::{Program, RegionKind, SlotId, Terminator};
use state::{Cells, Store};
use std::cell::Cell;
use std::sync::Arc;

/// Number of packet contexts kept for reuse: as many as passes that run ahead, and more.
const CONTEXT_POOL_SIZE: usize = 2048;

/// The engine that runs blocks.
#[derive(Debug)]
pub(crate) enum Engine {
    Interpreter(Interpreter),
    Jit(Box<CompiledProgram>),
}

/// The part of the random key that is the same for all packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomSource {
    pub seed: u64,
    pub device_id: u64,
}

/// Names of blocks and the drop slot, for traces.
#[derive(Clone, Debug)]
pub(crate) struct StageNames {
    /// One name for each block of the program.
    pub names: Arc<[&'static str]>,
    /// The slot whose value drops a packet.
    pub drop_slot: Option<SlotId>,
}

/// The time at which a block runs, and the outputs for its log lines and tapped events.
pub(crate) struct BlockOutputs<'a> {
    pub now_ps: u64,
    pub log: &'a mut Vec<LogLine>,
    pub tap: Option<&'a mut Tap>,
}

/// An engine with one set of cells.
#[derive(Debug)]
pub(crate) struct BlockRunner {
    pub program: Arc<Program>,
    pub engine: Engine,
    pub cells: Cells,
    pub stages: StageNames,
    random: RandomSource,
    /// By block: whether it does nothing.
    is_empty: Arc<[bool]>,
    /// Contexts of finished packets for reuse.
    free_contexts: Vec<PacketContext>,
}

impl BlockRunner {
    /// Makes a runner on these cells.
    pub fn new(
        program: Arc<Program>,
        engine: Engine,
        cells: Cells,
        stages: StageNames,
        random: RandomSource,
    ) -> BlockRunner {
        let is_empty = program.blocks.iter().map(|block| {
            let region = &program.regions[block.region.index()];
            region.kind == RegionKind::Control
                && matches!(&region.blocks[..], [code] if code.instructions.is_empty() && code.terminator == Terminator::Return)
        });
        let is_empty = is_empty.collect();
        BlockRunner { program, engine, cells, stages, random, is_empty, free_contexts: Vec::new() }
    }

    /// Makes another runner of the same program and code, with its own cells in their initial state.
    pub fn sharing_code(&self) -> BlockRunner {
        let engine = match &self.engine {
            Engine::Interpreter(_) => Engine::Interpreter(Interpreter::new(self.program.clone())),
            Engine::Jit(compiled) => {
                Engine::Jit(Box::new(CompiledProgram::block_by_block(compiled.code().clone())))
            }
        };
        let cells = self.cells.another(&self.program);
        BlockRunner::new(self.program.clone(), engine, cells, self.stages.clone(), self.random)
    }

    /// Makes a runner of other code with equal state objects, on the same engine, with cells in their initial state.
    pub fn with_code(&self, program: Arc<Program>) -> BlockRunner {
        let engine = match &self.engine {
            Engine::Interpreter(_) => Engine::Interpreter(Interpreter::new(program.clone())),
            Engine::Jit(_) => {
                let no_fast_path = Err("it only runs single blocks".to_string());
                let code = Arc::new(ProgramCode::new(&program, no_fast_path));
                Engine::Jit(Box::new(CompiledProgram::block_by_block(code)))
            }
        };
        let cells = self.cells.another(&program);
        let names = program.blocks.iter().map(|_| "").collect();
        let stages = StageNames { names, drop_slot: self.stages.drop_slot };
        BlockRunner::new(program, engine, cells, stages, self.random)
    }

    /// Returns the current version of a store, on the side that the engine reads.
    pub fn view(&self, store: &Store) -> ConfigurationView {
        match &self.engine {
            Engine::Interpreter(_) => ConfigurationView::Configuration(store.configuration()),
            Engine::Jit(_) => ConfigurationView::Forwarding(store.forwarding()),
        }
    }

    /// Returns cleared storage for a packet.
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

    /// Returns storage that an earlier packet may have left uncleared.
    pub fn used_context(&mut self) -> PacketContext {
        self.free_contexts.pop().unwrap_or_else(|| self.new_context())
    }

    fn new_context(&self) -> PacketContext {
        match &self.engine {
            Engine::Interpreter(interpreter) => interpreter.context(),
            Engine::Jit(compiled) => PacketContext::with_layout(compiled.layout().clone()),
        }
    }

    /// Keeps the storage of a finished packet for reuse, up to the size of the pool.
    pub fn recycle(&mut self, context: PacketContext) {
        if self.free_contexts.len() < CONTEXT_POOL_SIZE {
            self.free_contexts.push(context);
        }
    }

    /// Runs a block on a packet.
    pub fn run(
        &mut self,
        block: usize,
        context: &mut PacketContext,
        view: &ConfigurationView,
        run: &PassInfo,
        outputs: BlockOutputs<'_>,
        observer: Option<&mut Recorder>,
    ) -> Result<Outcome, DeviceError> {
        if self.is_empty[block] && observer.is_none() {
            return Ok(Outcome::Returned);
        }
        let (clock, info) = (Cell::new(outputs.now_ps), Cell::new(*run));
        let environment = &mut self.random.environment(&clock, &info, outputs);
        match (&mut self.engine, view) {
            (Engine::Interpreter(interpreter), ConfigurationView::Configuration(configuration)) => {
                let observer = observer.map(|observer| observer as &mut dyn Observer);
                let cells = &mut self.cells;
                let outcome = interpreter.run_block(
                    block,
                    context,
                    configuration,
                    cells,
                    environment,
                    observer,
                );
                Ok(outcome)
            }
            (Engine::Jit(compiled), ConfigurationView::Forwarding(forwarding)) => compiled
                .run_block(block, context, forwarding, &mut self.cells, environment)
                .map_err(|error| DeviceError::NotCompiled { message: error.message }),
            // `BlockRunner::view` takes the side of its engine.
            (Engine::Interpreter(_), ConfigurationView::Forwarding(_))
            | (Engine::Jit(_), ConfigurationView::Configuration(_)) => {
                unreachable!("the view is of the other engine")
            }
        }
    }

    /// Returns the constant part of the random key.
    pub fn random(&self) -> RandomSource {
        self.random
    }

    /// Returns an observer for a block if the trace keeps the pass.
    pub fn recorder(&self, run: &PassInfo) -> Option<Recorder> {
        let is_kept = run.pass.is_some_and(PassId::is_kept);
        is_kept.then(|| Recorder::new(self.program.clone()).watching(self.stages.drop_slot))
    }

    /// Returns the recorded steps of a block, and the statement that set the drop slot last.
    pub fn trace_of(
        &self,
        block: usize,
        mut recorder: Recorder,
    ) -> (Vec<TraceNode>, Option<StoreSite>) {
        let stage = self.stages.names.get(block).copied().unwrap_or_default();
        let trees = recorder.take().into_iter().map(|tree| tree.with("stage", stage));
        (trees.collect(), recorder.take_last_store())
    }

    /// Returns what the outcome of a block leads to: a drop of the packet, and an error that stops the run.
    pub fn consequences(
        &self,
        block: usize,
        outcome: &Outcome,
        run: &PassInfo,
        time_ps: u64,
    ) -> (Option<DropReason>, Option<DeviceError>) {
        let name = || self.program.blocks[block].name.clone();
        let packet = run.packet;
        match outcome {
            Outcome::StepLimit => (Some(DropReason::StepLimit), None),
            Outcome::AssertionFailed { origin, is_assume } => {
                let (is_assume, origin) = (*is_assume, *origin);
                let error = DeviceError::AssertionFailed {
                    is_assume,
                    origin,
                    block: name(),
                    packet,
                    time_ps,
                };
                (Some(DropReason::AssertionFailed), Some(error))
            }
            Outcome::ExternFailed { message, .. } => {
                let message = message.clone();
                (None, Some(DeviceError::ExternFailed { message, block: name(), packet, time_ps }))
            }
            Outcome::Returned | Outcome::Exited | Outcome::Rejected(_) => (None, None),
        }
    }
}

impl RandomSource {
    /// Makes the environment of a block that runs on one packet.
    pub fn environment<'a>(
        &self,
        clock: &'a Cell<u64>,
        run: &'a Cell<PassInfo>,
        outputs: BlockOutputs<'a>,
    ) -> BlockEnvironment<'a> {
        BlockEnvironment {
            clock,
            seed: self.seed,
            device_id: self.device_id,
            run,
            burst: None,
            log: outputs.log,
            tap: outputs.tap,
        }
    }
}
