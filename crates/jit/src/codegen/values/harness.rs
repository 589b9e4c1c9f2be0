// SPDX-License-Identifier: Apache-2.0
//! Test harness: compiles small functions on memory into one module and runs them on given words.

use super::{ConstantPool, ScratchSlots, Values};
use crate::codegen::call::Signatures;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Value, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};

/// Guard word after a result, to detect writes out of bounds.
const GUARD: u64 = 0x5ee5_5ee5_5ee5_5ee5;

/// A module under construction; each function has the addresses of a result and of its operands.
pub(crate) struct Harness {
    module: JITModule,
    context: FunctionBuilderContext,
    constants: ConstantPool,
    functions: Vec<FuncId>,
}

/// A module whose functions can be run.
pub(crate) struct Compiled {
    module: JITModule,
    /// The code has addresses of these.
    _constants: ConstantPool,
    functions: Vec<FuncId>,
}

impl Harness {
    /// With code as it is made for all but the largest programs.
    pub fn new() -> Harness {
        Harness::with_level("speed")
    }

    /// With a certain `opt_level`.
    pub fn with_level(level: &str) -> Harness {
        let mut flags = settings::builder();
        for (name, value) in [("opt_level", level), ("enable_verifier", "true")] {
            flags.set(name, value).expect("a known flag");
        }
        let isa = cranelift_native::builder()
            .expect("this processor")
            .finish(settings::Flags::new(flags))
            .expect("these flags");
        Harness {
            module: JITModule::new(JITBuilder::with_isa(isa, default_libcall_names())),
            context: FunctionBuilderContext::new(),
            constants: ConstantPool::default(),
            functions: Vec::new(),
        }
    }

    /// Adds a function: `emit` gets the address of the result and those of the operands.
    pub fn function(&mut self, emit: impl FnOnce(&mut Values<'_, '_>, Value, [Value; 2])) -> usize {
        let mut context = self.module.make_context();
        context.func.signature.params.extend([AbiParam::new(types::I64); 3]);
        let call_conv = context.func.signature.call_conv;
        let mut builder = FunctionBuilder::new(&mut context.func, &mut self.context);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        builder.seal_block(entry);
        let &[result, left, right] = builder.block_params(entry) else {
            unreachable!("three parameters")
        };
        let mut values = Values {
            builder: &mut builder,
            signatures: &mut Signatures::default(),
            call_conv,
            constants: &mut self.constants,
            scratch: &mut ScratchSlots::default(),
        };
        emit(&mut values, result, [left, right]);
        builder.ins().return_(&[]);
        builder.finalize(self.module.target_config());
        let id = self
            .module
            .declare_anonymous_function(&context.func.signature)
            .expect("a new function");
        self.module.define_function(id, &mut context).expect("correct code");
        self.functions.push(id);
        self.functions.len() - 1
    }

    pub fn compile(mut self) -> Compiled {
        self.module.finalize_definitions().expect("nothing is missing");
        let Harness { module, constants, functions, .. } = self;
        Compiled { module, _constants: constants, functions }
    }
}

impl Compiled {
    /// Runs a function; `count` words of result.
    pub fn run(&self, function: usize, operands: [&[u64]; 2], count: usize) -> Vec<u64> {
        let code = self.module.get_finalized_function(self.functions[function]);
        // SAFETY: the harness declared it with three parameters of 64 bits and no result.
        let code: unsafe extern "C" fn(*mut u64, *const u64, *const u64) =
            unsafe { std::mem::transmute(code) };
        let mut result = vec![GUARD; count + 2];
        // SAFETY: the code reads the operands and writes `count` words of result after the first word.
        unsafe {
            code(result.as_mut_ptr().add(1), operands[0].as_ptr(), operands[1].as_ptr());
        }
        assert_eq!([result[0], result[count + 1]], [GUARD; 2], "written beyond the result");
        result[1..=count].to_vec()
    }
}
