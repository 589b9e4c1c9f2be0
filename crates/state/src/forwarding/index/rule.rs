// SPDX-License-Identifier: Apache-2.0
//! An entry with masks and ranges, as indexes insert and find it.

use super::layout::RangeCheck;
use super::ranges::Words;

/// The pattern of an entry, with its rank and order.
#[derive(Clone, Debug)]
pub(crate) struct RulePattern {
    /// Zero outside the mask.
    pub(crate) value: Words,
    pub(crate) mask: Words,
    /// Ranges of keys whose mask is zero.
    pub(crate) checks: Vec<RangeCheck>,
    /// The largest wins.
    pub(crate) rank: i64,
    /// Among equal ranks the smallest wins.
    pub(crate) order: u64,
}

/// The entry that wins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) rank: i64,
    pub(crate) order: u64,
    pub(crate) leaf: u32,
}

impl Found {
    #[inline]
    pub(crate) fn beats(&self, other: &Found) -> bool {
        (self.rank, other.order) > (other.rank, self.order)
    }
}
