// SPDX-License-Identifier: Apache-2.0
//! Dispatch of operations with one and two operands by width; equality, which is the same at all widths.

use super::{UNROLLED_WORDS, Val, Values, word_count};
use crate::runtime::RuntimeFunction;
use crate::runtime::wide as runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use ir::{BinaryOperation, UnaryOperation, ValueType};

impl Values<'_, '_> {
    /// The result of an operation with one operand.
    pub fn unary(&mut self, operation: UnaryOperation, width_bits: u32, operand: Val) -> Val {
        match (operation, width_bits) {
            (UnaryOperation::Not, _) => self.not(width_bits, operand),
            (UnaryOperation::Negate, 0..=128) => self.narrow_negate(width_bits, operand),
            (UnaryOperation::Negate, _) => self.wide_negate(width_bits, operand),
        }
    }

    /// The result of an operation with two operands, each with its type.
    pub fn binary(
        &mut self,
        operation: BinaryOperation,
        left: (ValueType, Val),
        right: (ValueType, Val),
    ) -> Val {
        use BinaryOperation as Op;
        let (width_bits, right_width_bits) = (left.0.width_bits(), right.0.width_bits());
        match operation {
            Op::Equal => Val::Word(self.equal(left, right, true)),
            Op::NotEqual => Val::Word(self.equal(left, right, false)),
            Op::Concat => self.concat((width_bits, left.1), (right_width_bits, right.1)),
            Op::And | Op::Or | Op::Xor => self.bitwise(operation, width_bits, left.1, right.1),
            Op::ShiftLeft | Op::ShiftRightLogical | Op::ShiftRightArithmetic => {
                let amount = self.low_word_or_saturated(right_width_bits, right.1);
                match width_bits {
                    0..=128 => {
                        self.narrow_shift(operation, width_bits, left.1, amount, right_width_bits)
                    }
                    _ => self.wide_shift(operation, width_bits, left.1, amount),
                }
            }
            _ => match width_bits {
                0..=128 => self.narrow_binary(operation, width_bits, left.1, right.1),
                _ => self.wide_binary(operation, width_bits, left.1, right.1),
            },
        }
    }

    /// Whether two values are equal, or not equal: 0 or 1.
    fn equal(
        &mut self,
        (left_type, left): (ValueType, Val),
        (right_type, right): (ValueType, Val),
        if_equal: bool,
    ) -> Value {
        let condition = if if_equal { IntCC::Equal } else { IntCC::NotEqual };
        let difference = match (left, right) {
            (Val::Word(left), Val::Word(right)) => return self.compared(condition, left, right),
            (
                Val::Varbit { length_bits, words },
                Val::Varbit { length_bits: other_length_bits, words: other_words },
            ) if left_type == right_type && word_count(left_type.width_bits()) < UNROLLED_WORDS => {
                let count = word_count(left_type.width_bits());
                let lengths = self.builder.ins().bxor(length_bits, other_length_bits);
                let words = self.difference(count, Val::Memory(words), Val::Memory(other_words));
                self.builder.ins().bor(lengths, words)
            }
            (Val::Varbit { .. }, _) | (_, Val::Varbit { .. }) => {
                let (length_bits, words) = self.length_and_address(left_type, left);
                let (other_length_bits, other_words) = self.length_and_address(right_type, right);
                let function = RuntimeFunction::giving_4(runtime::varbits_differ);
                self.call_for(function, &[length_bits, words, other_length_bits, other_words])
            }
            _ => {
                let width_bits = left_type.width_bits();
                let count = word_count(width_bits);
                if count <= UNROLLED_WORDS {
                    self.difference(count, left, right)
                } else {
                    let left = self.address(width_bits, left);
                    let right = self.address(width_bits, right);
                    let count = self.word_constant(u64::from(count));
                    self.call_for(RuntimeFunction::giving_3(runtime::differ), &[left, right, count])
                }
            }
        };
        let zero = self.word_constant(0);
        self.compared(condition, difference, zero)
    }

    /// Zero exactly when all words are equal.
    fn difference(&mut self, count: u32, left: Val, right: Val) -> Value {
        let mut sum = None;
        for at in 0..count {
            let (left, right) = (self.word(left, at), self.word(right, at));
            let difference = self.builder.ins().bxor(left, right);
            sum = Some(match sum {
                None => difference,
                Some(sum) => self.builder.ins().bor(sum, difference),
            });
        }
        sum.unwrap_or_else(|| self.word_constant(0))
    }

    /// Length in bits and address of the words, of a varbit or of a value that is used as one.
    pub(in crate::codegen) fn length_and_address(
        &mut self,
        ty: ValueType,
        value: Val,
    ) -> (Value, Value) {
        match value {
            Val::Varbit { length_bits, words } => (length_bits, words),
            _ => {
                let words = self.address(ty.width_bits(), value);
                (self.word_constant(u64::from(ty.width_bits())), words)
            }
        }
    }
}
