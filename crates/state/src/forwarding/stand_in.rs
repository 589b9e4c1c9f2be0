// SPDX-License-Identifier: Apache-2.0
//! A stand-in for the match indexes until they are there: it scans.
#![allow(missing_docs)]
use crate::table::pattern_matches;
use ir::{Bits, KeyPattern, Table};
pub const NO_MATCH: u32 = u32::MAX;
#[derive(Clone, Debug)]
pub struct KeyLayout(Vec<u32>);
impl KeyLayout {
    pub fn new(table: &Table) -> KeyLayout {
        KeyLayout(crate::validation::matched_keys(table).map(|key| key.width_bits).collect())
    }
    pub fn pack(&self, keys: &[Bits]) -> Vec<u64> {
        let mut out = Vec::new();
        for key in keys {
            let at = out.len();
            out.resize(at + super::words_of_width(key.width_bits()), 0);
            key.write_words(&mut out[at..]);
        }
        out
    }
}
#[derive(Clone, Debug)]
pub struct MatchIndex {
    layout: KeyLayout,
    entries: Vec<(Vec<KeyPattern>, i64, u64, u32)>,
}
impl MatchIndex {
    pub fn new(layout: &KeyLayout) -> Self {
        MatchIndex { layout: layout.clone(), entries: vec![] }
    }
    pub fn insert(&mut self, keys: &[KeyPattern], rank: i64, generation: u64, leaf: u32) {
        self.entries.push((keys.to_vec(), rank, generation, leaf));
    }
    pub fn remove(&mut self, _: &[KeyPattern], _: i64, generation: u64) {
        self.entries.retain(|entry| entry.2 != generation);
    }
    pub fn set_leaf(&mut self, _: &[KeyPattern], _: i64, generation: u64, leaf: u32) {
        for entry in self.entries.iter_mut().filter(|entry| entry.2 == generation) {
            entry.3 = leaf;
        }
    }
    pub fn clear(&mut self) {
        self.entries.clear();
    }
    pub fn memory_bytes(&self) -> usize {
        0
    }
    pub fn find_word(&self, key: u64) -> u32 {
        self.find_words(&[key])
    }
    pub fn find_double(&self, low: u64, high: u64) -> u32 {
        self.find_words(&[low, high])
    }
    pub fn find_words(&self, key: &[u64]) -> u32 {
        let mut at = 0;
        let values: Vec<Bits> = self
            .layout
            .0
            .iter()
            .map(|&width| {
                let n = super::words_of_width(width);
                let bytes: Vec<u8> =
                    key[at..at + n].iter().rev().flat_map(|w| w.to_be_bytes()).collect();
                at += n;
                Bits::from_bytes_be(width, &bytes)
            })
            .collect();
        self.entries
            .iter()
            .filter(|e| e.0.iter().zip(&values).all(|(p, v)| pattern_matches(p, v)))
            .max_by_key(|e| (e.1, std::cmp::Reverse(e.2)))
            .map_or(NO_MATCH, |e| e.3)
    }
}
