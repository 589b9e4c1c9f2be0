// SPDX-License-Identifier: Apache-2.0
//! `EntryCells`: cells of a table's entries and of its default action. `cells` has their content.

use crate::EntryRecord;

/// A cell of an entry. The generation identifies the entry: a cell of a deleted entry counts as untouched, so
/// deletions need not reset cells.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EntryCell<T> {
    generation: u64,
    value: T,
}

/// Cells by the entry's place, the default action's first.
#[derive(Clone, Debug, Default)]
pub(crate) struct EntryCells<T>(Vec<EntryCell<T>>);

/// The identity of an entry for its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryIdentity {
    /// The entry's place + 1; 0 is the default action.
    pub(crate) place_plus_one: u32,
    /// The entry's generation; 0 for the default action.
    pub(crate) generation: u64,
}

impl EntryIdentity {
    /// Returns the identity of an entry; `None` is the default action.
    pub(crate) fn of(entry: Option<&EntryRecord>) -> EntryIdentity {
        match entry {
            None => EntryIdentity { place_plus_one: 0, generation: 0 },
            Some(entry) => {
                EntryIdentity { place_plus_one: entry.handle.0 + 1, generation: entry.generation }
            }
        }
    }
}

impl<T: Copy + Default> EntryCells<T> {
    pub(crate) fn read(&self, entry: EntryIdentity) -> T {
        match self.0.get(entry.place_plus_one as usize) {
            Some(cell) if cell.generation == entry.generation => cell.value,
            _ => T::default(),
        }
    }

    /// Returns the cell for a change; `None` if a younger entry owns it, because the packet still reads a
    /// configuration with the older entry.
    #[inline]
    pub(crate) fn cell(&mut self, entry: EntryIdentity) -> Option<&mut T> {
        let EntryIdentity { place_plus_one, generation } = entry;
        let index = place_plus_one as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, EntryCell::default());
        }
        let cell = self.0.get_mut(index)?;
        if cell.generation < generation {
            *cell = EntryCell { generation, value: T::default() };
        }
        (cell.generation == generation).then_some(&mut cell.value)
    }

    /// Returns all cells with their owners.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (EntryIdentity, T)> + '_ {
        let owned = |(place_plus_one, cell): (u32, &EntryCell<T>)| {
            (EntryIdentity { place_plus_one, generation: cell.generation }, cell.value)
        };
        (0..).zip(&self.0).map(owned)
    }

    /// Returns the cell with its owner.
    pub(crate) fn snapshot(&self, entry: EntryIdentity) -> Snapshot<T> {
        let index = entry.place_plus_one as usize;
        Snapshot { index, cell: self.0.get(index).copied().unwrap_or_default() }
    }

    /// Restores a cell.
    pub(crate) fn restore(&mut self, snapshot: Snapshot<T>) {
        if let Some(cell) = self.0.get_mut(snapshot.index) {
            *cell = snapshot.cell;
        }
    }
}

/// The content of a cell with the generation of its owner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot<T> {
    index: usize,
    cell: EntryCell<T>,
}
