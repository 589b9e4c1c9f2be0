// SPDX-License-Identifier: Apache-2.0
//! [`CellLists`]: the entries of each cell of a stage in order, in one store for all pipelines. Entries have addresses that do not
//! change.

use super::entry::{Content, Entry};
use crate::work::Access;

/// No address.
const NONE: u32 = u32::MAX;

/// The entries of each cell in order.
#[derive(Clone, Debug)]
pub(super) struct CellLists {
    /// The first group of the stage; cells are numbered through all groups of the stage.
    first_group: u32,
    /// The number of the first cell of each group of the stage.
    first_cells: Vec<u32>,
    /// Entries by address.
    entries: Vec<Entry>,
    /// The next entry of the cell, by address.
    next: Vec<u32>,
    /// Addresses not in use.
    free: Vec<u32>,
    /// The first and last entry of each cell, by number.
    ends: Vec<(u32, u32)>,
}

impl CellLists {
    /// Empty lists for the groups of a stage with so many cells each, the first of them `first_group`.
    pub fn new(first_group: u32, groups: &[u32]) -> CellLists {
        let mut first_cells = Vec::new();
        let mut cells = 0;
        for count in groups {
            first_cells.push(cells);
            cells += count;
        }
        CellLists {
            first_group,
            first_cells,
            entries: Vec::new(),
            next: Vec::new(),
            free: Vec::new(),
            ends: vec![(NONE, NONE); cells as usize],
        }
    }

    /// The number of a cell.
    #[inline]
    fn number(&self, cell: Access) -> usize {
        (self.first_cells[(cell.group - self.first_group) as usize] + cell.cell) as usize
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
    pub fn is_first(&self, cell: Access, address: u32) -> bool {
        self.ends[self.number(cell)].0 == address
    }

    /// Adds an entry behind those of its cell. Returns its address.
    #[inline]
    pub fn push(&mut self, entry: Entry) -> u32 {
        let cell = self.number(entry.access);
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
    pub fn remove_first(&mut self, cell: Access) -> Option<u32> {
        let cell = self.number(cell);
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
    pub fn unlink(&mut self, cell: Access, address: u32) -> Option<u32> {
        if self.is_first(cell, address) {
            return self.remove_first(cell);
        }
        let cell = self.number(cell);
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
    pub fn of_cell(&self, cell: Access) -> impl Iterator<Item = u32> {
        self.from(self.ends[self.number(cell)].0)
    }

    fn from(&self, first: u32) -> impl Iterator<Item = u32> {
        let some = |address: u32| (address != NONE).then_some(address);
        std::iter::successors(some(first), move |address| some(self.next[*address as usize]))
    }
}
