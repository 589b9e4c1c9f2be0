// SPDX-License-Identifier: Apache-2.0
//! `PrefixSet`: the sorted set of a table's prefixes, from which its trie is built. Keys are left aligned: the first
//! bit of the key is the highest bit of the number. Lookups use the trie only.

use super::leaf::NO_MATCH;
use super::overlapping::{OverlappingEntries, Winner};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;

/// A number that holds a key of a prefix match, left aligned.
pub(crate) trait PrefixKey: Copy + Eq + Ord + Hash + Debug + Default {
    /// The form of the key in the sorted set, where alignment costs memory.
    type Stored: Copy + Eq + Ord + Hash + Debug;
    const BITS: u32;
    fn store(self) -> Self::Stored;
    fn load(stored: Self::Stored) -> Self;
    /// The number of a key of `width_bits`.
    fn align(number: u128, width_bits: u32) -> Self;
    /// The highest six bits.
    fn top_six(self) -> u32;
    /// The highest 64 bits; zeros follow a shorter number.
    fn top_word(self) -> u64;
    /// Without its first `count` bits; `count` is below the width of the number.
    fn skip(self, count: u32) -> Self;
    /// The first `count` bits, the others zero.
    fn truncate(self, count: u32) -> Self;
    /// The first `count` bits as a number, or its lowest bits. Zeros follow the last bit.
    fn first_bits(self, count: u32) -> usize;
    /// The first `count` bits as a number; `count` is at most 31.
    fn root_index(self, count: u32) -> usize;
    /// How many first bits are the same.
    fn common_bits(self, other: Self) -> u32;
}

macro_rules! prefix_key {
    ($type:ty, $stored:ty, $store:expr, $load:expr) => {
        impl PrefixKey for $type {
            type Stored = $stored;
            const BITS: u32 = <$type>::BITS;

            fn store(self) -> $stored {
                $store(self)
            }

            fn load(stored: $stored) -> $type {
                $load(stored)
            }

            #[inline(always)]
            fn align(number: u128, width_bits: u32) -> $type {
                if width_bits == 0 { 0 } else { (number as $type) << (Self::BITS - width_bits) }
            }

            #[inline(always)]
            fn top_six(self) -> u32 {
                (self >> (Self::BITS - 6)) as u32
            }

            #[inline(always)]
            fn top_word(self) -> u64 {
                match Self::BITS {
                    32 => (self as u64) << 32,
                    bits => (self >> (bits - 64)) as u64,
                }
            }

            #[inline(always)]
            fn skip(self, count: u32) -> $type {
                self << (count & (Self::BITS - 1))
            }

            fn truncate(self, count: u32) -> $type {
                if count >= Self::BITS { self } else { self & !(<$type>::MAX >> count) }
            }

            #[inline(always)]
            fn first_bits(self, count: u32) -> usize {
                match count {
                    0 => 0,
                    _ if count <= Self::BITS => (self >> (Self::BITS - count)) as usize,
                    _ => (self as usize) << (count - Self::BITS),
                }
            }

            #[inline(always)]
            fn root_index(self, count: u32) -> usize {
                (self >> 1 >> (Self::BITS - 1 - count)) as usize
            }

            fn common_bits(self, other: $type) -> u32 {
                (self ^ other).leading_zeros()
            }
        }
    };
}

prefix_key!(u32, u32, |key| key, |stored| stored);
prefix_key!(u64, u64, |key| key, |stored| stored);
prefix_key!(u128, (u64, u64), |key: u128| ((key >> 64) as u64, key as u64), |(high, low): (
    u64,
    u64
)| u128::from(high)
    << 64
    | u128::from(low));

/// A prefix of at least one bit. Sorts before the prefixes that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct OrderedPrefix<K> {
    key: K,
    length_bits: u8,
}

/// A route as a trie is built from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route<K> {
    pub(crate) key: K,
    pub(crate) length_bits: u32,
    pub(crate) leaf: u32,
}

/// All prefixes of one group, that of length zero apart.
#[derive(Clone, Debug)]
pub(crate) struct PrefixSet<K: PrefixKey> {
    routes: BTreeMap<OrderedPrefix<K::Stored>, Winner>,
    overlapping: OverlappingEntries<OrderedPrefix<K::Stored>>,
    default: Winner,
}

impl<K: PrefixKey> Default for PrefixSet<K> {
    fn default() -> Self {
        PrefixSet {
            routes: BTreeMap::new(),
            overlapping: OverlappingEntries::default(),
            default: Winner::NONE,
        }
    }
}

impl<K: PrefixKey> PrefixSet<K> {
    fn place(key: K, length_bits: u32) -> OrderedPrefix<K::Stored> {
        OrderedPrefix { key: key.store(), length_bits: length_bits as u8 }
    }

    /// How many prefixes there are, the empty one left out.
    pub(crate) fn len(&self) -> usize {
        self.routes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.routes.is_empty() && self.default == Winner::NONE
    }

    /// The leaf of the empty prefix.
    pub(crate) fn default_leaf(&self) -> u32 {
        self.default.leaf
    }

    /// Applies `change` to the winner at a prefix. Returns whether its leaf has changed.
    fn change(
        &mut self,
        key: K,
        length_bits: u32,
        change: impl FnOnce(
            &mut OverlappingEntries<OrderedPrefix<K::Stored>>,
            OrderedPrefix<K::Stored>,
            Winner,
        ) -> Winner,
    ) -> bool {
        let place = Self::place(key, length_bits);
        if length_bits == 0 {
            let old = self.default;
            self.default = change(&mut self.overlapping, place, old);
            return self.default.leaf != old.leaf;
        }
        match self.routes.entry(place) {
            std::collections::btree_map::Entry::Vacant(vacant) => {
                let winner = change(&mut self.overlapping, place, Winner::NONE);
                if winner != Winner::NONE {
                    vacant.insert(winner);
                }
                winner != Winner::NONE
            }
            std::collections::btree_map::Entry::Occupied(mut occupied) => {
                let old = *occupied.get();
                let winner = change(&mut self.overlapping, place, old);
                if winner == Winner::NONE {
                    occupied.remove();
                } else {
                    occupied.insert(winner);
                }
                winner.leaf != old.leaf
            }
        }
    }

    pub(crate) fn insert(&mut self, key: K, length_bits: u32, order: u64, leaf: u32) -> bool {
        self.change(key, length_bits, |overlapping, place, winner| {
            overlapping.add(place, winner, order, leaf)
        })
    }

    pub(crate) fn remove(&mut self, key: K, length_bits: u32, order: u64) -> bool {
        self.change(key, length_bits, |overlapping, place, winner| {
            overlapping.remove(place, winner, order)
        })
    }

    pub(crate) fn set_leaf(&mut self, key: K, length_bits: u32, order: u64, leaf: u32) -> bool {
        self.change(key, length_bits, |overlapping, place, winner| {
            overlapping.set_leaf(place, winner, order, leaf)
        })
    }

    /// The longest prefix of at most `length_bits` and at least one bit that covers `key`.
    fn longest(&self, key: K, length_bits: u32) -> Option<(OrderedPrefix<K::Stored>, Winner)> {
        let mut length_bits = length_bits.min(K::BITS);
        while length_bits > 0 {
            // A prefix that covers the key sorts before it, and everything between them is covered by that prefix
            // too.
            let end = Self::place(key.truncate(length_bits), length_bits);
            let (place, winner) = self.routes.range(..=end).next_back()?;
            let common_bits = K::load(place.key).common_bits(key).min(length_bits);
            if u32::from(place.length_bits) <= common_bits {
                return Some((*place, *winner));
            }
            length_bits = common_bits;
        }
        None
    }

    /// The leaf of the longest prefix of at most `length_bits` that covers `key`, the empty one left
    /// out.
    pub(crate) fn covering_leaf(&self, key: K, length_bits: u32) -> u32 {
        self.longest(key, length_bits).map_or(NO_MATCH, |(_, winner)| winner.leaf)
    }

    /// Length, order and leaf of the longest prefix that covers `key`.
    pub(crate) fn find_candidate(&self, key: K) -> Option<(u32, u64, u32)> {
        let (place, winner) = match self.longest(key, K::BITS) {
            None if self.default == Winner::NONE => return None,
            None => (Self::place(K::default(), 0), self.default),
            Some(found) => found,
        };
        let order = self.overlapping.order(&place, winner);
        Some((u32::from(place.length_bits), order, winner.leaf))
    }

    /// Appends the routes longer than `length_bits` among those that begin with the first
    /// `length_bits` of `key`, in order.
    pub(crate) fn collect_inside(&self, key: K, length_bits: u32, routes: &mut Vec<Route<K>>) {
        let inside = self
            .routes
            .range(Self::place(key.truncate(length_bits), 0)..)
            .take_while(|(place, _)| K::load(place.key).common_bits(key) >= length_bits)
            .filter(|(place, _)| u32::from(place.length_bits) > length_bits);
        routes.extend(inside.map(|(place, winner)| Route {
            key: K::load(place.key),
            length_bits: u32::from(place.length_bits),
            leaf: winner.leaf,
        }));
    }

    /// How many routes [`PrefixSet::collect_inside`] would append; counted up to `most` only.
    pub(crate) fn count_inside(&self, key: K, length_bits: u32, most: usize) -> usize {
        self.routes
            .range(Self::place(key.truncate(length_bits), 0)..)
            .take_while(|(place, _)| K::load(place.key).common_bits(key) >= length_bits)
            .filter(|(place, _)| u32::from(place.length_bits) > length_bits)
            .take(most)
            .count()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        // Nodes of the standard library's map hold up to eleven, eight of them on average.
        let node_bytes = 11 * size_of::<(OrderedPrefix<K::Stored>, Winner)>() + 16;
        self.routes.len().div_ceil(8) * node_bytes + self.overlapping.memory_bytes()
    }
}

/// The leading routes that are longer than `depth_bits` and have the same first `depth_bits` bits.
pub(crate) fn inside_slot<K: PrefixKey>(routes: &[Route<K>], depth_bits: u32) -> &[Route<K>] {
    let first = routes[0].key;
    let count =
        routes.iter().take_while(|route| route.key.common_bits(first) >= depth_bits).count();
    &routes[..count]
}
