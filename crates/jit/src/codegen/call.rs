// SPDX-License-Identifier: Apache-2.0
//! Calls from compiled code to functions of the runtime. The address is a constant in the code, as compiled
//! code does not outlive the process.

use crate::runtime::RuntimeFunction;
use cranelift_codegen::ir::{
    AbiParam, Function, InstBuilder, MemFlagsData, SigRef, Signature, Value, types,
};
use cranelift_codegen::isa::{CallConv, TargetFrontendConfig};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use std::collections::HashMap;

/// Signatures that one function under construction has imported.
#[derive(Debug, Default)]
pub(crate) struct Signatures {
    known: HashMap<(usize, bool), SigRef>,
}

impl Signatures {
    /// Emits a call. Returns the result, if the function has one.
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

/// Kinds of functions (number of parameters, whether there is a result) that cold code calls.
pub(crate) const PRESERVE_ALL_KINDS: [(usize, bool); 6] =
    [(2, true), (3, true), (4, true), (3, false), (4, false), (5, false)];

/// Functions that call a function of the runtime and preserve all registers. A call in cold code then spills no
/// registers of the hot code around it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PreserveAllCalls {
    /// Addresses by kind.
    pub addresses: HashMap<(usize, bool), usize>,
}

/// The signature of the function of [`PreserveAllCalls`] for a kind: address of the callee, its arguments,
/// address of its result.
pub(crate) fn preserve_all_signature((parameters, has_result): (usize, bool)) -> Signature {
    let mut signature = Signature::new(CallConv::PreserveAll);
    let count = 1 + parameters + usize::from(has_result);
    signature.params.extend((0..count).map(|_| AbiParam::new(types::I64)));
    signature
}

/// Builds the function of [`PreserveAllCalls`] for a kind.
pub(crate) fn build_preserve_all_call(
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
