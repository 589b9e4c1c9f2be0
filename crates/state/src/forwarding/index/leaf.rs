// SPDX-License-Identifier: Apache-2.0
//! Leaves: the numbers that lookups return. Tables define their meaning.

/// What a lookup returns when no entry matches. Never a leaf.
pub const NO_MATCH: u32 = u32::MAX;

/// Leaves are below this.
pub const LEAF_LIMIT: u32 = 1 << LEAF_BITS;

/// Bits of any leaf.
pub const LEAF_BITS: u32 = 31;
