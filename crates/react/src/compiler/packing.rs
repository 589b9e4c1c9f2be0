// SPDX-License-Identifier: Apache-2.0
//! Sorted first fit (Mantis §4.1, Mantis §4.2): items by width, the widest first, each into the first bin with room.

/// Limits of a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BinLimits {
    /// The sum of widths.
    pub bits: u32,
    /// The number of items.
    pub items: usize,
}

/// Packs items of these widths in bits; returns the indexes of the items of each bin. Items of equal width keep their
/// order. `pinned` items, the first ones, are packed first, so that they share the first bin.
pub fn sorted_first_fit(widths_bits: &[u32], pinned: usize, limits: BinLimits) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..widths_bits.len()).collect();
    order[pinned..].sort_by_key(|item| std::cmp::Reverse(widths_bits[*item]));
    let mut bins: Vec<(u32, Vec<usize>)> = Vec::new();
    for item in order {
        let width = widths_bits[item];
        let has_room = |bin: &&mut (u32, Vec<usize>)| {
            bin.0.saturating_add(width) <= limits.bits && bin.1.len() < limits.items
        };
        match bins.iter_mut().find(has_room) {
            Some(bin) => {
                bin.0 += width;
                bin.1.push(item);
            }
            None => bins.push((width, vec![item])),
        }
    }
    bins.into_iter().map(|(_, items)| items).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(widths: &[u32], pinned: usize, bits: u32, items: usize, expected: &[&[usize]]) {
        assert_eq!(sorted_first_fit(widths, pinned, BinLimits { bits, items }), expected);
    }

    #[test]
    fn items_are_packed_widest_first() {
        // src, dst, sport, dport, proto, ttl, flag: four words.
        check(&[32, 32, 16, 16, 8, 8, 1], 0, 32, 99, &[&[0], &[1], &[2, 3], &[4, 5, 6]]);
        // Not optimal: two words would do.
        check(&[15, 12, 12, 10, 8, 7], 0, 32, 99, &[&[0, 1], &[2, 3, 4], &[5]]);
        check(&[], 0, 32, 99, &[]);
    }

    #[test]
    fn pinned_items_come_first_and_bins_have_limits() {
        check(&[1, 1, 32, 16], 2, 32, 99, &[&[0, 1, 3], &[2]]);
        check(&[8, 8, 8], 0, 64, 2, &[&[0, 1], &[2]]);
        // Wider than a bin.
        check(&[64], 0, 32, 2, &[&[0]]);
    }
}
