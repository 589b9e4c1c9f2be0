// SPDX-License-Identifier: Apache-2.0
//! `MatchIndex` of the master tables: tuple space search for every match kind. Entries with equal masks share one
//! hash table, so an exact table needs one probe, a prefix table one probe per length, and a ternary table one probe
//! per distinct mask, the best first. The table defines ranks.

use crate::sharing::SharedTable;
use foldhash::fast::FixedState;
use ir::Bits;
use smallvec::{SmallVec, smallvec};
use std::hash::{BuildHasher, Hash};

/// The packed keys of a table.
pub(crate) trait PackedKey: Clone + Eq + Hash {
    /// Lays out values of these widths.
    fn pack<'a>(values: impl Iterator<Item = &'a Bits>) -> Self;
    /// Both, bit by bit.
    fn masked(&self, mask: &Self) -> Self;
}

/// Up to 128 bits altogether.
impl PackedKey for u128 {
    fn pack<'a>(values: impl Iterator<Item = &'a Bits>) -> u128 {
        values.fold(0u128, |key, value| {
            // Only a lone key is 128 bits wide, and then nothing is shifted out.
            let room = key.checked_shl(value.width_bits()).unwrap_or(0);
            room | value.to_u128().unwrap_or(0)
        })
    }

    fn masked(&self, mask: &u128) -> u128 {
        self & mask
    }
}

/// Any width: each key starts a new word.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WideKey(SmallVec<[u64; 10]>);

impl PackedKey for WideKey {
    fn pack<'a>(values: impl Iterator<Item = &'a Bits>) -> WideKey {
        let mut words = SmallVec::new();
        for value in values {
            match value.to_u128() {
                Some(number) if value.width_bits() <= 64 => words.push(number as u64),
                Some(number) if value.width_bits() <= 128 => {
                    words.extend([(number >> 64) as u64, number as u64]);
                }
                _ => {
                    words.extend(value.to_bytes_be().rchunks(8).map(|chunk| {
                        chunk.iter().fold(0, |word, &byte| word << 8 | u64::from(byte))
                    }))
                }
            }
        }
        WideKey(words)
    }

    fn masked(&self, mask: &WideKey) -> WideKey {
        WideKey(self.0.iter().zip(&mask.0).map(|(word, mask)| word & mask).collect())
    }
}

/// A range that a key must lie in, for keys that a mask cannot express.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RangeCheck {
    /// Which of the values that the table looks up.
    pub(crate) key: usize,
    pub(crate) low: Bits,
    pub(crate) high: Bits,
}

/// An entry in the index.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate {
    /// The largest wins.
    pub(crate) rank: i64,
    /// Among equal ranks the smallest wins.
    pub(crate) generation: u64,
    /// The entry's place in the table.
    pub(crate) place: u32,
    pub(crate) ranges: Box<[RangeCheck]>,
}

impl Candidate {
    fn beats(&self, other: &Candidate) -> bool {
        (self.rank, other.generation) > (other.rank, self.generation)
    }

    fn accepts(&self, values: &[Bits]) -> bool {
        self.ranges.iter().all(|range| {
            values.get(range.key).is_some_and(|value| {
                value.cmp_unsigned(&range.low).is_ge() && value.cmp_unsigned(&range.high).is_le()
            })
        })
    }
}

/// Candidates with equal masked values, the best first.
type Bucket<K> = (K, SmallVec<[Candidate; 1]>);

fn hash<K: Hash>(key: &K) -> u64 {
    FixedState::default().hash_one(key)
}

/// Entries with the same masks.
#[derive(Clone, Debug)]
struct Tuple<K> {
    buckets: SharedTable<Bucket<K>>,
    entries: usize,
    /// Entries removed since `max_rank` was exact.
    removed: usize,
}

/// A tuple with its mask and bound.
#[derive(Clone, Debug)]
struct TuplePlace<K> {
    mask: K,
    /// No entry of the tuple has a larger rank.
    max_rank: i64,
    tuple: Tuple<K>,
}

/// All entries of a table, tuples with the largest ranks first. Copies share the blocks of tuples that neither
/// has changed since.
#[derive(Clone, Debug)]
pub(crate) struct TupleSpace<K> {
    tuples: Vec<TuplePlace<K>>,
}

impl<K> Default for TupleSpace<K> {
    fn default() -> Self {
        TupleSpace { tuples: Vec::new() }
    }
}

impl<K: PackedKey> TupleSpace<K> {
    pub(crate) fn insert(&mut self, value: &K, mask: K, candidate: Candidate) {
        let rank = candidate.rank;
        let at = self.tuples.iter().position(|place| place.mask == mask);
        let mut place = match at {
            Some(at) if self.tuples[at].max_rank >= rank => {
                let place = &mut self.tuples[at];
                place.tuple.add(value.masked(&mask), candidate);
                return;
            }
            Some(at) => self.tuples.remove(at),
            None => {
                let tuple = Tuple { buckets: SharedTable::default(), entries: 0, removed: 0 };
                TuplePlace { mask, max_rank: rank, tuple }
            }
        };
        let masked = value.masked(&place.mask);
        place.tuple.add(masked, candidate);
        place.max_rank = rank;
        self.put(place);
    }

    pub(crate) fn remove(&mut self, value: &K, mask: &K, entry: u32) {
        let Some(at) = self.tuples.iter().position(|place| place.mask == *mask) else { return };
        let place = &mut self.tuples[at];
        let tuple = &mut place.tuple;
        tuple.take(&value.masked(mask), entry);
        if tuple.entries == 0 {
            self.tuples.remove(at);
        } else if tuple.removed > tuple.entries {
            // Rare enough that its cost is amortised over removals.
            let max_rank = tuple.max_rank();
            if max_rank != place.max_rank {
                let mut place = self.tuples.remove(at);
                place.max_rank = max_rank;
                self.put(place);
            }
        }
    }

    fn put(&mut self, place: TuplePlace<K>) {
        let at = self.tuples.partition_point(|other| other.max_rank >= place.max_rank);
        self.tuples.insert(at, place);
    }

    /// The place of the best entry that matches. `values` are what `key` is made of.
    pub(crate) fn find(&self, key: &K, values: &[Bits]) -> Option<u32> {
        let mut best: Option<&Candidate> = None;
        for TuplePlace { mask, max_rank, tuple } in &self.tuples {
            if best.is_some_and(|best| best.rank > *max_rank) {
                break;
            }
            let Some(bucket) = tuple.bucket(&key.masked(mask)) else { continue };
            let Some(found) = bucket.iter().find(|candidate| candidate.accepts(values)) else {
                continue;
            };
            if best.is_none_or(|best| found.beats(best)) {
                best = Some(found);
            }
        }
        best.map(|candidate| candidate.place)
    }
}

impl<K: PackedKey> Tuple<K> {
    #[inline]
    fn bucket(&self, masked: &K) -> Option<&[Candidate]> {
        let found = self.buckets.find(hash(masked), |(key, _)| key == masked);
        found.map(|(_, candidates)| &**candidates)
    }

    fn add(&mut self, masked: K, candidate: Candidate) {
        self.entries += 1;
        let hashed = hash(&masked);
        match self.buckets.find_mut(hashed, |(key, _)| *key == masked) {
            Some((_, bucket)) => {
                let at = bucket.partition_point(|other| other.beats(&candidate));
                bucket.insert(at, candidate);
            }
            None => {
                let bucket = (masked, smallvec![candidate]);
                self.buckets.insert_unique(hashed, bucket, |(key, _)| hash(key));
            }
        }
    }

    fn take(&mut self, masked: &K, entry: u32) {
        let hashed = hash(masked);
        let Some((_, bucket)) = self.buckets.find_mut(hashed, |(key, _)| key == masked) else {
            return;
        };
        let Some(at) = bucket.iter().position(|candidate| candidate.place == entry) else { return };
        bucket.remove(at);
        if bucket.is_empty() {
            self.buckets.remove(hashed, |(key, _)| key == masked);
        }
        self.entries -= 1;
        self.removed += 1;
    }

    /// The largest rank, found by looking at every bucket.
    fn max_rank(&mut self) -> i64 {
        self.removed = 0;
        let best = self.buckets.iter().filter_map(|(_, bucket)| bucket.first());
        best.map(|candidate| candidate.rank).max().unwrap_or(i64::MIN)
    }
}

/// The index of a table, by the width of its keys altogether.
#[derive(Clone, Debug)]
pub(crate) enum MatchIndex {
    Narrow(TupleSpace<u128>),
    Wide(TupleSpace<WideKey>),
}

impl MatchIndex {
    pub(crate) fn for_width_bits(width_bits: u64) -> MatchIndex {
        if width_bits <= 128 {
            MatchIndex::Narrow(TupleSpace::default())
        } else {
            MatchIndex::Wide(TupleSpace::default())
        }
    }

    pub(crate) fn insert(&mut self, values: &[Bits], masks: &[Bits], candidate: Candidate) {
        match self {
            MatchIndex::Narrow(space) => {
                space.insert(&u128::pack(values.iter()), u128::pack(masks.iter()), candidate);
            }
            MatchIndex::Wide(space) => {
                space.insert(&WideKey::pack(values.iter()), WideKey::pack(masks.iter()), candidate);
            }
        }
    }

    pub(crate) fn remove(&mut self, values: &[Bits], masks: &[Bits], place: u32) {
        match self {
            MatchIndex::Narrow(space) => {
                space.remove(&u128::pack(values.iter()), &u128::pack(masks.iter()), place);
            }
            MatchIndex::Wide(space) => {
                space.remove(&WideKey::pack(values.iter()), &WideKey::pack(masks.iter()), place);
            }
        }
    }

    pub(crate) fn find(&self, values: &[Bits]) -> Option<u32> {
        match self {
            MatchIndex::Narrow(space) => space.find(&u128::pack(values.iter()), values),
            MatchIndex::Wide(space) => space.find(&WideKey::pack(values.iter()), values),
        }
    }
}
