// SPDX-License-Identifier: Apache-2.0
//! State of a pipeline instance besides tables: registers, counters, meters, action profiles and value sets.

use crate::{Bits, Display, HashAlgorithm, Key, OriginId};
use std::sync::Arc;

/// A register array.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterArray {
    /// Control-plane name.
    pub name: Arc<str>,
    /// Width of a cell: a struct's fields are concatenated, the first in the highest bits.
    pub width_bits: u32,
    /// Number of cells.
    pub size: u64,
    /// First value of every cell.
    pub initial: Bits,
    /// How to show a cell.
    pub display: Display,
    /// Its declaration.
    pub origin: OriginId,
}

/// What a counter or meter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CountUnit {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Both.
    PacketsAndBytes,
}

/// A counter array, or a direct counter with a cell an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// Control-plane name.
    pub name: Arc<str>,
    /// What is counted.
    pub unit: CountUnit,
    /// Number of cells; `None` for a direct counter.
    pub size: Option<u64>,
    /// Its declaration.
    pub origin: OriginId,
}

/// A two-rate three-colour meter array (RFC 2698), or a direct meter with a cell an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Meter {
    /// Control-plane name.
    pub name: Arc<str>,
    /// What is metered: packets or bytes.
    pub unit: CountUnit,
    /// Number of cells; `None` for a direct meter.
    pub size: Option<u64>,
    /// Its declaration.
    pub origin: OriginId,
}

/// An action profile; with `selector` it chooses among the members of a group by hash.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionProfile {
    /// Control-plane name.
    pub name: Arc<str>,
    /// Declared number of members.
    pub size: Option<u64>,
    /// Hash algorithm and output width of a selector.
    pub selector: Option<(HashAlgorithm, u32)>,
    /// Its declaration.
    pub origin: OriginId,
}

/// A parser value set.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueSet {
    /// Control-plane name.
    pub name: Arc<str>,
    /// Components of a member.
    pub components: Vec<Key>,
    /// Declared number of members.
    pub size: u64,
    /// Its declaration.
    pub origin: OriginId,
}
