// SPDX-License-Identifier: Apache-2.0
//! Exact matches on keys of one or two words: open addressing with linear probing, the key in the slot,
//! so that a hit is one cache line most of the time. Removal moves followers up and leaves no
//! tombstones.

use super::NO_MATCH;
use super::hash::{hash_double, hash_word};
use super::rivals::{Rivals, Winner};
use std::fmt::Debug;
use std::hash::Hash;

/// A key that lies in the slot.
pub(crate) trait InlineKey: Copy + Eq + Hash + Default + Debug {
    /// Good in the highest bits.
    fn hash_bits(self, seed: u64) -> u64;
    /// From as many words as it has.
    fn from_words(words: &[u64]) -> Self;
}

impl InlineKey for u64 {
    #[inline(always)]
    fn hash_bits(self, seed: u64) -> u64 {
        hash_word(self, seed)
    }

    #[inline(always)]
    fn from_words(words: &[u64]) -> u64 {
        words[0]
    }
}

impl InlineKey for [u64; 2] {
    #[inline(always)]
    fn hash_bits(self, seed: u64) -> u64 {
        hash_double(self[0], self[1], seed)
    }

    #[inline(always)]
    fn from_words(words: &[u64]) -> [u64; 2] {
        [words[0], words[1]]
    }
}

/// 16 bytes for one word, 24 for two. Free when the leaf is [`NO_MATCH`]; then the key is zero, which
/// lets a lookup compare the key first.
#[derive(Clone, Copy, Debug)]
struct Slot<K> {
    key: K,
    winner: Winner,
}

/// The smallest number of slots; a power of two.
const FEWEST_SLOTS: usize = 4;

/// A hash table from keys to leaves.
#[derive(Clone, Debug)]
pub(crate) struct ExactIndex<K> {
    /// A power of two of them, at most three quarters taken.
    slots: Vec<Slot<K>>,
    /// What brings a hash down to a slot.
    shift: u32,
    seed: u64,
    taken: usize,
    rivals: Rivals<K>,
}

impl<K: InlineKey> ExactIndex<K> {
    pub(crate) fn new(seed: u64) -> Self {
        let free = Slot { key: K::default(), winner: Winner::NONE };
        ExactIndex {
            slots: vec![free; FEWEST_SLOTS],
            shift: 64 - FEWEST_SLOTS.trailing_zeros(),
            seed,
            taken: 0,
            rivals: Rivals::default(),
        }
    }

    /// The leaf of the entry with this key, or [`NO_MATCH`].
    #[inline(always)]
    pub(crate) fn find(&self, key: K) -> u32 {
        let last = self.slots.len() - 1;
        let mut at = (key.hash_bits(self.seed) >> self.shift) as usize;
        loop {
            let slot = &self.slots[at & last];
            if slot.key == key || slot.winner.leaf == NO_MATCH {
                return slot.winner.leaf;
            }
            at += 1;
        }
    }

    /// The address of the first slot that a lookup reads.
    #[inline(always)]
    pub(crate) fn first_touch(&self, key: K) -> usize {
        let at = (key.hash_bits(self.seed) >> self.shift) as usize;
        self.slots.as_ptr().wrapping_add(at) as usize
    }

    /// The slot of this key, or the free one where it would go.
    fn place(&self, key: K) -> usize {
        let last = self.slots.len() - 1;
        let mut at = (key.hash_bits(self.seed) >> self.shift) as usize & last;
        while self.slots[at].winner.leaf != NO_MATCH && self.slots[at].key != key {
            at = (at + 1) & last;
        }
        at
    }

    pub(crate) fn insert(&mut self, key: K, order: u64, leaf: u32) {
        if (self.taken + 1) * 4 > self.slots.len() * 3 {
            self.resize(self.slots.len() * 2);
        }
        let at = self.place(key);
        let slot = &mut self.slots[at];
        self.taken += usize::from(slot.winner.leaf == NO_MATCH);
        let winner = self.rivals.add(key, slot.winner, order, leaf);
        *slot = Slot { key, winner };
    }

    pub(crate) fn remove(&mut self, key: K, order: u64) {
        let at = self.place(key);
        if self.slots[at].winner.leaf == NO_MATCH {
            return;
        }
        let winner = self.rivals.remove(key, self.slots[at].winner, order);
        if winner != Winner::NONE {
            self.slots[at].winner = winner;
            return;
        }
        self.free(at);
        self.taken -= 1;
        if self.taken * 8 < self.slots.len() && self.slots.len() > FEWEST_SLOTS {
            self.resize(self.slots.len() / 2);
        }
    }

    /// Frees a slot, and moves up what only stands where it does because the slot was taken.
    fn free(&mut self, mut hole: usize) {
        let last = self.slots.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & last;
            let slot = self.slots[at];
            if slot.winner.leaf == NO_MATCH {
                break;
            }
            let home = (slot.key.hash_bits(self.seed) >> self.shift) as usize;
            if at.wrapping_sub(home) & last >= at.wrapping_sub(hole) & last {
                self.slots[hole] = slot;
                hole = at;
            }
        }
        self.slots[hole] = Slot { key: K::default(), winner: Winner::NONE };
    }

    pub(crate) fn set_leaf(&mut self, key: K, order: u64, leaf: u32) {
        let at = self.place(key);
        if self.slots[at].winner.leaf != NO_MATCH {
            self.slots[at].winner = self.rivals.set_leaf(key, self.slots[at].winner, order, leaf);
        }
    }

    /// Order and leaf of the entry with this key.
    pub(crate) fn find_candidate(&self, key: K) -> Option<(u64, u32)> {
        let winner = self.slots[self.place(key)].winner;
        (winner != Winner::NONE).then(|| (self.rivals.order(&key, winner), winner.leaf))
    }

    fn resize(&mut self, slots: usize) {
        let free = Slot { key: K::default(), winner: Winner::NONE };
        let old = std::mem::replace(&mut self.slots, vec![free; slots]);
        self.shift = 64 - slots.trailing_zeros();
        for slot in old {
            if slot.winner.leaf != NO_MATCH {
                let at = self.place(slot.key);
                self.slots[at] = slot;
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<K>>() + self.rivals.memory_bytes()
    }
}
