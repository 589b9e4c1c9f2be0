// SPDX-License-Identifier: Apache-2.0
//! Rules that stand in one slot of a tuple, the best first: a vector while they are few, a sorted map
//! when they are many, so that a change never costs as much as the list is long.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The largest rank first, then the smallest order.
type Key = (Reverse<i64>, u64);

/// Numbers of rules.
#[derive(Clone, Debug)]
pub(crate) enum RuleList {
    Few(Vec<(Key, u32)>),
    Many(BTreeMap<Key, u32>),
}

/// Up to this many are moved at a change.
const FEW: usize = 64;

impl Default for RuleList {
    fn default() -> Self {
        RuleList::Few(Vec::new())
    }
}

impl RuleList {
    pub(crate) fn new(rank: i64, order: u64, rule: u32) -> Self {
        RuleList::Few(vec![((Reverse(rank), order), rule)])
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            RuleList::Few(rules) => rules.len(),
            RuleList::Many(rules) => rules.len(),
        }
    }

    /// The best rule. The list is not empty.
    pub(crate) fn first(&self) -> u32 {
        let first = match self {
            RuleList::Few(rules) => rules.first().map(|(_, rule)| rule),
            RuleList::Many(rules) => rules.first_key_value().map(|(_, rule)| rule),
        };
        first.copied().unwrap_or(0)
    }

    /// Calls `visit` with one rule after the other until it returns that this was enough.
    #[inline(always)]
    pub(crate) fn visit(&self, mut visit: impl FnMut(u32) -> bool) {
        match self {
            RuleList::Few(rules) => {
                for (_, rule) in rules {
                    if visit(*rule) {
                        return;
                    }
                }
            }
            RuleList::Many(rules) => {
                for rule in rules.values() {
                    if visit(*rule) {
                        return;
                    }
                }
            }
        }
    }

    pub(crate) fn get(&self, rank: i64, order: u64) -> Option<u32> {
        let key = (Reverse(rank), order);
        match self {
            RuleList::Few(rules) => {
                let at = rules.binary_search_by_key(&key, |(key, _)| *key).ok()?;
                Some(rules[at].1)
            }
            RuleList::Many(rules) => rules.get(&key).copied(),
        }
    }

    pub(crate) fn insert(&mut self, rank: i64, order: u64, rule: u32) {
        let key = (Reverse(rank), order);
        match self {
            RuleList::Few(rules) => {
                let at = rules.partition_point(|(other, _)| *other < key);
                rules.insert(at, (key, rule));
                if rules.len() > FEW {
                    *self = RuleList::Many(std::mem::take(rules).into_iter().collect());
                }
            }
            RuleList::Many(rules) => {
                rules.insert(key, rule);
            }
        }
    }

    pub(crate) fn remove(&mut self, rank: i64, order: u64) {
        let key = (Reverse(rank), order);
        match self {
            RuleList::Few(rules) => rules.retain(|(other, _)| *other != key),
            RuleList::Many(rules) => {
                rules.remove(&key);
                if rules.len() <= FEW / 2 {
                    *self = RuleList::Few(std::mem::take(rules).into_iter().collect());
                }
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            RuleList::Few(rules) => rules.capacity() * size_of::<(Key, u32)>(),
            RuleList::Many(rules) => rules.len().div_ceil(8) * (11 * size_of::<(Key, u32)>() + 16),
        }
    }
}
