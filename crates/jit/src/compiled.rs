// SPDX-License-Identifier: Apache-2.0
//! Compiled programs: units made into machine code, which lives as long as this does, and runs of
//! them. What the code is made of is in `codegen`.

use crate::codegen::call::{SELDOM, SeldomCalls, build_seldom_call, seldom_signature};
use crate::codegen::prefetch::make_prefetches;
use crate::codegen::unit::{self as function, Purpose, Surroundings as Around};
use crate::codegen::values::ConstantPool;
use crate::instance::{BoundInstance, Refreshed};
use crate::runtime::pass::{
    ENDED, ENDED_ASSERTION, ENDED_EXTERN, ENDED_NO_ROOM, ENDED_STEP_LIMIT, ENDS, NUMBERS,
    OUTCOME_EXITED, OUTCOME_REJECTED, OUTCOME_RETURNED, Pass, Surroundings, TAILROOM_BYTES,
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
use std::collections::HashMap;
use std::fmt;
use std::mem::transmute;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Why a program cannot be compiled. Programs that the verifier accepts and that lowering made can,
/// on a machine that the code generator knows.
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
    /// What looks or fetches ahead for it.
    prefetch: Option<Code>,
    /// How many words of gates it reads.
    pub gate_rows: usize,
    /// Whether it begins with zeros, and so runs on bursts.
    pub is_fresh: bool,
    /// Whether it takes what was found ahead, so that this has to run before.
    pub takes_found: bool,
}

/// Machine code of some units of a program. Dropping it frees the code.
pub struct Compiled {
    program: Arc<Program>,
    layout: Arc<StorageLayout>,
    units: Vec<CompiledUnit>,
    /// `None` only while it is dropped.
    module: Mutex<Option<JITModule>>,
    /// The code has addresses of these.
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
            // SAFETY: code runs only while somebody borrows this value, which nobody does any more,
            // and the addresses of functions do not leave it.
            unsafe { module.free_memory() };
        }
    }
}

/// Above so many IR instructions less is optimised, to keep compiling short.
const MOST_INSTRUCTIONS_OPTIMISED: usize = 60_000;

/// A unit whose wide temporaries need more of the stack than this is refused.
const MOST_FRAME_BYTES: u32 = 1 << 20;

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
        let level = if instructions > MOST_INSTRUCTIONS_OPTIMISED { "none" } else { "speed" };
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
        let Defined { functions, prefetches, found_ahead, code_bytes } = match result {
            Ok(defined) => defined,
            Err(failure) => {
                // SAFETY: nothing of it runs, as nothing was handed out.
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
            takes_found: found_ahead[at],
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

    /// Runs a block's unit on a packet in its context: its slots, bytes, cursor, what it emits and asks.
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
        let ending = runs.run(unit, &[0; NUMBERS], context);
        match ending {
            Ending::StepLimit { .. } => Outcome::StepLimit,
            Ending::AssertionFailed { origin, is_assume, .. } => {
                Outcome::AssertionFailed { origin, is_assume }
            }
            Ending::ExternFailed { target, message, .. } => {
                Outcome::ExternFailed { target, message }
            }
            Ending::Done | Ending::Exit(_) | Ending::NoRoom => match runs.pass.outcome {
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
        let Refreshed { pass, left, .. } = instance.refresh(&self.program, forwarding, cells);
        let around = Surroundings {
            program: &self.program,
            layout: &self.layout,
            cells,
            forwarding,
            environment,
            left,
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
    pub fn enter(&self, pass: &mut Pass, around: &mut Surroundings<'_>) -> u64 {
        call(self.code, pass, around)
    }

    /// Where its code is.
    #[inline]
    pub fn address(&self) -> usize {
        self.code as usize
    }

    /// Whether there is code that looks or fetches ahead for it.
    #[inline]
    pub fn can_prefetch(&self) -> bool {
        self.prefetch.is_some()
    }

    /// Runs the code that looks or fetches ahead for it, if there is any.
    #[inline]
    pub fn prefetch(&self, pass: &mut Pass, around: &mut Surroundings<'_>) {
        if let Some(code) = self.prefetch {
            call(code, pass, around);
        }
    }
}

/// Runs a function of some unit's code, which is alive.
#[inline]
fn call(code: Code, pass: &mut Pass, around: &mut Surroundings<'_>) -> u64 {
    around.pass = pass;
    pass.surroundings = std::ptr::from_mut(around).cast();
    // SAFETY: the code was made for this program. The pass has the addresses of a packet with
    // room before and after as it says, and of storage by the program's layout; the instance
    // behind it has the cells and tables of the same program, which are borrowed by `around` while it runs.
    unsafe { code(pass) }
}

/// Runs of units that keep their storage, one after another.
pub struct Runs<'a> {
    compiled: &'a Compiled,
    pass: &'a mut Pass,
    around: Surroundings<'a>,
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
        inputs: &[u64; NUMBERS],
        context: &mut PacketContext,
    ) -> Ending {
        let Runs { compiled, pass, around } = self;
        let unit = compiled.unit(unit);
        assert!(!unit.is_fresh, "a fresh unit runs on bursts only");
        assert_eq!(context.storage().len(), compiled.layout.words(), "of one program");
        debug_assert_eq!(**context.layout(), *compiled.layout);
        // What is read after the end is memory of the packet's own buffer.
        context.packet.reserve(TAILROOM_BYTES);
        pass.begin();
        pass.inputs = *inputs;
        pass.packet = context.packet.as_mut_ptr();
        pass.length_bytes = context.packet.len() as u64;
        pass.storage = context.storage_mut().as_mut_ptr();
        pass.cursor_bits = context.cursor_bits as u64;
        pass.counted_bytes = around.environment.packet_length_bytes();
        pass.now_ps = around.environment.now_ps();
        std::mem::swap(&mut context.requests, &mut around.left.requests);
        std::mem::swap(&mut context.emitted, &mut around.left.emitted);
        std::mem::swap(&mut context.draws, &mut around.left.draws);
        std::mem::swap(&mut context.actions, &mut around.left.actions);
        let code = unit.enter(pass, around);
        context.cursor_bits = pass.cursor_bits as usize;
        std::mem::swap(&mut context.draws, &mut around.left.draws);
        std::mem::swap(&mut context.actions, &mut around.left.actions);
        std::mem::swap(&mut context.requests, &mut around.left.requests);
        std::mem::swap(&mut context.emitted, &mut around.left.emitted);
        Ending::new(code, pass, &mut around.left.message)
    }
}

/// Functions that were compiled.
struct Defined {
    /// The units'.
    functions: Vec<FuncId>,
    /// Those that look or fetch ahead for them.
    prefetches: Vec<Option<FuncId>>,
    /// Whether the unit takes what was found ahead.
    found_ahead: Vec<bool>,
    /// How long all are in bytes.
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
    let seldom = define_seldom_calls(module, &mut context, &mut function_context)?;
    let analysis = Analysis::of(program);
    let around = Around {
        program,
        analysis: &analysis,
        layout,
        call_conv: module.isa().default_call_conv(),
        seldom: &seldom,
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
        if frame > MOST_FRAME_BYTES {
            return Err(error(format!(
                "values wider than 128 bits need {frame} bytes of the stack at once; the most is \
                 {MOST_FRAME_BYTES}"
            )));
        }
        define_function(module, id, &mut context)?;
        code_bytes += context.compiled_code().map_or(0, |code| code.code_buffer().len());
        module.clear_context(&mut context);
        Ok((id, lookups))
    };
    let mut functions = Vec::new();
    let (mut prefetches, mut found_ahead) = (Vec::new(), Vec::new());
    for (at, unit) in units.iter().enumerate() {
        let (run, lookups) = one(at, unit, Purpose::Run)?;
        functions.push(run);
        found_ahead.push(lookups.found_ahead() > 0);
        let is_wanted = unit.storage == Storage::Fresh && function::looks_up(program, unit);
        let purpose = match lookups.are_known() {
            true => Purpose::LookAhead(&lookups),
            false => Purpose::FetchAhead,
        };
        prefetches.push(if is_wanted { Some(one(at, unit, purpose)?.0) } else { None });
    }
    module.finalize_definitions().map_err(error)?;
    Ok(Defined { functions, prefetches, found_ahead, code_bytes })
}

/// Functions through which the runtime is called from where code hardly ever comes.
fn define_seldom_calls(
    module: &mut JITModule,
    context: &mut Context,
    function_context: &mut FunctionBuilderContext,
) -> Result<SeldomCalls, CompileError> {
    let (call_conv, config) = (module.isa().default_call_conv(), module.isa().frontend_config());
    let mut ids = Vec::new();
    for kind in SELDOM {
        let signature = seldom_signature(kind);
        let (parameters, has_result) = kind;
        let name = format!("seldom {parameters} {has_result}");
        let id = module.declare_function(&name, Linkage::Export, &signature).map_err(error)?;
        context.func.signature = signature;
        build_seldom_call(kind, call_conv, config, &mut context.func, function_context);
        define_function(module, id, context)?;
        module.clear_context(context);
        ids.push((kind, id));
    }
    module.finalize_definitions().map_err(error)?;
    let address = |(kind, id)| (kind, module.get_finalized_function(id) as usize);
    let mut addresses: HashMap<_, _> = ids.into_iter().map(address).collect();
    if let Some(by_hand) = crate::runtime::seldom::call_2_for_result() {
        addresses.insert((2, true), by_hand);
    }
    Ok(SeldomCalls { addresses })
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
    /// Begins anew, without anything of a burst. What headers were moved through may hold anything.
    fn begin(&mut self) {
        self.received = std::ptr::null_mut();
        self.received_end = std::ptr::null();
        self.sent = std::ptr::null_mut();
        self.gates = std::ptr::null();
        self.ended = [0; ENDS];
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
pub enum Ending {
    /// After its last step; of a burst, all packets.
    Done,
    /// By an exit of the unit.
    Exit(u32),
    /// Before an in-place deparser: the headers do not fit. The storage is as the deparser wants it.
    NoRoom,
    /// A block took too many back edges: [`ir::STEP_LIMIT`].
    StepLimit {
        /// Which block of the program.
        block: usize,
    },
    /// An assertion did not hold.
    AssertionFailed {
        /// Which block of the program.
        block: usize,
        /// Which assertion.
        origin: OriginId,
        /// Whether it was `assume`.
        is_assume: bool,
    },
    /// An extern could not be called.
    ExternFailed {
        /// Which block of the program.
        block: usize,
        /// Which extern.
        target: ExternId,
        /// Why, in a sentence.
        message: String,
    },
}

impl Ending {
    pub(crate) fn new(code: u64, pass: &Pass, message: &mut String) -> Ending {
        let block = pass.block as usize;
        match code {
            ENDED => Ending::Done,
            ENDED_NO_ROOM => Ending::NoRoom,
            ENDED_STEP_LIMIT => Ending::StepLimit { block },
            ENDED_ASSERTION => Ending::AssertionFailed {
                block,
                origin: OriginId(pass.detail as u32),
                is_assume: pass.detail >> 32 != 0,
            },
            ENDED_EXTERN => {
                let message = std::mem::take(message);
                Ending::ExternFailed { block, target: ExternId(pass.detail as u32), message }
            }
            exit => Ending::Exit(exit as u32),
        }
    }
}
