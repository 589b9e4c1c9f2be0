// SPDX-License-Identifier: Apache-2.0
//! Arithmetic of any width on values of the IR, as compiled code: representation, constants, loads, stores and
//! selects. `operations` dispatches by width to `narrow` (up to 128 bits) and `wide` (calls to the runtime);
//! `shuffles` has what only moves bits.

#[cfg(test)]
#[allow(unsafe_code)] // Calls what it compiled.
pub(crate) mod harness;
mod narrow;
mod operations;
mod scratch;
mod shuffles;
#[cfg(test)]
mod tests;
mod wide;
mod words;

pub(crate) use scratch::{ConstantPool, ScratchMark, ScratchSlots};
use words::{top_mask, word_offset};
pub(crate) use words::{word_count, words_of};

use super::call::Signatures;
use crate::runtime::RuntimeFunction;
use crate::runtime::wide as runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, InstructionData, MemFlagsData, Opcode, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use ir::{Bits, ValueType};

/// A value of the IR in compiled code. Bits at and above the width are always zero.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Val {
    /// Up to 64 bits: one 64-bit value.
    Word(Value),
    /// 65 to 128 bits: low and high word.
    Pair(Value, Value),
    /// Wider: the address of ceil(width / 64) words, low word first; never written again once made.
    Memory(Value),
    /// A varbit: its length in bits, and the address of its words (enough for its largest length, at
    /// least one; bits above the length are zero).
    Varbit {
        /// Length in bits.
        length_bits: Value,
        /// Address of the words.
        words: Value,
    },
}

/// Moves and bitwise operations up to this many words are unrolled.
const UNROLLED_WORDS: u32 = 16;

/// The values that a [`Val`] consists of, as arguments of a block.
pub(crate) fn parts_of(value: Val) -> Vec<Value> {
    match value {
        Val::Word(word) | Val::Memory(word) => vec![word],
        Val::Pair(low, high) => vec![low, high],
        Val::Varbit { length_bits, words } => vec![length_bits, words],
    }
}

/// The number of values that a [`Val`] of this type consists of.
pub(crate) fn part_count(ty: ValueType) -> usize {
    match ty {
        ValueType::Bits(65..=128) | ValueType::Varbit(_) => 2,
        ValueType::Bits(_) => 1,
    }
}

/// A [`Val`] of this type from its values.
pub(crate) fn value_of_parts(ty: ValueType, parts: &[Value]) -> Val {
    match (ty, parts) {
        (ValueType::Bits(0..=64), [word]) => Val::Word(*word),
        (ValueType::Bits(_), [low, high]) => Val::Pair(*low, *high),
        (ValueType::Varbit(_), [length_bits, words]) => {
            Val::Varbit { length_bits: *length_bits, words: *words }
        }
        (_, parts) => Val::Memory(parts[0]),
    }
}

/// Flags for memory that is constant while the function runs, at an address that is always valid. Cranelift may
/// move such loads and load once for all packets.
pub(crate) fn readonly() -> MemFlagsData {
    MemFlagsData::trusted().with_readonly().with_can_move()
}

/// Emits arithmetic into a function under construction.
///
/// Wide results are in `scratch` and valid until it is released. Constants wider than 128 bits are in
/// `constants`, which live as long as the code.
pub(crate) struct Values<'a, 'b> {
    /// Where instructions are appended.
    pub builder: &'a mut FunctionBuilder<'b>,
    /// Imported signatures of the function.
    pub signatures: &'a mut Signatures,
    /// Calling convention of the runtime's functions.
    pub call_conv: CallConv,
    /// Wide constants.
    pub constants: &'a mut ConstantPool,
    /// Wide values.
    pub scratch: &'a mut ScratchSlots,
}

impl Values<'_, '_> {
    /// A constant.
    pub fn constant(&mut self, bits: &Bits) -> Val {
        match bits.width_bits() {
            0..=64 => Val::Word(self.word_constant(bits.low_u64())),
            65..=128 => {
                let mut words = [0; 2];
                bits.write_words(&mut words);
                Val::Pair(self.word_constant(words[0]), self.word_constant(words[1]))
            }
            _ => {
                let address = self.constants.address(bits);
                Val::Memory(self.word_constant(address as u64))
            }
        }
    }

    /// Zero.
    pub fn zero(&mut self, width_bits: u32) -> Val {
        self.constant(&Bits::zero(width_bits))
    }

    /// The value of type `found` as one of type `wanted`. They differ only where a value of fixed width is used
    /// as a varbit of at least that width.
    pub fn as_type(&mut self, wanted: ValueType, found: ValueType, value: Val) -> Val {
        let (ValueType::Varbit(limit_bits), ValueType::Bits(width_bits)) = (wanted, found) else {
            return value;
        };
        let limit_words = word_count(limit_bits);
        let words = self.fresh(limit_words);
        self.store_memory(width_bits, value, words, 0);
        let above = word_count(width_bits);
        if limit_words - above.min(limit_words) <= UNROLLED_WORDS {
            let zero = self.word_constant(0);
            for at in above..limit_words {
                self.store_word(zero, words, word_offset(at));
            }
        } else {
            let rest = self.offset_address(words, word_offset(above));
            let count = self.word_constant(u64::from(limit_words - above));
            self.call(RuntimeFunction::taking_2(runtime::clear), &[rest, count]);
        }
        Val::Varbit { length_bits: self.word_constant(u64::from(width_bits)), words }
    }

    /// `then` where `condition` (64 bits) is not zero, else `otherwise`; both are of type `ty`.
    pub fn select(&mut self, condition: Value, ty: ValueType, then: Val, otherwise: Val) -> Val {
        let mut choose = |then, otherwise| self.builder.ins().select(condition, then, otherwise);
        match (then, otherwise) {
            (Val::Word(then), Val::Word(otherwise)) => Val::Word(choose(then, otherwise)),
            (Val::Pair(low, high), Val::Pair(other_low, other_high)) => {
                Val::Pair(choose(low, other_low), choose(high, other_high))
            }
            (Val::Memory(then), Val::Memory(otherwise)) => Val::Memory(choose(then, otherwise)),
            (
                Val::Varbit { length_bits, words },
                Val::Varbit { length_bits: other_length_bits, words: other_words },
            ) => Val::Varbit {
                length_bits: choose(length_bits, other_length_bits),
                words: choose(words, other_words),
            },
            _ => unreachable!("choices of one type ({ty:?}): {then:?}, {otherwise:?}"),
        }
    }

    /// Loads a value from its words in memory, low word first; a varbit's length is in the word before. Wide
    /// values are copied, as the memory may change later.
    pub fn load_words(&mut self, ty: ValueType, address: Value, offset_bytes: i32) -> Val {
        match ty {
            ValueType::Bits(0..=64) => Val::Word(self.load_word(address, offset_bytes)),
            ValueType::Bits(65..=128) => Val::Pair(
                self.load_word(address, offset_bytes),
                self.load_word(address, offset_bytes + 8),
            ),
            ValueType::Bits(width_bits) => {
                Val::Memory(self.copied(word_count(width_bits), address, offset_bytes))
            }
            ValueType::Varbit(limit_bits) => Val::Varbit {
                length_bits: self.load_word(address, offset_bytes - 8),
                words: self.copied(word_count(limit_bits), address, offset_bytes),
            },
        }
    }

    /// Writes a value of type `ty` to memory as [`Values::load_words`] reads it.
    pub fn store_words(&mut self, ty: ValueType, value: Val, address: Value, offset_bytes: i32) {
        if let Val::Varbit { length_bits, words } = value {
            self.store_word(length_bits, address, offset_bytes - 8);
            let count = word_count(ty.width_bits());
            self.copy(count, words, address, offset_bytes);
        } else {
            debug_assert!(matches!(ty, ValueType::Bits(_)), "{value:?} as {ty:?}");
            self.store_memory(ty.width_bits(), value, address, offset_bytes);
        }
    }

    /// All words of a value of fixed width, low word first; at least one.
    pub fn words(&mut self, width_bits: u32, value: Val) -> Vec<Value> {
        (0..word_count(width_bits)).map(|at| self.word(value, at)).collect()
    }

    /// The number if it fits into 64 bits, else all ones.
    pub fn low_word_or_saturated(&mut self, width_bits: u32, value: Val) -> Value {
        let count = word_count(width_bits);
        if let Val::Memory(address) = value
            && count > UNROLLED_WORDS
        {
            let count = self.word_constant(u64::from(count));
            let function = RuntimeFunction::giving_2(runtime::low_or_saturated);
            return self.call_for(function, &[address, count]);
        }
        let low = self.word(value, 0);
        let mut above = None;
        for at in 1..count {
            let word = self.word(value, at);
            above = Some(match above {
                Some(above) => self.builder.ins().bor(above, word),
                None => word,
            });
        }
        match above {
            None => low,
            Some(above) => {
                let all_ones = self.word_constant(u64::MAX);
                self.builder.ins().select(above, all_ones, low)
            }
        }
    }

    /// A one-bit value as a 64-bit 0 or 1.
    pub fn truth(&mut self, value: Val) -> Value {
        self.word(value, 0)
    }

    /// Word `at` of a value of fixed width that has it.
    fn word(&mut self, value: Val, at: u32) -> Value {
        match (value, at) {
            (Val::Word(word), 0) | (Val::Pair(word, _), 0) | (Val::Pair(_, word), 1) => word,
            (Val::Memory(address), _) => self.load_word(address, word_offset(at)),
            _ => unreachable!("word {at} of {value:?}"),
        }
    }

    /// The address of all words of a value of fixed width.
    fn address(&mut self, width_bits: u32, value: Val) -> Value {
        match value {
            Val::Memory(address) => address,
            _ => {
                let address = self.fresh(word_count(width_bits));
                self.store_memory(width_bits, value, address, 0);
                address
            }
        }
    }

    /// Writes the words of a value of fixed width.
    fn store_memory(&mut self, width_bits: u32, value: Val, address: Value, offset_bytes: i32) {
        if let Val::Memory(words) = value {
            self.copy(word_count(width_bits), words, address, offset_bytes);
            return;
        }
        for at in 0..word_count(width_bits) {
            let word = self.word(value, at);
            self.store_word(word, address, offset_bytes + word_offset(at));
        }
    }

    fn copied(&mut self, count: u32, address: Value, offset_bytes: i32) -> Value {
        let from = self.offset_address(address, offset_bytes);
        let fresh = self.fresh(count);
        self.copy(count, from, fresh, 0);
        fresh
    }

    fn copy(&mut self, count: u32, from: Value, to: Value, offset_bytes: i32) {
        if count <= UNROLLED_WORDS {
            for at in 0..count {
                let word = self.load_word(from, word_offset(at));
                self.store_word(word, to, offset_bytes + word_offset(at));
            }
        } else {
            let to = self.offset_address(to, offset_bytes);
            let count = self.word_constant(u64::from(count));
            self.call(RuntimeFunction::taking_3(runtime::copy), &[to, from, count]);
        }
    }

    /// Allocates words in scratch memory. Returns their address.
    pub(super) fn fresh(&mut self, words: u32) -> Value {
        self.scratch.allocate(self.builder, words)
    }

    pub(super) fn word_constant(&mut self, number: u64) -> Value {
        self.builder.ins().iconst(types::I64, number as i64)
    }

    /// The value of a constant word.
    pub fn known_word(&self, word: Value) -> Option<u64> {
        let dfg = &self.builder.func.dfg;
        match dfg.insts[dfg.value_def(word).inst()?] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => Some(imm.bits() as u64),
            _ => None,
        }
    }

    /// The operand of the byte swap that made a word of 16 bits.
    pub fn swapped_half(&self, word: Value) -> Option<Value> {
        let dfg = &self.builder.func.dfg;
        let operand_of =
            |value: Value, wanted: Opcode| match dfg.insts[dfg.value_def(value).inst()?] {
                InstructionData::Unary { opcode, arg } if opcode == wanted => Some(arg),
                _ => None,
            };
        let half = operand_of(word, Opcode::Uextend)?;
        let swapped = operand_of(half, Opcode::Bswap)?;
        (dfg.value_type(swapped) == types::I16).then_some(swapped)
    }

    fn offset_address(&mut self, address: Value, offset_bytes: i32) -> Value {
        match offset_bytes {
            0 => address,
            _ => self.builder.ins().iadd_imm_s(address, i64::from(offset_bytes)),
        }
    }

    pub(super) fn load_word(&mut self, address: Value, offset_bytes: i32) -> Value {
        self.builder.ins().load(types::I64, MemFlagsData::trusted(), address, offset_bytes)
    }

    pub(super) fn store_word(&mut self, word: Value, address: Value, offset_bytes: i32) {
        self.builder.ins().store(MemFlagsData::trusted(), word, address, offset_bytes);
    }

    pub(super) fn call(&mut self, function: RuntimeFunction, arguments: &[Value]) -> Option<Value> {
        self.signatures.call(self.builder, self.call_conv, function, arguments)
    }

    /// Calls a function that has a result.
    pub(super) fn call_for(&mut self, function: RuntimeFunction, arguments: &[Value]) -> Value {
        match self.call(function, arguments) {
            Some(result) => result,
            None => unreachable!("the function has a result"),
        }
    }

    /// A comparison of two equally wide integers as a 64-bit 0 or 1.
    fn compared(&mut self, condition: IntCC, left: Value, right: Value) -> Value {
        let flag = self.builder.ins().icmp(condition, left, right);
        self.builder.ins().uextend(types::I64, flag)
    }

    fn masked(&mut self, word: Value, mask: u64) -> Value {
        match mask {
            u64::MAX => word,
            _ => self.builder.ins().band_imm_u(word, mask as i64),
        }
    }
}
