// SPDX-License-Identifier: Apache-2.0
//! The hash of packed keys: one multiplication for each one or two words, with folded product. Its highest bits are
//! well distributed; tables take their index from them. It does not resist adversarial keys.

/// Digits of the golden ratio; odd.
pub const FIRST_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
/// Digits of pi; odd.
pub const SECOND_MULTIPLIER: u64 = 0x2438_6a88_85a3_08d3;

#[inline(always)]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

/// Spreads a word over the highest bits: words that differ in a few neighbouring bits go to different places, because
/// the multiplier is odd.
#[inline(always)]
pub(crate) fn spread_word(word: u64) -> u64 {
    word.wrapping_mul(FIRST_MULTIPLIER)
}

/// The hash of one word.
#[inline(always)]
pub(crate) fn hash_word(word: u64, seed: u64) -> u64 {
    fold(word ^ seed, FIRST_MULTIPLIER)
}

/// The hash of two words.
#[inline(always)]
pub(crate) fn hash_double(low: u64, high: u64, seed: u64) -> u64 {
    fold(low ^ seed, high ^ SECOND_MULTIPLIER)
}

/// The hash of any number of words.
#[inline(always)]
pub(crate) fn hash_words(words: impl Iterator<Item = u64>, seed: u64) -> u64 {
    words.fold(seed, |hash, word| fold(hash ^ word, FIRST_MULTIPLIER).rotate_left(23))
}

/// Derives a seed that differs between tables and is the same in every run.
pub(crate) fn seed_of(numbers: impl Iterator<Item = u64>) -> u64 {
    fold(hash_words(numbers, SECOND_MULTIPLIER), FIRST_MULTIPLIER) | 1
}
