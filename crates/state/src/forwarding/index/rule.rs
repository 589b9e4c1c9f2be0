// SPDX-License-Identifier: Apache-2.0
//! One entry with masks and ranges as the indexes of such entries take it and find it.

use super::layout::RangeCheck;
use super::ranges::Words;

/// What an entry asks, and what decides between it and others.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Zero where the mask is.
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
