// SPDX-License-Identifier: Apache-2.0
//! Calls from compiled code to functions of the runtime. They are called by address, which is a
//! constant in the code: compiled code never outlives the process.

use cranelift_codegen::ir::{
    AbiParam, Function, InstBuilder, MemFlagsData, SigRef, Signature, Value, types,
};
use cranelift_codegen::isa::{CallConv, TargetFrontendConfig};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use std::collections::HashMap;

/// A function of the runtime: every parameter is 64 bits wide, and so is the result, if any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuntimeFunction {
    /// Where it starts.
    pub address: usize,
    /// Number of parameters.
    pub parameters: usize,
    /// Whether it has a result.
    pub has_result: bool,
}

/// Declares constructors, by number of parameters, for functions with or without a result.
macro_rules! constructors {
    ($($name:ident $parameters:literal ($($parameter:ty),*) $(-> $result:ty)?;)*) => {
        impl RuntimeFunction {$(
            #[doc = concat!("A function with ", $parameters, " parameters.")]
            pub fn $name(function: unsafe extern "C" fn($($parameter),*) $(-> $result)?) -> RuntimeFunction {
                let has_result = false $(|| size_of::<$result>() > 0)?;
                RuntimeFunction { address: function as usize, parameters: $parameters, has_result }
            }
        )*}
    };
}

constructors! {
    taking_1 1 (u64);
    taking_2 2 (u64, u64);
    taking_3 3 (u64, u64, u64);
    taking_4 4 (u64, u64, u64, u64);
    taking_5 5 (u64, u64, u64, u64, u64);
    giving_2 2 (u64, u64) -> u64;
    giving_3 3 (u64, u64, u64) -> u64;
    giving_4 4 (u64, u64, u64, u64) -> u64;
    giving_5 5 (u64, u64, u64, u64, u64) -> u64;
    giving_6 6 (u64, u64, u64, u64, u64, u64) -> u64;
    giving_7 7 (u64, u64, u64, u64, u64, u64, u64) -> u64;
}

/// Signatures that one function under construction has imported.
#[derive(Debug, Default)]
pub(crate) struct Signatures {
    known: HashMap<(usize, bool), SigRef>,
}

impl Signatures {
    /// Emits a call; the result, if the function has one.
    pub fn call(
        &mut self,
        builder: &mut FunctionBuilder<'_>,
        call_conv: CallConv,
        function: RuntimeFunction,
        arguments: &[Value],
    ) -> Option<Value> {
        debug_assert_eq!(arguments.len(), function.parameters);
        let key = (function.parameters, function.has_result);
        let signature = *self.known.entry(key).or_insert_with(|| {
            let mut signature = Signature::new(call_conv);
            signature.params.extend((0..key.0).map(|_| AbiParam::new(types::I64)));
            signature.returns.extend((0..usize::from(key.1)).map(|_| AbiParam::new(types::I64)));
            builder.import_signature(signature)
        });
        let address = builder.ins().iconst(types::I64, function.address as i64);
        let call = builder.ins().call_indirect(signature, address, arguments);
        builder.inst_results(call).first().copied()
    }
}

/// Kinds of functions (parameters, whether there is a result) that are called seldom.
pub(crate) const SELDOM: [(usize, bool); 6] =
    [(2, true), (3, true), (4, true), (3, false), (4, false), (5, false)];

/// Functions that call one of the runtime's and leave all registers as they were. A call that is hardly
/// ever reached then costs the code around it nothing: no value has to move out of its way.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeldomCalls {
    /// Addresses by kind.
    pub addresses: HashMap<(usize, bool), usize>,
}

/// The signature of [`SeldomCalls`]' function for a kind: address of the function to call, its
/// arguments, address of its result.
pub(crate) fn seldom_signature((parameters, has_result): (usize, bool)) -> Signature {
    let mut signature = Signature::new(CallConv::PreserveAll);
    let count = 1 + parameters + usize::from(has_result);
    signature.params.extend((0..count).map(|_| AbiParam::new(types::I64)));
    signature
}

/// Fills in [`SeldomCalls`]' function for a kind.
pub(crate) fn build_seldom_call(
    kind: (usize, bool),
    call_conv: CallConv,
    frontend_config: TargetFrontendConfig,
    function: &mut Function,
    function_context: &mut FunctionBuilderContext,
) {
    let (parameters, has_result) = kind;
    let mut builder = FunctionBuilder::new(function, function_context);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    builder.seal_block(entry);
    let given = builder.block_params(entry).to_vec();
    let mut signature = Signature::new(call_conv);
    signature.params.extend((0..parameters).map(|_| AbiParam::new(types::I64)));
    signature.returns.extend((0..usize::from(has_result)).map(|_| AbiParam::new(types::I64)));
    let signature = builder.import_signature(signature);
    let call = builder.ins().call_indirect(signature, given[0], &given[1..=parameters]);
    if let (Some(&result), Some(&place)) =
        (builder.inst_results(call).first(), given.get(parameters + 1))
    {
        builder.ins().store(MemFlagsData::trusted(), result, place, 0);
    }
    builder.ins().return_(&[]);
    builder.finalize(frontend_config);
}
