// SPDX-License-Identifier: Apache-2.0
//! Operands and temporaries: types, values, and constants known at compile time.

use super::function::FunctionCompiler;
use super::hash_inputs::HashInput;
use super::temporaries::{PacketBits, TempValue};
use super::values::{Val, words_of};
use crate::runtime::pass::Instance;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use ir::{Bits, Operand, ResizeKind, Temp, ValueType};
use std::mem::offset_of;

impl FunctionCompiler<'_, '_> {
    /// The type of an operand.
    pub fn operand_type(&self, operand: &Operand) -> ValueType {
        match operand {
            Operand::Constant(bits) => ValueType::Bits(bits.width_bits()),
            Operand::Temp(temp) => self.temp_types[temp.index()],
        }
    }

    /// The value of an operand.
    pub fn operand(&mut self, operand: &Operand) -> Val {
        match operand {
            Operand::Constant(bits) => self.values().constant(bits),
            Operand::Temp(temp) => match self.temps[temp.index()] {
                Some(TempValue::Computed(value)) => value,
                Some(TempValue::InPacket(bits)) => {
                    // Not cached: this code may run under a condition.
                    self.read_packet(bits)
                }
                Some(TempValue::PacketTest(bits, number)) => {
                    let holds = self.test_packet(bits, number);
                    Val::Word(self.builder.ins().uextend(types::I64, holds))
                }
                // The verifier guarantees a definition; an unreachable use reads zero.
                None => {
                    let ty = self.temp_types[temp.index()];
                    self.zero(ty)
                }
            },
        }
    }

    /// The value of an operand as one word. A value that does not fit becomes all ones, which is not a valid
    /// index.
    pub fn index_operand(&mut self, operand: &Operand) -> Value {
        let width_bits = self.operand_type(operand).width_bits();
        let value = self.operand(operand);
        self.values().low_word_or_saturated(width_bits, value)
    }

    /// A one-bit operand as a word.
    pub fn truth(&mut self, operand: &Operand) -> Value {
        let value = self.operand(operand);
        self.values().truth(value)
    }

    /// Defines a temporary.
    pub fn define(&mut self, temp: Temp, value: Val) {
        self.temps[temp.index()] = Some(TempValue::Computed(value));
    }

    /// Defines a temporary that is at least as wide as the number.
    pub(super) fn define_number(&mut self, result: Temp, number: Value) {
        let width_bits = self.temp_types[result.index()].width_bits();
        let value = match width_bits {
            0..=64 => Val::Word(number),
            _ => {
                let number = Val::Word(number);
                self.values().resize(ResizeKind::ZeroExtend, 64, width_bits, number)
            }
        };
        self.define(result, value);
    }

    /// Zero, or the empty varbit.
    pub fn zero(&mut self, ty: ValueType) -> Val {
        match ty {
            ValueType::Bits(width_bits) => self.values().zero(width_bits),
            ValueType::Varbit(_) => {
                let length_bits = self.number(0);
                let words = self.load_readonly(self.instance, offset_of!(Instance, zeros) as i32);
                Val::Varbit { length_bits, words }
            }
        }
    }

    /// Stores values in a buffer on the stack, each as in a packet's storage: low word first, a varbit's length
    /// before its words. Returns the buffer's address.
    pub fn words_buffer(&mut self, values: &[(ValueType, Val)]) -> Value {
        let words: usize = values.iter().map(|(ty, _)| words_of(*ty)).sum();
        let address = self.buffer(words.max(1) as u32);
        let mut offset_bytes = 0;
        for (ty, value) in values {
            // A varbit's length is in the word before its value.
            let length_bytes = if matches!(ty, ValueType::Varbit(_)) { 8 } else { 0 };
            self.values().store_words(*ty, *value, address, offset_bytes + length_bytes);
            offset_bytes += words_of(*ty) as i32 * 8;
        }
        address
    }

    /// Operands with their types, for [`Self::words_buffer`].
    pub fn operands(&mut self, operands: &[Operand]) -> Vec<(ValueType, Val)> {
        operands.iter().map(|operand| (self.operand_type(operand), self.operand(operand))).collect()
    }

    pub fn known(&self, operand: &ir::Operand) -> Option<TempValue> {
        match operand {
            ir::Operand::Temp(temp) => self.temps[temp.index()].clone(),
            ir::Operand::Constant(_) => None,
        }
    }

    /// The value of a constant operand of fixed width.
    pub fn known_bits(&mut self, operand: &Operand) -> Option<Bits> {
        match operand {
            Operand::Constant(bits) => Some(bits.clone()),
            Operand::Temp(temp) => match self.temps[temp.index()] {
                Some(TempValue::Computed(Val::Word(word))) => {
                    let width_bits = self.temp_types[temp.index()].width_bits();
                    self.known_number(word).map(|number| Bits::from_u64(width_bits, number))
                }
                _ => None,
            },
        }
    }

    /// The bits of the packet that an operand is, if it can be read there.
    pub fn packet_operand(&self, operand: &Operand) -> Option<PacketBits> {
        match operand {
            Operand::Temp(temp) => match self.temps[temp.index()] {
                Some(TempValue::InPacket(bits)) => Some(bits),
                _ => None,
            },
            Operand::Constant(_) => None,
        }
    }

    /// The inputs of a hash, with their widths in bits.
    pub fn hashed_inputs(&mut self, inputs: &[Operand]) -> Vec<(HashInput, u32)> {
        inputs
            .iter()
            .map(|input| (self.hashed_input(input), self.operand_type(input).width_bits()))
            .collect()
    }

    fn hashed_input(&mut self, operand: &Operand) -> HashInput {
        if let Some(bits) = self.packet_operand(operand) {
            return HashInput::Packet(bits);
        }
        let is_word = matches!(self.operand_type(operand), ValueType::Bits(0..=64));
        match (operand, is_word) {
            (Operand::Temp(_), true) => match self.operand(operand) {
                Val::Word(word) => HashInput::Word(word),
                _ => HashInput::Other,
            },
            _ => HashInput::Other,
        }
    }
}
