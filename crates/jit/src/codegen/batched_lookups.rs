// SPDX-License-Identifier: Apache-2.0
//! Lookups whose keys are bits of the packet as received: they can be made, or prefetched for, for a whole
//! burst before the unit runs on its packets, so that their cache misses overlap.

use crate::runtime::pass::Received;
use ir::TableId;
use std::mem::offset_of;

/// Where a part of a key comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Bits of the packet, counted from its first one.
    Packet { offset_bits: u32, width_bits: u32 },
    /// The low bits of input 0.
    Input { width_bits: u32 },
}

/// A lookup whose key is known from the packet as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lookup {
    pub table: TableId,
    pub parts: Vec<Part>,
    /// Where packets have what it led to; `None` if it is only fetched for.
    pub found_ahead: Option<usize>,
}

/// The lookups of a unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lookups {
    pub known: Vec<Lookup>,
    /// Tables looked up in by something else, before any result of a lookup could be part of it.
    pub unknown: Vec<TableId>,
}

impl Lookups {
    /// Whether it is worth while, and enough, to fetch ahead for the lookups that are known.
    pub fn are_known(&self) -> bool {
        let is_known = |table: &TableId| self.known.iter().any(|lookup| lookup.table == *table);
        !self.known.is_empty() && self.unknown.iter().all(is_known)
    }

    /// How many are made ahead.
    pub fn found_ahead(&self) -> usize {
        self.known.iter().filter(|lookup| lookup.found_ahead.is_some()).count()
    }
}

/// Where a packet of a burst has what a lookup made ahead led to.
pub(crate) fn offset_of_found(at: usize) -> i32 {
    (offset_of!(Received, found) + at * size_of::<u32>()) as i32
}
