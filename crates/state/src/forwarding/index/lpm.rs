// SPDX-License-Identifier: Apache-2.0
//! `LpmIndex`: longest prefix matches of one lpm key, alone or beside exact keys. A hash table maps the exact keys to
//! a group; each group has a trie. Entries with a wildcard for an exact key are elsewhere.

use super::direct_table::{self, DirectTable};
use super::exact::{DoubleIndex, InlineKey, WordIndex};
use super::exact_wide::WideExactIndex;
use super::layout::{BitRun, KeyLayout, Packing};
use super::leaf::NO_MATCH;
use super::prefix::PrefixKey;
use super::trie::Trie;
use smallvec::SmallVec;

/// How the group is found.
#[derive(Clone, Debug)]
enum Groups {
    /// The lpm key is alone: group 0.
    One,
    /// By the other bits of one word.
    Word { mask: u64, index: WordIndex },
    /// By the other bits of two words.
    Double { mask: [u64; 2], index: DoubleIndex },
    /// By these words.
    Words { places: Box<[u32]>, index: WideExactIndex },
}

/// Prefix matches of keys that fit into `K`.
#[derive(Clone, Debug)]
pub(crate) struct LpmIndex<K: PrefixKey> {
    groups: Groups,
    /// Where the lpm key lies.
    bits: BitRun,
    trie: Trie<K>,
    /// For a lone lpm key of at most 32 bits with a suitable number of prefixes.
    direct_table: Option<Box<DirectTable>>,
}

impl<K: PrefixKey> LpmIndex<K> {
    /// For the field `lpm` of a layout whose other fields are exact.
    pub(crate) fn new(layout: &KeyLayout, lpm: usize, seed: u64) -> Self {
        let bits = layout.bits_of(lpm);
        let words = layout.words();
        let mut mask: SmallVec<[u64; 4]> = SmallVec::from_elem(0, words);
        for field in (0..layout.fields.len()).filter(|&field| field != lpm) {
            let bits = layout.bits_of(field);
            bits.write(&ir::Bits::ones(bits.width_bits), &mut mask);
        }
        let groups = match layout.packing {
            _ if mask.iter().all(|word| *word == 0) => Groups::One,
            Packing::Word => Groups::Word { mask: mask[0], index: WordIndex::new(seed) },
            Packing::DoubleWord => {
                Groups::Double { mask: [mask[0], mask[1]], index: DoubleIndex::new(seed) }
            }
            Packing::Words(words) => {
                let places: Box<[u32]> =
                    (0..words as u32).filter(|&at| mask[at as usize] != 0).collect();
                let index = WideExactIndex::new(places.len(), seed);
                Groups::Words { places, index }
            }
        };
        let mut trie = Trie::new();
        if matches!(groups, Groups::One) {
            trie.add_group();
        }
        LpmIndex { groups, bits, trie, direct_table: None }
    }

    pub(crate) fn clear(&mut self, seed: u64) {
        self.trie = Trie::new();
        self.direct_table = None;
        match &mut self.groups {
            Groups::One => {
                self.trie.add_group();
            }
            Groups::Word { index, .. } => *index = WordIndex::new(seed),
            Groups::Double { index, .. } => *index = DoubleIndex::new(seed),
            Groups::Words { index, .. } => index.clear(),
        }
    }

    #[inline(always)]
    fn group(&self, key: &[u64]) -> u32 {
        match &self.groups {
            Groups::One => 0,
            Groups::Word { mask, index } => index.find(key[0] & mask),
            Groups::Double { mask, index } => index.find([key[0] & mask[0], key[1] & mask[1]]),
            Groups::Words { places, index } => index.find(|at| key[places[at] as usize]),
        }
    }

    /// The leaf of the empty prefix, of a lone lpm key.
    #[inline(always)]
    pub(crate) fn default_leaf(&self) -> u32 {
        self.trie.heads[0].default_leaf
    }

    pub(crate) fn direct_table(&self) -> Option<&DirectTable> {
        self.direct_table.as_deref()
    }

    /// Updates the direct table after a prefix was inserted, removed or got another leaf.
    fn refresh_direct_table(&mut self, key: K, length_bits: u32) {
        if K::BITS > 32 || !matches!(self.groups, Groups::One) {
            return;
        }
        let set = &self.trie.sets[0];
        if !direct_table::is_worth_it(set.len(), self.direct_table.is_some()) {
            self.direct_table = None;
            return;
        }
        match &mut self.direct_table {
            Some(direct_table) => direct_table.refresh(set, key, length_bits),
            None => self.direct_table = Some(Box::new(DirectTable::new(set))),
        }
    }

    #[inline(always)]
    fn lpm_key(&self, key: &[u64]) -> K {
        K::align(self.bits.number(key), self.bits.width_bits)
    }

    /// The leaf of the longest prefix that covers the key, or [`NO_MATCH`].
    #[inline(always)]
    pub(crate) fn find(&self, key: &[u64]) -> u32 {
        if let Some(direct_table) = &self.direct_table {
            return match direct_table.find(self.lpm_key(key)) {
                NO_MATCH => self.default_leaf(),
                leaf => leaf,
            };
        }
        let group = self.group(key);
        if group == NO_MATCH { NO_MATCH } else { self.trie.find(group, self.lpm_key(key)) }
    }

    /// The address of what a lookup reads first.
    #[inline(always)]
    pub(crate) fn first_touch(&self, key: &[u64]) -> usize {
        match &self.groups {
            Groups::One => match &self.direct_table {
                Some(direct_table) => direct_table.last_touch(self.lpm_key(key)),
                None => self.trie.first_touch(0, self.lpm_key(key)),
            },
            Groups::Word { mask, index } => index.first_touch(key[0] & mask),
            Groups::Double { mask, index } => {
                index.first_touch([key[0] & mask[0], key[1] & mask[1]])
            }
            Groups::Words { places, index } => index.first_touch(|at| key[places[at] as usize]),
        }
    }

    /// Adds the entry of a packed value. `length_bits` is the length of its prefix.
    pub(crate) fn insert(&mut self, value: &[u64], length_bits: u32, order: u64, leaf: u32) {
        let group = match self.group(value) {
            NO_MATCH => {
                let group = self.trie.add_group();
                match &mut self.groups {
                    Groups::One => {}
                    Groups::Word { mask, index } => index.insert(value[0] & *mask, 0, group),
                    Groups::Double { mask, index } => {
                        let key = [value[0] & mask[0], value[1] & mask[1]];
                        index.insert(InlineKey::from_words(&key), 0, group);
                    }
                    Groups::Words { places, index } => {
                        let key: SmallVec<[u64; 8]> =
                            places.iter().map(|&at| value[at as usize]).collect();
                        index.insert(&key, 0, group);
                    }
                }
                group
            }
            group => group,
        };
        let key = self.lpm_key(value);
        if self.trie.insert(group, key, length_bits, order, leaf) {
            self.refresh_direct_table(key, length_bits);
        }
    }

    pub(crate) fn remove(&mut self, value: &[u64], length_bits: u32, order: u64) {
        let group = self.group(value);
        if group == NO_MATCH {
            return;
        }
        let key = self.lpm_key(value);
        if self.trie.remove(group, key, length_bits, order) {
            self.refresh_direct_table(key, length_bits);
        }
        if !self.trie.sets[group as usize].is_empty() {
            return;
        }
        match &mut self.groups {
            Groups::One => return,
            Groups::Word { mask, index } => index.remove(value[0] & *mask, 0),
            Groups::Double { mask, index } => {
                index.remove([value[0] & mask[0], value[1] & mask[1]], 0);
            }
            Groups::Words { places, index } => {
                let key: SmallVec<[u64; 8]> = places.iter().map(|&at| value[at as usize]).collect();
                index.remove(&key, 0);
            }
        }
        self.trie.drop_group(group);
    }

    pub(crate) fn set_leaf(&mut self, value: &[u64], length_bits: u32, order: u64, leaf: u32) {
        let group = self.group(value);
        if group == NO_MATCH {
            return;
        }
        let key = self.lpm_key(value);
        if self.trie.set_leaf(group, key, length_bits, order, leaf) {
            self.refresh_direct_table(key, length_bits);
        }
    }

    /// Length, order and leaf of the longest prefix that covers the key. Slower than `find`.
    pub(crate) fn find_candidate(&self, key: &[u64]) -> Option<(u32, u64, u32)> {
        let group = self.group(key);
        if group == NO_MATCH {
            return None;
        }
        self.trie.sets[group as usize].find_candidate(self.lpm_key(key))
    }

    /// Returns the memory that lookups touch.
    pub(crate) fn lookup_bytes(&self) -> usize {
        match &self.direct_table {
            Some(direct_table) => direct_table.lookup_bytes(self.trie.sets[0].len()),
            None => self.memory_bytes(),
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let groups = match &self.groups {
            Groups::One => 0,
            Groups::Word { index, .. } => index.memory_bytes(),
            Groups::Double { index, .. } => index.memory_bytes(),
            Groups::Words { places, index } => places.len() * 4 + index.memory_bytes(),
        };
        groups
            + self.trie.memory_bytes()
            + self.direct_table.as_ref().map_or(0, |direct_table| direct_table.memory_bytes())
    }
}
