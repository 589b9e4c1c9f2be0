// SPDX-License-Identifier: Apache-2.0
//! Lookups whose keys are bits of the received packet. A separate function makes them, or prefetches for them,
//! for a whole burst before the unit runs, so that their cache misses overlap.

use crate::runtime::pass::Received;
use ir::TableId;
use std::mem::offset_of;

/// The source of a part of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyPart {
    /// Bits of the packet, from its first one.
    Packet { offset_bits: u32, width_bits: u32 },
    /// The low bits of input 0.
    Input { width_bits: u32 },
}

/// A lookup whose key is known from the received packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BatchedLookup {
    pub table: TableId,
    pub parts: Vec<KeyPart>,
    /// Index of its result in `Received::batched_items`; `None` if the lookup is only prefetched.
    pub batch_index: Option<usize>,
}

/// The lookups of a unit that can be batched or prefetched.
#[derive(Clone, Debug, Default)]
pub(crate) struct BatchedLookups {
    pub known: Vec<BatchedLookup>,
    /// Tables with lookups by other keys that do not depend on an earlier lookup.
    pub unknown: Vec<TableId>,
}

impl BatchedLookups {
    /// Whether the known lookups cover all tables that can be prefetched.
    pub fn are_known(&self) -> bool {
        let is_known = |table: &TableId| self.known.iter().any(|lookup| lookup.table == *table);
        !self.known.is_empty() && self.unknown.iter().all(is_known)
    }

    /// How many are batched.
    pub fn batched_count(&self) -> usize {
        self.known.iter().filter(|lookup| lookup.batch_index.is_some()).count()
    }
}

/// Offset of a batched lookup's result in `Received`.
pub(crate) fn batched_item_offset(at: usize) -> i32 {
    (offset_of!(Received, batched_items) + at * size_of::<u32>()) as i32
}
