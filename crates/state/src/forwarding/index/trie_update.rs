// SPDX-License-Identifier: Apache-2.0
//! Updates a trie. A change of a prefix rebuilds the subtree of the slots that the prefix covers from the sorted set
//! of prefixes. Nodes above are rewritten only if one of their slots changes.

use super::arena::Arena;
use super::leaf::NO_MATCH;
use super::prefix::{PrefixKey, PrefixSet, Route, inside_slot};
use super::trie::{
    FAN_OUT, Head, MAX_STEPS, NO_CHILD, NO_ROOT, Node, ROOT_IS_NODE, SKIP_COUNT_MASK, STRIDE_BITS,
    Trie, is_node,
};

/// The content of a slot of a node, or of a root.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Leaf(u32),
    Node(Node),
}

/// Numbers of prefixes at which roots are indexed by six more bits.
const ROOT_STEPS: [usize; 3] = [8, 1024, 1 << 16];

/// Returns the number of bits that index a root. It decreases only below a quarter of the limit, to avoid
/// oscillation.
fn root_bits(prefixes: usize, now_bits: u32, widest_bits: u32) -> u32 {
    let wanted = |prefixes: usize| {
        ROOT_STEPS.iter().filter(|&&step| prefixes >= step).count() as u32 * STRIDE_BITS
    };
    let (most, fewest) = (wanted(prefixes.saturating_mul(4)), wanted(prefixes));
    now_bits.clamp(fewest, most.max(fewest)).min(widest_bits)
}

impl<K: PrefixKey> Trie<K> {
    pub(crate) fn new() -> Self {
        Trie {
            heads: Vec::new(),
            roots: Arena::default(),
            nodes: Arena::default(),
            leaves: Arena::default(),
            sets: Vec::new(),
            free_groups: Vec::new(),
        }
    }

    /// A group without prefixes.
    pub(crate) fn add_group(&mut self) -> u32 {
        let first_root = self.roots.allocate(1);
        self.roots.items[first_root as usize] = NO_MATCH;
        let head = Head { first_root, root_bits: 0, default_leaf: NO_MATCH };
        match self.free_groups.pop() {
            Some(group) => {
                self.heads[group as usize] = head;
                group
            }
            None => {
                self.heads.push(head);
                self.sets.push(PrefixSet::default());
                (self.heads.len() - 1) as u32
            }
        }
    }

    /// Forgets a group whose prefixes are all removed.
    pub(crate) fn drop_group(&mut self, group: u32) {
        let head = self.heads[group as usize];
        self.release_roots(head.first_root as usize, 1 << head.root_bits);
        self.roots.release(head.first_root, 1 << head.root_bits);
        self.heads[group as usize].first_root = NO_ROOT;
        self.sets[group as usize] = PrefixSet::default();
        self.free_groups.push(group);
    }

    /// Adds a prefix. Returns whether its leaf has changed, as the other updates do.
    pub(crate) fn insert(
        &mut self,
        group: u32,
        key: K,
        length_bits: u32,
        order: u64,
        leaf: u32,
    ) -> bool {
        let is_changed = self.sets[group as usize].insert(key, length_bits, order, leaf);
        if is_changed {
            self.refresh(group, key, length_bits);
        }
        is_changed
    }

    pub(crate) fn remove(&mut self, group: u32, key: K, length_bits: u32, order: u64) -> bool {
        let is_changed = self.sets[group as usize].remove(key, length_bits, order);
        if is_changed {
            self.refresh(group, key, length_bits);
        }
        is_changed
    }

    pub(crate) fn set_leaf(
        &mut self,
        group: u32,
        key: K,
        length_bits: u32,
        order: u64,
        leaf: u32,
    ) -> bool {
        let is_changed = self.sets[group as usize].set_leaf(key, length_bits, order, leaf);
        if is_changed {
            self.refresh(group, key, length_bits);
        }
        is_changed
    }

    /// Updates the trie after a prefix was inserted, removed or got another leaf.
    fn refresh(&mut self, group: u32, key: K, length_bits: u32) {
        let set = &self.sets[group as usize];
        let head = &mut self.heads[group as usize];
        head.default_leaf = set.default_leaf();
        if length_bits == 0 {
            return;
        }
        let wanted_bits = root_bits(set.len(), head.root_bits, K::BITS.min(18));
        if wanted_bits != head.root_bits {
            let head = *head;
            self.release_roots(head.first_root as usize, 1 << head.root_bits);
            self.roots.release(head.first_root, 1 << head.root_bits);
            self.build_group(group, wanted_bits);
        } else {
            self.refresh_roots(group, key, length_bits);
        }
        if self.nodes.is_wasteful() || self.leaves.is_wasteful() || self.roots.is_wasteful() {
            self.rebuild();
        }
    }

    fn rebuild(&mut self) {
        self.nodes = Arena::default();
        self.leaves = Arena::default();
        self.roots = Arena::default();
        for group in 0..self.heads.len() as u32 {
            if self.heads[group as usize].first_root != NO_ROOT {
                self.build_group(group, self.heads[group as usize].root_bits);
            }
        }
    }

    fn build_group(&mut self, group: u32, root_bits: u32) {
        let set = &self.sets[group as usize];
        let first_root = self.roots.allocate(1 << root_bits);
        let head = Head { first_root, root_bits, default_leaf: set.default_leaf() };
        self.heads[group as usize] = head;
        let mut routes = Vec::with_capacity(set.len());
        set.collect_inside(K::default(), 0, &mut routes);
        self.write_roots(first_root as usize, 1 << root_bits, root_bits, &routes, NO_MATCH);
    }

    fn refresh_roots(&mut self, group: u32, key: K, length_bits: u32) {
        let Head { first_root, root_bits, .. } = self.heads[group as usize];
        let first = first_root as usize + key.first_bits(root_bits);
        if length_bits <= root_bits {
            let count = 1 << (root_bits - length_bits);
            let set = &self.sets[group as usize];
            let inherited = set.covering_leaf(key, length_bits);
            let mut routes = Vec::new();
            set.collect_inside(key, length_bits, &mut routes);
            self.release_roots(first, count);
            self.write_roots(first, count, root_bits, &routes, inherited);
            return;
        }
        let root = self.roots.items[first];
        if !is_node(root) {
            let slot = self.build_slot(group, key, root_bits);
            self.roots.items[first] = self.root_of(slot);
            return;
        }
        let at = root & !ROOT_IS_NODE;
        let node = self.nodes.items[at as usize];
        match self.refresh_node(group, node, root_bits, key, length_bits) {
            Slot::Node(node) => self.nodes.items[at as usize] = node,
            Slot::Leaf(leaf) => {
                self.nodes.release(at, 1);
                self.roots.items[first] = leaf;
            }
        }
    }

    fn root_of(&mut self, slot: Slot) -> u32 {
        match slot {
            Slot::Leaf(leaf) => leaf,
            Slot::Node(node) => {
                let at = self.nodes.allocate(1);
                self.nodes.items[at as usize] = node;
                at | ROOT_IS_NODE
            }
        }
    }

    fn release_roots(&mut self, first: usize, count: usize) {
        for at in first..first + count {
            let root = self.roots.items[at];
            if is_node(root) {
                self.release_below(self.nodes.items[(root & !ROOT_IS_NODE) as usize]);
                self.nodes.release(root & !ROOT_IS_NODE, 1);
            }
        }
    }

    /// Frees everything below a node.
    fn release_below(&mut self, node: Node) {
        let children = if node.is_skip() { 1 } else { node.branches.count_ones() };
        for child in 0..children {
            self.release_below(self.nodes.items[(node.first_child + child) as usize]);
        }
        self.release_blocks(node);
    }

    /// Frees the blocks of a node, without those of its children.
    fn release_blocks(&mut self, node: Node) {
        if node.is_skip() {
            self.nodes.release(node.first_child, 1);
            return;
        }
        self.nodes.release(node.first_child, node.branches.count_ones() as usize);
        let leaves = node.runs.count_ones() as usize;
        self.leaves.release(node.first_leaf.wrapping_add(1), leaves);
    }

    /// Writes an aligned run of roots. `routes` lie inside it.
    fn write_roots(
        &mut self,
        first: usize,
        count: usize,
        depth_bits: u32,
        routes: &[Route<K>],
        inherited: u32,
    ) {
        self.roots.items[first..first + count].fill(inherited);
        let mut at = 0;
        while let Some(route) = routes.get(at) {
            let index = route.key.first_bits(depth_bits) & (count - 1);
            if route.length_bits <= depth_bits {
                let covered = 1 << (depth_bits - route.length_bits);
                self.roots.items[first + index..first + index + covered].fill(route.leaf);
                at += 1;
                continue;
            }
            let inside = inside_slot(&routes[at..], depth_bits);
            let inherited = self.roots.items[first + index];
            let slot = self.build(inside, depth_bits, inherited);
            self.roots.items[first + index] = self.root_of(slot);
            at += inside.len();
        }
    }

    /// The slot of what begins with the first `depth_bits` of the key.
    fn build_slot(&mut self, group: u32, key: K, depth_bits: u32) -> Slot {
        let set = &self.sets[group as usize];
        let inherited = set.covering_leaf(key, depth_bits);
        let mut routes = Vec::new();
        set.collect_inside(key, depth_bits, &mut routes);
        self.build(&routes, depth_bits, inherited)
    }

    /// The slot of routes that are longer than `depth_bits` and have the same first `depth_bits` bits.
    fn build(&mut self, routes: &[Route<K>], depth_bits: u32, inherited: u32) -> Slot {
        let (Some(first), Some(last)) = (routes.first(), routes.last()) else {
            return Slot::Leaf(inherited);
        };
        let common_bits = first.key.common_bits(last.key);
        if common_bits >= depth_bits + 2 * STRIDE_BITS {
            let shortest = routes.iter().map(|route| route.length_bits).min().unwrap_or(0);
            let same_bits = common_bits.min(shortest - 1) - depth_bits;
            let steps = (same_bits / STRIDE_BITS).min(MAX_STEPS);
            if steps >= 2 {
                let below = self.build(routes, depth_bits + steps * STRIDE_BITS, inherited);
                return self.chain(first.key.skip(depth_bits).top_word(), steps, inherited, below);
            }
        }
        let mut slots = [Slot::Leaf(inherited); FAN_OUT];
        self.fill(&mut slots, depth_bits + STRIDE_BITS, routes, inherited);
        self.encode(&slots)
    }

    /// Writes an aligned run of slots of a node. `routes` lie inside it.
    fn fill(&mut self, slots: &mut [Slot], depth_bits: u32, routes: &[Route<K>], inherited: u32) {
        slots.fill(Slot::Leaf(inherited));
        let mut at = 0;
        while let Some(route) = routes.get(at) {
            let index = route.key.first_bits(depth_bits) & (slots.len() - 1);
            if route.length_bits <= depth_bits {
                let covered = 1 << (depth_bits - route.length_bits);
                slots[index..index + covered].fill(Slot::Leaf(route.leaf));
                at += 1;
                continue;
            }
            let inside = inside_slot(&routes[at..], depth_bits);
            if let Slot::Leaf(inherited) = slots[index] {
                slots[index] = self.build(inside, depth_bits, inherited);
            }
            at += inside.len();
        }
    }

    /// What leads by the highest bits of `path`, six a step, to `below`, and elsewhere to a leaf.
    fn chain(&mut self, path: u64, steps: u32, elsewhere: u32, below: Slot) -> Slot {
        match below {
            _ if steps == 0 => below,
            Slot::Leaf(leaf) if leaf == elsewhere => below,
            Slot::Node(node) if steps >= 2 => {
                let bits = steps * STRIDE_BITS;
                let first_child = self.nodes.allocate(1);
                self.nodes.items[first_child as usize] = node;
                let runs = path >> (64 - bits) << (64 - bits) | u64::from(bits);
                Slot::Node(Node { branches: 0, runs, first_child, first_leaf: elsewhere })
            }
            _ => {
                let mut slots = [Slot::Leaf(elsewhere); FAN_OUT];
                let index = path << ((steps - 1) * STRIDE_BITS) >> (64 - STRIDE_BITS);
                slots[index as usize] = below;
                let last = self.encode(&slots);
                self.chain(path, steps - 1, elsewhere, last)
            }
        }
    }

    /// The node of these slots, or the leaf that all of them are.
    fn encode(&mut self, slots: &[Slot; FAN_OUT]) -> Slot {
        let (mut branches, mut runs) = (0u64, 0u64);
        let mut run_leaves = [0u32; FAN_OUT];
        let mut count = 0;
        for (at, slot) in slots.iter().enumerate() {
            match *slot {
                Slot::Node(_) => branches |= 1 << at,
                Slot::Leaf(leaf) => {
                    if count == 0 || run_leaves[count - 1] != leaf {
                        run_leaves[count] = leaf;
                        count += 1;
                        runs |= 1 << at;
                    }
                }
            }
        }
        if branches == 0 && count == 1 {
            return Slot::Leaf(run_leaves[0]);
        }
        let mut first_child = NO_CHILD;
        if branches != 0 {
            first_child = self.nodes.allocate(branches.count_ones() as usize);
            let mut at = first_child as usize;
            for slot in slots {
                if let Slot::Node(node) = slot {
                    self.nodes.items[at] = *node;
                    at += 1;
                }
            }
        }
        let first_leaf = self.leaves.allocate(count);
        let place = first_leaf as usize;
        self.leaves.items[place..place + count].copy_from_slice(&run_leaves[..count]);
        Slot::Node(Node { branches, runs, first_child, first_leaf: first_leaf.wrapping_sub(1) })
    }

    fn decode(&self, node: &Node) -> [Slot; FAN_OUT] {
        let mut slots = [Slot::Leaf(NO_MATCH); FAN_OUT];
        let (mut child, mut leaf_at) = (node.first_child as usize, node.first_leaf);
        for (at, slot) in slots.iter_mut().enumerate() {
            if node.branches >> at & 1 == 1 {
                *slot = Slot::Node(self.nodes.items[child]);
                child += 1;
                continue;
            }
            leaf_at = leaf_at.wrapping_add((node.runs >> at & 1) as u32);
            *slot = Slot::Leaf(self.leaves.items[leaf_at as usize]);
        }
        slots
    }

    /// The node that takes the place of `node`, which decides the six bits after the first
    /// `depth_bits`, after a change of a prefix that is longer than these. Its blocks are its own.
    fn refresh_node(
        &mut self,
        group: u32,
        node: Node,
        depth_bits: u32,
        key: K,
        length_bits: u32,
    ) -> Slot {
        if node.is_skip() {
            return self.refresh_skip(group, node, depth_bits, key, length_bits);
        }
        let below_bits = depth_bits + STRIDE_BITS;
        let index = key.skip(depth_bits).top_six() as usize;
        if length_bits > below_bits {
            let bit = 1u64 << index;
            let changed = if node.branches & bit != 0 {
                let child = node.first_child + (node.branches & (bit - 1)).count_ones();
                let below = self.nodes.items[child as usize];
                match self.refresh_node(group, below, below_bits, key, length_bits) {
                    Slot::Node(below) => {
                        self.nodes.items[child as usize] = below;
                        return Slot::Node(node);
                    }
                    leaf => leaf,
                }
            } else {
                let slot = self.build_slot(group, key, below_bits);
                let upto = (node.runs & (bit | (bit - 1))).count_ones();
                let old = self.leaves.items[node.first_leaf.wrapping_add(upto) as usize];
                if matches!(slot, Slot::Leaf(leaf) if leaf == old) {
                    return Slot::Node(node);
                }
                slot
            };
            let mut slots = self.decode(&node);
            slots[index] = changed;
            self.release_blocks(node);
            return self.encode(&slots);
        }
        let mut slots = self.decode(&node);
        let covered = &mut slots[index..index + (1 << (below_bits - length_bits))];
        for slot in covered.iter() {
            if let Slot::Node(below) = *slot {
                self.release_below(below);
            }
        }
        let set = &self.sets[group as usize];
        let inherited = set.covering_leaf(key, length_bits);
        let mut routes = Vec::new();
        set.collect_inside(key, length_bits, &mut routes);
        self.fill(covered, below_bits, &routes, inherited);
        self.release_blocks(node);
        self.encode(&slots)
    }

    fn refresh_skip(
        &mut self,
        group: u32,
        node: Node,
        depth_bits: u32,
        key: K,
        length_bits: u32,
    ) -> Slot {
        let bits = (node.runs & SKIP_COUNT_MASK) as u32;
        let steps = bits / STRIDE_BITS;
        let elsewhere = node.first_leaf;
        let child = node.first_child;
        let below = self.nodes.items[child as usize];
        let same_bits = (key.skip(depth_bits).top_word() ^ node.runs).leading_zeros();
        let taken = same_bits.min(length_bits - depth_bits - 1) / STRIDE_BITS;
        if taken >= steps {
            let changed = self.refresh_node(group, below, depth_bits + bits, key, length_bits);
            if let Slot::Node(below) = changed {
                self.nodes.items[child as usize] = below;
                return Slot::Node(node);
            }
            self.nodes.release(child, 1);
            return self.chain(node.runs, steps, elsewhere, changed);
        }
        // The prefix leaves the path or ends on it, so the node at that place becomes a full node.
        self.nodes.release(child, 1);
        let rest = node.runs << (taken * STRIDE_BITS);
        let below =
            self.chain(rest << STRIDE_BITS, steps - taken - 1, elsewhere, Slot::Node(below));
        let fork = self.chain(rest, 1, elsewhere, below);
        let fork_bits = depth_bits + taken * STRIDE_BITS;
        let fork = match fork {
            Slot::Node(fork) => self.refresh_node(group, fork, fork_bits, key, length_bits),
            leaf => leaf,
        };
        self.chain(node.runs, taken, elsewhere, fork)
    }
}
