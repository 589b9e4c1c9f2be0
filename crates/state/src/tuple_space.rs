// SPDX-License-Identifier: Apache-2.0
//! The index behind every kind of match: tuple space search. Entries with the same masks share one
//! hash table, so an exact table is one probe, a prefix table one probe a length, and a ternary table
//! one probe a distinct mask, the best first. What ranks mean is decided by the table.

use foldhash::fast::FixedState;
use ir::Bits;
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// A table's keys laid end to end.
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

/// An entry as the index sees it.
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

/// Entries with the same masks.
#[derive(Clone, Debug)]
struct Tuple<K> {
    mask: K,
    /// Candidates with equal masked values, the best first.
    buckets: HashMap<K, SmallVec<[Candidate; 1]>, FixedState>,
    /// How many entries have each rank.
    ranks: BTreeMap<i64, usize>,
}

impl<K> Tuple<K> {
    fn best_rank(&self) -> i64 {
        self.ranks.last_key_value().map_or(i64::MIN, |(&rank, _)| rank)
    }
}

/// All entries of a table, tuples with the best rank first.
#[derive(Clone, Debug)]
pub(crate) struct TupleSpace<K> {
    tuples: Vec<(i64, Tuple<K>)>,
}

impl<K> Default for TupleSpace<K> {
    fn default() -> Self {
        TupleSpace { tuples: Vec::new() }
    }
}

impl<K: PackedKey> TupleSpace<K> {
    pub(crate) fn insert(&mut self, value: &K, mask: K, candidate: Candidate) {
        let mut tuple = match self.tuples.iter().position(|(_, tuple)| tuple.mask == mask) {
            Some(at) if self.tuples[at].0 >= candidate.rank => {
                self.tuples[at].1.add(value, candidate);
                return;
            }
            Some(at) => self.tuples.remove(at).1,
            None => Tuple {
                mask,
                buckets: HashMap::with_hasher(FixedState::default()),
                ranks: BTreeMap::new(),
            },
        };
        tuple.add(value, candidate);
        self.place(tuple);
    }

    pub(crate) fn remove(&mut self, value: &K, mask: &K, place: u32) {
        let Some(at) = self.tuples.iter().position(|(_, tuple)| tuple.mask == *mask) else {
            return;
        };
        let (rank, tuple) = &mut self.tuples[at];
        tuple.take(value, place);
        if tuple.best_rank() != *rank {
            let (_, tuple) = self.tuples.remove(at);
            if !tuple.ranks.is_empty() {
                self.place(tuple);
            }
        }
    }

    fn place(&mut self, tuple: Tuple<K>) {
        let rank = tuple.best_rank();
        let at = self.tuples.partition_point(|(other, _)| *other >= rank);
        self.tuples.insert(at, (rank, tuple));
    }

    /// The place of the best entry that matches. `values` are what `key` is made of.
    pub(crate) fn find(&self, key: &K, values: &[Bits]) -> Option<u32> {
        let mut best: Option<&Candidate> = None;
        for (rank, tuple) in &self.tuples {
            if best.is_some_and(|best| best.rank > *rank) {
                break;
            }
            let Some(bucket) = tuple.buckets.get(&key.masked(&tuple.mask)) else { continue };
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
    fn add(&mut self, value: &K, candidate: Candidate) {
        *self.ranks.entry(candidate.rank).or_default() += 1;
        let bucket = self.buckets.entry(value.masked(&self.mask)).or_default();
        let at = bucket.partition_point(|other| other.beats(&candidate));
        bucket.insert(at, candidate);
    }

    fn take(&mut self, value: &K, place: u32) {
        let masked = value.masked(&self.mask);
        let Some(bucket) = self.buckets.get_mut(&masked) else { return };
        let Some(at) = bucket.iter().position(|candidate| candidate.place == place) else { return };
        let rank = bucket.remove(at).rank;
        if bucket.is_empty() {
            self.buckets.remove(&masked);
        }
        if let Some(count) = self.ranks.get_mut(&rank) {
            *count -= 1;
            if *count == 0 {
                self.ranks.remove(&rank);
            }
        }
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
