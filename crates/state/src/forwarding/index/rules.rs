// SPDX-License-Identifier: Apache-2.0
//! `RuleIndex`: entries with masks, ranges and ranks, in a list while there are few and in a tuple space for many.

use super::leaf::NO_MATCH;
use super::linear::LinearList;
use super::rule::{Found, RulePattern};
use super::tuples::TupleSpace;

/// Largest number of entries for which a list is faster.
const MAX_LINEAR: usize = 16;

/// The index of entries with masks and ranges.
#[derive(Clone, Debug)]
pub(crate) enum RuleIndex {
    Few(LinearList),
    Many(Box<TupleSpace>),
}

impl RuleIndex {
    pub(crate) fn new(words: usize) -> Self {
        RuleIndex::Few(LinearList::new(words))
    }

    /// The leaf of the best entry that matches, or [`NO_MATCH`].
    #[inline(always)]
    pub(crate) fn find(&self, key: &[u64]) -> u32 {
        match self {
            RuleIndex::Few(list) => list.find(key).map_or(NO_MATCH, |found| found.leaf),
            RuleIndex::Many(space) => space.find(key),
        }
    }

    /// The best entry that matches. Slower than `find`.
    pub(crate) fn find_candidate(&self, key: &[u64]) -> Option<Found> {
        match self {
            RuleIndex::Few(list) => list.find(key),
            RuleIndex::Many(space) => space.find_candidate(key),
        }
    }

    pub(crate) fn insert(&mut self, pattern: RulePattern, leaf: u32, seed: u64) {
        match self {
            RuleIndex::Few(list) => {
                let words = pattern.value.len();
                list.insert(pattern, leaf);
                if list.len() > MAX_LINEAR {
                    let mut space = TupleSpace::new(words, seed);
                    list.drain()
                        .into_iter()
                        .for_each(|(pattern, leaf)| space.insert(pattern, leaf));
                    *self = RuleIndex::Many(Box::new(space));
                }
            }
            RuleIndex::Many(space) => space.insert(pattern, leaf),
        }
    }

    pub(crate) fn remove(&mut self, pattern: RulePattern) {
        match self {
            RuleIndex::Few(list) => list.remove(&pattern),
            RuleIndex::Many(space) => {
                let words = pattern.value.len();
                space.remove(pattern);
                if space.is_empty() {
                    *self = RuleIndex::new(words);
                }
            }
        }
    }

    pub(crate) fn set_leaf(&mut self, pattern: RulePattern, leaf: u32) {
        match self {
            RuleIndex::Few(list) => list.set_leaf(&pattern, leaf),
            RuleIndex::Many(space) => space.set_leaf(pattern, leaf),
        }
    }

    /// Returns the address that a lookup reads first, or 0 for a small index.
    #[inline(always)]
    pub(crate) fn first_touch(&self, key: &[u64]) -> usize {
        match self {
            RuleIndex::Few(_) => 0,
            RuleIndex::Many(space) => space.first_touch(key),
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = RuleIndex::new(match self {
            RuleIndex::Few(list) => list.words(),
            RuleIndex::Many(space) => space.words(),
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            RuleIndex::Few(list) => list.len() == 0,
            RuleIndex::Many(space) => space.is_empty(),
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            RuleIndex::Few(list) => list.memory_bytes(),
            RuleIndex::Many(space) => size_of::<TupleSpace>() + space.memory_bytes(),
        }
    }
}
