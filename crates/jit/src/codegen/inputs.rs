// SPDX-License-Identifier: Apache-2.0
//! What hashes and sums are computed of, as later ones of the same can tell.

use super::function::{FunctionCompiler, PacketBits};
use super::values::Val;
use cranelift_codegen::ir::Value;
use ir::{Operand, ValueType};

/// What an input of a hash or a sum was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Bits of the packet.
    Packet(PacketBits),
    /// A number of at most 64 bits.
    Word(Value),
    /// Anything else.
    Other,
}

impl Input {
    /// The address of the packet is known as another value from now on.
    pub fn packet_moved(&mut self, before: Value, after: Value) {
        if let Input::Packet(bits) = self {
            bits.packet_moved(before, after);
        }
    }
}

impl FunctionCompiler<'_, '_> {
    /// What the inputs are, with their widths in bits.
    pub fn hashed_inputs(&mut self, inputs: &[Operand]) -> Vec<(Input, u32)> {
        inputs
            .iter()
            .map(|input| (self.hashed_input(input), self.operand_type(input).width_bits()))
            .collect()
    }

    fn hashed_input(&mut self, operand: &Operand) -> Input {
        if let Some(bits) = self.packet_operand(operand) {
            return Input::Packet(bits);
        }
        let is_word = matches!(self.operand_type(operand), ValueType::Bits(0..=64));
        match (operand, is_word) {
            (Operand::Temp(_), true) => match self.operand(operand) {
                Val::Word(word) => Input::Word(word),
                _ => Input::Other,
            },
            _ => Input::Other,
        }
    }
}
