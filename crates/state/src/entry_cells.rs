// SPDX-License-Identifier: Apache-2.0
//! Cells that belong to the entries of a table and to its default action. What is in them is decided in
//! `cells`.

use crate::EntryRecord;

/// A cell that belongs to an entry. Which one tells the generation: a cell that an older entry left
/// counts as untouched, so no pipeline need hear of deletions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EntryCell<T> {
    generation: u64,
    value: T,
}

/// Cells by the entry's place, the default action's first.
#[derive(Clone, Debug, Default)]
pub(crate) struct EntryCells<T>(Vec<EntryCell<T>>);

/// An entry as its cells know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryIdentity {
    /// The entry's place + 1; 0 is the default action.
    pub(crate) place_plus_one: u32,
    /// The entry's generation; 0 for the default action.
    pub(crate) generation: u64,
}

impl EntryIdentity {
    /// Of an entry; `None` is the default action.
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

    /// The cell for changing; `None` when a younger entry has it (then a packet is still reading a
    /// configuration in which the older one existed).
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

    /// The cell as it is, whoever has it.
    pub(crate) fn snapshot(&self, entry: EntryIdentity) -> Snapshot<T> {
        let index = entry.place_plus_one as usize;
        Snapshot { index, cell: self.0.get(index).copied().unwrap_or_default() }
    }

    /// Sets a cell back.
    pub(crate) fn restore(&mut self, snapshot: Snapshot<T>) {
        if let Some(cell) = self.0.get_mut(snapshot.index) {
            *cell = snapshot.cell;
        }
    }
}

/// An entry's cell as it was, with the generation it belonged to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot<T> {
    index: usize,
    cell: EntryCell<T>,
}
