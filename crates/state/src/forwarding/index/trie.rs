// SPDX-License-Identifier: Apache-2.0
//! `Trie`: a Poptrie for prefix matches. Each step takes six bits; bit counts compress children and runs of equal
//! leaves; a table of roots is indexed directly; skip nodes pass over bits without branches. `trie_update` updates
//! it.

use super::arena::Arena;
use super::leaf::NO_MATCH;
use super::prefix::{PrefixKey, PrefixSet};

/// Bits of the key per node.
pub(crate) const STRIDE_BITS: u32 = 6;

/// Slots of a node.
pub(crate) const FAN_OUT: usize = 1 << STRIDE_BITS;

/// No child: the mark of a node without branches that is not a skip.
pub(crate) const NO_CHILD: u32 = u32::MAX;

/// A node. One whose slots differ has a bit a slot that leads on in `branches`, and in `runs` a bit for
/// each slot where a run of equal leaves begins; it may have no branches, and then `first_child` is
/// [`NO_CHILD`]. A skip has no branches but a child: the highest bits of `runs` are what the key must
/// go on with, the lowest six say how many, and `first_leaf` is the leaf of all other keys.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Node {
    pub(crate) branches: u64,
    pub(crate) runs: u64,
    pub(crate) first_child: u32,
    /// The place of the first leaf, less one.
    pub(crate) first_leaf: u32,
}

/// How many bits a skip's number of bits takes.
pub(crate) const SKIP_COUNT_MASK: u64 = 63;

/// Largest number of steps of a skip.
pub(crate) const MAX_STEPS: u32 = 9;

impl Node {
    pub(crate) fn is_skip(&self) -> bool {
        self.branches == 0 && self.first_child != NO_CHILD
    }
}

/// Marks a root that is a node, together with not being [`NO_MATCH`]. Leaves are smaller.
pub(crate) const ROOT_IS_NODE: u32 = 1 << 31;

#[inline(always)]
pub(crate) fn is_node(root: u32) -> bool {
    (root as i32) < -1
}

/// The first root of an unused group.
pub(crate) const NO_ROOT: u32 = u32::MAX;

/// Where a group's roots are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) first_root: u32,
    /// How many bits choose among them.
    pub(crate) root_bits: u32,
    /// The leaf where nothing matches: that of the empty prefix.
    pub(crate) default_leaf: u32,
}

/// Prefix matches of any number of groups, each with its own set of prefixes.
#[derive(Clone, Debug)]
pub(crate) struct Trie<K: PrefixKey> {
    pub(crate) heads: Vec<Head>,
    pub(crate) roots: Arena<u32>,
    pub(crate) nodes: Arena<Node>,
    pub(crate) leaves: Arena<u32>,
    /// What the groups are built from.
    pub(crate) sets: Vec<PrefixSet<K>>,
    /// Unused groups.
    pub(crate) free_groups: Vec<u32>,
}

impl<K: PrefixKey> Trie<K> {
    /// The leaf of the longest prefix of a group that covers the key, or [`NO_MATCH`].
    #[inline(always)]
    pub(crate) fn find(&self, group: u32, key: K) -> u32 {
        let head = &self.heads[group as usize];
        let root = head.first_root as usize + key.root_index(head.root_bits);
        let root = self.roots.items[root];
        let leaf = if is_node(root) { self.descend(root, key.skip(head.root_bits)) } else { root };
        if leaf == NO_MATCH { head.default_leaf } else { leaf }
    }

    #[inline(always)]
    fn descend(&self, root: u32, mut rest: K) -> u32 {
        let mut at = (root & !ROOT_IS_NODE) as usize;
        loop {
            let node = &self.nodes.items[at];
            let bit = 1u64 << rest.top_six();
            if node.branches & bit != 0 {
                let before = (node.branches & (bit - 1)).count_ones();
                at = (node.first_child + before) as usize;
                rest = rest.skip(STRIDE_BITS);
            } else if node.is_skip() {
                let bits = (node.runs & SKIP_COUNT_MASK) as u32;
                if (rest.top_word() ^ node.runs) >> (64 - bits) != 0 {
                    return node.first_leaf;
                }
                at = node.first_child as usize;
                rest = rest.skip(bits);
            } else {
                let upto = (node.runs & (bit | (bit - 1))).count_ones();
                return self.leaves.items[node.first_leaf.wrapping_add(upto) as usize];
            }
        }
    }

    /// The address of the first root that a lookup reads.
    #[inline(always)]
    pub(crate) fn first_touch(&self, group: u32, key: K) -> usize {
        let head = &self.heads[group as usize];
        let root = head.first_root as usize + key.root_index(head.root_bits);
        self.roots.items.as_ptr().wrapping_add(root) as usize
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.heads.capacity() * size_of::<Head>()
            + self.roots.memory_bytes()
            + self.nodes.memory_bytes()
            + self.leaves.memory_bytes()
            + self.sets.capacity() * size_of::<PrefixSet<K>>()
            + self.sets.iter().map(PrefixSet::memory_bytes).sum::<usize>()
            + self.free_groups.capacity() * 4
    }
}
