// SPDX-License-Identifier: Apache-2.0
//! Arithmetic up to 128 bits, inline: in 64-bit integers up to 64 bits, in 128-bit ones above. Only
//! division of more than 64 bits calls the runtime.

use super::{Val, Values, top_mask};
use crate::runtime::RuntimeFunction;
use crate::runtime::wide as runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use ir::BinaryOperation;

/// The integer type that holds a value, and how many bits of it are not used.
fn holder(width_bits: u32) -> (Type, u32) {
    match width_bits {
        0..=64 => (types::I64, 64 - width_bits),
        _ => (types::I128, 128 - width_bits),
    }
}

impl Values<'_, '_> {
    pub(super) fn narrow_negate(&mut self, width_bits: u32, operand: Val) -> Val {
        let operand = self.integer(operand);
        let negated = self.builder.ins().ineg(operand);
        self.wrapped(width_bits, negated)
    }

    pub(super) fn narrow_binary(
        &mut self,
        operation: BinaryOperation,
        width_bits: u32,
        left: Val,
        right: Val,
    ) -> Val {
        use BinaryOperation as Op;
        let comparison = match operation {
            Op::LessUnsigned => Some((IntCC::UnsignedLessThan, false)),
            Op::LessEqualUnsigned => Some((IntCC::UnsignedLessThanOrEqual, false)),
            Op::LessSigned => Some((IntCC::SignedLessThan, true)),
            Op::LessEqualSigned => Some((IntCC::SignedLessThanOrEqual, true)),
            _ => None,
        };
        if let Some((condition, is_signed)) = comparison {
            let (mut left, mut right) = (self.integer(left), self.integer(right));
            if is_signed {
                // With the sign at the top of the integer, the order is that of the integers.
                (left, right) = (self.at_top(width_bits, left), self.at_top(width_bits, right));
            }
            return Val::Word(self.compared(condition, left, right));
        }
        if width_bits == 0 {
            return self.zero(0);
        }
        if let Op::DivideUnsigned | Op::RemainderUnsigned = operation {
            return match width_bits {
                0..=64 => self.divide_words(operation, width_bits, left, right),
                _ => self.divide_pairs(operation, left, right),
            };
        }
        let (left, right) = (self.integer(left), self.integer(right));
        match operation {
            Op::Add => {
                let sum = self.builder.ins().iadd(left, right);
                self.wrapped(width_bits, sum)
            }
            Op::Subtract => {
                let difference = self.builder.ins().isub(left, right);
                self.wrapped(width_bits, difference)
            }
            Op::Multiply => {
                let product = self.builder.ins().imul(left, right);
                self.wrapped(width_bits, product)
            }
            Op::AddSaturatingUnsigned => {
                let (ty, unused_bits) = holder(width_bits);
                let sum = self.builder.ins().iadd(left, right);
                let largest = self.largest(width_bits);
                let overflows = match unused_bits {
                    0 => self.builder.ins().icmp(IntCC::UnsignedLessThan, sum, left),
                    _ => self.builder.ins().icmp(IntCC::UnsignedGreaterThan, sum, largest),
                };
                let result = self.choose(overflows, largest, sum);
                self.val(ty, result)
            }
            Op::SubtractSaturatingUnsigned => {
                let (ty, _) = holder(width_bits);
                let difference = self.builder.ins().isub(left, right);
                let zero = self.integer_constant(ty, 0);
                let overflows = self.builder.ins().icmp(IntCC::UnsignedLessThan, left, right);
                let result = self.choose(overflows, zero, difference);
                self.val(ty, result)
            }
            Op::AddSaturatingSigned | Op::SubtractSaturatingSigned => {
                self.saturating_signed(operation, width_bits, left, right)
            }
            _ => unreachable!("{operation:?} is computed elsewhere"),
        }
    }

    /// Computed at the top of the integer, where it overflows as the integer does.
    fn saturating_signed(
        &mut self,
        operation: BinaryOperation,
        width_bits: u32,
        left: Value,
        right: Value,
    ) -> Val {
        let (ty, unused_bits) = holder(width_bits);
        let (left, right) = (self.at_top(width_bits, left), self.at_top(width_bits, right));
        let ins = |values: &mut Self| -> (Value, Value) {
            match operation {
                BinaryOperation::AddSaturatingSigned => {
                    // Both signs differ from the sum's.
                    let sum = values.builder.ins().iadd(left, right);
                    let first = values.builder.ins().bxor(left, sum);
                    let second = values.builder.ins().bxor(right, sum);
                    (sum, values.builder.ins().band(first, second))
                }
                _ => {
                    // The signs differ, and the difference's is not the left one's.
                    let difference = values.builder.ins().isub(left, right);
                    let first = values.builder.ins().bxor(left, right);
                    let second = values.builder.ins().bxor(left, difference);
                    (difference, values.builder.ins().band(first, second))
                }
            }
        };
        let (result, overflow_sign) = ins(self);
        let zero = self.integer_constant(ty, 0);
        let overflows = self.builder.ins().icmp(IntCC::SignedLessThan, overflow_sign, zero);
        let sign = self.builder.ins().sshr_imm_u(left, i64::from(ty.bits() - 1));
        let largest = self.integer_constant(ty, u128::MAX >> 1 >> (128 - ty.bits()));
        let bound = self.builder.ins().bxor(sign, largest);
        let chosen = self.choose(overflows, bound, result);
        let result = match unused_bits {
            0 => chosen,
            _ => self.builder.ins().ushr_imm_u(chosen, i64::from(unused_bits)),
        };
        self.val(ty, result)
    }

    /// By zero gives zero, and must not trap.
    fn divide_words(
        &mut self,
        operation: BinaryOperation,
        width_bits: u32,
        left: Val,
        right: Val,
    ) -> Val {
        let (mut left, mut right) = (self.word(left, 0), self.word(right, 0));
        let is_remainder = operation == BinaryOperation::RemainderUnsigned;
        let known_divisor = self.known_word(right);
        if known_divisor == Some(0) {
            return self.zero(width_bits);
        }
        // Division of 32 bits is several times faster on many processors.
        let is_short = width_bits <= 32;
        if is_short {
            left = self.builder.ins().ireduce(types::I32, left);
            right = self.builder.ins().ireduce(types::I32, right);
        }
        let divide = |values: &mut Self, right| match is_remainder {
            false => values.builder.ins().udiv(left, right),
            true => values.builder.ins().urem(left, right),
        };
        let ty = if is_short { types::I32 } else { types::I64 };
        let mut result = if let Some(divisor) = known_divisor {
            let right = self.builder.ins().iconst(ty, divisor as i64);
            divide(self, right)
        } else {
            let zero = self.builder.ins().iconst(ty, 0);
            let one = self.builder.ins().iconst(ty, 1);
            let by_zero = self.builder.ins().icmp(IntCC::Equal, right, zero);
            let right = self.builder.ins().select(by_zero, one, right);
            let result = divide(self, right);
            match is_remainder {
                // The remainder by one is zero, as it has to be.
                true => result,
                false => self.builder.ins().select(by_zero, zero, result),
            }
        };
        if is_short {
            result = self.builder.ins().uextend(types::I64, result);
        }
        Val::Word(result)
    }

    fn divide_pairs(&mut self, operation: BinaryOperation, left: Val, right: Val) -> Val {
        let function = match operation {
            BinaryOperation::DivideUnsigned => RuntimeFunction::taking_5(runtime::pair_quotient),
            _ => RuntimeFunction::taking_5(runtime::pair_remainder),
        };
        let mark = self.scratch.mark();
        let result = self.fresh(2);
        let arguments = [
            result,
            self.word(left, 0),
            self.word(left, 1),
            self.word(right, 0),
            self.word(right, 1),
        ];
        self.call(function, &arguments);
        let pair = Val::Pair(self.load_word(result, 0), self.load_word(result, 8));
        self.scratch.release(mark);
        pair
    }

    /// Shifts by `amount`, which saturated at 64 bits and is less than 2 to `amount_bits`.
    pub(super) fn narrow_shift(
        &mut self,
        operation: BinaryOperation,
        width_bits: u32,
        value: Val,
        amount: Value,
        amount_bits: u32,
    ) -> Val {
        if width_bits == 0 {
            return self.zero(0);
        }
        let (ty, unused_bits) = holder(width_bits);
        let value = self.integer(value);
        if let Some(amount) = self.known_word(amount) {
            return self.narrow_shift_by(operation, width_bits, value, amount);
        }
        // Amounts below the integer's size need no care: what leaves the width is masked.
        let is_small = amount_bits < 32 && 1 << amount_bits <= ty.bits();
        let size = self.word_constant(u64::from(ty.bits()));
        if operation == BinaryOperation::ShiftRightArithmetic {
            let amount = match is_small {
                true => amount,
                false => {
                    let fits = self.builder.ins().icmp(IntCC::UnsignedLessThan, amount, size);
                    let last = self.word_constant(u64::from(ty.bits() - 1));
                    self.builder.ins().select(fits, amount, last)
                }
            };
            let top = self.at_top(width_bits, value);
            let mut number = top;
            if unused_bits != 0 {
                number = self.builder.ins().sshr_imm_u(top, i64::from(unused_bits));
            }
            let shifted = self.builder.ins().sshr(number, amount);
            return self.wrapped(width_bits, shifted);
        }
        let mut shifted = match operation {
            BinaryOperation::ShiftLeft => self.builder.ins().ishl(value, amount),
            _ => self.builder.ins().ushr(value, amount),
        };
        if !is_small {
            let fits = self.builder.ins().icmp(IntCC::UnsignedLessThan, amount, size);
            let zero = self.integer_constant(ty, 0);
            shifted = self.choose(fits, shifted, zero);
        }
        match operation {
            BinaryOperation::ShiftLeft => self.wrapped(width_bits, shifted),
            _ => self.val(ty, shifted),
        }
    }

    fn narrow_shift_by(
        &mut self,
        operation: BinaryOperation,
        width_bits: u32,
        value: Value,
        amount: u64,
    ) -> Val {
        let (ty, unused_bits) = holder(width_bits);
        let is_inside = amount < u64::from(width_bits);
        match operation {
            BinaryOperation::ShiftRightArithmetic => {
                let top = self.at_top(width_bits, value);
                let amount = amount.min(u64::from(width_bits - 1)) + u64::from(unused_bits);
                let shifted = self.builder.ins().sshr_imm_u(top, amount as i64);
                self.wrapped(width_bits, shifted)
            }
            _ if !is_inside => self.zero(width_bits),
            BinaryOperation::ShiftLeft => {
                let shifted = self.builder.ins().ishl_imm_u(value, amount as i64);
                self.wrapped(width_bits, shifted)
            }
            _ => {
                let shifted = self.builder.ins().ushr_imm_u(value, amount as i64);
                self.val(ty, shifted)
            }
        }
    }

    /// The value as one integer.
    fn integer(&mut self, value: Val) -> Value {
        match value {
            Val::Word(word) => word,
            Val::Pair(low, high) => self.builder.ins().iconcat(low, high),
            _ => unreachable!("{value:?} is no narrow value"),
        }
    }

    /// The value that an integer is, which has no bits above the width.
    fn val(&mut self, ty: Type, integer: Value) -> Val {
        if ty == types::I64 {
            return Val::Word(integer);
        }
        let (low, high) = self.builder.ins().isplit(integer);
        Val::Pair(low, high)
    }

    /// The value that an integer is modulo 2 to the width.
    fn wrapped(&mut self, width_bits: u32, integer: Value) -> Val {
        let mask = top_mask(width_bits);
        match self.val(holder(width_bits).0, integer) {
            Val::Word(word) => Val::Word(self.masked(word, mask)),
            Val::Pair(low, high) => Val::Pair(low, self.masked(high, mask)),
            val => val,
        }
    }

    /// Chooses integers of 128 bits by words: of a whole one Cranelift makes a minimum or maximum where
    /// it can, which it then cannot compile.
    fn choose(&mut self, condition: Value, then: Value, otherwise: Value) -> Value {
        if self.builder.func.dfg.value_type(then) == types::I64 {
            return self.builder.ins().select(condition, then, otherwise);
        }
        let (low, high) = self.builder.ins().isplit(then);
        let (other_low, other_high) = self.builder.ins().isplit(otherwise);
        let low = self.builder.ins().select(condition, low, other_low);
        let high = self.builder.ins().select(condition, high, other_high);
        self.builder.ins().iconcat(low, high)
    }

    fn integer_constant(&mut self, ty: Type, number: u128) -> Value {
        let low = self.word_constant(number as u64);
        if ty == types::I64 {
            return low;
        }
        let high = self.word_constant((number >> 64) as u64);
        self.builder.ins().iconcat(low, high)
    }

    /// All ones.
    fn largest(&mut self, width_bits: u32) -> Value {
        let (ty, _) = holder(width_bits);
        self.integer_constant(ty, u128::MAX >> (128 - width_bits))
    }

    /// Moved up until the highest bit of the value is that of the integer.
    fn at_top(&mut self, width_bits: u32, integer: Value) -> Value {
        match holder(width_bits).1 {
            // A width of 0 has no bits to move.
            0 | 64 => integer,
            unused_bits => self.builder.ins().ishl_imm_u(integer, i64::from(unused_bits)),
        }
    }
}
