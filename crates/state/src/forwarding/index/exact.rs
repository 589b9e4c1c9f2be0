// SPDX-License-Identifier: Apache-2.0
//! Exact matches on keys of one or two words: a hash table of buckets as large as a cache line, so that
//! a lookup reads one line and compares all its keys at once, most of the time. Removal moves up what
//! had to go elsewhere and leaves no tombstones.

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

/// One cache line. Taken slots come first; a free one has a zero key and no leaf.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Bucket<K, const SLOTS: usize> {
    keys: [K; SLOTS],
    leaves: [u32; SLOTS],
}

/// A table below this many bytes is at most half full: few keys are then elsewhere than at home, and it
/// still fits into the nearer caches.
const SMALL_BYTES: usize = 1 << 19;

/// The smallest number of buckets; a power of two.
const FEWEST_BUCKETS: usize = 2;

/// A hash table from keys to leaves: buckets of so many slots. A key is in its home bucket or, when all
/// from there on are full, in one behind it.
#[derive(Clone, Debug)]
pub(crate) struct ExactIndex<K, const SLOTS: usize> {
    /// A power of two of them.
    buckets: Vec<Bucket<K, SLOTS>>,
    /// Orders of the winners, which lookups do not read.
    orders: Vec<[u32; SLOTS]>,
    /// What brings a hash down to a bucket.
    shift: u32,
    seed: u64,
    taken: usize,
    rivals: Rivals<K>,
}

impl<K: InlineKey, const SLOTS: usize> ExactIndex<K, SLOTS> {
    pub(crate) fn new(seed: u64) -> Self {
        ExactIndex {
            buckets: vec![Self::free_bucket(); FEWEST_BUCKETS],
            orders: vec![[0; SLOTS]; FEWEST_BUCKETS],
            shift: 64 - FEWEST_BUCKETS.trailing_zeros(),
            seed,
            taken: 0,
            rivals: Rivals::default(),
        }
    }

    fn free_bucket() -> Bucket<K, SLOTS> {
        Bucket { keys: [K::default(); SLOTS], leaves: [NO_MATCH; SLOTS] }
    }

    #[inline(always)]
    fn home(&self, key: K) -> usize {
        (key.hash_bits(self.seed) >> self.shift) as usize
    }

    /// The address of the first bucket.
    pub(crate) fn address(&self) -> usize {
        self.buckets.as_ptr() as usize
    }

    /// Bytes of the buckets, with room for more.
    pub(crate) fn bucket_bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket<K, SLOTS>>()
    }

    /// By how much a hash is shifted right to be the index of its home bucket.
    pub(crate) fn shift(&self) -> u32 {
        self.shift
    }

    /// The leaf of the entry with this key, or [`NO_MATCH`].
    #[inline(always)]
    pub(crate) fn find(&self, key: K) -> u32 {
        let last = self.buckets.len() - 1;
        let mut at = self.home(key);
        loop {
            let bucket = &self.buckets[at & last];
            // All slots without a branch: where in the bucket a key is cannot be foretold. The first one
            // counts, since free slots come last.
            let mut equal = 0;
            for slot in 0..SLOTS {
                equal |= u32::from(bucket.keys[slot] == key) << slot;
            }
            if equal != 0 {
                return bucket.leaves[equal.trailing_zeros() as usize];
            }
            if bucket.leaves[SLOTS - 1] == NO_MATCH {
                return NO_MATCH;
            }
            at += 1;
        }
    }

    /// The address of the first bucket that a lookup reads.
    #[inline(always)]
    pub(crate) fn first_touch(&self, key: K) -> usize {
        self.buckets.as_ptr().wrapping_add(self.home(key)) as usize
    }

    /// Bucket and slot of this key, or of the free one where it would go.
    fn place(&self, key: K) -> (usize, usize) {
        let last = self.buckets.len() - 1;
        let mut at = self.home(key);
        loop {
            let bucket = &self.buckets[at];
            for slot in 0..SLOTS {
                if bucket.leaves[slot] == NO_MATCH || bucket.keys[slot] == key {
                    return (at, slot);
                }
            }
            at = (at + 1) & last;
        }
    }

    fn winner(&self, (at, slot): (usize, usize)) -> Winner {
        match self.buckets[at].leaves[slot] {
            NO_MATCH => Winner::NONE,
            leaf => Winner { leaf, order: self.orders[at][slot] },
        }
    }

    fn set(&mut self, (at, slot): (usize, usize), key: K, winner: Winner) {
        self.buckets[at].keys[slot] = key;
        self.buckets[at].leaves[slot] = winner.leaf;
        self.orders[at][slot] = winner.order;
    }

    pub(crate) fn insert(&mut self, key: K, order: u64, leaf: u32) {
        let most_sixteenths = match self.buckets.len() * size_of::<Bucket<K, SLOTS>>() {
            0..SMALL_BYTES => 8,
            _ => 13,
        };
        if (self.taken + 1) * 16 > self.buckets.len() * SLOTS * most_sixteenths {
            self.resize(self.buckets.len() * 2);
        }
        let place = self.place(key);
        let old = self.winner(place);
        self.taken += usize::from(old == Winner::NONE);
        let winner = self.rivals.add(key, old, order, leaf);
        self.set(place, key, winner);
    }

    pub(crate) fn remove(&mut self, key: K, order: u64) {
        let place = self.place(key);
        let old = self.winner(place);
        if old == Winner::NONE {
            return;
        }
        let winner = self.rivals.remove(key, old, order);
        if winner != Winner::NONE {
            self.set(place, key, winner);
            return;
        }
        self.free(place);
        self.taken -= 1;
        if self.taken * 8 < self.buckets.len() * SLOTS && self.buckets.len() > FEWEST_BUCKETS {
            self.resize(self.buckets.len() / 2);
        }
    }

    /// Frees a slot, and moves up what only stands in a later bucket because this one was full.
    fn free(&mut self, (mut hole, mut slot): (usize, usize)) {
        let last = self.buckets.len() - 1;
        'refill: loop {
            let was_full = self.buckets[hole].leaves[SLOTS - 1] != NO_MATCH;
            // Taken slots stay in front.
            let end = self.buckets[hole].leaves.iter().rposition(|leaf| *leaf != NO_MATCH);
            let end = end.unwrap_or(slot);
            let moved = (self.buckets[hole].keys[end], self.winner((hole, end)));
            self.set((hole, slot), moved.0, moved.1);
            self.set((hole, end), K::default(), Winner::NONE);
            if !was_full {
                return;
            }
            let mut at = hole;
            loop {
                at = (at + 1) & last;
                let bucket = self.buckets[at];
                for from in 0..SLOTS {
                    if bucket.leaves[from] == NO_MATCH {
                        return;
                    }
                    let home = self.home(bucket.keys[from]);
                    if at.wrapping_sub(home) & last >= at.wrapping_sub(hole) & last {
                        let winner = self.winner((at, from));
                        self.set((hole, SLOTS - 1), bucket.keys[from], winner);
                        (hole, slot) = (at, from);
                        continue 'refill;
                    }
                }
            }
        }
    }

    pub(crate) fn set_leaf(&mut self, key: K, order: u64, leaf: u32) {
        let place = self.place(key);
        let old = self.winner(place);
        if old != Winner::NONE {
            let winner = self.rivals.set_leaf(key, old, order, leaf);
            self.set(place, key, winner);
        }
    }

    /// Order and leaf of the entry with this key.
    pub(crate) fn find_candidate(&self, key: K) -> Option<(u64, u32)> {
        let winner = self.winner(self.place(key));
        (winner != Winner::NONE).then(|| (self.rivals.order(&key, winner), winner.leaf))
    }

    fn resize(&mut self, buckets: usize) {
        let old = std::mem::replace(&mut self.buckets, vec![Self::free_bucket(); buckets]);
        let orders = std::mem::replace(&mut self.orders, vec![[0; SLOTS]; buckets]);
        self.shift = 64 - buckets.trailing_zeros();
        for (bucket, orders) in old.iter().zip(&orders) {
            for slot in (0..SLOTS).filter(|&slot| bucket.leaves[slot] != NO_MATCH) {
                let key = bucket.keys[slot];
                let winner = Winner { leaf: bucket.leaves[slot], order: orders[slot] };
                self.set(self.place(key), key, winner);
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket<K, SLOTS>>()
            + self.orders.capacity() * size_of::<[u32; SLOTS]>()
            + self.rivals.memory_bytes()
    }
}

/// Five keys of one word fill a cache line with their leaves.
pub(crate) type WordIndex = ExactIndex<u64, WORD_SLOTS>;

/// Keys of one word in a bucket: they come first, as 64 bits each, their leaves follow as 32 bits each.
pub const WORD_SLOTS: usize = 5;

/// Bytes of a bucket, of keys of one word or of two.
pub const BUCKET_BYTES: usize = size_of::<Bucket<u64, WORD_SLOTS>>();

/// Three keys of two words fill a cache line with their leaves.
pub(crate) type DoubleIndex = ExactIndex<[u64; 2], DOUBLE_SLOTS>;

/// Keys of two words in a bucket: they come first, the low word before the high one, their leaves follow
/// as 32 bits each.
pub const DOUBLE_SLOTS: usize = 3;

const _: () = assert!(size_of::<Bucket<[u64; 2], DOUBLE_SLOTS>>() == BUCKET_BYTES);
