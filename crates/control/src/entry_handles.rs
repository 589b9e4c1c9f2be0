// SPDX-License-Identifier: Apache-2.0
//! [`EntryHandles`]: the numbers by which commands name the entries of a table, assigned as BMv2 assigns them, so that a
//! command file means the same to both. `session` reads commands with them, `recording` writes commands.

use crate::free_numbers::FreeNumbers;
use ir::{KeyPattern, Program, Table, TableId};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Bits of a handle that are the entry's place; above them is the number of deletions there.
const PLACE_BITS: u32 = 24;

/// Keys in canonical form ([`state::entry_keys`]) and priority, which name an entry of a table.
pub(crate) type EntryKey = (Vec<KeyPattern>, i64);

/// The handles of a table's entries.
///
/// A new entry takes the smallest free place. Its handle is the place, with the number of entries that were deleted at
/// this place in the top byte. So a handle that was kept over a deletion names no other entry, until 256 deletions later.
#[derive(Clone, Debug, Default)]
pub(crate) struct EntryHandles {
    places: Vec<Place>,
    free: FreeNumbers,
    handles: HashMap<Arc<EntryKey>, u64>,
}

#[derive(Clone, Debug, Default)]
struct Place {
    deletions: u8,
    entry: Option<Arc<EntryKey>>,
}

/// The canonical key of an entry. Keys that do not fit stay as they are: the target refuses them.
pub(crate) fn entry_key(table: &Table, keys: &[KeyPattern], priority: i64) -> EntryKey {
    let keys = state::entry_keys(table, keys).unwrap_or_else(|_| keys.to_vec());
    (keys, if table.has_priorities() { priority } else { 0 })
}

impl EntryHandles {
    /// Returns the handles of the entries that the program gives its tables.
    pub(crate) fn of_program(program: &Program) -> BTreeMap<TableId, EntryHandles> {
        let of = |table: &Table| {
            let mut handles = EntryHandles::default();
            for entry in &table.entries {
                handles.insert(entry_key(table, &entry.keys, entry.priority));
            }
            handles
        };
        let tables = program.tables.iter().enumerate();
        tables.map(|(at, table)| (TableId(at as u32), of(table))).collect()
    }

    /// Assigns a handle to a new entry.
    pub(crate) fn insert(&mut self, key: EntryKey) -> u64 {
        let (number, key) = (self.free.take(), Arc::new(key));
        let at = number as usize;
        if at == self.places.len() {
            self.places.push(Place::default());
        }
        let place = &mut self.places[at];
        place.entry = Some(key.clone());
        let handle = u64::from(place.deletions) << PLACE_BITS | number;
        self.handles.insert(key, handle);
        handle
    }

    fn place(&self, handle: u64) -> Option<usize> {
        let at = usize::try_from(handle & ((1 << PLACE_BITS) - 1)).ok()?;
        let place = self.places.get(at)?;
        (u64::from(place.deletions) == handle >> PLACE_BITS).then_some(at)
    }

    /// The entry with this handle.
    pub(crate) fn get(&self, handle: u64) -> Option<&EntryKey> {
        self.places[self.place(handle)?].entry.as_deref()
    }

    /// Removes the entry with this handle.
    pub(crate) fn remove(&mut self, handle: u64) -> Option<Arc<EntryKey>> {
        let at = self.place(handle)?;
        let place = &mut self.places[at];
        let key = place.entry.take()?;
        place.deletions = place.deletions.wrapping_add(1);
        self.free.give_back(at as u64);
        if self.handles.get(&key) == Some(&handle) {
            self.handles.remove(&key);
        }
        Some(key)
    }

    /// The handle of an entry.
    pub(crate) fn handle_of(&self, key: &EntryKey) -> Option<u64> {
        self.handles.get(key).copied()
    }

    /// The handles of all entries, by place.
    pub(crate) fn all(&self) -> impl Iterator<Item = u64> {
        self.places
            .iter()
            .enumerate()
            .filter(|(_, place)| place.entry.is_some())
            .map(|(at, place)| u64::from(place.deletions) << PLACE_BITS | at as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::Bits;

    fn key(value: u64) -> EntryKey {
        (vec![KeyPattern::Exact(Bits::from_u64(8, value))], 0)
    }

    #[test]
    fn handles_are_those_of_bmv2() {
        let mut handles = EntryHandles::default();
        assert_eq!([1, 2, 3].map(|value| handles.insert(key(value))), [0, 1, 2]);
        assert_eq!(handles.remove(1).as_deref(), Some(&key(2)));
        assert_eq!(handles.remove(0).as_deref(), Some(&key(1)));
        assert_eq!(handles.get(0), None);
        // The smallest free place, one deletion later.
        assert_eq!(handles.insert(key(4)), 1 << 24);
        assert_eq!(handles.insert(key(2)), 1 << 24 | 1);
        assert_eq!(handles.insert(key(5)), 3);
        assert_eq!(handles.get(0), None);
        assert_eq!(handles.get(1 << 24), Some(&key(4)));
        assert_eq!(handles.handle_of(&key(2)), Some(1 << 24 | 1));
        assert_eq!(handles.all().collect::<Vec<_>>(), [1 << 24, 1 << 24 | 1, 2, 3]);
        for round in 1..=255 {
            assert!(handles.remove((round % 256) << 24 | 1).is_some(), "{round}");
            handles.insert(key(2));
        }
        // 256 deletions.
        assert_eq!(handles.handle_of(&key(2)), Some(1));
    }
}
