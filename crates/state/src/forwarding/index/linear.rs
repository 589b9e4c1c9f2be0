// SPDX-License-Identifier: Apache-2.0
//! `LinearList`: few entries with masks and ranges in a list, the best first. `tuples` holds many.

use super::layout::RangeCheck;
use super::rule::{Found, RulePattern};

#[derive(Clone, Debug)]
struct Rule {
    rank: i64,
    order: u64,
    leaf: u32,
    checks: Box<[RangeCheck]>,
}

/// Entries by rank, then by order.
#[derive(Clone, Debug)]
pub(crate) struct LinearList {
    words: usize,
    /// The value's words and the mask's words of each rule.
    patterns: Vec<u64>,
    rules: Vec<Rule>,
}

impl LinearList {
    pub(crate) fn new(words: usize) -> Self {
        LinearList { words, patterns: Vec::new(), rules: Vec::new() }
    }

    pub(crate) fn words(&self) -> usize {
        self.words
    }

    pub(crate) fn len(&self) -> usize {
        self.rules.len()
    }

    /// The best entry that matches.
    #[inline(always)]
    pub(crate) fn find(&self, key: &[u64]) -> Option<Found> {
        let words = key.len();
        let mut patterns = self.patterns.chunks_exact(2 * words);
        for rule in &self.rules {
            let (value, mask) = patterns.next()?.split_at(words);
            if (0..words).all(|at| key[at] & mask[at] == value[at])
                && rule.checks.iter().all(|check| check.accepts(key))
            {
                return Some(Found { rank: rule.rank, order: rule.order, leaf: rule.leaf });
            }
        }
        None
    }

    fn position(&self, rank: i64, order: u64) -> usize {
        self.rules.partition_point(|rule| (rule.rank, order) > (rank, rule.order))
    }

    fn place_of(&self, pattern: &RulePattern) -> Option<usize> {
        let from = self.position(pattern.rank, pattern.order);
        (from..self.rules.len())
            .take_while(|&at| self.rules[at].order == pattern.order)
            .find(|&at| self.rules[at].rank == pattern.rank)
    }

    pub(crate) fn insert(&mut self, pattern: RulePattern, leaf: u32) {
        let at = self.position(pattern.rank, pattern.order);
        let start = at * 2 * self.words;
        let words = pattern.value.iter().chain(&pattern.mask).copied();
        self.patterns.splice(start..start, words);
        let checks = pattern.checks.into();
        self.rules.insert(at, Rule { rank: pattern.rank, order: pattern.order, leaf, checks });
    }

    pub(crate) fn remove(&mut self, pattern: &RulePattern) {
        if let Some(at) = self.place_of(pattern) {
            let start = at * 2 * self.words;
            self.patterns.drain(start..start + 2 * self.words);
            self.rules.remove(at);
        }
    }

    pub(crate) fn set_leaf(&mut self, pattern: &RulePattern, leaf: u32) {
        if let Some(at) = self.place_of(pattern) {
            self.rules[at].leaf = leaf;
        }
    }

    /// All entries with their leaves.
    pub(crate) fn drain(&mut self) -> Vec<(RulePattern, u32)> {
        let patterns = std::mem::take(&mut self.patterns);
        let rules = std::mem::take(&mut self.rules);
        rules
            .into_iter()
            .zip(patterns.chunks_exact(2 * self.words))
            .map(|(rule, words)| {
                let (value, mask) = words.split_at(self.words);
                let pattern = RulePattern {
                    value: value.into(),
                    mask: mask.into(),
                    checks: rule.checks.into(),
                    rank: rule.rank,
                    order: rule.order,
                };
                (pattern, rule.leaf)
            })
            .collect()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let checks: usize = self.rules.iter().map(|rule| size_of_val(&*rule.checks)).sum();
        self.patterns.capacity() * 8 + self.rules.capacity() * size_of::<Rule>() + checks
    }
}
