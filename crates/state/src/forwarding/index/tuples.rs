// SPDX-License-Identifier: Apache-2.0
//! `TupleSpace`: tuple space search. Entries with the same mask share one hash table over the masked key. Signatures
//! select the few tuples that can match the key's bytes; a tuple is searched only if its best rank is not below the
//! best entry so far, and a bit filter per tuple answers most misses from few cache lines. `tuple_update` updates it.

use super::arena::Arena;
use super::hash::{hash_double, hash_word, hash_words};
use super::layout::RangeCheck;
use super::leaf::NO_MATCH;
use super::ranges::Words;
use super::rule::Found;
use super::rule_list::RuleList;
use super::signatures::{GROUP, Signatures};
use foldhash::fast::FixedState;
use std::collections::HashMap;

/// The part of a tuple that every lookup reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// No entry of the tuple has a larger rank; some may have been removed since.
    pub(super) bound: i64,
    /// The mask. For keys of more than two words: start and number of the mask's parts.
    pub(super) mask: [u64; 2],
    /// The first word of the filter.
    pub(super) filter: u32,
    /// The right shift from a hash to a bit of the filter.
    pub(super) filter_shift: u32,
}

/// A word of a mask that is not zero.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    pub(super) word: u32,
    pub(super) mask: u64,
}

/// Entries with the same mask.
#[derive(Clone, Debug)]
pub(super) struct Tuple {
    /// A power of two of slots: rank, target (see `Target`), then the masked words. At most three
    /// quarters are taken; a slot whose target is zero is free.
    pub(super) slots: Vec<u64>,
    /// Words of a slot.
    pub(super) stride: usize,
    pub(super) shift: u32,
    pub(super) taken: usize,
    /// Slots freed since bound and filter were exact.
    pub(super) freed: usize,
    pub(super) mask: Words,
}

/// An entry; all its pieces refer to it by number.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) rank: i64,
    pub(super) order: u64,
    pub(super) leaf: u32,
    /// Place in `checks`, or `NO_CHECKS`.
    pub(super) checks: u32,
}

pub(super) const NO_CHECKS: u32 = u32::MAX;
const NO_RULE: u32 = u32::MAX;

/// The target of a slot in one word: zero if free; a rule's number plus one above its leaf; or a list of rules, the
/// best first, with the highest bit set.
pub(super) struct Target;

impl Target {
    pub(super) const LIST: u32 = 1 << 31;

    pub(super) fn of_rule(rule: u32, leaf: u32) -> u64 {
        u64::from(rule + 1) << 32 | u64::from(leaf)
    }

    pub(super) fn of_list(list: u32) -> u64 {
        u64::from(list | Target::LIST) << 32
    }

    /// The list's number, or else the rule's.
    pub(super) fn parts(target: u64) -> Result<u32, u32> {
        let number = (target >> 32) as u32;
        if number & Target::LIST != 0 { Ok(number & !Target::LIST) } else { Err(number - 1) }
    }
}

/// Rules by masks.
#[derive(Clone, Debug)]
pub(crate) struct TupleSpace {
    pub(super) words: usize,
    pub(super) seed: u64,
    pub(super) signatures: Signatures,
    /// By group of tuples: no tuple of it has a larger bound.
    pub(super) bounds: Vec<i64>,
    /// By tuple.
    pub(super) heads: Vec<Head>,
    pub(super) tuples: Vec<Tuple>,
    pub(super) free_tuples: Vec<u32>,
    pub(super) by_mask: HashMap<Words, u32, FixedState>,
    pub(super) parts: Arena<Part>,
    pub(super) filters: Arena<u64>,
    pub(super) rules: Vec<Rule>,
    pub(super) free_rules: Vec<u32>,
    /// Rules of a slot that has several, or one with checks.
    pub(super) lists: Vec<RuleList>,
    pub(super) free_lists: Vec<u32>,
    pub(super) checks: Vec<Box<[RangeCheck]>>,
    pub(super) free_checks: Vec<u32>,
}

/// The best rule so far.
struct Best {
    rank: i64,
    rule: u32,
    leaf: u32,
}

impl TupleSpace {
    pub(crate) fn new(words: usize, seed: u64) -> Self {
        TupleSpace {
            words,
            seed,
            signatures: Signatures::new(words),
            bounds: Vec::new(),
            heads: Vec::new(),
            tuples: Vec::new(),
            free_tuples: Vec::new(),
            by_mask: HashMap::default(),
            parts: Arena::default(),
            filters: Arena::default(),
            rules: Vec::new(),
            free_rules: Vec::new(),
            lists: Vec::new(),
            free_lists: Vec::new(),
            checks: Vec::new(),
            free_checks: Vec::new(),
        }
    }

    pub(crate) fn words(&self) -> usize {
        self.words
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_mask.is_empty()
    }

    #[inline(always)]
    fn parts(&self, head: &Head) -> &[Part] {
        &self.parts.items[head.mask[0] as usize..][..head.mask[1] as usize]
    }

    #[inline(always)]
    pub(super) fn hash(&self, head: &Head, key: &[u64]) -> u64 {
        match key.len() {
            1 => hash_word(key[0] & head.mask[0], self.seed),
            2 => hash_double(key[0] & head.mask[0], key[1] & head.mask[1], self.seed),
            _ => {
                let masked =
                    self.parts(head).iter().map(|part| key[part.word as usize] & part.mask);
                hash_words(masked, self.seed)
            }
        }
    }

    /// Whether the masked words of a slot are those of the key.
    #[inline(always)]
    pub(super) fn is_equal(&self, head: &Head, key: &[u64], values: &[u64]) -> bool {
        match key.len() {
            1 => key[0] & head.mask[0] == values[0],
            2 => key[0] & head.mask[0] == values[0] && key[1] & head.mask[1] == values[1],
            _ => {
                let parts = self.parts(head).iter();
                parts.zip(values).all(|(part, value)| key[part.word as usize] & part.mask == *value)
            }
        }
    }

    #[inline(always)]
    fn best(&self, key: &[u64]) -> Best {
        let mut best = Best { rank: i64::MIN, rule: NO_RULE, leaf: NO_MATCH };
        for (group, bound) in self.bounds.iter().enumerate() {
            if *bound < best.rank {
                continue;
            }
            let mut candidates = self.signatures.candidates(group, key);
            while candidates != 0 {
                let tuple = group * GROUP + candidates.trailing_zeros() as usize;
                candidates &= candidates - 1;
                let head = &self.heads[tuple];
                if head.bound < best.rank {
                    continue;
                }
                let hash = self.hash(head, key);
                let bit = hash >> head.filter_shift;
                let word = self.filters.items[head.filter as usize + (bit / 64) as usize];
                if word >> (bit % 64) & 1 != 0 {
                    self.probe(head, &self.tuples[tuple], key, hash, &mut best);
                }
            }
        }
        best
    }

    #[inline(always)]
    fn probe(&self, head: &Head, tuple: &Tuple, key: &[u64], hash: u64, best: &mut Best) {
        let stride = if key.len() <= 2 { key.len() + 2 } else { tuple.stride };
        let mut start = (hash >> tuple.shift) as usize * stride;
        loop {
            let slot = &tuple.slots[start..start + stride];
            if slot[1] == 0 {
                return;
            }
            if self.is_equal(head, key, &slot[2..]) {
                self.consider(slot[0] as i64, slot[1], key, best);
                return;
            }
            start += stride;
            if start == tuple.slots.len() {
                start = 0;
            }
        }
    }

    #[inline(always)]
    fn consider(&self, rank: i64, target: u64, key: &[u64], best: &mut Best) {
        if rank < best.rank {
            return;
        }
        match Target::parts(target) {
            Err(rule) => {
                if rank > best.rank || self.beats(rule, best) {
                    *best = Best { rank, rule, leaf: target as u32 };
                }
            }
            Ok(list) => {
                self.lists[list as usize].visit(key, best.rank, |rule| {
                    if !self.beats(rule, best) {
                        return true;
                    }
                    let Rule { rank, leaf, checks, .. } = self.rules[rule as usize];
                    let accepted = checks == NO_CHECKS
                        || self.checks[checks as usize].iter().all(|check| check.accepts(key));
                    if accepted {
                        *best = Best { rank, rule, leaf };
                    }
                    accepted
                });
            }
        }
    }

    #[inline(always)]
    fn beats(&self, rule: u32, best: &Best) -> bool {
        if best.rule == NO_RULE {
            return true;
        }
        let (rule, other) = (&self.rules[rule as usize], &self.rules[best.rule as usize]);
        (rule.rank, other.order) > (other.rank, rule.order)
    }

    /// The leaf of the best entry that matches, or [`NO_MATCH`].
    #[inline(always)]
    pub(crate) fn find(&self, key: &[u64]) -> u32 {
        self.best(key).leaf
    }

    pub(crate) fn find_candidate(&self, key: &[u64]) -> Option<Found> {
        let Best { rank, rule, leaf } = self.best(key);
        let order = self.rules.get(rule as usize)?.order;
        Some(Found { rank, order, leaf })
    }

    /// The address of the slot that a lookup reads first, of the first tuple that the key can belong to.
    #[inline(always)]
    pub(crate) fn first_touch(&self, key: &[u64]) -> usize {
        let candidates = match self.bounds.len() {
            0 => 0,
            _ => self.signatures.candidates(0, key),
        };
        if candidates == 0 {
            return 0;
        }
        let tuple = candidates.trailing_zeros() as usize;
        let (head, tuple) = (&self.heads[tuple], &self.tuples[tuple]);
        let start = (self.hash(head, key) >> tuple.shift) as usize * tuple.stride;
        tuple.slots.as_ptr().wrapping_add(start) as usize
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let tuples: usize = self
            .tuples
            .iter()
            .map(|tuple| tuple.slots.capacity() * 8 + 2 * tuple.mask.len().saturating_sub(2) * 8)
            .sum();
        let lists: usize = self.lists.iter().map(RuleList::memory_bytes).sum();
        let checks: usize = self.checks.iter().map(|checks| size_of_val(&**checks)).sum();
        self.signatures.memory_bytes()
            + self.bounds.capacity() * 8
            + self.heads.capacity() * size_of::<Head>()
            + self.tuples.capacity() * size_of::<Tuple>()
            + tuples
            + self.by_mask.capacity() * (size_of::<(Words, u32)>() + 1)
            + self.parts.memory_bytes()
            + self.filters.memory_bytes()
            + self.rules.capacity() * size_of::<Rule>()
            + self.lists.capacity() * size_of::<RuleList>()
            + lists
            + self.checks.capacity() * size_of::<Box<[RangeCheck]>>()
            + checks
            + (self.free_tuples.capacity()
                + self.free_rules.capacity()
                + self.free_lists.capacity()
                + self.free_checks.capacity())
                * 4
    }
}
