// SPDX-License-Identifier: Apache-2.0
//! Ranges as masks: an entry with range keys becomes a few pieces, each a value under a mask. A range
//! splits into aligned blocks; where the blocks of several keys would multiply too far, a key keeps its
//! range as a check, under the mask of the smallest block around it.

use super::layout::{BitRun, RangeCheck};
use smallvec::SmallVec;

/// Most pieces that all ranges of an entry but its first may multiply to.
const MOST_PIECES: usize = 32;

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

fn write_words(bits: BitRun, number: &[u64], key: &mut [u64]) {
    bits.write(&ir::Bits::from_words(bits.width_bits, number), key);
}

/// Splits an entry into pieces, and returns the ranges that stay to be checked.
pub(crate) fn split(
    value: &[u64],
    mask: &[u64],
    checks: Vec<RangeCheck>,
) -> (Vec<Piece>, Vec<RangeCheck>) {
    let mut pieces = vec![Piece { value: value.into(), mask: mask.into() }];
    if checks.is_empty() {
        return (pieces, checks);
    }
    let mut by_blocks: Vec<(RangeCheck, Vec<(Number, u32)>)> = checks
        .into_iter()
        .filter(|check| check.bits.width_bits > 0)
        .map(|check| {
            let blocks = blocks(&check);
            (check, blocks)
        })
        .collect();
    by_blocks.sort_by_key(|(_, blocks)| blocks.len());
    let mut left = Vec::new();
    for (check, blocks) in by_blocks {
        let bits = check.bits;
        let open = |open_bits| ir::Bits::prefix_mask(bits.width_bits, bits.width_bits - open_bits);
        if pieces.len() == 1 || pieces.len() * blocks.len() <= MOST_PIECES {
            let mut product = Vec::with_capacity(pieces.len() * blocks.len());
            for piece in &pieces {
                for (low, open_bits) in &blocks {
                    let mut piece = piece.clone();
                    write_words(bits, low, &mut piece.value);
                    bits.write(&open(*open_bits), &mut piece.mask);
                    product.push(piece);
                }
            }
            pieces = product;
            continue;
        }
        // The block around the range: the bits above the highest one in which its ends differ.
        let open_bits = (0..bits.width_bits)
            .rev()
            .find(|&at| bit(&check.low, at) != bit(&check.high, at))
            .map_or(0, |at| at + 1);
        let mut low = check.low.clone();
        for at in 0..open_bits {
            low[(at / 64) as usize] &= !(1 << (at % 64));
        }
        for piece in &mut pieces {
            write_words(bits, &low, &mut piece.value);
            bits.write(&open(open_bits), &mut piece.mask);
        }
        left.push(check);
    }
    (pieces, left)
}
