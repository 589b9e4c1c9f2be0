// SPDX-License-Identifier: Apache-2.0
//! `ShortIndex`: exact matches on keys of few bits by an array from the key to the leaf. A hash table holds what
//! updates need; lookups do not read it.

use super::exact::WordIndex;
use super::leaf::NO_MATCH;

/// Largest width of keys in an array.
pub(crate) const MAX_BITS: u64 = 16;

/// An array from keys to leaves.
#[derive(Clone, Debug)]
pub(crate) struct ShortIndex {
    /// Long enough for the largest key so far, never empty.
    leaves: Vec<u32>,
    entries: WordIndex,
}

impl ShortIndex {
    pub(crate) fn new(seed: u64) -> Self {
        ShortIndex { leaves: vec![NO_MATCH], entries: WordIndex::new(seed) }
    }

    /// The leaf of the entry with this key, or [`NO_MATCH`].
    #[inline(always)]
    pub(crate) fn find(&self, key: u64) -> u32 {
        self.leaves.get(key as usize).copied().unwrap_or(NO_MATCH)
    }

    /// The leaves by key; a key past the end has none.
    pub(crate) fn leaves(&self) -> &[u32] {
        &self.leaves
    }

    /// The address of the leaf that a lookup reads.
    #[inline(always)]
    pub(crate) fn first_touch(&self, key: u64) -> usize {
        self.leaves.as_ptr().wrapping_add(key as usize) as usize
    }

    /// Updates the array after the entries of a key changed.
    fn refresh(&mut self, key: u64) {
        let leaf = self.entries.find(key);
        let at = key as usize;
        if at >= self.leaves.len() {
            if leaf == NO_MATCH {
                return;
            }
            self.leaves.resize(at + 1, NO_MATCH);
        }
        self.leaves[at] = leaf;
    }

    pub(crate) fn insert(&mut self, key: u64, order: u64, leaf: u32) {
        self.entries.insert(key, order, leaf);
        self.refresh(key);
    }

    pub(crate) fn remove(&mut self, key: u64, order: u64) {
        self.entries.remove(key, order);
        self.refresh(key);
    }

    pub(crate) fn set_leaf(&mut self, key: u64, order: u64, leaf: u32) {
        self.entries.set_leaf(key, order, leaf);
        self.refresh(key);
    }

    /// Order and leaf of the entry with this key.
    pub(crate) fn find_candidate(&self, key: u64) -> Option<(u64, u32)> {
        self.entries.find_candidate(key)
    }

    /// Memory that lookups spread over.
    pub(crate) fn lookup_bytes(&self) -> usize {
        size_of_val(&*self.leaves)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.leaves.capacity() * size_of::<u32>() + self.entries.memory_bytes()
    }
}
