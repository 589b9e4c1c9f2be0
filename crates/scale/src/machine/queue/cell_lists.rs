// SPDX-License-Identifier: Apache-2.0
//! [`CellLists`]: the entries of each cell of a stage in order, in one store for all pipelines. Entries have addresses that do not
//! change.

use super::entry::{Content, Entry};

/// No address.
const NONE: u32 = u32::MAX;

/// The entries of each cell in order.
#[derive(Clone, Debug)]
pub(super) struct CellLists {
    /// Entries by address.
    entries: Vec<Entry>,
    /// The next entry of the cell, by address.
    next: Vec<u32>,
    /// Addresses not in use.
    free: Vec<u32>,
    /// The first and last entry of each cell.
    ends: Vec<(u32, u32)>,
}

impl CellLists {
    /// Empty lists of so many cells.
    pub fn new(cells: usize) -> CellLists {
        CellLists {
            entries: Vec::new(),
            next: Vec::new(),
            free: Vec::new(),
            ends: vec![(NONE, NONE); cells],
        }
    }

    #[inline]
    pub fn entry(&self, address: u32) -> &Entry {
        &self.entries[address as usize]
    }

    #[inline]
    pub fn entry_mut(&mut self, address: u32) -> &mut Entry {
        &mut self.entries[address as usize]
    }

    /// Says whether an entry is the first of its cell.
    #[inline]
    pub fn is_first(&self, cell: usize, address: u32) -> bool {
        self.ends[cell].0 == address
    }

    /// Adds an entry behind those of its cell. Returns its address.
    #[inline]
    pub fn push(&mut self, cell: usize, entry: Entry) -> u32 {
        let address = match self.free.pop() {
            Some(address) => {
                self.entries[address as usize] = entry;
                self.next[address as usize] = NONE;
                address
            }
            None => {
                self.entries.push(entry);
                self.next.push(NONE);
                self.entries.len() as u32 - 1
            }
        };
        let ends = &mut self.ends[cell];
        if ends.0 == NONE {
            ends.0 = address;
        } else {
            self.next[ends.1 as usize] = address;
        }
        ends.1 = address;
        address
    }

    /// Takes the first entry out of the list of its cell. Returns the address of the one behind it, if that can be processed.
    #[inline]
    pub fn remove_first(&mut self, cell: usize) -> Option<u32> {
        let ends = &mut self.ends[cell];
        ends.0 = self.next[ends.0 as usize];
        if ends.0 == NONE {
            ends.1 = NONE;
            return None;
        }
        let first = ends.0;
        (self.entry(first).content != Content::Phantom).then_some(first)
    }

    /// Takes an entry out of the list of its cell. Returns the address of the one behind it, if that is the first now and can be
    /// processed.
    pub fn unlink(&mut self, cell: usize, address: u32) -> Option<u32> {
        if self.is_first(cell, address) {
            return self.remove_first(cell);
        }
        let (first, last) = self.ends[cell];
        let before = self.from(first).find(|other| self.next[*other as usize] == address)?;
        self.next[before as usize] = self.next[address as usize];
        if last == address {
            self.ends[cell].1 = before;
        }
        None
    }

    /// Frees the address of an entry that is in no list.
    #[inline]
    pub fn release(&mut self, address: u32) {
        self.free.push(address);
    }

    /// The addresses of the entries of a cell in order.
    pub fn of_cell(&self, cell: usize) -> impl Iterator<Item = u32> {
        self.from(self.ends[cell].0)
    }

    fn from(&self, first: u32) -> impl Iterator<Item = u32> {
        let some = |address: u32| (address != NONE).then_some(address);
        std::iter::successors(some(first), move |address| some(self.next[*address as usize]))
    }
}
