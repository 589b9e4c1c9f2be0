// SPDX-License-Identifier: Apache-2.0
//! `ForwardingTable`: maps a key to the record of the winning entry. `index` matches keys, `record` has the layout of
//! records.

use super::choice::{NO_SLOT, PreparedProfile, WeightedChoice};
use super::copies::Replay;
use super::index::{Direct, DirectForm, KeyLayout, LEAF_LIMIT, MatchIndex, NO_MATCH};
use super::record::{RecordLayout, Target};
use super::record_store::{RecordStore, words_at_address};
use crate::{ActionData, BoundAction, DefaultAction, EntryRecord, TableState, WeightedAction};
use ir::{ActionProfileId, Program, TableId};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// A record under construction.
type Words = SmallVec<[u64; 8]>;

/// A one-shot set prepared for choices, with the records of its actions.
#[derive(Clone, Debug)]
struct OneShot {
    choice: WeightedChoice,
    records: Box<[u64]>,
}

/// One table of one version. What it gives for a key leads to an action record ([`RecordLayout`]) as long
/// as the version is held: it is the record's address, or where records are packed the leaf that the
/// record is, in the default action's with [`PACKED_DEFAULT`].
#[derive(Clone, Debug)]
pub struct ForwardingTable {
    index: MatchIndex,
    records: RecordStore,
    default: Box<[u64]>,
    layout: RecordLayout,
    keys: KeyLayout,
    profile: Option<ActionProfileId>,
    /// Records of the profile's members by slot, end to end.
    members: Vec<u64>,
    one_shots: Vec<Option<OneShot>>,
    free_one_shots: Vec<u32>,
    entries: usize,
    /// The memory for which [`ForwardingTable::advise`] has called the advisor.
    advised: [(usize, usize); 2],
}

/// One change of a table. Slots are those of the table's profile, as they are when the change is made.
#[derive(Debug)]
pub(super) enum TableChange {
    /// An entry was inserted, removed or got another action; the records have place and generation. The slot is that
    /// of the member or group that `after` names.
    Entry {
        before: Option<Arc<EntryRecord>>,
        after: Option<Arc<EntryRecord>>,
        slot: u32,
    },
    /// All entries were removed.
    Cleared,
    Default(DefaultAction),
    Member {
        slot: u32,
        action: Option<Arc<BoundAction>>,
    },
}

impl Replay for ForwardingTable {
    type Change = TableChange;

    fn replay(&mut self, change: &TableChange) {
        match change {
            TableChange::Entry { before: Some(before), after: Some(after), slot } => {
                self.modify(before, after, *slot);
            }
            TableChange::Entry { before: Some(before), after: None, .. } => self.remove(before),
            TableChange::Entry { before: None, after: Some(after), slot } => {
                self.insert(after, *slot);
            }
            TableChange::Entry { before: None, after: None, .. } => {}
            TableChange::Cleared => self.clear(),
            TableChange::Default(default) => self.set_default(default),
            TableChange::Member { slot, action } => self.set_member(*slot, action.as_deref()),
        }
    }

    fn size(&self) -> usize {
        self.entries
    }
}

/// In the packed record of a default action: no entry's has this bit.
pub const PACKED_DEFAULT: u32 = LEAF_LIMIT;

/// Smallest size of memory for which the advisor is called.
const ADVISED_BYTES: usize = 4 << 20;

/// The slot of the member or group that an entry names.
pub(super) fn slot_of(profile: Option<&PreparedProfile>, action: &ActionData) -> u32 {
    let slot = profile.and_then(|profile| match action {
        ActionData::Member(member) => Some(profile.member_slot(*member)),
        ActionData::Group(group) => Some(profile.group_slot(*group)),
        ActionData::Direct(_) | ActionData::OneShot(_) => None,
    });
    slot.unwrap_or(NO_SLOT)
}

impl ForwardingTable {
    pub(super) fn new(
        program: &Program,
        id: TableId,
        state: &TableState,
        profile: Option<&PreparedProfile>,
    ) -> ForwardingTable {
        let declared = &program.tables[id.index()];
        let keys = KeyLayout::new(declared);
        let layout = RecordLayout::new(program, id);
        let mut table = ForwardingTable {
            index: MatchIndex::of_leaves(&keys, layout.leaf_bits()),
            keys,
            records: RecordStore::new(layout.stride_words, layout.generation_word.is_none()),
            default: vec![0; layout.stride_words].into(),
            profile: declared.implementation,
            members: Vec::new(),
            one_shots: Vec::new(),
            free_one_shots: Vec::new(),
            entries: 0,
            advised: [(0, 0); 2],
            layout,
        };
        table.set_default(state.default_action());
        for (slot, action) in profile.into_iter().flat_map(PreparedProfile::members) {
            table.set_member(slot, Some(action));
        }
        for entry in state.entries() {
            table.insert(entry, slot_of(profile, &entry.action));
        }
        table
    }

    /// The index from keys to leaves: packed records, or the numbers of records, of which n begins n times
    /// [`RecordLayout::stride_words`] words after the [`ForwardingTable::first_record`].
    #[inline(always)]
    pub fn index(&self) -> &MatchIndex {
        &self.index
    }

    /// The address of record 0, which need not be there.
    pub fn first_record(&self) -> usize {
        self.records.address(0)
    }

    /// Returns how lookups find leaves without a call.
    pub fn form(&self) -> DirectForm {
        self.keys.direct(self.layout.leaf_bits())
    }

    /// Returns the addresses from which lookups read leaves without a call.
    pub fn direct(&self) -> Direct {
        self.index.direct()
    }

    /// Finds the record of the entry that matches a key of one word ([`super::index::Packing::Word`]).
    #[inline(always)]
    pub fn find_word(&self, key: u64) -> Option<usize> {
        self.record_of(self.index.find_word(key))
    }

    /// The same for a key of two words ([`super::index::Packing::DoubleWord`]).
    #[inline(always)]
    pub fn find_double(&self, low: u64, high: u64) -> Option<usize> {
        self.record_of(self.index.find_double(low, high))
    }

    /// The same for a key of as many words as [`KeyLayout::words`] says.
    #[inline(always)]
    pub fn find_words(&self, key: &[u64]) -> Option<usize> {
        self.record_of(self.index.find_words(key))
    }

    /// The address of what [`ForwardingTable::find_word`] reads first, to be prefetched; 0 when the
    /// table is small.
    #[inline(always)]
    pub fn first_touch_word(&self, key: u64) -> usize {
        self.index.first_touch_word(key)
    }

    /// The same for [`ForwardingTable::find_double`].
    #[inline(always)]
    pub fn first_touch_double(&self, low: u64, high: u64) -> usize {
        self.index.first_touch_double(low, high)
    }

    /// The same for [`ForwardingTable::find_words`].
    #[inline(always)]
    pub fn first_touch_words(&self, key: &[u64]) -> usize {
        self.index.first_touch_words(key)
    }

    #[inline(always)]
    fn record_of(&self, leaf: u32) -> Option<usize> {
        match (leaf, &self.layout.packed) {
            (NO_MATCH, _) => None,
            (leaf, Some(_)) => Some(leaf as usize),
            (number, None) => Some(self.records.address(number)),
        }
    }

    /// Returns the record of the default action, as lookups return it.
    pub fn default_record(&self) -> usize {
        match &self.layout.packed {
            Some(packed) => (self.layout.pack(packed, &self.default) | PACKED_DEFAULT) as usize,
            None => self.default.as_ptr() as usize,
        }
    }

    /// Returns the words of a record that a lookup of this version returned; for readers other than generated code.
    pub fn record_words(&self, record: usize) -> Option<Vec<u64>> {
        if let Some(packed) = &self.layout.packed {
            let leaf = u32::try_from(record).ok()?;
            return Some(self.layout.unpack(packed, leaf & !PACKED_DEFAULT));
        }
        let stride = self.layout.stride_words;
        let within = |words| words_at_address(words, record, stride);
        let sets = || self.one_shots.iter().flatten();
        self.records
            .at_address(record)
            .or_else(|| within(&self.default))
            .or_else(|| within(&self.members))
            .or_else(|| sets().find_map(|set| within(&set.records)))
            .map(<[u64]>::to_vec)
    }

    /// Returns the layout of the table's records.
    pub fn layout(&self) -> &RecordLayout {
        &self.layout
    }

    /// Memory that the table takes, as far as it grows with its entries.
    pub fn memory_bytes(&self) -> usize {
        let words = self.members.capacity() + self.default.len();
        let one_shots = self.one_shots.iter().flatten();
        self.index.memory_bytes()
            + self.records.memory_bytes()
            + words * size_of::<u64>()
            + one_shots
                .map(|set| set.choice.memory_bytes() + size_of_val(&*set.records))
                .sum::<usize>()
    }

    /// Returns the memory that lookups touch, records included.
    pub fn lookup_bytes(&self) -> usize {
        self.index.lookup_bytes() + self.records.lookup_bytes()
    }

    /// Calls the advisor with address and size of large memory that lookups read, if it has moved or grown.
    pub(super) fn advise(&mut self, advisor: fn(usize, usize)) {
        let memory = [self.index.lookup_memory(), self.records.lookup_memory()];
        for (known, found) in self.advised.iter_mut().zip(memory) {
            if found.1 >= ADVISED_BYTES && *known != found {
                advisor(found.0, found.1);
                *known = found;
            }
        }
    }

    pub(super) fn profile(&self) -> Option<ActionProfileId> {
        self.profile
    }

    fn insert(&mut self, entry: &EntryRecord, slot: u32) {
        self.entries += 1;
        let record = self.compose(entry, slot);
        let leaf = match &self.layout.packed {
            Some(packed) => self.layout.pack(packed, &record),
            None => self.records.give(entry.handle.0, &record),
        };
        let rank = self.keys.rank(&entry.keys, entry.priority);
        self.index.insert(&self.keys, &entry.keys, rank, entry.generation, leaf);
    }

    fn modify(&mut self, before: &EntryRecord, after: &EntryRecord, slot: u32) {
        if before.action == after.action {
            return;
        }
        let place = before.handle.0;
        let number_before = self.layout.packed.is_none().then(|| self.records.number(place));
        if let Some(number) = number_before {
            self.release(number);
        }
        let record = self.compose(after, slot);
        let leaf = match &self.layout.packed {
            Some(packed) => self.layout.pack(packed, &record),
            None => {
                self.records.take(place);
                self.records.give(place, &record)
            }
        };
        if number_before == Some(leaf) {
            return;
        }
        let rank = self.keys.rank(&before.keys, before.priority);
        self.index.set_leaf(&self.keys, &before.keys, rank, before.generation, leaf);
    }

    fn remove(&mut self, entry: &EntryRecord) {
        self.entries -= 1;
        let place = entry.handle.0;
        let rank = self.keys.rank(&entry.keys, entry.priority);
        self.index.remove(&self.keys, &entry.keys, rank, entry.generation);
        if self.layout.packed.is_none() {
            self.release(self.records.number(place));
            self.records.take(place);
        }
    }

    fn clear(&mut self) {
        self.entries = 0;
        self.index.clear();
        self.records.clear();
        self.one_shots.clear();
        self.free_one_shots.clear();
    }

    fn set_default(&mut self, default: &DefaultAction) {
        self.default.fill(0);
        self.layout.write_action(&mut self.default, default.action_index, &default.action);
    }

    /// Sets the record of a member's action, or removes it.
    fn set_member(&mut self, slot: u32, action: Option<&BoundAction>) {
        let stride = self.layout.stride_words;
        let end = (slot as usize + 1) * stride;
        if self.members.len() < end {
            self.members.resize(end, 0);
        }
        let record = &mut self.members[end - stride..end];
        record.fill(0);
        if let Some(action) = action {
            self.layout.write_action(record, self.layout.action_index(action.action), action);
        }
    }

    /// Makes the record of an entry; `slot` is that of its member or group. Adds its one-shot set.
    fn compose(&mut self, entry: &EntryRecord, slot: u32) -> Words {
        let mut record: Words = smallvec![0; self.layout.stride_words];
        if let Some(word) = self.layout.generation_word {
            record[0] = (u64::from(entry.handle.0) + 1) << 32;
            record[word] = entry.generation;
        }
        let target = match &entry.action {
            ActionData::Direct(action) => {
                let index = self.layout.action_index(action.action);
                self.layout.write_action(&mut record, index, action);
                return record;
            }
            ActionData::Member(_) => Target::Member(slot),
            ActionData::Group(_) => Target::Group(slot),
            ActionData::OneShot(actions) => Target::OneShot(self.add_one_shot(actions)),
        };
        self.layout.write_target(&mut record, target);
        record
    }

    fn add_one_shot(&mut self, actions: &[WeightedAction]) -> u32 {
        let stride = self.layout.stride_words;
        let mut records = vec![0; actions.len() * stride];
        for (record, weighted) in records.chunks_exact_mut(stride).zip(actions) {
            let action = &weighted.action;
            self.layout.write_action(record, self.layout.action_index(action.action), action);
        }
        let set = Some(OneShot {
            choice: WeightedChoice::new(actions.iter().map(|action| action.weight)),
            records: records.into(),
        });
        match self.free_one_shots.pop() {
            Some(slot) => {
                self.one_shots[slot as usize] = set;
                slot
            }
            None => {
                self.one_shots.push(set);
                (self.one_shots.len() - 1) as u32
            }
        }
    }

    /// Removes the one-shot set of a record, if it has one.
    fn release(&mut self, number: u32) {
        if let Some(Target::OneShot(slot)) = self.layout.target(self.records.record(number)) {
            self.one_shots[slot as usize] = None;
            self.free_one_shots.push(slot);
        }
    }

    /// As [`super::ForwardingState::resolve`].
    pub(super) fn resolve(
        &self,
        address: usize,
        hash: u64,
        profile: Option<&PreparedProfile>,
    ) -> usize {
        let stride = self.layout.stride_words;
        let Some(target) = self.target_of(address) else { return address };
        let member = |slot: u32| match profile {
            Some(profile) if profile.has_member(slot) => {
                let at = slot as usize * stride;
                self.members.get(at..).map_or(0, |record| record.as_ptr() as usize)
            }
            _ => 0,
        };
        match target {
            Target::Member(slot) => member(slot),
            Target::Group(slot) => {
                profile.and_then(|profile| profile.group(slot)?.choose(hash)).map_or(0, member)
            }
            Target::OneShot(slot) => self
                .one_shots
                .get(slot as usize)
                .and_then(Option::as_ref)
                .and_then(|set| set.records.get(set.choice.choose(hash)? * stride..))
                .map_or(0, |record| record.as_ptr() as usize),
        }
    }

    pub(super) fn target_of(&self, address: usize) -> Option<Target> {
        self.layout.target(self.records.at_address(address)?)
    }
}
