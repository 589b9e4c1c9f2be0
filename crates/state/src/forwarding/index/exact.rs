// SPDX-License-Identifier: Apache-2.0
//! `ExactIndex`: a hash table for exact matches on keys of one or two words. A bucket is a cache line or half of one,
//! so most lookups read one line and compare all its keys at once. Removal moves displaced keys back and leaves no
//! tombstones.

use super::hash::{hash_double, spread_word};
use super::leaf::NO_MATCH;
use super::overlapping::{OverlappingEntries, Winner};
use std::fmt::Debug;
use std::hash::Hash;

/// A key that lies in the slot.
pub(crate) trait InlineKey: Copy + Eq + Hash + Default + Debug {
    /// Returns a hash whose highest bits are well distributed.
    fn hash_bits(self, seed: u64) -> u64;
    /// From as many words as it has.
    fn from_words(words: &[u64]) -> Self;
}

impl InlineKey for u64 {
    #[inline(always)]
    fn hash_bits(self, _seed: u64) -> u64 {
        spread_word(self)
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

/// Slots that are read together. Taken ones come first.
pub(crate) trait Bucket: Copy + Debug {
    /// What is looked up.
    type Key: InlineKey;
    /// Parameters of the layout of a slot.
    type Shape: Copy + Debug;
    /// How many slots.
    const SLOTS: usize;
    /// Largest load of a large table in sixteenths.
    const MAX_SIXTEENTHS: usize;

    fn free() -> Self;
    fn key(&self, shape: Self::Shape, slot: usize) -> Self::Key;
    /// [`NO_MATCH`] in a free slot.
    fn leaf(&self, shape: Self::Shape, slot: usize) -> u32;
    /// With [`NO_MATCH`] the slot is free.
    fn set(&mut self, shape: Self::Shape, slot: usize, key: Self::Key, leaf: u32);
    /// The leaf of the slot with this key, or [`NO_MATCH`].
    fn find(&self, shape: Self::Shape, key: Self::Key) -> u32;
}

/// One cache line. A free slot has a zero key and no leaf.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Line<K, const SLOTS: usize> {
    keys: [K; SLOTS],
    leaves: [u32; SLOTS],
}

impl<K: InlineKey, const SLOTS: usize> Bucket for Line<K, SLOTS> {
    type Key = K;
    type Shape = ();
    const SLOTS: usize = SLOTS;
    const MAX_SIXTEENTHS: usize = 13;

    fn free() -> Self {
        Line { keys: [K::default(); SLOTS], leaves: [NO_MATCH; SLOTS] }
    }

    #[inline(always)]
    fn key(&self, (): (), slot: usize) -> K {
        self.keys[slot]
    }

    #[inline(always)]
    fn leaf(&self, (): (), slot: usize) -> u32 {
        self.leaves[slot]
    }

    fn set(&mut self, (): (), slot: usize, key: K, leaf: u32) {
        self.keys[slot] = if leaf == NO_MATCH { K::default() } else { key };
        self.leaves[slot] = leaf;
    }

    #[inline(always)]
    fn find(&self, (): (), key: K) -> u32 {
        // Compares all slots without a branch, because the slot of a key is unpredictable. The first match counts,
        // because free slots are last.
        let mut equal = 0;
        for slot in 0..SLOTS {
            equal |= u32::from(self.keys[slot] == key) << slot;
        }
        match equal {
            0 => NO_MATCH,
            _ => self.leaves[equal.trailing_zeros() as usize],
        }
    }
}

/// Half a cache line of words, each with the leaf in the low bits, the key above it, and the highest bit zero. Free
/// slots have all bits set.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Joined([u64; JOINED_SLOTS]);

/// No key with its leaf.
const FREE: u64 = u64::MAX;

impl Bucket for Joined {
    type Key = u64;
    /// Bits of leaves.
    type Shape = u32;
    const SLOTS: usize = JOINED_SLOTS;
    const MAX_SIXTEENTHS: usize = 10;

    fn free() -> Self {
        Joined([FREE; JOINED_SLOTS])
    }

    #[inline(always)]
    fn key(&self, leaf_bits: u32, slot: usize) -> u64 {
        self.0[slot] >> leaf_bits
    }

    #[inline(always)]
    fn leaf(&self, leaf_bits: u32, slot: usize) -> u32 {
        match self.0[slot] {
            FREE => NO_MATCH,
            word => (word & !(u64::MAX << leaf_bits)) as u32,
        }
    }

    fn set(&mut self, leaf_bits: u32, slot: usize, key: u64, leaf: u32) {
        self.0[slot] = match leaf {
            NO_MATCH => FREE,
            leaf => key << leaf_bits | u64::from(leaf),
        };
    }

    #[inline(always)]
    fn find(&self, leaf_bits: u32, key: u64) -> u32 {
        // Equal keys leave the leaf, unequal ones a larger number, so the minimum is the result.
        let wanted = key << leaf_bits;
        let least = self.0.iter().fold(FREE, |least, word| least.min(word ^ wanted));
        if least >> leaf_bits == 0 { least as u32 } else { NO_MATCH }
    }
}

/// A table below this size is at most half full: few keys are then outside their home bucket, and the table still
/// fits into the nearer caches.
const SMALL_BYTES: usize = 1 << 19;

/// The smallest number of buckets; a power of two.
const MIN_BUCKETS: usize = 2;

/// A hash table from keys to leaves. A key is in its home bucket or, if that is full, in the next bucket with a free
/// slot.
#[derive(Clone, Debug)]
pub(crate) struct ExactIndex<B: Bucket> {
    /// A power of two of them.
    buckets: Vec<B>,
    shape: B::Shape,
    /// Orders of the winners, slot by slot, which lookups do not read.
    orders: Vec<u32>,
    /// The right shift from a hash to its home bucket.
    shift: u32,
    seed: u64,
    taken: usize,
    overlapping: OverlappingEntries<B::Key>,
}

impl<B: Bucket> ExactIndex<B> {
    pub(crate) fn with_shape(seed: u64, shape: B::Shape) -> Self {
        ExactIndex {
            buckets: vec![B::free(); MIN_BUCKETS],
            shape,
            orders: vec![0; MIN_BUCKETS * B::SLOTS],
            shift: 64 - MIN_BUCKETS.trailing_zeros(),
            seed,
            taken: 0,
            overlapping: OverlappingEntries::default(),
        }
    }

    /// Removes all entries and their memory.
    pub(crate) fn clear(&mut self) {
        *self = Self::with_shape(self.seed, self.shape);
    }

    #[inline(always)]
    fn home(&self, key: B::Key) -> usize {
        (key.hash_bits(self.seed) >> self.shift) as usize
    }

    /// The address of the first bucket.
    pub(crate) fn address(&self) -> usize {
        self.buckets.as_ptr() as usize
    }

    /// Bytes of the buckets, with room for more.
    pub(crate) fn bucket_bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<B>()
    }

    /// By how much a hash is shifted right to be the index of its home bucket.
    pub(crate) fn shift(&self) -> u32 {
        self.shift
    }

    /// The leaf of the entry with this key, or [`NO_MATCH`].
    #[inline(always)]
    pub(crate) fn find(&self, key: B::Key) -> u32 {
        let last = self.buckets.len() - 1;
        let mut at = self.home(key);
        loop {
            let bucket = &self.buckets[at & last];
            let leaf = bucket.find(self.shape, key);
            if leaf != NO_MATCH || bucket.leaf(self.shape, B::SLOTS - 1) == NO_MATCH {
                return leaf;
            }
            at += 1;
        }
    }

    /// The address of the first bucket that a lookup reads.
    #[inline(always)]
    pub(crate) fn first_touch(&self, key: B::Key) -> usize {
        self.buckets.as_ptr().wrapping_add(self.home(key)) as usize
    }

    /// Bucket and slot of this key, or of the free one where it would go.
    fn place(&self, key: B::Key) -> (usize, usize) {
        let last = self.buckets.len() - 1;
        let mut at = self.home(key);
        loop {
            let bucket = &self.buckets[at];
            for slot in 0..B::SLOTS {
                let is_free = bucket.leaf(self.shape, slot) == NO_MATCH;
                if is_free || bucket.key(self.shape, slot) == key {
                    return (at, slot);
                }
            }
            at = (at + 1) & last;
        }
    }

    fn winner(&self, (at, slot): (usize, usize)) -> Winner {
        match self.buckets[at].leaf(self.shape, slot) {
            NO_MATCH => Winner::NONE,
            leaf => Winner { leaf, order: self.orders[at * B::SLOTS + slot] },
        }
    }

    fn set(&mut self, (at, slot): (usize, usize), key: B::Key, winner: Winner) {
        self.buckets[at].set(self.shape, slot, key, winner.leaf);
        self.orders[at * B::SLOTS + slot] = winner.order;
    }

    pub(crate) fn insert(&mut self, key: B::Key, order: u64, leaf: u32) {
        let most_sixteenths = match self.buckets.len() * size_of::<B>() {
            0..SMALL_BYTES => 8,
            _ => B::MAX_SIXTEENTHS,
        };
        if (self.taken + 1) * 16 > self.buckets.len() * B::SLOTS * most_sixteenths {
            self.resize(self.buckets.len() * 2);
        }
        let place = self.place(key);
        let old = self.winner(place);
        self.taken += usize::from(old == Winner::NONE);
        let winner = self.overlapping.add(key, old, order, leaf);
        self.set(place, key, winner);
    }

    pub(crate) fn remove(&mut self, key: B::Key, order: u64) {
        let place = self.place(key);
        let old = self.winner(place);
        if old == Winner::NONE {
            return;
        }
        let winner = self.overlapping.remove(key, old, order);
        if winner != Winner::NONE {
            self.set(place, key, winner);
            return;
        }
        self.free(place);
        self.taken -= 1;
        if self.taken * 8 < self.buckets.len() * B::SLOTS && self.buckets.len() > MIN_BUCKETS {
            self.resize(self.buckets.len() / 2);
        }
    }

    /// Frees a slot and moves displaced keys of later buckets back.
    fn free(&mut self, (mut hole, mut slot): (usize, usize)) {
        let last = self.buckets.len() - 1;
        'refill: loop {
            let bucket = self.buckets[hole];
            let is_taken = |slot: &usize| bucket.leaf(self.shape, *slot) != NO_MATCH;
            let was_full = is_taken(&(B::SLOTS - 1));
            // Used slots stay first.
            let end = (0..B::SLOTS).rfind(is_taken).unwrap_or(slot);
            let moved = (bucket.key(self.shape, end), self.winner((hole, end)));
            self.set((hole, slot), moved.0, moved.1);
            self.set((hole, end), moved.0, Winner::NONE);
            if !was_full {
                return;
            }
            let mut at = hole;
            loop {
                at = (at + 1) & last;
                let bucket = self.buckets[at];
                for from in 0..B::SLOTS {
                    if bucket.leaf(self.shape, from) == NO_MATCH {
                        return;
                    }
                    let key = bucket.key(self.shape, from);
                    let home = self.home(key);
                    if at.wrapping_sub(home) & last >= at.wrapping_sub(hole) & last {
                        let winner = self.winner((at, from));
                        self.set((hole, B::SLOTS - 1), key, winner);
                        (hole, slot) = (at, from);
                        continue 'refill;
                    }
                }
            }
        }
    }

    pub(crate) fn set_leaf(&mut self, key: B::Key, order: u64, leaf: u32) {
        let place = self.place(key);
        let old = self.winner(place);
        if old != Winner::NONE {
            let winner = self.overlapping.set_leaf(key, old, order, leaf);
            self.set(place, key, winner);
        }
    }

    /// Order and leaf of the entry with this key.
    pub(crate) fn find_candidate(&self, key: B::Key) -> Option<(u64, u32)> {
        let winner = self.winner(self.place(key));
        (winner != Winner::NONE).then(|| (self.overlapping.order(&key, winner), winner.leaf))
    }

    fn resize(&mut self, buckets: usize) {
        let old = std::mem::replace(&mut self.buckets, vec![B::free(); buckets]);
        let orders = std::mem::replace(&mut self.orders, vec![0; buckets * B::SLOTS]);
        self.shift = 64 - buckets.trailing_zeros();
        let shape = self.shape;
        for (bucket, orders) in old.iter().zip(orders.chunks_exact(B::SLOTS)) {
            for slot in (0..B::SLOTS).filter(|&slot| bucket.leaf(shape, slot) != NO_MATCH) {
                let key = bucket.key(shape, slot);
                let winner = Winner { leaf: bucket.leaf(shape, slot), order: orders[slot] };
                self.set(self.place(key), key, winner);
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.bucket_bytes()
            + self.orders.capacity() * size_of::<u32>()
            + self.overlapping.memory_bytes()
    }
}

impl<B: Bucket<Shape = ()>> ExactIndex<B> {
    pub(crate) fn new(seed: u64) -> Self {
        Self::with_shape(seed, ())
    }
}

/// Five keys of one word fill a cache line with their leaves.
pub(crate) type WordIndex = ExactIndex<Line<u64, WORD_SLOTS>>;

/// Keys of one word in a bucket: they come first, as 64 bits each, their leaves follow as 32 bits each.
pub const WORD_SLOTS: usize = 5;

/// Bytes of a bucket, of keys of one word or of two.
pub const BUCKET_BYTES: usize = size_of::<Line<u64, WORD_SLOTS>>();

/// Three keys of two words fill a cache line with their leaves.
pub(crate) type DoubleIndex = ExactIndex<Line<[u64; 2], DOUBLE_SLOTS>>;

/// Keys of two words in a bucket: they come first, the low word before the high one, their leaves follow
/// as 32 bits each.
pub const DOUBLE_SLOTS: usize = 3;

const _: () = assert!(size_of::<Line<[u64; 2], DOUBLE_SLOTS>>() == BUCKET_BYTES);

/// Keys that share a word with their leaves; made with the number of the leaves' bits.
pub(crate) type JoinedIndex = ExactIndex<Joined>;

/// Words of keys and leaves in a bucket.
pub const JOINED_SLOTS: usize = 4;

/// Bytes of such a bucket.
pub const JOINED_BUCKET_BYTES: usize = size_of::<Joined>();
