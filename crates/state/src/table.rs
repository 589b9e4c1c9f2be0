// SPDX-License-Identifier: Apache-2.0
//! `TableState`: one version of a match table with entries, default action and lookup. `validation` checks entries
//! before.

use crate::sharing::{SharedTable, SharedVec};
use crate::tuple_space::{Candidate, MatchIndex, RangeCheck};
use crate::{BoundAction, EntryHandle, EntryRecord, NewEntry};
use foldhash::fast::FixedState;
use ir::{ActionId, Bits, KeyPattern, MatchKind, OriginId, Table};
use std::hash::BuildHasher;
use std::sync::Arc;

/// The action of a miss.
#[derive(Clone, Debug, PartialEq)]
pub struct DefaultAction {
    /// The action.
    pub action: BoundAction,
    /// Its index in [`Table::actions`].
    pub action_index: u32,
    /// Whether it is the one that the program gives.
    pub is_initial: bool,
}

/// The constant properties of a table.
#[derive(Debug)]
pub(crate) struct TableShape {
    /// Widths of the keys that are matched.
    pub(crate) key_widths_bits: Vec<u32>,
    /// Which of the table's keys are matched; `None` when all are.
    matched_keys: Option<Vec<usize>>,
    /// Whether entries have priorities; else the longest prefix wins.
    pub(crate) has_priorities: bool,
    pub(crate) actions: Vec<ActionId>,
}

impl TableShape {
    fn new(table: &Table) -> TableShape {
        let matched: Vec<usize> = (0..table.keys.len())
            .filter(|&at| table.keys[at].match_kind != MatchKind::Selector)
            .collect();
        TableShape {
            key_widths_bits: matched.iter().map(|&at| table.keys[at].width_bits).collect(),
            has_priorities: matched
                .iter()
                .any(|&at| !matches!(table.keys[at].match_kind, MatchKind::Exact | MatchKind::Lpm)),
            matched_keys: (matched.len() != table.keys.len()).then_some(matched),
            actions: table.actions.iter().map(|action| action.action).collect(),
        }
    }

    /// Among matching entries the one with the largest rank wins.
    pub(crate) fn rank(&self, keys: &[KeyPattern], priority: i64) -> i64 {
        if self.has_priorities {
            return priority;
        }
        keys.iter()
            .map(|pattern| match pattern {
                KeyPattern::Prefix { length_bits, .. } => i64::from(*length_bits),
                // A wildcard for an exact key, in a declared entry.
                KeyPattern::Any => -1,
                _ => 0,
            })
            .sum()
    }
}

/// An entry by the hash of its identity: its keys, and its priority if the table has priorities.
#[derive(Clone, Copy, Debug)]
struct HashedEntry {
    hash: u64,
    place: u32,
}

/// One version of a match table. Copies share what neither has changed since.
#[derive(Clone, Debug)]
pub struct TableState {
    pub(crate) shape: Arc<TableShape>,
    places: SharedVec<Option<Arc<EntryRecord>>>,
    free: Vec<u32>,
    names: SharedTable<HashedEntry>,
    index: MatchIndex,
    default: DefaultAction,
}

impl TableState {
    /// A table without entries.
    pub(crate) fn new(table: &Table, default: DefaultAction) -> TableState {
        let shape = TableShape::new(table);
        let width_bits = shape.key_widths_bits.iter().copied().map(u64::from).sum();
        TableState {
            shape: Arc::new(shape),
            places: SharedVec::default(),
            free: Vec::new(),
            names: SharedTable::default(),
            index: MatchIndex::for_width_bits(width_bits),
            default,
        }
    }

    /// The entry that matches, by one value a key of the table, selector keys included. Among several
    /// the one with the longest prefix or the largest priority wins, then the one inserted first. A
    /// table without keys never matches.
    pub fn lookup(&self, keys: &[Bits]) -> Option<&EntryRecord> {
        let place = match &self.shape.matched_keys {
            None => self.index.find(keys)?,
            Some(matched) => {
                let values: smallvec::SmallVec<[Bits; 4]> =
                    matched.iter().filter_map(|&at| keys.get(at).cloned()).collect();
                self.index.find(&values)?
            }
        };
        self.entry(EntryHandle(place))
    }

    /// The action of a miss.
    pub fn default_action(&self) -> &DefaultAction {
        &self.default
    }

    /// Index of an action in [`Table::actions`].
    pub fn action_index(&self, action: ActionId) -> Option<u32> {
        self.shape.actions.iter().position(|other| *other == action).map(|at| at as u32)
    }

    /// Whether entries have priorities; else the longest prefix wins.
    pub fn has_priorities(&self) -> bool {
        self.shape.has_priorities
    }

    /// The entry at this place.
    pub fn entry(&self, handle: EntryHandle) -> Option<&EntryRecord> {
        self.places.get(handle.0 as usize)?.as_deref()
    }

    /// The entry at this place, to keep.
    pub fn shared_entry(&self, handle: EntryHandle) -> Option<Arc<EntryRecord>> {
        self.record_at(handle).cloned()
    }

    pub(crate) fn record_at(&self, handle: EntryHandle) -> Option<&Arc<EntryRecord>> {
        self.places.get(handle.0 as usize)?.as_ref()
    }

    /// All entries by place.
    pub fn entries(&self) -> impl Iterator<Item = &Arc<EntryRecord>> {
        self.places.iter().flatten()
    }

    /// All entries in the order of their insertion.
    pub fn entries_by_age(&self) -> Vec<&Arc<EntryRecord>> {
        let mut entries: Vec<_> = self.entries().collect();
        entries.sort_by_key(|entry| entry.generation);
        entries
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry with these canonical keys, and with this priority where the table has priorities.
    pub(crate) fn find(&self, keys: &[KeyPattern], priority: i64) -> Option<EntryHandle> {
        let hash = self.name(keys, priority);
        self.find_hashed(hash, keys, priority).map(|hashed| EntryHandle(hashed.place))
    }

    /// Returns the hash of an entry's identity.
    fn name(&self, keys: &[KeyPattern], priority: i64) -> u64 {
        let priority = if self.shape.has_priorities { priority } else { 0 };
        FixedState::default().hash_one((keys, priority))
    }

    fn find_hashed(&self, hash: u64, keys: &[KeyPattern], priority: i64) -> Option<HashedEntry> {
        let is_it = |hashed: &HashedEntry| {
            hashed.hash == hash
                && self.entry(EntryHandle(hashed.place)).is_some_and(|entry| {
                    entry.keys == keys && (entry.priority == priority || !self.shape.has_priorities)
                })
        };
        self.names.find(hash, is_it).copied()
    }

    /// Adds an entry with canonical keys. A program may declare the same entry twice; the first one wins.
    pub(crate) fn insert(
        &mut self,
        entry: NewEntry,
        generation: u64,
        inserted_ps: u64,
        origin: Option<OriginId>,
    ) -> Arc<EntryRecord> {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            (self.places.len() - 1) as u32
        });
        let record = Arc::new(EntryRecord {
            handle: EntryHandle(place),
            generation,
            keys: entry.keys,
            priority: entry.priority,
            action: entry.action,
            idle_timeout_ns: entry.idle_timeout_ns,
            metadata: entry.metadata,
            cookie: entry.cookie,
            inserted_ps,
            origin,
        });
        self.settle(record.clone());
        record
    }

    /// Adds the record at its place, which is vacant and not in the free list.
    fn settle(&mut self, record: Arc<EntryRecord>) {
        let place = record.handle.0;
        let hash = self.name(&record.keys, record.priority);
        if self.find_hashed(hash, &record.keys, record.priority).is_none() {
            self.names.insert_unique(hash, HashedEntry { hash, place }, |hashed| hashed.hash);
        }
        let (values, masks) = self.values_and_masks(&record.keys);
        let candidate = Candidate {
            rank: self.shape.rank(&record.keys, record.priority),
            generation: record.generation,
            place,
            ranges: range_checks(&record.keys),
        };
        self.index.insert(&values, &masks, candidate);
        if let Some(slot) = self.places.get_mut(place as usize) {
            *slot = Some(record);
        }
    }

    /// Undoes the latest removal, which was this entry's.
    pub(crate) fn put_back(&mut self, record: Arc<EntryRecord>) {
        let freed = self.free.pop();
        debug_assert_eq!(freed, Some(record.handle.0));
        self.settle(record);
    }

    /// Replaces the record of an entry by one with the same keys, priority, place and generation.
    pub(crate) fn replace(&mut self, record: Arc<EntryRecord>) {
        if let Some(slot) = self.places.get_mut(record.handle.0 as usize) {
            *slot = Some(record);
        }
    }

    /// Removes an entry and returns it.
    pub(crate) fn remove(&mut self, handle: EntryHandle) -> Option<Arc<EntryRecord>> {
        let record = self.places.get_mut(handle.0 as usize)?.take()?;
        self.free.push(handle.0);
        let hash = self.name(&record.keys, record.priority);
        self.names.remove(hash, |hashed| hashed.place == handle.0);
        let (values, masks) = self.values_and_masks(&record.keys);
        self.index.remove(&values, &masks, handle.0);
        Some(record)
    }

    pub(crate) fn set_default(&mut self, default: DefaultAction) {
        self.default = default;
    }

    fn values_and_masks(&self, keys: &[KeyPattern]) -> (Vec<Bits>, Vec<Bits>) {
        keys.iter()
            .zip(&self.shape.key_widths_bits)
            .map(|(pattern, &width_bits)| match pattern {
                KeyPattern::Any | KeyPattern::Range { .. } => {
                    (Bits::zero(width_bits), Bits::zero(width_bits))
                }
                KeyPattern::Exact(value) => (value.clone(), Bits::ones(width_bits)),
                KeyPattern::Prefix { value, length_bits } => {
                    (value.clone(), Bits::prefix_mask(width_bits, *length_bits))
                }
                KeyPattern::Ternary { value, mask } => (value.clone(), mask.clone()),
            })
            .unzip()
    }
}

fn range_checks(keys: &[KeyPattern]) -> Box<[RangeCheck]> {
    keys.iter()
        .enumerate()
        .filter_map(|(key, pattern)| match pattern {
            KeyPattern::Range { low, high } => {
                Some(RangeCheck { key, low: low.clone(), high: high.clone() })
            }
            _ => None,
        })
        .collect()
}

/// Whether a value matches a pattern of its width.
pub(crate) fn pattern_matches(pattern: &KeyPattern, value: &Bits) -> bool {
    let masked_equal = |wanted: &Bits, mask: &Bits| {
        let and = ir::BinaryOperation::And;
        value.binary(and, mask) == wanted.binary(and, mask)
    };
    match pattern {
        KeyPattern::Any => true,
        KeyPattern::Exact(wanted) => value == wanted,
        KeyPattern::Prefix { value: wanted, length_bits } => {
            masked_equal(wanted, &Bits::prefix_mask(value.width_bits(), *length_bits))
        }
        KeyPattern::Ternary { value: wanted, mask } => masked_equal(wanted, mask),
        KeyPattern::Range { low, high } => {
            value.cmp_unsigned(low).is_ge() && value.cmp_unsigned(high).is_le()
        }
    }
}
