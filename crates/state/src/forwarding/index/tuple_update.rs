// SPDX-License-Identifier: Apache-2.0
//! Updates a tuple space: inserts, removes and changes entries, with hash tables, filters, bounds and signatures.
//! `tuples` has the lookups.

use super::hash::{hash_double, hash_word, hash_words};
use super::ranges::{Piece, Words, narrowness, split};
use super::rule::RulePattern;
use super::rule_list::{ListedRule, RuleList};
use super::signatures::GROUP;
use super::tuples::{Head, NO_CHECKS, Part, Rule, Target, Tuple, TupleSpace};

/// The smallest number of slots; a power of two.
const MIN_SLOTS: usize = 4;

/// Bits of a filter for each slot.
const FILTER_BITS: usize = 16;

/// Number of entries with equal value and mask from which entries with ranges are split.
const SPLIT_THRESHOLD: usize = 16;

impl TupleSpace {
    /// Adds an entry. An entry with ranges is split if many others have its value and mask.
    pub(crate) fn insert(&mut self, pattern: RulePattern, leaf: u32) {
        let RulePattern { value, mask, mut checks, rank, order } = pattern;
        let is_split = !checks.is_empty() && self.is_crowded(&value, &mask);
        let pieces = match is_split {
            true => split(&value, &mask, &checks),
            false => vec![Piece { value, mask }],
        };
        // The range that excludes most keys is first. The narrowest range of a split entry has done so already.
        checks.sort_by_key(|check| std::cmp::Reverse(narrowness(check)));
        if is_split && checks.len() > 1 {
            checks.swap(0, 1);
        }
        let checks = match checks.is_empty() {
            true => NO_CHECKS,
            false => place(&mut self.checks, &mut self.free_checks, checks.into()),
        };
        let rule = Rule { rank, order, leaf, checks };
        let rule = place(&mut self.rules, &mut self.free_rules, rule);
        for piece in pieces {
            self.insert_piece(&piece, rule);
        }
    }

    /// Whether many entries have the same value under the same mask.
    fn is_crowded(&self, value: &[u64], mask: &Words) -> bool {
        let Some(target) = self.target(value, mask) else { return false };
        match Target::parts(target) {
            Ok(list) => self.lists[list as usize].len() >= SPLIT_THRESHOLD,
            Err(_) => false,
        }
    }

    fn target(&self, value: &[u64], mask: &Words) -> Option<u64> {
        let id = *self.by_mask.get(mask)?;
        let start = self.slot(id, self.hash(&self.heads[id as usize], value), value);
        Some(self.tuples[id as usize].slots[start + 1]).filter(|target| *target != 0)
    }

    /// The pieces that the entry was inserted as.
    fn inserted_pieces(&self, pattern: RulePattern) -> Vec<Piece> {
        let RulePattern { value, mask, checks, rank, order } = pattern;
        let whole = Piece { value, mask };
        if checks.is_empty() || self.locate(&whole, rank, order).is_some() {
            return vec![whole];
        }
        split(&whole.value, &whole.mask, &checks)
    }

    fn insert_piece(&mut self, piece: &Piece, rule: u32) {
        let Rule { rank, leaf, checks, .. } = self.rules[rule as usize];
        let id = match self.by_mask.get(&piece.mask) {
            Some(id) => *id,
            None => self.add_tuple(&piece.mask, rank),
        };
        let tuple = &self.tuples[id as usize];
        if (tuple.taken + 1) * 4 * tuple.stride > tuple.slots.len() * 3 {
            self.resize(id, tuple.slots.len() / tuple.stride * 2);
        }
        let head = self.heads[id as usize];
        let hash = self.hash(&head, &piece.value);
        let start = self.slot(id, hash, &piece.value);
        let old = self.tuples[id as usize].slots[start + 1];
        let target = match old {
            0 if checks == NO_CHECKS => Target::of_rule(rule, leaf),
            0 => Target::of_list(self.new_list(rule)),
            _ => {
                let list = match Target::parts(old) {
                    Ok(list) => list,
                    Err(other) => self.new_list(other),
                };
                let order = self.rules[rule as usize].order;
                let listed = self.listed(rule);
                self.lists[list as usize].insert(rank, order, listed);
                Target::of_list(list)
            }
        };
        let best_rank = self.rank_of(target);
        let bit = hash >> head.filter_shift;
        self.filters.items[head.filter as usize + (bit / 64) as usize] |= 1 << (bit % 64);
        if old == 0 {
            self.write_key(id, &piece.value, start);
            self.signatures.add(id, &piece.value, &piece.mask);
        }
        let tuple = &mut self.tuples[id as usize];
        tuple.taken += usize::from(old == 0);
        tuple.slots[start] = best_rank as u64;
        tuple.slots[start + 1] = target;
        self.raise_bound(id, rank);
    }

    fn rank_of(&self, target: u64) -> i64 {
        let rule = match Target::parts(target) {
            Ok(list) => self.lists[list as usize].first(),
            Err(rule) => rule,
        };
        self.rules[rule as usize].rank
    }

    fn new_list(&mut self, rule: u32) -> u32 {
        let Rule { rank, order, .. } = self.rules[rule as usize];
        let list = RuleList::new(rank, order, self.listed(rule));
        place(&mut self.lists, &mut self.free_lists, list)
    }

    fn listed(&self, rule: u32) -> ListedRule {
        let checks = self.checks.get(self.rules[rule as usize].checks as usize);
        ListedRule::new(rule, checks.and_then(|checks| checks.first()))
    }

    fn write_key(&mut self, id: u32, value: &[u64], start: usize) {
        let head = self.heads[id as usize];
        let slots = &mut self.tuples[id as usize].slots;
        if value.len() <= 2 {
            slots[start + 2..start + 2 + value.len()].copy_from_slice(value);
            return;
        }
        let parts = &self.parts.items[head.mask[0] as usize..][..head.mask[1] as usize];
        for (at, part) in parts.iter().enumerate() {
            slots[start + 2 + at] = value[part.word as usize];
        }
    }

    /// The start of the slot of a masked value, or of the free one where it would go.
    fn slot(&self, id: u32, hash: u64, value: &[u64]) -> usize {
        let (head, tuple) = (&self.heads[id as usize], &self.tuples[id as usize]);
        let mut start = (hash >> tuple.shift) as usize * tuple.stride;
        loop {
            let slot = &tuple.slots[start..start + tuple.stride];
            if slot[1] == 0 || self.is_equal(head, value, &slot[2..]) {
                return start;
            }
            start = (start + tuple.stride) % tuple.slots.len();
        }
    }

    fn add_tuple(&mut self, mask: &Words, rank: i64) -> u32 {
        let (mask_words, active) = if self.words <= 2 {
            ([mask[0], mask.get(1).copied().unwrap_or(0)], self.words)
        } else {
            let parts = (0u32..).zip(mask).filter(|(_, mask)| **mask != 0);
            let parts: Vec<Part> = parts.map(|(word, &mask)| Part { word, mask }).collect();
            let start = self.parts.allocate(block_size(parts.len()));
            self.parts.items[start as usize..][..parts.len()].copy_from_slice(&parts);
            ([u64::from(start), parts.len() as u64], parts.len())
        };
        let stride = active + 2;
        let tuple = Tuple {
            slots: vec![0; MIN_SLOTS * stride],
            stride,
            shift: 64 - MIN_SLOTS.trailing_zeros(),
            taken: 0,
            freed: 0,
            mask: mask.clone(),
        };
        let id = place(&mut self.tuples, &mut self.free_tuples, tuple);
        let (filter, filter_shift) = self.new_filter(MIN_SLOTS);
        let head = Head { bound: rank, mask: mask_words, filter, filter_shift };
        match self.heads.get_mut(id as usize) {
            Some(free) => *free = head,
            None => self.heads.push(head),
        }
        self.by_mask.insert(mask.clone(), id);
        self.signatures.begin(id, mask);
        self.bounds.resize(self.signatures.groups(), i64::MIN);
        self.raise_bound(id, rank);
        id
    }

    /// A cleared filter for this many slots.
    fn new_filter(&mut self, slots: usize) -> (u32, u32) {
        let bits = (slots * FILTER_BITS).max(64);
        let filter = self.filters.allocate(bits / 64);
        self.filters.items[filter as usize..][..bits / 64].fill(0);
        (filter, 64 - bits.trailing_zeros())
    }

    /// Raises the bound of a tuple to the rank of an entry.
    fn raise_bound(&mut self, id: u32, rank: i64) {
        let head = &mut self.heads[id as usize];
        head.bound = head.bound.max(rank);
        let group = &mut self.bounds[id as usize / GROUP];
        *group = (*group).max(rank);
    }

    /// Makes the bound of a tuple's group exact.
    fn refresh_bound(&mut self, id: u32) {
        let group = id as usize / GROUP;
        let first = group * GROUP;
        let of_group = self.heads[first..].iter().zip(&self.tuples[first..]).take(GROUP);
        let bounds = of_group.filter(|(_, tuple)| tuple.taken > 0).map(|(head, _)| head.bound);
        self.bounds[group] = bounds.max().unwrap_or(i64::MIN);
    }

    /// Gives a tuple this many slots, and an exact filter, signature and bound.
    fn resize(&mut self, id: u32, slots: usize) {
        let mut head = self.heads[id as usize];
        let had_freed = self.tuples[id as usize].freed > 0;
        let old_filter_words = 1usize << (64 - head.filter_shift) >> 6;
        self.filters.release(head.filter, old_filter_words);
        (head.filter, head.filter_shift) = self.new_filter(slots);
        let tuple = &mut self.tuples[id as usize];
        let stride = tuple.stride;
        let old = std::mem::replace(&mut tuple.slots, vec![0; slots * stride]);
        tuple.shift = 64 - slots.trailing_zeros();
        tuple.freed = 0;
        head.bound = i64::MIN;
        for slot in old.chunks_exact(stride).filter(|slot| slot[1] != 0) {
            let hash = self.hash_slot(&slot[2..]);
            let bit = hash >> head.filter_shift;
            self.filters.items[head.filter as usize + (bit / 64) as usize] |= 1 << (bit % 64);
            let tuple = &mut self.tuples[id as usize];
            let mut start = (hash >> tuple.shift) as usize * stride;
            while tuple.slots[start + 1] != 0 {
                start = (start + stride) % tuple.slots.len();
            }
            tuple.slots[start..start + stride].copy_from_slice(slot);
            head.bound = head.bound.max(slot[0] as i64);
        }
        self.heads[id as usize] = head;
        if had_freed {
            self.refresh_signature(id, &old);
            self.refresh_bound(id);
        }
        if self.filters.is_wasteful() {
            self.pack_filters();
        }
    }

    /// Removes the bits of removed entries from the signature of a tuple with these slots.
    fn refresh_signature(&mut self, id: u32, slots: &[u64]) {
        let (mask, stride) =
            (self.tuples[id as usize].mask.clone(), self.tuples[id as usize].stride);
        self.signatures.begin(id, &mask);
        let mut value = Words::from_elem(0, self.words);
        for slot in slots.chunks_exact(stride).filter(|slot| slot[1] != 0) {
            if self.words <= 2 {
                value.copy_from_slice(&slot[2..]);
            } else {
                let parts = mask.iter().enumerate().filter(|(_, mask)| **mask != 0);
                parts.zip(&slot[2..]).for_each(|((word, _), part)| value[word] = *part);
            }
            self.signatures.add(id, &value, &mask);
        }
    }

    fn pack_filters(&mut self) {
        let old = std::mem::take(&mut self.filters);
        for id in self.by_mask.values() {
            let head = &mut self.heads[*id as usize];
            let words = 1usize << (64 - head.filter_shift) >> 6;
            let start = self.filters.allocate(words);
            self.filters.items[start as usize..][..words]
                .copy_from_slice(&old.items[head.filter as usize..][..words]);
            head.filter = start;
        }
    }

    /// The hash of the masked words of a slot.
    fn hash_slot(&self, values: &[u64]) -> u64 {
        match self.words {
            1 => hash_word(values[0], self.seed),
            2 => hash_double(values[0], values[1], self.seed),
            _ => hash_words(values.iter().copied(), self.seed),
        }
    }

    /// Tuple, slot and rule of a piece of an entry.
    fn locate(&self, piece: &Piece, rank: i64, order: u64) -> Option<(u32, usize, u32)> {
        let id = *self.by_mask.get(&piece.mask)?;
        let hash = self.hash(&self.heads[id as usize], &piece.value);
        let start = self.slot(id, hash, &piece.value);
        let target = self.tuples[id as usize].slots[start + 1];
        if target == 0 {
            return None;
        }
        let rule = match Target::parts(target) {
            Err(rule) => rule,
            Ok(list) => self.lists[list as usize].get(rank, order)?,
        };
        let found = &self.rules[rule as usize];
        (found.rank == rank && found.order == order).then_some((id, start, rule))
    }

    pub(crate) fn set_leaf(&mut self, pattern: RulePattern, leaf: u32) {
        let (rank, order) = (pattern.rank, pattern.order);
        for piece in self.inserted_pieces(pattern) {
            let Some((id, start, rule)) = self.locate(&piece, rank, order) else {
                return;
            };
            self.rules[rule as usize].leaf = leaf;
            let target = &mut self.tuples[id as usize].slots[start + 1];
            if Target::parts(*target).is_err() {
                *target = Target::of_rule(rule, leaf);
            }
        }
    }

    pub(crate) fn remove(&mut self, pattern: RulePattern) {
        let (rank, order) = (pattern.rank, pattern.order);
        let mut removed = None;
        for piece in self.inserted_pieces(pattern) {
            let Some((id, start, rule)) = self.locate(&piece, rank, order) else {
                continue;
            };
            removed = Some(rule);
            let target = self.tuples[id as usize].slots[start + 1];
            let Ok(list) = Target::parts(target) else {
                self.free_slot(id, start);
                continue;
            };
            self.lists[list as usize].remove(rank, order);
            let left = self.lists[list as usize].len();
            if left == 0 {
                self.drop_list(list);
                self.free_slot(id, start);
                continue;
            }
            let first = self.lists[list as usize].first();
            let Rule { rank: best_rank, leaf, checks, .. } = self.rules[first as usize];
            let slots = &mut self.tuples[id as usize].slots;
            slots[start] = best_rank as u64;
            if left == 1 && checks == NO_CHECKS {
                slots[start + 1] = Target::of_rule(first, leaf);
                self.drop_list(list);
            }
        }
        if let Some(rule) = removed {
            let checks = self.rules[rule as usize].checks;
            if checks != NO_CHECKS {
                self.checks[checks as usize] = Box::default();
                self.free_checks.push(checks);
            }
            self.free_rules.push(rule);
        }
    }

    fn drop_list(&mut self, list: u32) {
        self.lists[list as usize] = RuleList::default();
        self.free_lists.push(list);
    }

    /// Frees a slot and moves displaced keys back.
    fn free_slot(&mut self, id: u32, mut hole: usize) {
        let stride = self.tuples[id as usize].stride;
        let length = self.tuples[id as usize].slots.len();
        let distance = |from: usize, to: usize| (to + length - from) % length;
        let mut start = hole;
        loop {
            start = (start + stride) % length;
            let tuple = &self.tuples[id as usize];
            if tuple.slots[start + 1] == 0 {
                break;
            }
            let hash = self.hash_slot(&tuple.slots[start + 2..start + stride]);
            let home = (hash >> tuple.shift) as usize * stride;
            if distance(home, start) >= distance(hole, start) {
                self.tuples[id as usize].slots.copy_within(start..start + stride, hole);
                hole = start;
            }
        }
        let tuple = &mut self.tuples[id as usize];
        tuple.slots[hole..hole + stride].fill(0);
        tuple.taken -= 1;
        tuple.freed += 1;
        if tuple.taken == 0 {
            self.drop_tuple(id);
        } else if tuple.freed > tuple.taken.max(16) {
            let slots = (tuple.taken * 3 / 2).next_power_of_two().max(MIN_SLOTS);
            self.resize(id, slots);
        }
    }

    fn drop_tuple(&mut self, id: u32) {
        let tuple = &mut self.tuples[id as usize];
        let mask = std::mem::take(&mut tuple.mask);
        tuple.slots = Vec::new();
        let head = self.heads[id as usize];
        self.filters.release(head.filter, 1usize << (64 - head.filter_shift) >> 6);
        if self.words > 2 {
            self.parts.release(head.mask[0] as u32, block_size(head.mask[1] as usize));
        }
        self.by_mask.remove(&mask);
        self.signatures.end(id);
        self.refresh_bound(id);
        self.free_tuples.push(id);
    }
}

/// Puts an item into a free place, or at the end.
fn place<T>(items: &mut Vec<T>, free: &mut Vec<u32>, item: T) -> u32 {
    match free.pop() {
        Some(place) => {
            items[place as usize] = item;
            place
        }
        None => {
            items.push(item);
            (items.len() - 1) as u32
        }
    }
}

/// The size of a block for this number of mask parts.
fn block_size(parts: usize) -> usize {
    if parts <= 64 { parts } else { parts.next_power_of_two() }
}
