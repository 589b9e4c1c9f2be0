// SPDX-License-Identifier: Apache-2.0
//! [`FreeNumbers`]: numbers of objects from 0, assigned as BMv2 assigns handles.

use std::collections::BTreeSet;

/// Assigns the smallest number that is free.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeNumbers {
    /// The free ones among those that were assigned.
    returned: BTreeSet<u64>,
    /// The smallest number that was never assigned.
    next: u64,
}

impl FreeNumbers {
    /// Assigns a number.
    pub(crate) fn take(&mut self) -> u64 {
        self.returned.pop_first().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// Makes a number that was assigned free.
    pub(crate) fn give_back(&mut self, number: u64) {
        self.returned.insert(number);
    }
}
