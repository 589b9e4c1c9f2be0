// SPDX-License-Identifier: Apache-2.0
//! Arithmetic of any width on values of the IR, as compiled code.
use cranelift_codegen::ir::Value;

/// A value of the IR in compiled code. Bits at and above the width are always zero.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Val {
    /// Up to 64 bits: one 64-bit value.
    Word(Value),
    /// 65 to 128 bits: low and high word.
    Pair(Value, Value),
    /// Wider: the address of ceil(width / 64) words, low word first; never written again once made.
    Memory(Value),
    /// A varbit: its length in bits, and the address of its words (enough for its largest length).
    Varbit {
        /// Length in bits.
        length_bits: Value,
        /// Address of the words.
        words: Value,
    },
}
