// SPDX-License-Identifier: Apache-2.0
//! `WideExactIndex`: a hash table for exact matches on keys of any number of words. Open addressing over 16-byte
//! slots with 32 bits of the hash; the keys are in one flat array. Removal moves displaced keys back and leaves no
//! tombstones.

use super::hash::hash_words;
use super::leaf::NO_MATCH;
use super::overlapping::{OverlappingEntries, Winner};

/// Free when the leaf is [`NO_MATCH`].
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The highest bits of the hash, which give the home slot.
    hash: u32,
    /// Index of the key in `keys`, in units of keys.
    key: u32,
    winner: Winner,
}

const FREE: Slot = Slot { hash: 0, key: 0, winner: Winner::NONE };

/// The smallest number of slots; a power of two.
const MIN_SLOTS: usize = 2;

/// A hash table from keys of several words to leaves.
#[derive(Clone, Debug)]
pub(crate) struct WideExactIndex {
    /// A power of two of them, at most three quarters taken.
    slots: Vec<Slot>,
    shift: u32,
    seed: u64,
    words: usize,
    keys: Vec<u64>,
    /// Free places in `keys`.
    free_keys: Vec<u32>,
    taken: usize,
    overlapping: OverlappingEntries<Box<[u64]>>,
}

impl WideExactIndex {
    pub(crate) fn new(words: usize, seed: u64) -> Self {
        WideExactIndex {
            slots: vec![FREE; MIN_SLOTS],
            shift: 32 - MIN_SLOTS.trailing_zeros(),
            seed,
            words,
            keys: Vec::new(),
            free_keys: Vec::new(),
            taken: 0,
            overlapping: OverlappingEntries::default(),
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = WideExactIndex::new(self.words, self.seed);
    }

    #[inline(always)]
    fn hash(&self, word: impl Fn(usize) -> u64) -> u32 {
        (hash_words((0..self.words).map(word), self.seed) >> 32) as u32
    }

    /// The slot of the key whose words `word` gives, or the free one where it would go.
    #[inline(always)]
    fn place(&self, hash: u32, word: impl Fn(usize) -> u64) -> usize {
        let last = self.slots.len() - 1;
        let mut at = (hash >> self.shift) as usize;
        loop {
            let slot = &self.slots[at & last];
            if slot.winner.leaf == NO_MATCH {
                return at & last;
            }
            if slot.hash == hash {
                let start = slot.key as usize * self.words;
                let key = &self.keys[start..start + self.words];
                if key.iter().enumerate().all(|(at, other)| *other == word(at)) {
                    return at & last;
                }
            }
            at += 1;
        }
    }

    /// The leaf of the entry with the key whose words `word` gives, or [`NO_MATCH`].
    #[inline(always)]
    pub(crate) fn find(&self, word: impl Fn(usize) -> u64 + Copy) -> u32 {
        self.slots[self.place(self.hash(word), word)].winner.leaf
    }

    /// The address of the first slot that a lookup reads.
    #[inline(always)]
    pub(crate) fn first_touch(&self, word: impl Fn(usize) -> u64) -> usize {
        let at = (self.hash(word) >> self.shift) as usize;
        self.slots.as_ptr().wrapping_add(at) as usize
    }

    pub(crate) fn insert(&mut self, key: &[u64], order: u64, leaf: u32) {
        if (self.taken + 1) * 4 > self.slots.len() * 3 {
            self.resize(self.slots.len() * 2);
        }
        let hash = self.hash(|at| key[at]);
        let at = self.place(hash, |at| key[at]);
        let mut slot = self.slots[at];
        if slot.winner.leaf == NO_MATCH {
            self.taken += 1;
            slot.hash = hash;
            slot.key = match self.free_keys.pop() {
                Some(place) => {
                    let start = place as usize * self.words;
                    self.keys[start..start + self.words].copy_from_slice(key);
                    place
                }
                None => {
                    self.keys.extend_from_slice(key);
                    (self.taken - 1) as u32
                }
            };
        }
        slot.winner = self.overlapping.add(key.into(), slot.winner, order, leaf);
        self.slots[at] = slot;
    }

    pub(crate) fn remove(&mut self, key: &[u64], order: u64) {
        let at = self.place(self.hash(|at| key[at]), |at| key[at]);
        let slot = self.slots[at];
        if slot.winner.leaf == NO_MATCH {
            return;
        }
        let winner = self.overlapping.remove(key.into(), slot.winner, order);
        if winner != Winner::NONE {
            self.slots[at].winner = winner;
            return;
        }
        self.free_keys.push(slot.key);
        self.free(at);
        self.taken -= 1;
        if self.taken == 0 {
            self.keys = Vec::new();
            self.free_keys = Vec::new();
        }
        if self.taken * 8 < self.slots.len() && self.slots.len() > MIN_SLOTS {
            self.resize(self.slots.len() / 2);
        }
    }

    /// Frees a slot and moves displaced keys back.
    fn free(&mut self, mut hole: usize) {
        let last = self.slots.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & last;
            let slot = self.slots[at];
            if slot.winner.leaf == NO_MATCH {
                break;
            }
            let home = (slot.hash >> self.shift) as usize;
            if at.wrapping_sub(home) & last >= at.wrapping_sub(hole) & last {
                self.slots[hole] = slot;
                hole = at;
            }
        }
        self.slots[hole] = FREE;
    }

    pub(crate) fn set_leaf(&mut self, key: &[u64], order: u64, leaf: u32) {
        let at = self.place(self.hash(|at| key[at]), |at| key[at]);
        let winner = self.slots[at].winner;
        if winner != Winner::NONE {
            self.slots[at].winner = self.overlapping.set_leaf(key.into(), winner, order, leaf);
        }
    }

    /// Order and leaf of the entry with this key.
    pub(crate) fn find_candidate(&self, key: &[u64]) -> Option<(u64, u32)> {
        let at = self.place(self.hash(|at| key[at]), |at| key[at]);
        let winner = self.slots[at].winner;
        (winner != Winner::NONE).then(|| (self.overlapping.order(&key.into(), winner), winner.leaf))
    }

    fn resize(&mut self, slots: usize) {
        let old = std::mem::replace(&mut self.slots, vec![FREE; slots]);
        self.shift = 32 - slots.trailing_zeros();
        let last = slots - 1;
        for slot in old {
            if slot.winner.leaf != NO_MATCH {
                let mut at = (slot.hash >> self.shift) as usize;
                while self.slots[at].winner.leaf != NO_MATCH {
                    at = (at + 1) & last;
                }
                self.slots[at] = slot;
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
            + self.keys.capacity() * 8
            + self.free_keys.capacity() * 4
            + self.overlapping.memory_bytes()
    }
}
