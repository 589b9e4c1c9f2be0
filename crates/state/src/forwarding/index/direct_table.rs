// SPDX-License-Identifier: Apache-2.0
//! `DirectTable`: a DIR-24-8 style lookup table before a trie, for keys of at most 32 bits. The first 16 bits of a
//! key index a leaf or a block; the next eight bits index that block, then twice four bits more. `prefix` has the set
//! of prefixes.

use super::arena::Arena;
use super::leaf::NO_MATCH;
use super::prefix::{PrefixKey, PrefixSet, Route, inside_slot};

/// Bits that choose in the array.
pub const DIRECT_BITS: u32 = 16;

/// Index bits of a block after the array.
pub const BLOCK_BITS: u32 = 8;

/// Bits that index each of the two levels of small blocks. Such a block is a cache line, because few keys reach it.
pub const SMALL_BLOCK_BITS: u32 = 4;

/// How many bits of a key have been used after each step.
const DEPTHS_BITS: [u32; 4] = [
    DIRECT_BITS,
    DIRECT_BITS + BLOCK_BITS,
    DIRECT_BITS + BLOCK_BITS + SMALL_BLOCK_BITS,
    DIRECT_BITS + BLOCK_BITS + 2 * SMALL_BLOCK_BITS,
];

/// An item with this bit is [`NO_MATCH`], [`FALL_BACK_TO_TRIE`] or the start of a block; without it, a leaf.
pub const IS_NO_LEAF: u32 = 1 << 31;

/// An item that sends the lookup to the trie. The direct table of a table has no such items.
pub const FALL_BACK_TO_TRIE: u32 = u32::MAX - 1;

/// An array that sends every lookup to the trie, shared by tables without a direct table.
pub(crate) static UNDECIDED: [u32; 1 << DIRECT_BITS] = [FALL_BACK_TO_TRIE; 1 << DIRECT_BITS];

/// Smallest number of prefixes that justify the memory of an array.
const MIN_PREFIXES: usize = 2;

/// Size of a cache line.
const CACHE_LINE_BYTES: usize = 64;

/// The array and its blocks.
#[derive(Clone, Debug)]
pub(crate) struct DirectTable {
    /// The array, followed by the blocks.
    items: Arena<u32>,
    /// Items in blocks.
    in_blocks: usize,
}

/// Returns whether this number of prefixes should have a direct table. An existing table is kept with fewer prefixes
/// than a new one needs, to avoid oscillation.
pub(crate) fn is_worth_it(prefixes: usize, is_there: bool) -> bool {
    let slack = if is_there { 2 } else { 1 };
    prefixes >= MIN_PREFIXES / slack
}

fn is_block(item: u32) -> bool {
    item & IS_NO_LEAF != 0 && item != NO_MATCH && item != FALL_BACK_TO_TRIE
}

/// Items of a block in which a step chooses; of the array for the first step.
fn block_size(step: usize) -> usize {
    let before = step.checked_sub(1).map_or(0, |before| DEPTHS_BITS[before]);
    1 << (DEPTHS_BITS[step] - before)
}

/// Which item of its block a key chooses in a step.
#[inline(always)]
fn place_in_block<K: PrefixKey>(key: K, step: usize) -> usize {
    key.first_bits(DEPTHS_BITS[step]) & (block_size(step) - 1)
}

impl DirectTable {
    /// For all prefixes of a set.
    pub(crate) fn new<K: PrefixKey>(set: &PrefixSet<K>) -> DirectTable {
        let mut direct_table = DirectTable { items: Arena::default(), in_blocks: 0 };
        direct_table.items.allocate(1 << DIRECT_BITS);
        let mut routes = Vec::with_capacity(set.len());
        set.collect_inside(K::default(), 0, &mut routes);
        direct_table.write(0, 1 << DIRECT_BITS, 0, &routes, NO_MATCH);
        direct_table
    }

    /// The leaf of a key, or [`NO_MATCH`] where only the empty prefix may cover it.
    #[inline(always)]
    pub(crate) fn find<K: PrefixKey>(&self, key: K) -> u32 {
        let mut item = self.items.items[key.root_index(DIRECT_BITS)];
        for step in 1..DEPTHS_BITS.len() {
            if (item as i32) >= -2 {
                break;
            }
            item = self.items.items[(item & !IS_NO_LEAF) as usize + place_in_block(key, step)];
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

    /// The address of the item that most lookups read last. The array itself is small enough for the nearer
    /// caches, so it is read here.
    #[inline(always)]
    pub(crate) fn last_touch<K: PrefixKey>(&self, key: K) -> usize {
        let at = key.root_index(DIRECT_BITS);
        let item = self.items.items[at];
        let at = match (item as i32) < -2 {
            true => (item & !IS_NO_LEAF) as usize + place_in_block(key, 1),
            false => at,
        };
        self.items.items.as_ptr().wrapping_add(at) as usize
    }

    /// Updates the items after a prefix was inserted, removed or got another leaf.
    pub(crate) fn refresh<K: PrefixKey>(&mut self, set: &PrefixSet<K>, key: K, length_bits: u32) {
        if length_bits == 0 {
            return;
        }
        let mut routes = Vec::new();
        let mut first = 0;
        for (step, depth_bits) in DEPTHS_BITS.into_iter().enumerate() {
            let at = first + place_in_block(key, step);
            if length_bits <= depth_bits {
                let count = 1 << (depth_bits - length_bits);
                (at..at + count).for_each(|at| self.release(at, step));
                set.collect_inside(key, length_bits, &mut routes);
                let inherited = set.covering_leaf(key, length_bits);
                return self.write(at, count, step, &routes, inherited);
            }
            let item = self.items.items[at];
            let has_inside = set.count_inside(key, depth_bits, 1) > 0;
            if is_block(item) && has_inside {
                first = (item & !IS_NO_LEAF) as usize;
                continue;
            }
            self.release(at, step);
            let inherited = set.covering_leaf(key, depth_bits);
            let item = match has_inside {
                false => inherited,
                true => {
                    set.collect_inside(key, depth_bits, &mut routes);
                    self.below(&routes, step + 1, inherited)
                }
            };
            self.items.items[at] = item;
            return;
        }
    }

    /// Frees the block of an item, if it has one, with all blocks below.
    fn release(&mut self, at: usize, step: usize) {
        let item = self.items.items[at];
        if is_block(item) {
            let (first, size) = (item & !IS_NO_LEAF, block_size(step + 1));
            for at in first as usize..first as usize + size {
                self.release(at, step + 1);
            }
            self.items.release(first, size);
            self.in_blocks -= size;
            self.items.items[at] = FALL_BACK_TO_TRIE;
        }
    }

    /// Writes an aligned run of items that are chosen in a step. `routes` lie inside it.
    fn write<K: PrefixKey>(
        &mut self,
        first: usize,
        count: usize,
        step: usize,
        routes: &[Route<K>],
        inherited: u32,
    ) {
        let depth_bits = DEPTHS_BITS[step];
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
            let item = self.below(inside, step + 1, inherited);
            self.items.items[place] = item;
            at += inside.len();
        }
    }

    /// Makes the item of routes that are longer than the previous steps and equal in their bits.
    fn below<K: PrefixKey>(&mut self, routes: &[Route<K>], step: usize, inherited: u32) -> u32 {
        let size = block_size(step);
        self.in_blocks += size;
        let first = self.items.allocate(size);
        self.write(first as usize, size, step, routes, inherited);
        first | IS_NO_LEAF
    }

    /// Returns the memory that lookups of keys under this many prefixes touch.
    pub(crate) fn lookup_bytes(&self, prefixes: usize) -> usize {
        let array = size_of::<u32>() << DIRECT_BITS;
        array.min(prefixes * CACHE_LINE_BYTES) + self.in_blocks * size_of::<u32>()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<DirectTable>() + self.items.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The trie has the empty prefix, so it counts as no match here.
    fn check(
        direct_table: &DirectTable,
        set: &PrefixSet<u32>,
        key: u32,
    ) -> Result<(), TestCaseError> {
        let wanted = set.covering_leaf(key, 32);
        prop_assert_eq!(direct_table.find(key), wanted, "{:x}", key);
        Ok(())
    }

    proptest! {
        #[test]
        fn direct_tables_agree_with_their_sets(
            steps in prop::collection::vec(
                (0u32..3, 0u32..24, any::<u8>(), 1u32..=32, 0u32..9, any::<bool>()),
                1..120,
            ),
        ) {
            let mut set = PrefixSet::<u32>::default();
            let mut direct_table = DirectTable::new(&set);
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
                    direct_table.refresh(&set, key, length_bits);
                } else {
                    let order = order as u64;
                    set.insert(key, length_bits, order, leaf);
                    present.push((key, length_bits, order));
                    direct_table.refresh(&set, key, length_bits);
                }
                for &key in &keys {
                    check(&direct_table, &set, key)?;
                    check(&direct_table, &set, key ^ 0x80)?;
                    check(&direct_table, &set, key ^ 0x8000)?;
                }
                let afresh = DirectTable::new(&set);
                for &key in &keys {
                    check(&afresh, &set, key)?;
                }
                prop_assert_eq!(direct_table.in_blocks, afresh.in_blocks, "no block is forgotten");
            }
        }
    }

    #[test]
    fn many_prefixes_of_24_bits_share_blocks() {
        let mut set = PrefixSet::<u32>::default();
        let mut direct_table = DirectTable::new(&set);
        for n in 0..1000u32 {
            let key = 0x0a00_0000 + (n << 8);
            set.insert(key, 24, u64::from(n), n);
            direct_table.refresh(&set, key, 24);
        }
        assert_eq!(direct_table.in_blocks, 4 << BLOCK_BITS);
        for n in 0..1000u32 {
            assert_eq!(direct_table.find(0x0a00_0007 + (n << 8)), n);
        }
        assert_eq!(direct_table.find(0x0a03_ff00_u32), NO_MATCH);
        for n in 0..1000u32 {
            set.remove(0x0a00_0000 + (n << 8), 24, u64::from(n));
            direct_table.refresh(&set, 0x0a00_0000 + (n << 8), 24);
        }
        assert_eq!(direct_table.in_blocks, 0);
        assert_eq!(direct_table.find(0x0a00_0007_u32), NO_MATCH);
    }
}
