// SPDX-License-Identifier: Apache-2.0
//! Instructions that call the device, as compiled code: value sets, randomness, requests, the
//! log, assertions, externs. Operands go to the runtime as words in memory.

use super::function::{CallSite, FunctionCompiler};
use super::values::{Val, words_of};
use crate::runtime::pass::{ENDED_ASSERTION, ENDED_EXTERN};
use crate::runtime::state as runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use ir::{Operand, Operation, RandomSite, RequestId, Temp, ValueSetId, ValueType};

impl FunctionCompiler<'_, '_> {
    /// `Operation::ValueSetContains`
    pub fn value_set_contains(&mut self, result: Temp, set: ValueSetId, keys: &[Operand]) {
        let keys = self.operands(keys);
        let words = self.words_buffer(&keys);
        let runtime_context = self.runtime_context();
        let set = self.number(u64::from(set.0));
        let is_member =
            self.call_for_word(runtime::value_set_contains(), &[runtime_context, set, words]);
        self.define(result, Val::Word(is_member));
    }

    /// `Operation::Random`
    pub fn random(&mut self, result: Temp, low: &Operand, high: &Operand, site: &RandomSite) {
        let ty = self.temp_types[result.index()];
        let place = self.number(site.number());
        let runtime_context = self.runtime_context();
        let (low, high) = (self.operand(low), self.operand(high));
        let value = match (low, high) {
            (Val::Word(low), Val::Word(high)) => {
                let arguments = [runtime_context, place, low, high];
                Val::Word(self.call_for_word(runtime::random(), &arguments))
            }
            (low, high) => {
                let ends = self.words_buffer(&[(ty, low), (ty, high)]);
                let drawn = self.scratch.allocate(&mut self.builder, words_of(ty) as u32);
                let width_bits = self.number(u64::from(ty.width_bits()));
                let arguments = [runtime_context, place, width_bits, ends, drawn];
                self.call(runtime::random_words(), &arguments);
                self.values().load_words(ty, drawn, 0)
            }
        };
        self.define(result, value);
    }

    /// `Operation::Request`
    pub fn request(&mut self, request: RequestId, arguments: &[Operand]) {
        let fields = &self.program.requests[request.index()].fields;
        let mut values = Vec::with_capacity(arguments.len());
        for ((_, wanted), (found, value)) in fields.iter().zip(self.operands(arguments)) {
            values.push((*wanted, self.values().as_type(*wanted, found, value)));
        }
        let words = self.words_buffer(&values);
        let runtime_context = self.runtime_context();
        let request = self.number(u64::from(request.0));
        // Requests are rare.
        self.call_preserving_all(runtime::request(), &[runtime_context, request, words]);
        let one = self.number(1);
        self.builder.def_var(self.has_requests, one);
        self.path.requests = Some(true);
    }

    /// The numbers by which the runtime finds an instruction.
    fn place(&mut self, site: CallSite) -> [Value; 2] {
        let region = self.number(u64::from(site.region.0));
        let instruction = runtime::instruction_number(site.block, site.instruction);
        [region, self.number(instruction)]
    }

    /// `Operation::Log`
    pub fn log(&mut self, arguments: &[Operand], site: CallSite) {
        let values = self.operands(arguments);
        let words = self.words_buffer(&values);
        let runtime_context = self.runtime_context();
        let [region, instruction] = self.place(site);
        self.call(runtime::log(), &[runtime_context, region, instruction, words]);
    }

    /// `Operation::Assert`
    pub fn assert(&mut self, condition: &Operand, is_assume: bool, site: CallSite) {
        let holds = self.truth(condition);
        let fails = self.compare(IntCC::Equal, holds, 0);
        let detail = self.number(u64::from(site.origin.0) | u64::from(is_assume) << 32);
        self.leave_if(fails, ENDED_ASSERTION, Some(detail));
    }

    /// `Operation::CallExtern`
    pub fn call_extern(&mut self, arguments: &[Operand], results: &[Temp], site: CallSite) {
        self.publish_length();
        let values = self.operands(arguments);
        let words = self.words_buffer(&values);
        let types: Vec<ValueType> =
            results.iter().map(|result| self.temp_types[result.index()]).collect();
        let result_words: usize = types.iter().map(|ty| words_of(*ty)).sum();
        let given = self.scratch.allocate(&mut self.builder, result_words.max(1) as u32);
        let runtime_context = self.runtime_context();
        let [region, instruction] = self.place(site);
        let arguments = [runtime_context, region, instruction, words, given];
        let has_failed = self.call_for_word(runtime::call_extern(), &arguments);
        let region = &self.program.regions[site.region.index()];
        let called =
            &region.blocks[site.block as usize].instructions[site.instruction as usize].operation;
        let target = match called {
            Operation::CallExtern { target, .. } => u64::from(target.0),
            _ => 0,
        };
        let target = self.number(target);
        self.leave_if(has_failed, ENDED_EXTERN, Some(target));
        let mut offset_bytes = 0;
        for (&result, ty) in results.iter().zip(types) {
            let value = match ty {
                ValueType::Bits(_) => self.values().load_words(ty, given, offset_bytes),
                ValueType::Varbit(_) => Val::Varbit {
                    length_bits: self.load_word(given, offset_bytes),
                    words: self.builder.ins().iadd_imm_s(given, i64::from(offset_bytes) + 8),
                },
            };
            self.define(result, value);
            offset_bytes += words_of(ty) as i32 * 8;
        }
    }
}
