// SPDX-License-Identifier: Apache-2.0
//! Sizes of values in words of 64 bits.

use ir::ValueType;

/// The number of words that hold a value: at least one.
pub(crate) fn word_count(width_bits: u32) -> u32 {
    width_bits.div_ceil(64).max(1)
}

/// The mask of used bits in the highest word; 0 for a width of 0.
pub(crate) fn top_mask(width_bits: u32) -> u64 {
    match (width_bits, width_bits % 64) {
        (0, _) => 0,
        (_, 0) => u64::MAX,
        (_, used) => u64::MAX >> (64 - used),
    }
}

/// Words of a value in a packet's storage, a varbit's length among them.
pub(crate) fn words_of(ty: ValueType) -> usize {
    let words = |width_bits: u32| (width_bits.div_ceil(64) as usize).max(1);
    match ty {
        ValueType::Bits(width_bits) => words(width_bits),
        ValueType::Varbit(width_bits) => 1 + words(width_bits),
    }
}

/// Offset in bytes of a word.
pub(crate) fn word_offset(at: u32) -> i32 {
    at as i32 * 8
}
