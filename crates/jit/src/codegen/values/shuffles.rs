// SPDX-License-Identifier: Apache-2.0
//! Operations that move bits or combine them one by one: bitwise operations, slices, concatenation, changes of
//! width, shifts of wide values by known amounts. Results of few words are unrolled; the runtime computes
//! others.

use super::{UNROLLED_WORDS, Val, Values, top_mask, word_count, word_offset};
use crate::runtime::RuntimeFunction;
use crate::runtime::wide as runtime;
use cranelift_codegen::ir::{InstBuilder, Value};
use ir::{BinaryOperation, ResizeKind};

impl Values<'_, '_> {
    pub(super) fn not(&mut self, width_bits: u32, operand: Val) -> Val {
        if word_count(width_bits) <= UNROLLED_WORDS {
            return self.unrolled(width_bits, true, |values, at| {
                let word = values.word(operand, at);
                Some(values.builder.ins().bnot(word))
            });
        }
        let operand = self.address(width_bits, operand);
        self.wide_result(width_bits, |values, result, width| {
            values.call(RuntimeFunction::taking_3(runtime::not), &[result, operand, width]);
        })
    }

    pub(super) fn bitwise(
        &mut self,
        operation: BinaryOperation,
        width_bits: u32,
        left: Val,
        right: Val,
    ) -> Val {
        if word_count(width_bits) <= UNROLLED_WORDS {
            return self.unrolled(width_bits, false, |values, at| {
                let (left, right) = (values.word(left, at), values.word(right, at));
                Some(match operation {
                    BinaryOperation::And => values.builder.ins().band(left, right),
                    BinaryOperation::Or => values.builder.ins().bor(left, right),
                    _ => values.builder.ins().bxor(left, right),
                })
            });
        }
        let (left, right) = (self.address(width_bits, left), self.address(width_bits, right));
        let function = RuntimeFunction::taking_4(match operation {
            BinaryOperation::And => runtime::and,
            BinaryOperation::Or => runtime::or,
            _ => runtime::xor,
        });
        self.wide_result(width_bits, |values, result, width| {
            values.call(function, &[result, left, right, width]);
        })
    }

    /// The value in another width. Every kind can narrow: then the low bits are kept.
    pub fn resize(&mut self, kind: ResizeKind, from_bits: u32, to_bits: u32, operand: Val) -> Val {
        if from_bits == to_bits {
            return operand;
        }
        if kind == ResizeKind::SignExtend && from_bits < to_bits && from_bits > 0 {
            return self.sign_extend(from_bits, to_bits, operand);
        }
        self.bits_from(from_bits, 0, to_bits, operand)
    }

    /// Bits `high` down to `low`, both included, of a value that has them.
    pub fn slice(&mut self, from_bits: u32, high: u32, low: u32, operand: Val) -> Val {
        self.bits_from(from_bits, low, high - low + 1, operand)
    }

    /// So many bits from bit `low` on; those beyond the value's width are zero.
    fn bits_from(&mut self, from_bits: u32, low: u32, width_bits: u32, value: Val) -> Val {
        if word_count(width_bits) <= UNROLLED_WORDS {
            let cuts = low + width_bits < from_bits;
            return self.unrolled(width_bits, cuts, |values, at| {
                values.window(from_bits, value, i64::from(at) * 64 + i64::from(low))
            });
        }
        let value = self.address(from_bits, value);
        let from = self.word_constant(u64::from(from_bits));
        let low = self.word_constant(u64::from(low));
        self.wide_result(width_bits, |values, result, width| {
            let function = RuntimeFunction::taking_5(runtime::slice);
            values.call(function, &[result, width, value, from, low]);
        })
    }

    fn sign_extend(&mut self, from_bits: u32, to_bits: u32, value: Val) -> Val {
        if word_count(to_bits) > UNROLLED_WORDS {
            let value = self.address(from_bits, value);
            let from = self.word_constant(u64::from(from_bits));
            return self.wide_result(to_bits, |values, result, width| {
                let function = RuntimeFunction::taking_4(runtime::sign_extend);
                values.call(function, &[result, width, value, from]);
            });
        }
        let last = word_count(from_bits) - 1;
        let mut top = self.word(value, last);
        if !from_bits.is_multiple_of(64) {
            let unused_bits = i64::from(64 - from_bits % 64);
            let high = self.builder.ins().ishl_imm_u(top, unused_bits);
            top = self.builder.ins().sshr_imm_u(high, unused_bits);
        }
        let sign = self.builder.ins().sshr_imm_u(top, 63);
        self.unrolled(to_bits, true, |values, at| {
            Some(match at {
                _ if at < last => values.word(value, at),
                _ if at == last => top,
                _ => sign,
            })
        })
    }

    /// The left value in the high bits, the right one in the low ones; each with its width in bits.
    pub(super) fn concat(&mut self, left: (u32, Val), right: (u32, Val)) -> Val {
        let width_bits = left.0 + right.0;
        if word_count(width_bits) <= UNROLLED_WORDS {
            return self.unrolled(width_bits, false, |values, at| {
                let from = i64::from(at) * 64;
                let high = values.window(left.0, left.1, from - i64::from(right.0));
                let low = values.window(right.0, right.1, from);
                match (high, low) {
                    (Some(high), Some(low)) => Some(values.builder.ins().bor(high, low)),
                    (part, None) | (None, part) => part,
                }
            });
        }
        let (high, low) = (self.address(left.0, left.1), self.address(right.0, right.1));
        let high_bits = self.word_constant(u64::from(left.0));
        let low_bits = self.word_constant(u64::from(right.0));
        self.wide_result(width_bits, |values, result, _| {
            let function = RuntimeFunction::taking_5(runtime::concat);
            values.call(function, &[result, high, high_bits, low, low_bits]);
        })
    }

    /// A shift of a wide value by a known amount, where it is worth unrolling.
    pub(super) fn unrolled_shift(
        &mut self,
        operation: BinaryOperation,
        width_bits: u32,
        value: Val,
        amount: u64,
    ) -> Option<Val> {
        if word_count(width_bits) > UNROLLED_WORDS
            || operation == BinaryOperation::ShiftRightArithmetic
        {
            return None;
        }
        if amount >= u64::from(width_bits) {
            return Some(self.zero(width_bits));
        }
        let is_left = operation == BinaryOperation::ShiftLeft;
        let by = if is_left { -(amount as i64) } else { amount as i64 };
        Some(self.unrolled(width_bits, is_left, |values, at| {
            values.window(width_bits, value, i64::from(at) * 64 + by)
        }))
    }

    /// 64 bits from bit `low` on; what lies outside the value is zero. `None` when all does.
    pub(in crate::codegen) fn window(
        &mut self,
        width_bits: u32,
        value: Val,
        low: i64,
    ) -> Option<Value> {
        let count = i64::from(word_count(width_bits));
        let (at, shift) = (low.div_euclid(64), low.rem_euclid(64));
        let mut word = |at: i64| (0..count).contains(&at).then(|| self.word(value, at as u32));
        let lower = word(at);
        if shift == 0 {
            return lower;
        }
        let upper = word(at + 1);
        let lower = lower.map(|word| self.builder.ins().ushr_imm_u(word, shift));
        let upper = upper.map(|word| self.builder.ins().ishl_imm_u(word, 64 - shift));
        match (lower, upper) {
            (Some(lower), Some(upper)) => Some(self.builder.ins().bor(lower, upper)),
            (part, None) | (None, part) => part,
        }
    }

    /// A value made of words, `None` for zero; with `cuts`, bits above the width are dropped.
    fn unrolled(
        &mut self,
        width_bits: u32,
        cuts: bool,
        mut word: impl FnMut(&mut Self, u32) -> Option<Value>,
    ) -> Val {
        let last = word_count(width_bits) - 1;
        let mask = if cuts { top_mask(width_bits) } else { u64::MAX };
        let mut part = |values: &mut Self, at: u32| match word(values, at) {
            Some(word) if at == last => values.masked(word, mask),
            Some(word) => word,
            None => values.word_constant(0),
        };
        match width_bits {
            0..=64 => Val::Word(part(self, 0)),
            65..=128 => Val::Pair(part(self, 0), part(self, 1)),
            _ => {
                let result = self.fresh(last + 1);
                for at in 0..=last {
                    let word = part(self, at);
                    self.store_word(word, result, word_offset(at));
                }
                Val::Memory(result)
            }
        }
    }
}
