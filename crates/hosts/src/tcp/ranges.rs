// SPDX-License-Identifier: Apache-2.0
//! [`Ranges`]: a set of positions as disjoint, sorted ranges that do not touch.

/// Ranges, each from its start up to its end, which it does not contain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn as_slice(&self) -> &[(u64, u64)] {
        &self.0
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a range.
    pub(super) fn insert(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        // Ranges from `first` up to `last` overlap or touch the new one.
        let first = self.0.partition_point(|range| range.1 < start);
        let last = first + self.0[first..].partition_point(|range| range.0 <= end);
        if first == last {
            self.0.insert(first, (start, end));
        } else {
            let joined = (start.min(self.0[first].0), end.max(self.0[last - 1].1));
            self.0[first] = joined;
            self.0.drain(first + 1..last);
        }
    }

    /// Removes all positions before this one.
    pub(super) fn remove_before(&mut self, position: u64) {
        let whole = self.0.partition_point(|range| range.1 <= position);
        if whole > 0 {
            self.0.drain(..whole);
        }
        if let Some(first) = self.0.first_mut() {
            first.0 = first.0.max(position);
        }
    }

    /// Returns the range that contains a position.
    pub(super) fn containing(&self, position: u64) -> Option<(u64, u64)> {
        let at = self.0.partition_point(|range| range.1 <= position);
        self.0.get(at).copied().filter(|range| range.0 <= position)
    }

    /// Returns the parts of a range that are not in the set.
    pub(super) fn missing(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
        let from = self.0.partition_point(|range| range.1 <= start);
        let mut at = start;
        let mut rest = self.0[from..].iter().copied().take_while(move |range| range.0 < end);
        let mut is_over = false;
        std::iter::from_fn(move || {
            while !is_over {
                let (gap_end, next) = match rest.next() {
                    Some(range) => (range.0, range.1),
                    None => {
                        is_over = true;
                        (end, end)
                    }
                };
                let gap = (at, gap_end);
                at = at.max(next);
                if gap.0 < gap.1 {
                    return Some(gap);
                }
            }
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list of bits.
        #[test]
        fn ranges_are_a_set_of_positions(
            steps in prop::collection::vec((0u64..60, 0u64..12, any::<bool>()), 0..60)
        ) {
            let mut ranges = Ranges::default();
            let mut model = [false; 80];
            for (start, length, removes) in steps {
                if removes && length == 0 {
                    ranges.remove_before(start);
                    model[..start as usize].fill(false);
                } else {
                    ranges.insert(start, start + length);
                    model[start as usize..(start + length) as usize].fill(true);
                }
                for pair in ranges.as_slice().windows(2) {
                    prop_assert!(pair[0].1 < pair[1].0);
                }
                for (position, is_in) in model.iter().enumerate() {
                    let found = ranges.containing(position as u64);
                    prop_assert_eq!(found.is_some(), *is_in);
                    prop_assert!(found.is_none_or(|range| range.0 <= position as u64));
                }
                let mut missing = [false; 80];
                for (from, to) in ranges.missing(start, start + length) {
                    missing[from as usize..to as usize].fill(true);
                }
                for (position, is_missing) in missing.iter().enumerate() {
                    let asked = (start..start + length).contains(&(position as u64));
                    prop_assert_eq!(*is_missing, asked && !model[position]);
                }
            }
        }
    }
}
