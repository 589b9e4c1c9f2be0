// SPDX-License-Identifier: Apache-2.0
//! Ranges as masks: a range splits into aligned blocks, and so an entry with a range into pieces, each a
//! value under a mask. When that is worth it is decided in `tuples`.

use super::layout::RangeCheck;
use smallvec::SmallVec;

/// Words of a value and of a mask.
pub(crate) type Words = SmallVec<[u64; 2]>;

/// A piece of an entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) value: Words,
    pub(crate) mask: Words,
}

/// A number from words, for arithmetic on ranges.
type Number = SmallVec<[u64; 2]>;

fn bit(number: &[u64], at: u32) -> bool {
    number[(at / 64) as usize] >> (at % 64) & 1 == 1
}

/// How many of the lowest bits are zero, at most `width_bits`.
fn trailing_zeros(number: &[u64], width_bits: u32) -> u32 {
    (0..width_bits).find(|&at| bit(number, at)).unwrap_or(width_bits)
}

/// Adds one.
fn increment(number: &mut [u64]) {
    for word in number {
        *word = word.wrapping_add(1);
        if *word != 0 {
            return;
        }
    }
}

fn less(left: &[u64], right: &[u64]) -> bool {
    left.iter().rev().lt(right.iter().rev())
}

/// The aligned blocks that make up a range: lowest number, and bits that are open.
fn blocks(check: &RangeCheck) -> Vec<(Number, u32)> {
    let width_bits = check.bits.width_bits;
    let mut blocks = Vec::new();
    let mut low = check.low.clone();
    loop {
        // The largest block that begins here and does not reach beyond the end.
        let mut open_bits = trailing_zeros(&low, width_bits);
        let mut end = low.clone();
        loop {
            end.copy_from_slice(&low);
            for at in 0..open_bits {
                end[(at / 64) as usize] |= 1 << (at % 64);
            }
            if !less(&check.high, &end) {
                break;
            }
            open_bits -= 1;
        }
        blocks.push((low.clone(), open_bits));
        if end == check.high {
            return blocks;
        }
        low = end;
        increment(&mut low);
    }
}

/// The share of all numbers that a range covers is at most one half to this.
fn narrowness(check: &RangeCheck) -> u32 {
    let mut length = check.high.clone();
    let mut borrow = false;
    for (word, low) in length.iter_mut().zip(&check.low) {
        let (less, first) = word.overflowing_sub(*low);
        let (less, second) = less.overflowing_sub(u64::from(borrow));
        (*word, borrow) = (less, first || second);
    }
    let used_bits =
        (0..check.bits.width_bits).rev().find(|&at| bit(&length, at)).map_or(0, |at| at + 1);
    check.bits.width_bits - used_bits
}

/// Splits an entry by its narrowest range into pieces, and returns the ranges that stay to be checked.
/// More than one is never split: pieces would multiply, and masks with them.
pub(crate) fn split(
    value: &[u64],
    mask: &[u64],
    mut checks: Vec<RangeCheck>,
) -> (Vec<Piece>, Vec<RangeCheck>) {
    let whole = Piece { value: value.into(), mask: mask.into() };
    let narrowest = (0..checks.len())
        .filter(|&at| checks[at].bits.width_bits > 0)
        .max_by_key(|&at| narrowness(&checks[at]));
    let Some(narrowest) = narrowest else { return (vec![whole], checks) };
    let check = checks.remove(narrowest);
    let bits = check.bits;
    let pieces = blocks(&check)
        .into_iter()
        .map(|(low, open_bits)| {
            let mut piece = whole.clone();
            bits.write(&ir::Bits::from_words(bits.width_bits, &low), &mut piece.value);
            let mask = ir::Bits::prefix_mask(bits.width_bits, bits.width_bits - open_bits);
            bits.write(&mask, &mut piece.mask);
            piece
        })
        .collect();
    (pieces, checks)
}
