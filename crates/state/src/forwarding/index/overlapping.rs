// SPDX-License-Identifier: Apache-2.0
//! `OverlappingEntries`: entries with equal patterns. The index holds the winner in eight bytes; the others are here.
//! Only declared entries can be equal, so this is for correctness and small when empty.

use super::leaf::NO_MATCH;
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::hash::Hash;

/// The winner among equal entries, as an index holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Winner {
    pub(crate) leaf: u32,
    /// The order of the only entry, or `SEE_OVERLAPPING`.
    pub(crate) order: u32,
}

const SEE_OVERLAPPING: u32 = u32::MAX;

impl Winner {
    /// No entry.
    pub(crate) const NONE: Winner = Winner { leaf: NO_MATCH, order: 0 };
}

/// All entries of one pattern: order and leaf, the smallest order first.
type Equals = Vec<(u64, u32)>;

/// The entries of patterns with several entries, or with an order that does not fit into 32 bits.
#[derive(Clone, Debug)]
pub(crate) struct OverlappingEntries<K>(Option<HashMap<K, Equals, FixedState>>);

impl<K> Default for OverlappingEntries<K> {
    fn default() -> Self {
        OverlappingEntries(None)
    }
}

impl<K: Eq + Hash> OverlappingEntries<K> {
    fn keep(&mut self, key: K, equals: Equals) -> Winner {
        if let [(order, leaf)] = equals[..]
            && order < u64::from(SEE_OVERLAPPING)
        {
            return Winner { leaf, order: order as u32 };
        }
        let winner = equals
            .first()
            .map_or(Winner::NONE, |(_, leaf)| Winner { leaf: *leaf, order: SEE_OVERLAPPING });
        if !equals.is_empty() {
            self.0.get_or_insert_default().insert(key, equals);
        }
        winner
    }

    fn take_all(&mut self, key: &K, winner: Winner) -> Equals {
        match winner {
            Winner::NONE => Vec::new(),
            Winner { order: SEE_OVERLAPPING, .. } => {
                let Some(map) = &mut self.0 else { return Vec::new() };
                let equals = map.remove(key).unwrap_or_default();
                if map.is_empty() {
                    self.0 = None;
                }
                equals
            }
            Winner { leaf, order } => vec![(u64::from(order), leaf)],
        }
    }

    /// Adds an entry and returns the winner.
    pub(crate) fn add(&mut self, key: K, winner: Winner, order: u64, leaf: u32) -> Winner {
        if winner == Winner::NONE && order < u64::from(SEE_OVERLAPPING) {
            return Winner { leaf, order: order as u32 };
        }
        let mut equals = self.take_all(&key, winner);
        let at = equals.partition_point(|other| other.0 <= order);
        equals.insert(at, (order, leaf));
        self.keep(key, equals)
    }

    /// Removes the entry of this order and returns the winner; [`Winner::NONE`] if no entry is left.
    pub(crate) fn remove(&mut self, key: K, winner: Winner, order: u64) -> Winner {
        if winner.order != SEE_OVERLAPPING {
            return if u64::from(winner.order) == order { Winner::NONE } else { winner };
        }
        let mut equals = self.take_all(&key, winner);
        equals.retain(|other| other.0 != order);
        self.keep(key, equals)
    }

    /// Changes the leaf of the entry of this order and returns the winner.
    pub(crate) fn set_leaf(&mut self, key: K, winner: Winner, order: u64, leaf: u32) -> Winner {
        let mut equals = self.take_all(&key, winner);
        equals.iter_mut().filter(|other| other.0 == order).for_each(|other| other.1 = leaf);
        self.keep(key, equals)
    }

    /// The order of the winner.
    pub(crate) fn order(&self, key: &K, winner: Winner) -> u64 {
        if winner.order != SEE_OVERLAPPING {
            return u64::from(winner.order);
        }
        self.0.as_ref().and_then(|map| map.get(key)).map_or(0, |equals| equals[0].0)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let entry_bytes = size_of::<(K, Equals)>() + 1;
        self.0.as_ref().map_or(0, |map| {
            let lists: usize = map.values().map(|equals| equals.capacity() * 16).sum();
            map.capacity() * entry_bytes * 8 / 7 + lists
        })
    }
}
