// SPDX-License-Identifier: Apache-2.0
//! Instructions that read and define temporaries only: constant folding, tests of bits in packet memory, and
//! their code. The arithmetic itself is in `values`.

use super::function::FunctionCompiler;
use super::temporaries::{PacketBits, TempValue};
use super::values::Val;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, types};
use ir::{BinaryOperation, Bits, Operation, Temp};

impl FunctionCompiler<'_, '_> {
    /// Instructions that read and define temporaries only.
    pub fn pure(&mut self, operation: &Operation) {
        if let Some((result, known)) = self.shortcut_of(operation) {
            self.temps[result.index()] = Some(known);
            return;
        }
        let (result, value) = match operation {
            Operation::Unary { result, operation, operand } => {
                let width_bits = self.operand_type(operand).width_bits();
                let operand = self.operand(operand);
                (*result, self.values().unary(*operation, width_bits, operand))
            }
            Operation::Binary { result, operation, left, right } => {
                let types = (self.operand_type(left), self.operand_type(right));
                let (left, right) = (self.operand(left), self.operand(right));
                (*result, self.values().binary(*operation, (types.0, left), (types.1, right)))
            }
            Operation::Resize { result, kind, operand } => {
                let from_bits = self.operand_type(operand).width_bits();
                let to_bits = self.temp_types[result.index()].width_bits();
                let operand = self.operand(operand);
                (*result, self.values().resize(*kind, from_bits, to_bits, operand))
            }
            Operation::Slice { result, operand, high, low } => {
                if let Some(TempValue::InPacket(mut bits)) = self.known(operand) {
                    // A slice of a field in the packet is in the packet too.
                    bits.offset_bits += bits.width_bits - 1 - high;
                    bits.width_bits = high - low + 1;
                    self.temps[result.index()] = Some(TempValue::InPacket(bits));
                    return;
                }
                let from_bits = self.operand_type(operand).width_bits();
                let operand = self.operand(operand);
                (*result, self.values().slice(from_bits, *high, *low, operand))
            }
            Operation::Select { result, condition, then, otherwise } => {
                let condition = self.truth(condition);
                let ty = self.temp_types[result.index()];
                let (then, otherwise) = (self.operand(then), self.operand(otherwise));
                (*result, self.values().select(condition, ty, then, otherwise))
            }
            _ => return,
        };
        self.define(result, value);
    }

    /// The result of an instruction that needs no code or cheaper code.
    fn shortcut_of(&mut self, operation: &Operation) -> Option<(Temp, TempValue)> {
        self.folded(operation)
            .or_else(|| self.test(operation))
            .or_else(|| self.swapped_test(operation))
    }

    /// Turns comparisons of bits of the packet with constants into tests; neighbours are tested together.
    fn test(&mut self, operation: &Operation) -> Option<(Temp, TempValue)> {
        let Operation::Binary { result, operation, left, right } = operation else { return None };
        let test = match (operation, self.known(left), self.known(right)) {
            (BinaryOperation::Equal, Some(TempValue::InPacket(bits)), _)
                if bits.width_bits <= 64 =>
            {
                TempValue::PacketTest(bits, self.known_bits(right)?.to_u64()?)
            }
            (BinaryOperation::Equal, _, Some(TempValue::InPacket(bits)))
                if bits.width_bits <= 64 =>
            {
                TempValue::PacketTest(bits, self.known_bits(left)?.to_u64()?)
            }
            (
                BinaryOperation::And,
                Some(TempValue::PacketTest(left, left_number)),
                Some(TempValue::PacketTest(right, right_number)),
            ) => {
                let follows = |left: PacketBits, right: PacketBits| {
                    left.address == right.address
                        && left.offset_bits + left.width_bits == right.offset_bits
                };
                let (high, high_number, low, low_number) = if follows(left, right) {
                    (left, left_number, right, right_number)
                } else if follows(right, left) {
                    (right, right_number, left, left_number)
                } else {
                    return None;
                };
                let width_bits = high.width_bits + low.width_bits;
                if width_bits > 64 || low.width_bits == 64 {
                    return None;
                }
                let both = PacketBits { width_bits, ..high };
                TempValue::PacketTest(both, high_number << low.width_bits | low_number)
            }
            _ => return None,
        };
        Some((*result, test))
    }

    /// Compares a byte-swapped number of 16 bits with bits of the packet in the machine's byte order.
    fn swapped_test(&mut self, operation: &Operation) -> Option<(Temp, TempValue)> {
        let Operation::Binary { result, operation, left, right } = operation else { return None };
        let condition = match operation {
            BinaryOperation::Equal => IntCC::Equal,
            BinaryOperation::NotEqual => IntCC::NotEqual,
            _ => return None,
        };
        let (word, bits) = match (self.known(left)?, self.known(right)?) {
            (TempValue::Computed(Val::Word(word)), TempValue::InPacket(bits))
            | (TempValue::InPacket(bits), TempValue::Computed(Val::Word(word))) => (word, bits),
            _ => return None,
        };
        let is_half = bits.width_bits == 16 && bits.offset_bits.is_multiple_of(8);
        if !is_half || cfg!(target_endian = "big") {
            return None;
        }
        let swapped = self.values().swapped_half(word)?;
        let flags = MemFlagsData::trusted();
        let first_byte = (bits.offset_bits / 8) as i32;
        let found = self.builder.ins().load(types::I16, flags, bits.address, first_byte);
        let holds = self.builder.ins().icmp(condition, swapped, found);
        let holds = self.builder.ins().uextend(types::I64, holds);
        Some((*result, TempValue::Computed(Val::Word(holds))))
    }

    /// Folds an instruction with constant operands.
    fn folded(&mut self, operation: &Operation) -> Option<(Temp, TempValue)> {
        let (result, value) = match operation {
            Operation::Unary { result, operation, operand } => {
                (*result, self.known_bits(operand)?.unary(*operation))
            }
            Operation::Binary { result, operation, left, right } => {
                let known = (self.known_bits(left), self.known_bits(right));
                match known {
                    (Some(left), Some(right)) => (*result, left.binary(*operation, &right)),
                    (Some(known), None) | (None, Some(known)) => {
                        let other = if self.known_bits(left).is_some() { right } else { left };
                        let is_absorbed = match operation {
                            BinaryOperation::And => known.is_zero(),
                            BinaryOperation::Or => known == Bits::ones(known.width_bits()),
                            _ => return None,
                        };
                        if is_absorbed {
                            (*result, known)
                        } else if known.is_zero() || known == Bits::ones(known.width_bits()) {
                            return Some((*result, self.known(other)?));
                        } else {
                            return None;
                        }
                    }
                    (None, None) => return None,
                }
            }
            Operation::Resize { result, kind, operand } => {
                let width_bits = self.temp_types[result.index()].width_bits();
                (*result, self.known_bits(operand)?.resize(*kind, width_bits))
            }
            Operation::Slice { result, operand, high, low } => {
                (*result, self.known_bits(operand)?.slice(*high, *low))
            }
            Operation::Select { result, condition, then, otherwise } => {
                let taken = if self.known_bits(condition)?.is_true() { then } else { otherwise };
                match self.known_bits(taken) {
                    Some(bits) => (*result, bits),
                    None => return Some((*result, self.known(taken)?)),
                }
            }
            _ => return None,
        };
        let value = self.values().constant(&value);
        Some((result, TempValue::Computed(value)))
    }
}
