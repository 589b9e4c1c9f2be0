// SPDX-License-Identifier: Apache-2.0
//! Arithmetic beyond 128 bits, by calls to the runtime with addresses of words.

use super::{Val, Values};
use crate::runtime::RuntimeFunction;
use crate::runtime::wide as runtime;
use cranelift_codegen::ir::{InstBuilder, Value};
use ir::BinaryOperation;

impl Values<'_, '_> {
    pub(super) fn wide_negate(&mut self, width_bits: u32, operand: Val) -> Val {
        let operand = self.address(width_bits, operand);
        self.wide_result(width_bits, |values, result, width| {
            values.call(RuntimeFunction::taking_3(runtime::negate), &[result, operand, width]);
        })
    }

    pub(super) fn wide_binary(
        &mut self,
        operation: BinaryOperation,
        width_bits: u32,
        left: Val,
        right: Val,
    ) -> Val {
        use BinaryOperation as Op;
        let (left, right) = (self.address(width_bits, left), self.address(width_bits, right));
        let comparison = match operation {
            // A <= B is not B < A.
            Op::LessUnsigned | Op::LessEqualUnsigned => {
                Some(RuntimeFunction::giving_3(runtime::less_unsigned))
            }
            Op::LessSigned | Op::LessEqualSigned => {
                Some(RuntimeFunction::giving_3(runtime::less_signed))
            }
            _ => None,
        };
        if let Some(function) = comparison {
            let width = self.word_constant(u64::from(width_bits));
            return Val::Word(match operation {
                Op::LessUnsigned | Op::LessSigned => self.call_for(function, &[left, right, width]),
                _ => {
                    let greater = self.call_for(function, &[right, left, width]);
                    self.builder.ins().bxor_imm_u(greater, 1)
                }
            });
        }
        let function = RuntimeFunction::taking_4(match operation {
            Op::Add => runtime::add,
            Op::Subtract => runtime::subtract,
            Op::Multiply => runtime::multiply,
            Op::DivideUnsigned => runtime::quotient,
            Op::RemainderUnsigned => runtime::remainder,
            Op::AddSaturatingUnsigned => runtime::add_saturating_unsigned,
            Op::AddSaturatingSigned => runtime::add_saturating_signed,
            Op::SubtractSaturatingUnsigned => runtime::subtract_saturating_unsigned,
            Op::SubtractSaturatingSigned => runtime::subtract_saturating_signed,
            _ => unreachable!("{operation:?} is computed elsewhere"),
        });
        self.wide_result(width_bits, |values, result, width| {
            values.call(function, &[result, left, right, width]);
        })
    }

    /// Shifts by `amount`, which saturated at 64 bits.
    pub(super) fn wide_shift(
        &mut self,
        operation: BinaryOperation,
        width_bits: u32,
        value: Val,
        amount: Value,
    ) -> Val {
        let known = self.known_word(amount);
        if let Some(result) =
            known.and_then(|amount| self.unrolled_shift(operation, width_bits, value, amount))
        {
            return result;
        }
        let value = self.address(width_bits, value);
        let function = RuntimeFunction::taking_4(match operation {
            BinaryOperation::ShiftLeft => runtime::shift_left,
            BinaryOperation::ShiftRightLogical => runtime::shift_right,
            _ => runtime::shift_right_arithmetic,
        });
        self.wide_result(width_bits, |values, result, width| {
            values.call(function, &[result, value, amount, width]);
        })
    }

    /// A value that is computed into memory.
    pub(super) fn wide_result(
        &mut self,
        width_bits: u32,
        compute: impl FnOnce(&mut Self, Value, Value),
    ) -> Val {
        let result = self.fresh(super::word_count(width_bits));
        let width = self.word_constant(u64::from(width_bits));
        compute(self, result, width);
        Val::Memory(result)
    }
}
