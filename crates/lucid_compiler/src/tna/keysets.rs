// SPDX-License-Identifier: Apache-2.0
//! Conditions of guards as the keysets of a table's entries. A key is of one kind: as ranges, a mask with free
//! bits in the middle takes several entries; as values with masks, a range does. Whichever a key is, an entry
//! becomes few.

use super::context::ones;
use crate::expressions::literal;
use pisa::Condition;

/// A mask that takes more ranges than this makes its key one of values with masks: any range takes fewer than
/// two of those a bit.
const MAX_RANGES: u32 = 64;

/// A key of ranges has at most so many bits: Tofino matches ranges in nibbles, of which a word of its TCAM has few.
pub(super) const MAX_RANGE_BITS: u32 = 16;

/// How a key is matched.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyOf {
    pub(super) width_bits: u32,
    pub(super) is_range: bool,
}

/// Bits from the lowest one that a mask asks for on which it does not ask for.
fn free_bits(mask: u128, width_bits: u32) -> Vec<u32> {
    let low_bits = mask.trailing_zeros().min(width_bits);
    (low_bits..width_bits).filter(|bit| mask >> bit & 1 == 0).collect()
}

/// Whether a key with these conditions is one of ranges. Keys that are too wide for that are not.
pub(super) fn are_ranges<'c>(
    conditions: impl Iterator<Item = &'c Condition>,
    width_bits: u32,
) -> bool {
    if width_bits > MAX_RANGE_BITS {
        return false;
    }
    let mut has_range = false;
    for condition in conditions {
        match *condition {
            Condition::Range { .. } => has_range = true,
            Condition::Ternary { mask, .. } => {
                if free_bits(mask, width_bits).len() as u32 > MAX_RANGES.ilog2() {
                    return false;
                }
            }
        }
    }
    has_range
}

/// A condition as keysets, any of which may match.
pub(super) fn of(condition: &Condition, key: &KeyOf) -> Vec<String> {
    let width_bits = key.width_bits;
    let all = ones(width_bits);
    let text = |value: u128| literal(value, width_bits);
    let range = |(low, high)| format!("{} .. {}", text(low), text(high));
    let masked = |(value, mask)| match mask {
        0 => "_".to_string(),
        mask if mask == all => text(value),
        mask => format!("{} &&& {}", text(value), text(mask)),
    };
    match *condition {
        Condition::Ternary { mask: 0, .. } => vec!["_".into()],
        Condition::Ternary { value, mask } if key.is_range => {
            ranges(value, mask & all, width_bits).into_iter().map(range).collect()
        }
        Condition::Ternary { value, mask } => vec![masked((value, mask & all))],
        Condition::Range { low, high } if key.is_range => vec![range((low, high))],
        Condition::Range { low, high } => {
            prefixes(low, high, width_bits).into_iter().map(masked).collect()
        }
    }
}

/// The values of a ternary condition as ranges.
fn ranges(value: u128, mask: u128, width_bits: u32) -> Vec<(u128, u128)> {
    // Free bits below the lowest bit that counts are one block; those above have each value.
    let low_bits = mask.trailing_zeros().min(width_bits);
    let free = free_bits(mask, width_bits);
    (0u128..1 << free.len())
        .map(|choice| {
            let base = free
                .iter()
                .enumerate()
                .fold(value, |base, (at, bit)| base | (choice >> at & 1) << bit);
            (base, base | ones(low_bits))
        })
        .collect()
}

/// A range as values with masks that leave out low bits: from its lower end the largest block that fits.
pub(super) fn prefixes(low: u128, high: u128, width_bits: u32) -> Vec<(u128, u128)> {
    let mut found = Vec::new();
    let mut next = Some(low);
    while let Some(low) = next.filter(|low| *low <= high) {
        let aligned = low.trailing_zeros().min(width_bits);
        let free = (0..=aligned).rev().find(|free| low | ones(*free) <= high).unwrap_or(0);
        found.push((low, ones(width_bits) & !ones(free)));
        next = (low | ones(free)).checked_add(1);
    }
    found
}

/// All combinations of one element of each list.
pub(super) fn combinations(lists: &[Vec<String>]) -> Vec<Vec<String>> {
    lists.iter().fold(vec![Vec::new()], |all, list| {
        all.iter()
            .flat_map(|start| {
                list.iter().map(|one| {
                    let mut longer = start.clone();
                    longer.push(one.clone());
                    longer
                })
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH_BITS: u32 = 5;

    #[test]
    fn blocks_cover_what_they_stand_for_once() {
        for low in 0..32u128 {
            for high in low..32 {
                let blocks = prefixes(low, high, WIDTH_BITS);
                assert!(blocks.len() <= 2 * (WIDTH_BITS as usize - 1), "{low} {high} {blocks:?}");
                for value in 0..32 {
                    let count =
                        blocks.iter().filter(|(base, mask)| value & mask == base & mask).count();
                    assert_eq!(count, usize::from((low..=high).contains(&value)), "{low} {high}");
                }
            }
        }
        for mask in 1..32u128 {
            let blocks = ranges(9 & mask, mask, WIDTH_BITS);
            for value in 0..32 {
                let count = blocks.iter().filter(|(low, high)| (low..=high).contains(&&value));
                assert_eq!(count.count(), usize::from(value & mask == 9 & mask), "{mask}");
            }
        }
    }

    #[test]
    fn a_mask_with_many_free_bits_makes_a_range_blocks() {
        let odd = Condition::Ternary { value: 1, mask: 1 };
        let small = Condition::Range { low: 0, high: 5 };
        assert!(!are_ranges([&odd, &small].into_iter(), 32));
        assert!(are_ranges([&odd, &small].into_iter(), 7));
        assert!(!are_ranges([&odd].into_iter(), 7));
        let key = KeyOf { width_bits: 32, is_range: false };
        assert_eq!(of(&small, &key), ["32w0 &&& 32w0xfffffffc", "32w4 &&& 32w0xfffffffe"]);
        assert_eq!(of(&odd, &key), ["32w1 &&& 32w1"]);
        let key = KeyOf { width_bits: 3, is_range: true };
        assert_eq!(of(&odd, &key), ["3w1 .. 3w1", "3w3 .. 3w3", "3w5 .. 3w5", "3w7 .. 3w7"]);
    }
}
