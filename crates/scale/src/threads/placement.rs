// SPDX-License-Identifier: Apache-2.0
//! [`Placement`]: which worker owns a cell. It does not change during a run.

use crate::work::{Access, Group};

/// Owners of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    workers: usize,
    groups: Vec<Group>,
}

impl Placement {
    /// Cell `c` of a sharded group is of worker `c mod workers`. Groups of one cell are spread from the last worker down,
    /// because the first one has the caller's thread.
    ///
    /// # Panics
    ///
    /// Without a worker.
    pub fn new(groups: &[Group], workers: usize) -> Placement {
        assert!(workers > 0, "a run has a worker");
        Placement { workers, groups: groups.to_vec() }
    }

    /// Returns the number of workers.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Returns the owner of a cell.
    #[inline]
    pub fn owner(&self, access: Access) -> usize {
        match self.groups[access.group as usize].cells {
            1 => self.workers - 1 - access.group as usize % self.workers,
            _ => access.cell as usize % self.workers,
        }
    }

    /// Returns the number of groups.
    pub(super) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Returns the stage of a group.
    #[inline]
    pub(super) fn stage(&self, access: Access) -> usize {
        self.groups[access.group as usize].stage
    }

    /// Returns the owner of each cell, by group.
    pub fn map(&self) -> Vec<Vec<u8>> {
        let owners = |group: usize| {
            let cells = 0..self.groups[group].cells;
            cells.map(|cell| self.owner(Access { group: group as u32, cell }) as u8).collect()
        };
        (0..self.groups.len()).map(owners).collect()
    }
}
