// SPDX-License-Identifier: Apache-2.0
//! Rows below of entries that became several: [`RowPriorities`] keeps the rows of different entries apart where the
//! table below has priorities, [`SharedRows`] counts the owners of rows that coincide where it has none. Which rows
//! an entry has is the map's knowledge; a [`super::Translation`] asks here what to write.

use crate::target::Fault;
use ir::{KeyPattern, TableId};
use state::{NewEntry, Update};
use std::collections::{BTreeMap, HashMap};

/// The name of an entry of the program as written: table, keys in canonical form, priority.
pub type EntryName = (TableId, Vec<KeyPattern>, i64);

/// Priorities below that no two entries of a table share.
///
/// They are in the order of the entries' own priorities, and of equal ones in the order of age: the order in which
/// a table looks at its entries. So rows of two entries never coincide, and each has its own counters, meters
/// and hits.
#[derive(Clone, Debug)]
pub struct RowPriorities {
    /// Bits of a priority below that tell entries of equal priority apart.
    bits: u32,
    /// Entries of one priority by their slots. The oldest has the largest slot.
    levels: HashMap<(TableId, i64), BTreeMap<i64, EntryName>>,
    slots: HashMap<EntryName, i64>,
    /// Entries that the current batch removed, with their slots.
    removed: Vec<(EntryName, i64)>,
}

impl RowPriorities {
    /// Creates room for 2^`bits` entries of equal priority (`bits` from 1 to 32) that are inserted while an older one
    /// stays.
    pub fn new(bits: u32) -> RowPriorities {
        RowPriorities {
            bits: bits.clamp(1, 32),
            levels: HashMap::new(),
            slots: HashMap::new(),
            removed: Vec::new(),
        }
    }

    /// Assigns a priority below to a new entry.
    pub fn insert(&mut self, entry: EntryName) -> Result<i64, Fault> {
        let level = self.levels.entry((entry.0, entry.2)).or_default();
        let last = (1 << self.bits) - 1;
        let slot = level.first_key_value().map_or(last, |(slot, _)| slot - 1);
        self.place(entry, slot)
    }

    fn place(&mut self, entry: EntryName, slot: i64) -> Result<i64, Fault> {
        let highest = i64::MAX >> self.bits;
        if slot < 0 || entry.2 > highest || entry.2 < -highest {
            let why = "the table below has no priority left between those of other entries";
            return Err(Fault::Unsupported(why.to_string()));
        }
        let below = self.below(entry.2, slot);
        self.levels.entry((entry.0, entry.2)).or_default().insert(slot, entry.clone());
        self.slots.insert(entry, slot);
        Ok(below)
    }

    fn below(&self, priority: i64, slot: i64) -> i64 {
        (priority << self.bits) | slot
    }

    /// The priority below of an entry that is there.
    pub fn of(&self, entry: &EntryName) -> Option<i64> {
        self.slots.get(entry).map(|slot| self.below(entry.2, *slot))
    }

    /// Removes an entry; returns the priority below that it had.
    pub fn remove(&mut self, entry: &EntryName) -> Option<i64> {
        let slot = self.slots.remove(entry)?;
        if let Some(level) = self.levels.get_mut(&(entry.0, entry.2)) {
            level.remove(&slot);
            if level.is_empty() {
                self.levels.remove(&(entry.0, entry.2));
            }
        }
        self.removed.push((entry.clone(), slot));
        Some(self.below(entry.2, slot))
    }

    /// Gives an entry whose removal is undone the priority below that it had before.
    pub fn restore(&mut self, entry: EntryName) -> Result<i64, Fault> {
        let at = self.removed.iter().rposition(|(name, _)| *name == entry);
        let slot = at.map(|at| self.removed.swap_remove(at).1);
        let level = self.levels.get(&(entry.0, entry.2));
        match slot.filter(|slot| level.is_none_or(|level| !level.contains_key(slot))) {
            Some(slot) => self.place(entry, slot),
            None => self.insert(entry),
        }
    }

    /// Ends the batch: its removals are final.
    pub fn settle(&mut self) {
        self.removed.clear();
    }

    /// The entry of a table that has a priority below.
    pub fn entry(&self, table: TableId, below: i64) -> Option<&EntryName> {
        let slot = below & ((1 << self.bits) - 1);
        self.levels.get(&(table, below >> self.bits))?.get(&slot)
    }
}

/// The name of a row below: table, keys, and priority where the table has priorities.
pub type RowName = (TableId, Vec<KeyPattern>, i64);

/// An entry that has a row.
#[derive(Clone, Debug)]
struct Owner {
    entry: EntryName,
    /// The number of its insertion.
    age: u64,
    /// The content of the row while this owner is shown.
    content: NewEntry,
}

impl Owner {
    /// The first in this order shows: the largest priority, then the oldest.
    fn order(&self) -> (std::cmp::Reverse<i64>, u64) {
        (std::cmp::Reverse(self.entry.2), self.age)
    }
}

/// Rows that several entries share.
///
/// A row is inserted with its first owner and deleted with its last. It shows the owner with the largest priority,
/// the oldest of equal ones; when that goes, the next one's content comes back. All owners write to the row's
/// cells, so the entries of a shared row have one direct counter and one idle timeout.
#[derive(Clone, Debug, Default)]
pub struct SharedRows {
    /// By row, in their order.
    rows: HashMap<RowName, Vec<Owner>>,
    next_age: u64,
    /// Owners that the current batch removed.
    removed: Vec<(RowName, Owner)>,
}

impl SharedRows {
    /// Gives an entry a row; returns what to write below. `content` has the keys and the priority of the row.
    pub fn insert(
        &mut self,
        table: TableId,
        entry: EntryName,
        content: NewEntry,
    ) -> Option<Update> {
        self.next_age += 1;
        let owner = Owner { entry, age: self.next_age, content };
        self.add(table, owner)
    }

    /// Gives an entry a row back, to undo its removal.
    pub fn restore(
        &mut self,
        table: TableId,
        entry: EntryName,
        content: NewEntry,
    ) -> Option<Update> {
        let row = row_name(table, &content);
        let is_it = |(of, owner): &(RowName, Owner)| *of == row && owner.entry == entry;
        match self.removed.iter().rposition(is_it) {
            Some(at) => {
                let (_, owner) = self.removed.swap_remove(at);
                self.add(table, Owner { content, ..owner })
            }
            None => self.insert(table, entry, content),
        }
    }

    fn add(&mut self, table: TableId, owner: Owner) -> Option<Update> {
        let owners = self.rows.entry(row_name(table, &owner.content)).or_default();
        let at = owners.partition_point(|other| other.order() < owner.order());
        let content = owner.content.clone();
        owners.insert(at, owner);
        match (at, owners.len()) {
            (0, 1) => Some(Update::InsertEntry { table, entry: content }),
            (0, _) => Some(Update::ModifyEntry { table, entry: content }),
            _ => None,
        }
    }

    /// Changes the content of an entry's row; returns what to write below if the row shows this entry.
    pub fn modify(
        &mut self,
        table: TableId,
        entry: &EntryName,
        content: NewEntry,
    ) -> Option<Update> {
        let owners = self.rows.get_mut(&row_name(table, &content))?;
        let at = owners.iter().position(|owner| owner.entry == *entry)?;
        owners[at].content = content.clone();
        (at == 0).then_some(Update::ModifyEntry { table, entry: content })
    }

    /// Takes a row from an entry; returns what to write below.
    pub fn remove(
        &mut self,
        table: TableId,
        entry: &EntryName,
        keys: Vec<KeyPattern>,
        priority: i64,
    ) -> Option<Update> {
        let row = (table, keys, priority);
        let owners = self.rows.get_mut(&row)?;
        let at = owners.iter().position(|owner| owner.entry == *entry)?;
        let owner = owners.remove(at);
        let next = owners.first().map(|next| next.content.clone());
        self.removed.push((row.clone(), owner));
        match next {
            None => {
                self.rows.remove(&row);
                let (table, keys, priority) = row;
                Some(Update::DeleteEntry { table, keys, priority })
            }
            Some(entry) if at == 0 => Some(Update::ModifyEntry { table, entry }),
            Some(_) => None,
        }
    }

    /// Ends the batch: its removals are final.
    pub fn settle(&mut self) {
        self.removed.clear();
    }

    /// The entry that a row shows.
    pub fn shown(&self, row: &RowName) -> Option<&EntryName> {
        self.rows.get(row)?.first().map(|owner| &owner.entry)
    }

    /// How many entries have a row.
    pub fn owner_count(&self, row: &RowName) -> usize {
        self.rows.get(row).map_or(0, Vec::len)
    }
}

fn row_name(table: TableId, content: &NewEntry) -> RowName {
    (table, content.keys.clone(), content.priority)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::{ActionId, Bits};
    use state::BoundAction;

    const TABLE: TableId = TableId(0);

    fn name(key: u64, priority: i64) -> EntryName {
        (TABLE, vec![KeyPattern::Exact(Bits::from_u64(8, key))], priority)
    }

    #[test]
    fn rows_have_priorities_by_priority_and_age() {
        let mut rows = RowPriorities::new(2);
        let below = [(1, 5), (2, 5), (3, 7), (4, -1)]
            .map(|(key, priority)| rows.insert(name(key, priority)).expect("there is room"));
        let [old, young, high, low] = below;
        assert!(high > old && old > young && young > low, "{below:?}");
        assert_eq!(rows.entry(TABLE, young), Some(&name(2, 5)));
        assert_eq!(rows.entry(TABLE, low), Some(&name(4, -1)));
        assert_eq!(rows.of(&name(3, 7)), Some(high));
        // The youngest one's place is that of the next one; an undone removal gives the place back.
        assert_eq!(rows.remove(&name(2, 5)), Some(young));
        assert_eq!(rows.restore(name(2, 5)), Ok(young));
        assert_eq!(rows.remove(&name(2, 5)), Some(young));
        assert_eq!(rows.insert(name(9, 5)), Ok(young));
        rows.settle();
        // Four of equal priority have room, one after the other.
        for key in [10, 11] {
            assert!(rows.insert(name(key, 5)).is_ok());
        }
        assert!(matches!(rows.insert(name(12, 5)), Err(Fault::Unsupported(_))));
        // Other levels, and a level without entries, begin anew.
        assert!(rows.insert(name(12, 6)).is_ok());
    }

    fn content(argument: u64) -> NewEntry {
        let arguments = vec![Bits::from_u64(8, argument)];
        let keys = vec![KeyPattern::Exact(Bits::from_u64(8, 0))];
        NewEntry::direct(keys, 0, BoundAction { action: ActionId(0), arguments })
    }

    /// Formats an update: `+`, `=` or `-`, and the argument.
    fn shown(update: Option<Update>) -> String {
        let argument = |entry: &NewEntry| match &entry.action {
            state::ActionData::Direct(action) => action.arguments[0].low_u64(),
            other => panic!("{other:?}"),
        };
        match update {
            None => "nothing".to_string(),
            Some(Update::InsertEntry { entry, .. }) => format!("+{}", argument(&entry)),
            Some(Update::ModifyEntry { entry, .. }) => format!("={}", argument(&entry)),
            Some(Update::DeleteEntry { .. }) => "-".to_string(),
            Some(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_row_shows_its_winning_owner_and_goes_with_the_last() {
        let mut rows = SharedRows::default();
        let keys = content(0).keys;
        let row = (TABLE, keys.clone(), 0);
        assert_eq!(shown(rows.insert(TABLE, name(1, 1), content(1))), "+1");
        assert_eq!(shown(rows.insert(TABLE, name(2, 1), content(2))), "nothing");
        assert_eq!(shown(rows.insert(TABLE, name(3, 9), content(3))), "=3");
        assert_eq!((rows.owner_count(&row), rows.shown(&row)), (3, Some(&name(3, 9))));
        assert_eq!(shown(rows.modify(TABLE, &name(2, 1), content(22))), "nothing");
        assert_eq!(shown(rows.modify(TABLE, &name(3, 9), content(33))), "=33");
        let remove = |rows: &mut SharedRows, key, priority| {
            shown(rows.remove(TABLE, &name(key, priority), keys.clone(), 0))
        };
        assert_eq!(remove(&mut rows, 3, 9), "=1");
        // Undone, it has its age again.
        assert_eq!(remove(&mut rows, 1, 1), "=22");
        assert_eq!(shown(rows.restore(TABLE, name(1, 1), content(1))), "=1");
        assert_eq!(remove(&mut rows, 2, 1), "nothing");
        assert_eq!(remove(&mut rows, 2, 1), "nothing");
        assert_eq!(remove(&mut rows, 1, 1), "-");
        assert_eq!(rows.owner_count(&row), 0);
    }
}
