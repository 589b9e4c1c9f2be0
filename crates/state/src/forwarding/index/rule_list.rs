// SPDX-License-Identifier: Apache-2.0
//! `RuleList`: the rules of one slot of a tuple, the best first. Few rules are in a vector, many in a sorted map, so
//! that a change does not cost time linear in the list.

use super::layout::{BitRun, RangeCheck};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The largest rank first, then the smallest order.
type Key = (Reverse<i64>, u64);

/// A rule with the range that excludes most keys, so that most lookups need not read the rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedRule {
    pub(crate) rule: u32,
    bits: BitRun,
    low: u64,
    high: u64,
}

impl ListedRule {
    /// A rule and its first check.
    pub(crate) fn new(rule: u32, check: Option<&RangeCheck>) -> ListedRule {
        match check {
            Some(check) if check.low.len() == 1 => {
                ListedRule { rule, bits: check.bits, low: check.low[0], high: check.high[0] }
            }
            _ => {
                let bits = BitRun { word: 0, shift: 0, width_bits: 64 };
                ListedRule { rule, bits, low: 0, high: u64::MAX }
            }
        }
    }

    #[inline(always)]
    fn may_accept(&self, key: &[u64]) -> bool {
        let number = self.bits.number_word(key, 0);
        self.low <= number && number <= self.high
    }
}

/// Rules in the order of their ranks.
#[derive(Clone, Debug)]
pub(crate) enum RuleList {
    Vector(Vec<(Key, ListedRule)>),
    Map(BTreeMap<Key, ListedRule>),
}

/// Largest number of rules in a vector.
const MAX_VECTOR_RULES: usize = 64;

impl Default for RuleList {
    fn default() -> Self {
        RuleList::Vector(Vec::new())
    }
}

impl RuleList {
    pub(crate) fn new(rank: i64, order: u64, listed: ListedRule) -> Self {
        RuleList::Vector(vec![((Reverse(rank), order), listed)])
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            RuleList::Vector(rules) => rules.len(),
            RuleList::Map(rules) => rules.len(),
        }
    }

    /// The best rule. The list is not empty.
    pub(crate) fn first(&self) -> u32 {
        let first = match self {
            RuleList::Vector(rules) => rules.first().map(|(_, rule)| rule),
            RuleList::Map(rules) => rules.first_key_value().map(|(_, rule)| rule),
        };
        first.map_or(0, |listed| listed.rule)
    }

    /// Calls `visit` with rules that may accept the key, as long as their rank is at least `least_rank`,
    /// until it returns that this was enough.
    #[inline(always)]
    pub(crate) fn visit(&self, key: &[u64], least_rank: i64, mut visit: impl FnMut(u32) -> bool) {
        let mut is_last = |((rank, _), listed): (&Key, &ListedRule)| {
            rank.0 < least_rank || listed.may_accept(key) && visit(listed.rule)
        };
        match self {
            RuleList::Vector(rules) => {
                rules.iter().map(|(key, listed)| (key, listed)).find(|pair| is_last(*pair));
            }
            RuleList::Map(rules) => {
                rules.iter().find(|pair| is_last(*pair));
            }
        }
    }

    pub(crate) fn get(&self, rank: i64, order: u64) -> Option<u32> {
        let key = (Reverse(rank), order);
        match self {
            RuleList::Vector(rules) => {
                let at = rules.binary_search_by_key(&key, |(key, _)| *key).ok()?;
                Some(rules[at].1.rule)
            }
            RuleList::Map(rules) => rules.get(&key).map(|listed| listed.rule),
        }
    }

    pub(crate) fn insert(&mut self, rank: i64, order: u64, listed: ListedRule) {
        let key = (Reverse(rank), order);
        match self {
            RuleList::Vector(rules) => {
                let at = rules.partition_point(|(other, _)| *other < key);
                rules.insert(at, (key, listed));
                if rules.len() > MAX_VECTOR_RULES {
                    *self = RuleList::Map(std::mem::take(rules).into_iter().collect());
                }
            }
            RuleList::Map(rules) => {
                rules.insert(key, listed);
            }
        }
    }

    pub(crate) fn remove(&mut self, rank: i64, order: u64) {
        let key = (Reverse(rank), order);
        match self {
            RuleList::Vector(rules) => rules.retain(|(other, _)| *other != key),
            RuleList::Map(rules) => {
                rules.remove(&key);
                if rules.len() <= MAX_VECTOR_RULES / 2 {
                    *self = RuleList::Vector(std::mem::take(rules).into_iter().collect());
                }
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            RuleList::Vector(rules) => rules.capacity() * size_of::<(Key, ListedRule)>(),
            RuleList::Map(rules) => {
                rules.len().div_ceil(8) * (11 * size_of::<(Key, ListedRule)>() + 16)
            }
        }
    }
}
