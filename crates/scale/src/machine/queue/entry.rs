// SPDX-License-Identifier: Apache-2.0
//! [`Entry`]: what a queue holds: phantoms, packets in their places, and cancelled phantoms (MP5 §3.2).

use crate::work::Access;
use std::num::NonZeroU64;

/// The slot of a packet that an entry no longer waits for.
pub const NO_SLOT: u32 = u32::MAX;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A phantom packet.
    Phantom,
    /// A packet, with the cycle in which it came, modulo 2^32.
    Packet {
        /// The cycle.
        since: u32,
    },
    /// The phantom of an access that does not happen.
    Cancelled,
}

impl Content {
    /// Says whether it is a packet.
    #[inline]
    pub fn is_packet(self) -> bool {
        matches!(self, Content::Packet { .. })
    }
}

/// An entry.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The place in the order of pushes of all queues.
    pub stamp: u64,
    /// The packet's slot in the table of packets in flight.
    pub flight: u32,
    /// The index of the access among the packet's resolved accesses.
    pub index: u8,
    /// The ring.
    pub ring: u8,
    /// What it is.
    pub content: Content,
    /// The cell.
    pub access: Access,
}

/// Where an entry is: what the directory holds for a packet (MP5 §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(NonZeroU64);

impl Place {
    /// An address in the queue of a pipeline.
    #[inline]
    pub(super) fn new(pipeline: usize, address: u32) -> Place {
        Place(NonZeroU64::MIN | (pipeline as u64) << 33 | u64::from(address) << 1)
    }

    /// The pipeline of the queue.
    #[inline]
    pub fn pipeline(self) -> usize {
        (self.0.get() >> 33) as usize
    }

    /// The place in the queue.
    #[inline]
    pub(super) fn address(self) -> u32 {
        (self.0.get() >> 1) as u32
    }
}

/// What a pop gives.
#[derive(Clone, Copy, Debug)]
pub enum Popped {
    /// The oldest entry with its packet.
    Packet(Entry),
    /// A cancelled entry, which costs the cycle.
    Cancelled(Entry),
}
