// SPDX-License-Identifier: Apache-2.0
//! `MatchIndex`: maps the key of a packet to the leaf of the winning entry. Tables define the meaning of leaves.
//!
//! A table with only exact keys uses a hash table. A table with one lpm key beside exact keys uses a trie for each
//! combination of exact keys. Any other table uses a list of masks, or a tuple space if there are many entries.
//! Lookups do not allocate. They are marked for inlining, so that a caller can compile them with the instructions of
//! its processor.

mod arena;
mod direct_table;
mod exact;
mod exact_wide;
mod hash;
mod layout;
mod leaf;
mod linear;
mod lpm;
mod overlapping;
mod prefix;
mod ranges;
mod rule;
mod rule_list;
mod rules;
mod short;
mod signatures;
mod trie;
mod trie_update;
mod tuple_update;
mod tuples;

use direct_table::UNDECIDED;
pub use direct_table::{BLOCK_BITS, DIRECT_BITS, FALL_BACK_TO_TRIE, IS_NO_LEAF, SMALL_BLOCK_BITS};
pub use exact::{BUCKET_BYTES, DOUBLE_SLOTS, JOINED_BUCKET_BYTES, JOINED_SLOTS, WORD_SLOTS};
pub use hash::{FIRST_MULTIPLIER as HASH_MULTIPLIER, SECOND_MULTIPLIER as HASH_SECOND_MULTIPLIER};
pub use layout::{DirectForm, KeyField, KeyLayout, Packing, RangeCheck};
pub use leaf::{LEAF_BITS, LEAF_LIMIT, NO_MATCH};

use exact::{DoubleIndex, JoinedIndex, WordIndex};
use exact_wide::WideExactIndex;
use ir::{KeyPattern, MatchKind};
use lpm::LpmIndex;
use ranges::Words;
use rule::{Found, RulePattern};
use rules::RuleIndex;
use short::ShortIndex;

/// The index by match kinds and by how keys are packed.
#[derive(Clone, Debug)]
enum Kind {
    /// Exact keys of few bits.
    ExactShort(ShortIndex),
    /// Exact keys that fit into a word with their leaf.
    ExactJoined(JoinedIndex),
    ExactWord(WordIndex),
    ExactDouble(DoubleIndex),
    ExactWords(WideExactIndex),
    /// By the width of the lpm key.
    Lpm32(LpmIndex<u32>),
    Lpm64(LpmIndex<u64>),
    Lpm128(LpmIndex<u128>),
    Rules(RuleIndex),
}

/// The index of one table's entries.
#[derive(Clone, Debug)]
pub struct MatchIndex {
    kind: Kind,
    /// Entries that `kind` cannot hold: those with a wildcard for an exact key.
    others: Option<Box<RuleIndex>>,
    /// Which key is matched by its longest prefix, in an index of such.
    lpm: usize,
    seed: u64,
}

/// The current addresses of leaves for generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direct {
    /// Of the first of the items, which have 32 bits each; 0 when there are none, and lookups have to
    /// ask.
    pub address: usize,
    /// Number of items that a key chooses from; of buckets the shift.
    pub length: usize,
    /// The leaf of a key where the items say [`NO_MATCH`].
    pub default_leaf: u32,
}

/// The sub-index of an entry.
enum SubIndex {
    Exact,
    /// With a prefix of this length.
    Lpm(u32),
    Rules,
    Others,
}

impl MatchIndex {
    /// Makes an empty index for leaves of any width.
    pub fn new(layout: &KeyLayout) -> MatchIndex {
        MatchIndex::of_leaves(layout, LEAF_BITS)
    }

    /// Makes an empty index for leaves of at most `leaf_bits` bits.
    pub fn of_leaves(layout: &KeyLayout, leaf_bits: u32) -> MatchIndex {
        let seed = layout.seed();
        let lpm = layout.fields.iter().position(|field| field.kind == MatchKind::Lpm);
        let lone_lpm = layout.lone_lpm();
        let kind = match (layout.packing, lone_lpm) {
            (_, Some(lpm)) => match layout.fields[lpm].width_bits {
                0..=32 => Kind::Lpm32(LpmIndex::new(layout, lpm, seed)),
                33..=64 => Kind::Lpm64(LpmIndex::new(layout, lpm, seed)),
                _ => Kind::Lpm128(LpmIndex::new(layout, lpm, seed)),
            },
            _ if layout.has_rules() => Kind::Rules(RuleIndex::new(layout.words())),
            (Packing::Word, _) if layout.is_short() => Kind::ExactShort(ShortIndex::new(seed)),
            (Packing::Word, _) if layout.is_joined(leaf_bits) => {
                Kind::ExactJoined(JoinedIndex::with_shape(seed, leaf_bits))
            }
            (Packing::Word, _) => Kind::ExactWord(WordIndex::new(seed)),
            (Packing::DoubleWord, _) => Kind::ExactDouble(DoubleIndex::new(seed)),
            (Packing::Words(words), _) => Kind::ExactWords(WideExactIndex::new(words, seed)),
        };
        MatchIndex { kind, others: None, lpm: lpm.unwrap_or(0), seed }
    }

    /// Packs the pattern of an entry and chooses its sub-index.
    fn sort(
        &self,
        layout: &KeyLayout,
        keys: &[KeyPattern],
        rank: i64,
        order: u64,
    ) -> (SubIndex, RulePattern) {
        let words = layout.words();
        let (mut value, mut mask) = (Words::from_elem(0, words), Words::from_elem(0, words));
        let checks = layout.pack_pattern(keys, &mut value, &mut mask);
        let pattern = RulePattern { value, mask, checks, rank, order };
        let sub_index = match self.kind {
            Kind::Rules(_) => SubIndex::Rules,
            Kind::ExactShort(_)
            | Kind::ExactJoined(_)
            | Kind::ExactWord(_)
            | Kind::ExactDouble(_)
            | Kind::ExactWords(_) => {
                let is_exact = (0..keys.len()).all(|field| is_whole(layout, keys, field));
                if is_exact && rank == 0 { SubIndex::Exact } else { SubIndex::Others }
            }
            Kind::Lpm32(_) | Kind::Lpm64(_) | Kind::Lpm128(_) => {
                let mut exact = (0..keys.len()).filter(|&field| field != self.lpm);
                let length_bits = match &keys[self.lpm] {
                    KeyPattern::Prefix { length_bits, .. } => Some(*length_bits),
                    _ => None,
                };
                match length_bits {
                    Some(length_bits)
                        if rank == i64::from(length_bits)
                            && exact.all(|field| is_whole(layout, keys, field)) =>
                    {
                        SubIndex::Lpm(length_bits)
                    }
                    _ => SubIndex::Others,
                }
            }
        };
        (sub_index, pattern)
    }

    /// Adds an entry. `keys` are canonical, one pattern a matched key; `rank`: the largest wins
    /// ([`KeyLayout::rank`]); `order`: among equal ranks the smallest wins, and no two entries have the
    /// same; `leaf`: what lookups return, below [`LEAF_LIMIT`].
    pub fn insert(
        &mut self,
        layout: &KeyLayout,
        keys: &[KeyPattern],
        rank: i64,
        order: u64,
        leaf: u32,
    ) {
        debug_assert!(leaf < LEAF_LIMIT);
        let (sub_index, pattern) = self.sort(layout, keys, rank, order);
        match (&mut self.kind, sub_index) {
            (_, SubIndex::Others) => {
                let others =
                    self.others.get_or_insert_with(|| Box::new(RuleIndex::new(layout.words())));
                others.insert(pattern, leaf, self.seed);
            }
            (Kind::ExactShort(index), _) => index.insert(pattern.value[0], order, leaf),
            (Kind::ExactJoined(index), _) => index.insert(pattern.value[0], order, leaf),
            (Kind::ExactWord(index), _) => index.insert(pattern.value[0], order, leaf),
            (Kind::ExactDouble(index), _) => {
                index.insert([pattern.value[0], pattern.value[1]], order, leaf);
            }
            (Kind::ExactWords(index), _) => index.insert(&pattern.value, order, leaf),
            (Kind::Lpm32(index), SubIndex::Lpm(length_bits)) => {
                index.insert(&pattern.value, length_bits, order, leaf);
            }
            (Kind::Lpm64(index), SubIndex::Lpm(length_bits)) => {
                index.insert(&pattern.value, length_bits, order, leaf);
            }
            (Kind::Lpm128(index), SubIndex::Lpm(length_bits)) => {
                index.insert(&pattern.value, length_bits, order, leaf);
            }
            (Kind::Rules(index), _) => index.insert(pattern, leaf, self.seed),
            _ => {}
        }
    }

    /// Removes the entry that was inserted with these keys, this rank and this order.
    pub fn remove(&mut self, layout: &KeyLayout, keys: &[KeyPattern], rank: i64, order: u64) {
        let (sub_index, pattern) = self.sort(layout, keys, rank, order);
        match (&mut self.kind, sub_index) {
            (_, SubIndex::Others) => {
                if let Some(others) = &mut self.others {
                    others.remove(pattern);
                    if others.is_empty() {
                        self.others = None;
                    }
                }
            }
            (Kind::ExactShort(index), _) => index.remove(pattern.value[0], order),
            (Kind::ExactJoined(index), _) => index.remove(pattern.value[0], order),
            (Kind::ExactWord(index), _) => index.remove(pattern.value[0], order),
            (Kind::ExactDouble(index), _) => {
                index.remove([pattern.value[0], pattern.value[1]], order)
            }
            (Kind::ExactWords(index), _) => index.remove(&pattern.value, order),
            (Kind::Lpm32(index), SubIndex::Lpm(length)) => {
                index.remove(&pattern.value, length, order)
            }
            (Kind::Lpm64(index), SubIndex::Lpm(length)) => {
                index.remove(&pattern.value, length, order)
            }
            (Kind::Lpm128(index), SubIndex::Lpm(length)) => {
                index.remove(&pattern.value, length, order)
            }
            (Kind::Rules(index), _) => index.remove(pattern),
            _ => {}
        }
    }

    /// Changes the leaf of the entry that was inserted with these keys, this rank and this order.
    pub fn set_leaf(
        &mut self,
        layout: &KeyLayout,
        keys: &[KeyPattern],
        rank: i64,
        order: u64,
        leaf: u32,
    ) {
        debug_assert!(leaf < LEAF_LIMIT);
        let (sub_index, pattern) = self.sort(layout, keys, rank, order);
        match (&mut self.kind, sub_index) {
            (_, SubIndex::Others) => {
                if let Some(others) = &mut self.others {
                    others.set_leaf(pattern, leaf);
                }
            }
            (Kind::ExactShort(index), _) => index.set_leaf(pattern.value[0], order, leaf),
            (Kind::ExactJoined(index), _) => index.set_leaf(pattern.value[0], order, leaf),
            (Kind::ExactWord(index), _) => index.set_leaf(pattern.value[0], order, leaf),
            (Kind::ExactDouble(index), _) => {
                index.set_leaf([pattern.value[0], pattern.value[1]], order, leaf);
            }
            (Kind::ExactWords(index), _) => index.set_leaf(&pattern.value, order, leaf),
            (Kind::Lpm32(index), SubIndex::Lpm(length_bits)) => {
                index.set_leaf(&pattern.value, length_bits, order, leaf);
            }
            (Kind::Lpm64(index), SubIndex::Lpm(length_bits)) => {
                index.set_leaf(&pattern.value, length_bits, order, leaf);
            }
            (Kind::Lpm128(index), SubIndex::Lpm(length_bits)) => {
                index.set_leaf(&pattern.value, length_bits, order, leaf);
            }
            (Kind::Rules(index), _) => index.set_leaf(pattern, leaf),
            _ => {}
        }
    }

    /// The leaf that wins for a key of one word, or [`NO_MATCH`]. For [`Packing::Word`].
    #[inline(always)]
    pub fn find_word(&self, key: u64) -> u32 {
        let leaf = match &self.kind {
            Kind::ExactShort(index) => index.find(key),
            Kind::ExactJoined(index) => index.find(key),
            Kind::ExactWord(index) => index.find(key),
            Kind::Lpm32(index) => index.find(&[key]),
            Kind::Rules(index) => index.find(&[key]),
            Kind::Lpm64(index) => index.find(&[key]),
            _ => NO_MATCH,
        };
        if self.others.is_none() { leaf } else { self.find_among_all(&[key]) }
    }

    /// The leaf that wins for a key of two words, or [`NO_MATCH`]. For [`Packing::DoubleWord`].
    #[inline(always)]
    pub fn find_double(&self, low: u64, high: u64) -> u32 {
        let key = [low, high];
        let leaf = match &self.kind {
            Kind::ExactDouble(index) => index.find(key),
            Kind::Lpm128(index) => index.find(&key),
            Kind::Rules(index) => index.find(&key),
            Kind::Lpm32(index) => index.find(&key),
            Kind::Lpm64(index) => index.find(&key),
            _ => NO_MATCH,
        };
        if self.others.is_none() { leaf } else { self.find_among_all(&key) }
    }

    /// The same as [`MatchIndex::find_word`], shorter where [`KeyLayout::has_rules`].
    #[inline(always)]
    pub fn find_rule_word(&self, key: u64) -> u32 {
        match &self.kind {
            Kind::Rules(index) => index.find(&[key]),
            _ => self.find_words(&[key]),
        }
    }

    /// The same as [`MatchIndex::find_double`], shorter where [`KeyLayout::has_rules`].
    #[inline(always)]
    pub fn find_rule_double(&self, low: u64, high: u64) -> u32 {
        match &self.kind {
            Kind::Rules(index) => index.find(&[low, high]),
            _ => self.find_words(&[low, high]),
        }
    }

    /// The leaf that wins for a key of as many words as the layout says, or [`NO_MATCH`].
    #[inline(never)]
    pub fn find_words(&self, key: &[u64]) -> u32 {
        match *key {
            [word] => return self.find_word(word),
            [low, high] => return self.find_double(low, high),
            _ => {}
        }
        let leaf = match &self.kind {
            Kind::ExactWords(index) => index.find(|at| key[at]),
            Kind::Rules(index) => index.find(key),
            Kind::Lpm32(index) => index.find(key),
            Kind::Lpm64(index) => index.find(key),
            Kind::Lpm128(index) => index.find(key),
            _ => NO_MATCH,
        };
        if self.others.is_none() { leaf } else { self.find_among_all(key) }
    }

    /// Looks up in both sub-indexes and returns the better match.
    #[cold]
    #[inline(never)]
    fn find_among_all(&self, key: &[u64]) -> u32 {
        let exact = |(order, leaf)| Found { rank: 0, order, leaf };
        let longest = |(length, order, leaf)| Found { rank: i64::from(length), order, leaf };
        let found = match &self.kind {
            Kind::ExactShort(index) => index.find_candidate(key[0]).map(exact),
            Kind::ExactJoined(index) => index.find_candidate(key[0]).map(exact),
            Kind::ExactWord(index) => index.find_candidate(key[0]).map(exact),
            Kind::ExactDouble(index) => index.find_candidate([key[0], key[1]]).map(exact),
            Kind::ExactWords(index) => index.find_candidate(key).map(exact),
            Kind::Lpm32(index) => index.find_candidate(key).map(longest),
            Kind::Lpm64(index) => index.find_candidate(key).map(longest),
            Kind::Lpm128(index) => index.find_candidate(key).map(longest),
            Kind::Rules(index) => index.find_candidate(key),
        };
        let other = self.others.as_ref().and_then(|others| others.find_candidate(key));
        let best = match (found, other) {
            (Some(found), Some(other)) if other.beats(&found) => Some(other),
            (found, other) => found.or(other),
        };
        best.map_or(NO_MATCH, |best| best.leaf)
    }

    /// The address of what [`MatchIndex::find_word`] reads first, to be prefetched; 0 when the index is
    /// small.
    #[inline(always)]
    pub fn first_touch_word(&self, key: u64) -> usize {
        match &self.kind {
            Kind::ExactShort(index) => index.first_touch(key),
            Kind::ExactJoined(index) => index.first_touch(key),
            Kind::ExactWord(index) => index.first_touch(key),
            Kind::Lpm32(index) => index.first_touch(&[key]),
            Kind::Lpm64(index) => index.first_touch(&[key]),
            Kind::Rules(index) => index.first_touch(&[key]),
            _ => 0,
        }
    }

    /// The address of what [`MatchIndex::find_double`] reads first, to be prefetched; 0 when the index
    /// is small.
    #[inline(always)]
    pub fn first_touch_double(&self, low: u64, high: u64) -> usize {
        let key = [low, high];
        match &self.kind {
            Kind::ExactDouble(index) => index.first_touch(key),
            Kind::Lpm32(index) => index.first_touch(&key),
            Kind::Lpm64(index) => index.first_touch(&key),
            Kind::Lpm128(index) => index.first_touch(&key),
            Kind::Rules(index) => index.first_touch(&key),
            _ => 0,
        }
    }

    /// The address of what [`MatchIndex::find_words`] reads first, to be prefetched; 0 when the index is
    /// small.
    #[inline]
    pub fn first_touch_words(&self, key: &[u64]) -> usize {
        match *key {
            [word] => return self.first_touch_word(word),
            [low, high] => return self.first_touch_double(low, high),
            _ => {}
        }
        match &self.kind {
            Kind::ExactWords(index) => index.first_touch(|at| key[at]),
            Kind::Lpm32(index) => index.first_touch(key),
            Kind::Lpm64(index) => index.first_touch(key),
            Kind::Lpm128(index) => index.first_touch(key),
            Kind::Rules(index) => index.first_touch(key),
            _ => 0,
        }
    }

    /// Where lookups may read leaves without a call, as [`KeyLayout::direct`] says. It holds until the
    /// index is changed next.
    pub fn direct(&self) -> Direct {
        let none = Direct { address: 0, length: 0, default_leaf: NO_MATCH };
        let undecided =
            Direct { address: UNDECIDED.as_ptr() as usize, length: 1 << DIRECT_BITS, ..none };
        if self.others.is_some() {
            return if matches!(self.kind, Kind::Lpm32(_)) { undecided } else { none };
        }
        match &self.kind {
            Kind::ExactShort(index) => Direct {
                address: index.leaves().as_ptr() as usize,
                length: index.leaves().len(),
                ..none
            },
            Kind::ExactJoined(index) => {
                Direct { address: index.address(), length: index.shift() as usize, ..none }
            }
            Kind::ExactWord(index) => {
                Direct { address: index.address(), length: index.shift() as usize, ..none }
            }
            Kind::ExactDouble(index) => {
                Direct { address: index.address(), length: index.shift() as usize, ..none }
            }
            Kind::Lpm32(index) => index.direct_table().map_or(undecided, |direct_table| Direct {
                address: direct_table.address(),
                length: 1 << DIRECT_BITS,
                default_leaf: index.default_leaf(),
            }),
            _ => none,
        }
    }

    /// Address and bytes of the memory that most lookups go to, where it is in one piece.
    pub fn lookup_memory(&self) -> (usize, usize) {
        match &self.kind {
            Kind::ExactJoined(index) => (index.address(), index.bucket_bytes()),
            Kind::ExactWord(index) => (index.address(), index.bucket_bytes()),
            Kind::ExactDouble(index) => (index.address(), index.bucket_bytes()),
            Kind::Lpm32(index) => index
                .direct_table()
                .map_or((0, 0), |direct_table| (direct_table.address(), direct_table.item_bytes())),
            _ => (0, 0),
        }
    }

    /// Returns the approximate memory that lookups touch; at most [`MatchIndex::memory_bytes`].
    pub fn lookup_bytes(&self) -> usize {
        match &self.kind {
            _ if self.others.is_some() => self.memory_bytes(),
            Kind::ExactShort(index) => index.lookup_bytes(),
            Kind::ExactJoined(index) => index.bucket_bytes(),
            Kind::ExactWord(index) => index.bucket_bytes(),
            Kind::ExactDouble(index) => index.bucket_bytes(),
            Kind::Lpm32(index) => index.lookup_bytes(),
            _ => self.memory_bytes(),
        }
    }

    /// Returns the approximate size of the index in memory.
    pub fn memory_bytes(&self) -> usize {
        let kind = match &self.kind {
            Kind::ExactShort(index) => index.memory_bytes(),
            Kind::ExactJoined(index) => index.memory_bytes(),
            Kind::ExactWord(index) => index.memory_bytes(),
            Kind::ExactDouble(index) => index.memory_bytes(),
            Kind::ExactWords(index) => index.memory_bytes(),
            Kind::Lpm32(index) => index.memory_bytes(),
            Kind::Lpm64(index) => index.memory_bytes(),
            Kind::Lpm128(index) => index.memory_bytes(),
            Kind::Rules(index) => index.memory_bytes(),
        };
        size_of::<MatchIndex>()
            + kind
            + self
                .others
                .as_ref()
                .map_or(0, |others| size_of::<RuleIndex>() + others.memory_bytes())
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        match &mut self.kind {
            Kind::ExactShort(index) => *index = ShortIndex::new(self.seed),
            Kind::ExactJoined(index) => index.clear(),
            Kind::ExactWord(index) => index.clear(),
            Kind::ExactDouble(index) => index.clear(),
            Kind::ExactWords(index) => index.clear(),
            Kind::Lpm32(index) => index.clear(self.seed),
            Kind::Lpm64(index) => index.clear(self.seed),
            Kind::Lpm128(index) => index.clear(self.seed),
            Kind::Rules(index) => index.clear(),
        }
        self.others = None;
    }
}

/// Returns whether the pattern of this key is one value.
fn is_whole(layout: &KeyLayout, keys: &[KeyPattern], field: usize) -> bool {
    match &keys[field] {
        KeyPattern::Exact(_) => true,
        KeyPattern::Any | KeyPattern::Range { .. } => false,
        KeyPattern::Prefix { length_bits, .. } => *length_bits == layout.fields[field].width_bits,
        KeyPattern::Ternary { mask, .. } => {
            *mask == ir::Bits::ones(layout.fields[field].width_bits)
        }
    }
}
