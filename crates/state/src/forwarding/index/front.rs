// SPDX-License-Identifier: Apache-2.0
//! Arrays in front of a trie: the first 16 bits of a key point to its leaf or to a block, which the next
//! eight bits choose from. What they leave open the trie tells. Which prefixes there are is `prefix`'s
//! matter.

use super::NO_MATCH;
use super::arena::Arena;
use super::prefix::{PrefixKey, PrefixSet, Route, inside_slot};

/// Bits that choose in the array.
pub const FRONT_BITS: u32 = 16;

/// Bits that choose in a block.
pub const BLOCK_BITS: u32 = 8;

/// Both together.
const BOTH_BITS: u32 = FRONT_BITS + BLOCK_BITS;

/// An item with this bit that is not [`NO_MATCH`] is no leaf: it is [`ASK`], or where a block begins.
pub const IS_NO_LEAF: u32 = 1 << 31;

/// An item that says nothing: the trie knows.
pub const ASK: u32 = u32::MAX - 1;

/// An array without blocks that leaves everything to the trie, for tables that have none of their own.
pub(crate) static UNDECIDED: [u32; 1 << FRONT_BITS] = [ASK; 1 << FRONT_BITS];

/// Prefixes that make an array worth its memory.
const FEWEST_PREFIXES: usize = 2;

/// Prefixes inside an item that make a block worth its memory.
const FEWEST_INSIDE: usize = 1;

/// What is read at once.
const CACHE_LINE_BYTES: usize = 64;

/// The array and its blocks.
#[derive(Clone, Debug)]
pub(crate) struct Front {
    /// The array, and behind it blocks.
    items: Arena<u32>,
    blocks: usize,
}

/// Whether so many prefixes should have a front. One that is there goes later than a new one would
/// come, so that nothing flutters.
pub(crate) fn is_worth_it(prefixes: usize, is_there: bool) -> bool {
    let slack = if is_there { 2 } else { 1 };
    prefixes >= FEWEST_PREFIXES / slack
}

fn is_block(item: u32) -> bool {
    item & IS_NO_LEAF != 0 && item != NO_MATCH && item != ASK
}

impl Front {
    /// For all prefixes of a set.
    pub(crate) fn new<K: PrefixKey>(set: &PrefixSet<K>) -> Front {
        let mut front = Front { items: Arena::default(), blocks: 0 };
        front.items.allocate(1 << FRONT_BITS);
        let mut routes = Vec::with_capacity(set.len());
        set.collect_inside(K::default(), 0, &mut routes);
        front.write(0, 1 << FRONT_BITS, FRONT_BITS, &routes, NO_MATCH);
        front
    }

    /// The leaf of a key, [`NO_MATCH`] where only the empty prefix may cover it, or [`ASK`].
    #[inline(always)]
    pub(crate) fn find<K: PrefixKey>(&self, key: K) -> u32 {
        let item = self.items.items[key.root_index(FRONT_BITS)];
        if (item as i32) < -2 {
            let at = key.root_index(BOTH_BITS) & ((1 << BLOCK_BITS) - 1);
            return self.items.items[(item & !IS_NO_LEAF) as usize + at];
        }
        item
    }

    /// The address of the first item.
    pub(crate) fn address(&self) -> usize {
        self.items.items.as_ptr() as usize
    }

    /// Bytes of the items, with room for more.
    pub(crate) fn item_bytes(&self) -> usize {
        self.items.items.capacity() * size_of::<u32>()
    }

    /// The address of the item that a lookup reads last. The array itself is small enough for the nearer
    /// caches, so it is read here.
    #[inline(always)]
    pub(crate) fn last_touch<K: PrefixKey>(&self, key: K) -> usize {
        let at = key.root_index(FRONT_BITS);
        let item = self.items.items[at];
        let at = match (item as i32) < -2 {
            true => {
                (item & !IS_NO_LEAF) as usize
                    + (key.root_index(BOTH_BITS) & ((1 << BLOCK_BITS) - 1))
            }
            false => at,
        };
        self.items.items.as_ptr().wrapping_add(at) as usize
    }

    /// Brings the items in line after the leaf of a prefix changed, came or went.
    pub(crate) fn refresh<K: PrefixKey>(&mut self, set: &PrefixSet<K>, key: K, length_bits: u32) {
        if length_bits == 0 {
            return;
        }
        let mut routes = Vec::new();
        let at = key.root_index(FRONT_BITS);
        if length_bits <= FRONT_BITS {
            let count = 1 << (FRONT_BITS - length_bits);
            (at..at + count).for_each(|at| self.release(at));
            set.collect_inside(key, length_bits, &mut routes);
            let inherited = set.covering_leaf(key, length_bits);
            self.write(at, count, FRONT_BITS, &routes, inherited);
            return;
        }
        let item = self.items.items[at];
        let inside = set.count_inside(key, FRONT_BITS, FEWEST_INSIDE);
        if is_block(item) && inside >= FEWEST_INSIDE {
            let depth_bits = length_bits.min(BOTH_BITS);
            let in_block = key.root_index(BOTH_BITS) & ((1 << BLOCK_BITS) - 1);
            let first = (item & !IS_NO_LEAF) as usize + in_block;
            set.collect_inside(key, depth_bits, &mut routes);
            let inherited = set.covering_leaf(key, depth_bits);
            self.write(first, 1 << (BOTH_BITS - depth_bits), BOTH_BITS, &routes, inherited);
            return;
        }
        self.release(at);
        self.items.items[at] = match inside {
            0 => set.covering_leaf(key, FRONT_BITS),
            _ => {
                set.collect_inside(key, FRONT_BITS, &mut routes);
                self.below(&routes, set.covering_leaf(key, FRONT_BITS))
            }
        };
    }

    /// Gives back the block of an item, if it has one.
    fn release(&mut self, at: usize) {
        let item = self.items.items[at];
        if is_block(item) {
            self.items.release(item & !IS_NO_LEAF, 1 << BLOCK_BITS);
            self.blocks -= 1;
            self.items.items[at] = ASK;
        }
    }

    /// Writes an aligned run of items of the array or of a block. `routes` lie inside it.
    fn write<K: PrefixKey>(
        &mut self,
        first: usize,
        count: usize,
        depth_bits: u32,
        routes: &[Route<K>],
        inherited: u32,
    ) {
        self.items.items[first..first + count].fill(inherited);
        let mut at = 0;
        while let Some(route) = routes.get(at) {
            let place = first + (route.key.first_bits(depth_bits) & (count - 1));
            if route.length_bits <= depth_bits {
                let covered = 1 << (depth_bits - route.length_bits);
                self.items.items[place..place + covered].fill(route.leaf);
                at += 1;
                continue;
            }
            let inside = inside_slot(&routes[at..], depth_bits);
            let inherited = self.items.items[place];
            let item = if depth_bits == FRONT_BITS { self.below(inside, inherited) } else { ASK };
            self.items.items[place] = item;
            at += inside.len();
        }
    }

    /// The item of routes longer than the array's bits that begin with the same ones.
    fn below<K: PrefixKey>(&mut self, routes: &[Route<K>], inherited: u32) -> u32 {
        self.blocks += 1;
        let first = self.items.allocate(1 << BLOCK_BITS);
        self.write(first as usize, 1 << BLOCK_BITS, BOTH_BITS, routes, inherited);
        first | IS_NO_LEAF
    }

    /// Memory that lookups of keys under so many prefixes spread over.
    pub(crate) fn lookup_bytes(&self, prefixes: usize) -> usize {
        let array = size_of::<u32>() << FRONT_BITS;
        array.min(prefixes * CACHE_LINE_BYTES) + self.blocks * (size_of::<u32>() << BLOCK_BITS)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<Front>() + self.items.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The empty prefix is told elsewhere, so it counts as no match here.
    fn check(front: &Front, set: &PrefixSet<u32>, key: u32) -> Result<(), TestCaseError> {
        let wanted = set.covering_leaf(key, 32);
        let found = front.find(key);
        prop_assert!(found == wanted || found == ASK, "{key:x}: {found:x}, not {wanted:x}");
        if set.count_inside(key, FRONT_BITS, 1) == 0 {
            prop_assert_eq!(found, wanted, "nothing is left open");
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn fronts_agree_with_their_sets(
            steps in prop::collection::vec(
                (0u32..3, 0u32..24, any::<u8>(), 1u32..=32, 0u32..9, any::<bool>()),
                1..120,
            ),
        ) {
            let mut set = PrefixSet::<u32>::default();
            let mut front = Front::new(&set);
            let mut present: Vec<(u32, u32, u64)> = Vec::new();
            let mut keys = Vec::new();
            for (order, (high, middle, low, length_bits, leaf, removes)) in steps.into_iter().enumerate() {
                let value = high << 16 | middle << 8 | u32::from(low);
                keys.push(value);
                let key = value.truncate(length_bits);
                if removes && !present.is_empty() {
                    let at = value as usize % present.len();
                    let (key, length_bits, order) = present.swap_remove(at);
                    set.remove(key, length_bits, order);
                    front.refresh(&set, key, length_bits);
                } else {
                    let order = order as u64;
                    set.insert(key, length_bits, order, leaf);
                    present.push((key, length_bits, order));
                    front.refresh(&set, key, length_bits);
                }
                for &key in &keys {
                    check(&front, &set, key)?;
                    check(&front, &set, key ^ 0x80)?;
                    check(&front, &set, key ^ 0x8000)?;
                }
                let afresh = Front::new(&set);
                for &key in &keys {
                    check(&afresh, &set, key)?;
                }
            }
        }
    }

    #[test]
    fn many_prefixes_of_24_bits_leave_nothing_open() {
        let mut set = PrefixSet::<u32>::default();
        let mut front = Front::new(&set);
        for n in 0..1000u32 {
            let key = 0x0a00_0000 + (n << 8);
            set.insert(key, 24, u64::from(n), n);
            front.refresh(&set, key, 24);
        }
        assert_eq!(front.blocks, 4);
        for n in 0..1000u32 {
            assert_eq!(front.find(0x0a00_0007 + (n << 8)), n);
        }
        assert_eq!(front.find(0x0a03_ff00_u32), NO_MATCH);
        for n in 0..1000u32 {
            set.remove(0x0a00_0000 + (n << 8), 24, u64::from(n));
            front.refresh(&set, 0x0a00_0000 + (n << 8), 24);
        }
        assert_eq!(front.blocks, 0);
        assert_eq!(front.find(0x0a00_0007_u32), NO_MATCH);
    }
}
