// SPDX-License-Identifier: Apache-2.0
//! Splits an entry with a range into two pieces, each with a mask and value that exclude keys outside part of the
//! range. `tuple_update` decides when.

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

fn bit(number: &[u64], at: u32) -> bool {
    number[(at / 64) as usize] >> (at % 64) & 1 == 1
}

/// The share of all numbers that a range covers is at most one half to this.
pub(crate) fn narrowness(check: &RangeCheck) -> u32 {
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

/// Splits an entry at the middle of the smallest aligned block around its narrowest range: each part
/// has one end of the block or its middle as an end, so that of the keys in a half block about half lie
/// in the range. All ranges stay to be checked.
pub(crate) fn split(value: &[u64], mask: &[u64], checks: &[RangeCheck]) -> Vec<Piece> {
    let whole = Piece { value: value.into(), mask: mask.into() };
    let narrowest = checks
        .iter()
        .filter(|check| check.bits.width_bits > 0)
        .max_by_key(|check| narrowness(check));
    let Some(RangeCheck { bits, low, high }) = narrowest else { return vec![whole] };
    let apart = (0..bits.width_bits).rev().find(|&at| bit(low, at) != bit(high, at));
    let part = |number: &[u64], open_bits: u32| {
        let mut piece = whole.clone();
        let mask = ir::Bits::prefix_mask(bits.width_bits, bits.width_bits - open_bits);
        let number = ir::Bits::from_words(bits.width_bits, number);
        bits.write(&number.binary(ir::BinaryOperation::And, &mask), &mut piece.value);
        bits.write(&mask, &mut piece.mask);
        piece
    };
    match apart {
        None => vec![part(low, 0)],
        Some(at) => vec![part(low, at), part(high, at)],
    }
}
