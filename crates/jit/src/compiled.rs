// SPDX-License-Identifier: Apache-2.0
//! Compiled programs: machine code of units, which lives as long as its [`Compiled`], and runs of it. `codegen`
//! emits the code.

use crate::codegen::call::{
    PRESERVE_ALL_KINDS, PreserveAllCalls, build_preserve_all_call, preserve_all_signature,
};
use crate::codegen::prefetch::make_prefetches;
use crate::codegen::unit::{self as function, Purpose, UnitContext};
use crate::codegen::values::ConstantPool;
use crate::instance::{BoundInstance, Refreshed};
use crate::runtime::pass::{
    ENDED, ENDED_ASSERTION, ENDED_EXTERN, ENDED_NO_ROOM, ENDED_STEP_LIMIT, MAX_COUNTED_EXITS,
    MAX_INPUTS, OUTCOME_EXITED, OUTCOME_REJECTED, OUTCOME_RETURNED, Pass, RuntimeContext,
    TAILROOM_BYTES,
};
use crate::unit::{Storage, Unit};
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{AbiParam, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleReloc};
use interpreter::{Environment, Outcome, PacketContext};
use ir::analysis::Analysis;
use ir::{ExternId, OriginId, Program, StorageLayout};
use state::Cells;
use state::forwarding::ForwardingState;
use std::fmt;
use std::mem::transmute;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The reason why a program cannot be compiled. Programs from lowering compile on every machine that Cranelift
/// supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    /// A sentence.
    pub message: String,
}

impl fmt::Display for CompileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for CompileError {}

fn error(message: impl fmt::Display) -> CompileError {
    CompileError { message: message.to_string() }
}

type Code = unsafe extern "C" fn(*mut Pass) -> u64;

/// Machine code of one unit, as long as its [`Compiled`] lives.
pub(crate) struct CompiledUnit {
    code: Code,
    /// The function that batches or prefetches its lookups.
    prefetch: Option<Code>,
    /// The number of words of gates that it reads.
    pub gate_rows: usize,
    /// Whether it begins with zeros, and so runs on bursts.
    pub is_fresh: bool,
    /// Whether it uses batched lookups, so that `prefetch` has to run before.
    pub takes_batched: bool,
}

/// Machine code of some units of a program. Dropping it frees the code.
pub struct Compiled {
    program: Arc<Program>,
    layout: Arc<StorageLayout>,
    units: Vec<CompiledUnit>,
    /// `None` only while it is dropped.
    module: Mutex<Option<JITModule>>,
    /// The code contains addresses of these.
    _constants: ConstantPool,
    compile_time: Duration,
    code_bytes: usize,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Compiled")
            .field("units", &self.units.len())
            .field("compile_time", &self.compile_time)
            .field("code_bytes", &self.code_bytes)
            .finish_non_exhaustive()
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        let module = self.module.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(module) = module {
            // SAFETY: code runs only while this value is borrowed, and addresses of functions do not leave it.
            unsafe { module.free_memory() };
        }
    }
}

/// Programs with more IR instructions are compiled without optimisation, to keep compile times short.
const MAX_INSTRUCTIONS_OPTIMISED: usize = 60_000;

/// Units whose wide temporaries need larger stack frames are refused.
const MAX_FRAME_BYTES: u32 = 1 << 20;

impl Compiled {
    /// Compiles units of a program that the verifier has accepted.
    pub fn new(program: Arc<Program>, units: &[Unit]) -> Result<Compiled, CompileError> {
        let start = Instant::now();
        let layout = Arc::new(StorageLayout::new(&program));
        for (at, stack) in program.stacks.iter().enumerate() {
            let id = ir::StackId(at as u32);
            if stack.size > 1 && layout.stack_stride_words(&program, id).is_none() {
                return Err(error(format!(
                    "the elements of `{}` do not stand at equal distances in storage",
                    stack.name
                )));
            }
        }
        let instructions: usize = program
            .regions
            .iter()
            .flat_map(|region| &region.blocks)
            .map(|block| block.instructions.len())
            .sum();
        let mut flags = settings::builder();
        let level = if instructions > MAX_INSTRUCTIONS_OPTIMISED { "none" } else { "speed" };
        let verifier = if cfg!(debug_assertions) { "true" } else { "false" };
        for (name, value) in [
            ("opt_level", level),
            ("enable_verifier", verifier),
            ("use_colocated_libcalls", "false"),
            ("is_pic", "false"),
            ("unwind_info", "false"),
            // Wide temporaries may make a frame larger than the guard below the stack.
            ("enable_probestack", "true"),
            ("probestack_strategy", "inline"),
        ] {
            flags.set(name, value).map_err(error)?;
        }
        let isa = cranelift_native::builder()
            .map_err(error)?
            .finish(settings::Flags::new(flags))
            .map_err(error)?;
        let builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
        let mut module = JITModule::new(builder);
        let mut constants = ConstantPool::default();
        let result = define(&program, &layout, units, &mut module, &mut constants);
        let Defined { functions, prefetches, takes_batched, code_bytes } = match result {
            Ok(defined) => defined,
            Err(failure) => {
                // SAFETY: no code of the module runs, as no address left this function.
                unsafe { module.free_memory() };
                return Err(failure);
            }
        };
        let code_of = |id| {
            let address = module.get_finalized_function(id);
            // SAFETY: the function was defined with this signature.
            unsafe { transmute::<*const u8, Code>(address) }
        };
        let unit = |(at, unit): (usize, &Unit)| CompiledUnit {
            code: code_of(functions[at]),
            prefetch: prefetches[at].map(code_of),
            gate_rows: unit.gate_rows(),
            is_fresh: unit.storage == Storage::Fresh,
            takes_batched: takes_batched[at],
        };
        let units = units.iter().enumerate().map(unit).collect();
        Ok(Compiled {
            program,
            layout,
            units,
            module: Mutex::new(Some(module)),
            _constants: constants,
            compile_time: start.elapsed(),
            code_bytes,
        })
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Where its slots are.
    pub fn layout(&self) -> &Arc<StorageLayout> {
        &self.layout
    }

    /// How long compiling took.
    pub fn compile_time(&self) -> Duration {
        self.compile_time
    }

    /// How long the machine code is in bytes.
    pub fn code_bytes(&self) -> usize {
        self.code_bytes
    }

    /// Runs a block's unit on a packet in its context: slots, bytes, cursor, emitted bits and requests.
    pub fn run_on_context(
        &self,
        unit: usize,
        context: &mut PacketContext,
        instance: &mut BoundInstance,
        forwarding: &ForwardingState,
        cells: &mut Cells,
        environment: &mut dyn Environment,
    ) -> Outcome {
        let mut runs = self.begin(instance, forwarding, cells, environment);
        let exit = runs.run(unit, &[0; MAX_INPUTS], context);
        match exit {
            UnitExit::StepLimit { .. } => Outcome::StepLimit,
            UnitExit::AssertionFailed { origin, is_assume, .. } => {
                Outcome::AssertionFailed { origin, is_assume }
            }
            UnitExit::ExternFailed { target, message, .. } => {
                Outcome::ExternFailed { target, message }
            }
            UnitExit::Done | UnitExit::Exit(_) | UnitExit::NoRoom => match runs.pass.outcome {
                OUTCOME_RETURNED => Outcome::Returned,
                OUTCOME_EXITED => Outcome::Exited,
                rejected => Outcome::Rejected((rejected - OUTCOME_REJECTED) as u32),
            },
        }
    }

    /// Begins runs of units that keep their storage, on one version of the tables and the cells of one
    /// instance.
    pub fn begin<'a>(
        &'a self,
        instance: &'a mut BoundInstance,
        forwarding: &'a ForwardingState,
        cells: &'a mut Cells,
        environment: &'a mut dyn Environment,
    ) -> Runs<'a> {
        let Refreshed { pass, side_outputs, .. } =
            instance.refresh(&self.program, forwarding, cells);
        let around = RuntimeContext {
            program: &self.program,
            layout: &self.layout,
            cells,
            forwarding,
            environment,
            side_outputs,
            pass: std::ptr::null(),
            drawing: 0,
        };
        Runs { compiled: self, pass, around }
    }

    #[inline]
    pub(crate) fn unit(&self, unit: usize) -> &CompiledUnit {
        &self.units[unit]
    }
}

impl CompiledUnit {
    /// Runs the unit.
    #[inline]
    pub fn enter(&self, pass: &mut Pass, around: &mut RuntimeContext<'_>) -> u64 {
        call(self.code, pass, around)
    }

    /// The address of its code.
    #[inline]
    pub fn address(&self) -> usize {
        self.code as usize
    }

    /// Whether a function batches or prefetches its lookups.
    #[inline]
    pub fn can_prefetch(&self) -> bool {
        self.prefetch.is_some()
    }

    /// Runs the function that batches or prefetches its lookups, if there is one.
    #[inline]
    pub fn prefetch(&self, pass: &mut Pass, around: &mut RuntimeContext<'_>) {
        if let Some(code) = self.prefetch {
            call(code, pass, around);
        }
    }
}

/// Calls a function of a unit that is alive.
#[inline]
fn call(code: Code, pass: &mut Pass, around: &mut RuntimeContext<'_>) -> u64 {
    around.pass = pass;
    pass.runtime_context = std::ptr::from_mut(around).cast();
    // SAFETY: the code was compiled for this program. The pass has the addresses of a packet with the room
    // before and after it that it states, and of storage by the program's layout; the instance after it has the
    // cells and tables of the same program, which `around` borrows while the code runs.
    unsafe { code(pass) }
}

/// Runs of units that keep their storage, one after another.
pub struct Runs<'a> {
    compiled: &'a Compiled,
    pass: &'a mut Pass,
    around: RuntimeContext<'a>,
}

impl fmt::Debug for Runs<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Runs").finish_non_exhaustive()
    }
}

impl Runs<'_> {
    /// Runs a unit on a packet in its context, with these inputs.
    pub fn run(
        &mut self,
        unit: usize,
        inputs: &[u64; MAX_INPUTS],
        context: &mut PacketContext,
    ) -> UnitExit {
        let Runs { compiled, pass, around } = self;
        let unit = compiled.unit(unit);
        assert!(!unit.is_fresh, "a fresh unit runs on bursts only");
        assert_eq!(context.storage().len(), compiled.layout.words(), "of one program");
        debug_assert_eq!(**context.layout(), *compiled.layout);
        // Compiled code may read past the end, within the packet's buffer.
        context.packet.reserve(TAILROOM_BYTES);
        pass.begin();
        pass.inputs = *inputs;
        pass.packet = context.packet.as_mut_ptr();
        pass.length_bytes = context.packet.len() as u64;
        pass.storage = context.storage_mut().as_mut_ptr();
        pass.cursor_bits = context.cursor_bits as u64;
        pass.counted_bytes = around.environment.packet_length_bytes();
        pass.now_ps = around.environment.now_ps();
        std::mem::swap(&mut context.requests, &mut around.side_outputs.requests);
        std::mem::swap(&mut context.emitted, &mut around.side_outputs.emitted);
        std::mem::swap(&mut context.draws, &mut around.side_outputs.draws);
        std::mem::swap(&mut context.actions, &mut around.side_outputs.actions);
        let code = unit.enter(pass, around);
        context.cursor_bits = pass.cursor_bits as usize;
        std::mem::swap(&mut context.draws, &mut around.side_outputs.draws);
        std::mem::swap(&mut context.actions, &mut around.side_outputs.actions);
        std::mem::swap(&mut context.requests, &mut around.side_outputs.requests);
        std::mem::swap(&mut context.emitted, &mut around.side_outputs.emitted);
        UnitExit::new(code, pass, &mut around.side_outputs.message)
    }
}

/// Compiled functions.
struct Defined {
    /// Those of the units.
    functions: Vec<FuncId>,
    /// Those that batch or prefetch their lookups.
    prefetches: Vec<Option<FuncId>>,
    /// Whether the unit uses batched lookups.
    takes_batched: Vec<bool>,
    /// The length of all in bytes.
    code_bytes: usize,
}

fn define(
    program: &Program,
    layout: &StorageLayout,
    units: &[Unit],
    module: &mut JITModule,
    constants: &mut ConstantPool,
) -> Result<Defined, CompileError> {
    let mut context = module.make_context();
    let mut function_context = FunctionBuilderContext::new();
    let mut code_bytes = 0;
    let preserve_all_calls =
        define_preserve_all_calls(module, &mut context, &mut function_context)?;
    let analysis = Analysis::of(program);
    let around = UnitContext {
        program,
        analysis: &analysis,
        layout,
        call_conv: module.isa().default_call_conv(),
        preserve_all_calls: &preserve_all_calls,
        frontend_config: module.isa().frontend_config(),
    };
    let mut one = |at: usize, unit: &Unit, purpose: Purpose<'_>| {
        let mut signature = module.make_signature();
        signature.params.push(AbiParam::new(types::I64));
        signature.returns.push(AbiParam::new(types::I64));
        let what = if let Purpose::Run = purpose { "unit" } else { "prefetch" };
        let name = format!("{what} {at} {}", unit.name);
        let id = module.declare_function(&name, Linkage::Export, &signature).map_err(error)?;
        context.func.signature = signature;
        let function = &mut context.func;
        let lookups =
            function::build(around, unit, purpose, function, &mut function_context, constants);
        let frame = context.func.sized_stack_slots.values().map(|slot| slot.size).sum::<u32>();
        if frame > MAX_FRAME_BYTES {
            return Err(error(format!(
                "values wider than 128 bits need {frame} bytes of the stack at once; the most is \
                 {MAX_FRAME_BYTES}"
            )));
        }
        define_function(module, id, &mut context)?;
        code_bytes += context.compiled_code().map_or(0, |code| code.code_buffer().len());
        module.clear_context(&mut context);
        Ok((id, lookups))
    };
    let mut functions = Vec::new();
    let (mut prefetches, mut takes_batched) = (Vec::new(), Vec::new());
    for (at, unit) in units.iter().enumerate() {
        let (run, lookups) = one(at, unit, Purpose::Run)?;
        functions.push(run);
        takes_batched.push(lookups.batched_count() > 0);
        let is_wanted = unit.storage == Storage::Fresh && function::looks_up(program, unit);
        let purpose = match lookups.are_known() {
            true => Purpose::BatchLookups(&lookups),
            false => Purpose::Prefetch,
        };
        prefetches.push(if is_wanted { Some(one(at, unit, purpose)?.0) } else { None });
    }
    module.finalize_definitions().map_err(error)?;
    Ok(Defined { functions, prefetches, takes_batched, code_bytes })
}

/// Defines the functions through which cold code calls the runtime.
fn define_preserve_all_calls(
    module: &mut JITModule,
    context: &mut Context,
    function_context: &mut FunctionBuilderContext,
) -> Result<PreserveAllCalls, CompileError> {
    let (call_conv, config) = (module.isa().default_call_conv(), module.isa().frontend_config());
    let mut ids = Vec::new();
    for kind in PRESERVE_ALL_KINDS {
        let signature = preserve_all_signature(kind);
        let (parameters, has_result) = kind;
        let name = format!("preserve_all_call {parameters} {has_result}");
        let id = module.declare_function(&name, Linkage::Export, &signature).map_err(error)?;
        context.func.signature = signature;
        build_preserve_all_call(kind, call_conv, config, &mut context.func, function_context);
        define_function(module, id, context)?;
        module.clear_context(context);
        ids.push((kind, id));
    }
    module.finalize_definitions().map_err(error)?;
    let address = |(kind, id)| (kind, module.get_finalized_function(id) as usize);
    let addresses = ids.into_iter().map(address).collect();
    Ok(PreserveAllCalls { addresses })
}

fn define_function(
    module: &mut JITModule,
    id: FuncId,
    context: &mut Context,
) -> Result<(), CompileError> {
    let failed =
        |failure: &dyn fmt::Debug| error(format!("the code generator failed: {failure:?}"));
    let isa = module.isa();
    let least_alignment = u64::from(isa.function_alignment().minimum).max(isa.symbol_alignment());
    context.compile(isa, &mut ControlPlane::default()).map_err(|failure| failed(&failure.inner))?;
    let Some(compiled) = context.compiled_code() else { return Err(failed(&"no code")) };
    let buffer = &compiled.buffer;
    let mut code = buffer.data().to_vec();
    make_prefetches(&mut code, buffer.traps()).ok_or_else(|| failed(&"an unknown load"))?;
    let relocation = |relocation| ModuleReloc::from_mach_reloc(relocation, &context.func, id);
    let relocations: Vec<_> = buffer.relocs().iter().map(relocation).collect();
    let alignment = least_alignment.max(u64::from(buffer.alignment));
    module
        .define_function_bytes(id, alignment, &code, &relocations)
        .map_err(|failure| failed(&failure))
}

impl Pass {
    /// Resets the pass for a run without a burst. The content of `scratch` stays undefined.
    fn begin(&mut self) {
        self.received = std::ptr::null_mut();
        self.received_end = std::ptr::null();
        self.sent = std::ptr::null_mut();
        self.gates = std::ptr::null();
        self.exit_counts = [0; MAX_COUNTED_EXITS];
        self.first = std::ptr::null_mut();
        self.stride_bytes = 0;
        self.headroom_bytes = 0;
        self.detail = 0;
        self.block = 0;
        self.outcome = OUTCOME_RETURNED;
    }
}

/// How a run of a unit ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitExit {
    /// After its last step; of a burst, all packets.
    Done,
    /// By an exit of the unit.
    Exit(u32),
    /// Before an in-place deparser: the headers do not fit. The storage is as before the deparser.
    NoRoom,
    /// A block took too many back edges: [`ir::STEP_LIMIT`].
    StepLimit {
        /// Index of the block in the program.
        block: usize,
    },
    /// An assertion did not hold.
    AssertionFailed {
        /// Index of the block in the program.
        block: usize,
        /// The assertion.
        origin: OriginId,
        /// Whether it was `assume`.
        is_assume: bool,
    },
    /// An extern could not be called.
    ExternFailed {
        /// Index of the block in the program.
        block: usize,
        /// The extern.
        target: ExternId,
        /// Why, in a sentence.
        message: String,
    },
}

impl UnitExit {
    pub(crate) fn new(code: u64, pass: &Pass, message: &mut String) -> UnitExit {
        let block = pass.block as usize;
        match code {
            ENDED => UnitExit::Done,
            ENDED_NO_ROOM => UnitExit::NoRoom,
            ENDED_STEP_LIMIT => UnitExit::StepLimit { block },
            ENDED_ASSERTION => UnitExit::AssertionFailed {
                block,
                origin: OriginId(pass.detail as u32),
                is_assume: pass.detail >> 32 != 0,
            },
            ENDED_EXTERN => {
                let message = std::mem::take(message);
                UnitExit::ExternFailed { block, target: ExternId(pass.detail as u32), message }
            }
            exit => UnitExit::Exit(exit as u32),
        }
    }
}
