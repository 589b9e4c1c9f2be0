// SPDX-License-Identifier: Apache-2.0
//! A packet on its way through the device: as bytes that wait for ingress, and as parsed headers
//! and metadata that wait for egress. What the architecture does to it is not here.

use crate::ingress_source::IngressSource;
use crate::trace::{Cause, PassId};
use interpreter::PacketContext;
use ir::{Bits, SlotId};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A program loaded into a device. Numbers are not given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramId(pub(crate) u32);

impl fmt::Display for ProgramId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "program {}", self.0)
    }
}

/// What is common to a received packet and all copies made of it.
#[derive(Debug)]
pub(crate) struct Reception {
    /// Number in order of reception, from 0.
    pub number: u64,
    /// Passes of it and its copies so far.
    passes: AtomicU64,
}

impl Reception {
    pub fn new(number: u64) -> Arc<Reception> {
        Arc::new(Reception { number, passes: AtomicU64::new(0) })
    }

    /// Counts passes that were made without asking.
    pub fn add_passes(&self, passes: u64) {
        self.passes.store(self.passes() + passes, Ordering::Relaxed);
    }

    /// How many passes there were.
    pub fn passes(&self) -> u64 {
        self.passes.load(Ordering::Relaxed)
    }

    /// Counts one more pass; its number from 0, or nothing when the limit is reached.
    pub fn next_pass(&self, limit: Option<u32>) -> Option<u64> {
        let pass = self.passes.load(Ordering::Relaxed);
        limit.is_none_or(|limit| pass < u64::from(limit)).then(|| {
            self.passes.store(pass + 1, Ordering::Relaxed);
            pass
        })
    }
}

/// What all passes hold that began between two barriers: it is gone when the last of them has ended. A pass
/// goes from ingress to the wire, queues included; copies of a packet are of its pass.
#[derive(Debug, Default)]
pub(crate) struct PassEpoch;

/// A packet that comes to ingress.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub reception: Arc<Reception>,
    pub source: IngressSource,
    /// The port that it came by, or, from an internal path, the pass before it.
    pub port: u32,
    /// When its last bit was there, in picoseconds; it may have waited for ingress since.
    pub arrived_ps: u64,
    pub bytes: Vec<u8>,
    /// Values that survive from the pass before.
    pub preserved: Vec<(SlotId, Bits)>,
    /// The pass that sent it here.
    pub parent: Option<PassId>,
}

/// What a block asked for and what is not done yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PendingRequests {
    /// Clone: session and field list.
    pub clone: Option<(u32, Option<u32>)>,
    /// Resubmit: field list.
    pub resubmit: Option<Option<u32>>,
    /// Recirculate: field list.
    pub recirculate: Option<Option<u32>>,
    /// Cut the packet that leaves to so many bytes.
    pub truncate_bytes: Option<u64>,
    /// From the queue to the wire, without egress.
    pub bypass_egress: bool,
}

/// A packet between ingress and egress.
#[derive(Clone, Debug)]
pub(crate) struct QueuedPacket {
    pub reception: Arc<Reception>,
    /// The port that it came to ingress by.
    pub ingress_port: u32,
    pub context: PacketContext,
    /// Length as received, which counters and meters count.
    pub received_bytes: u32,
    /// Length with headers added and removed since.
    pub length_bytes: u32,
    pub requests: PendingRequests,
    /// Why it goes to egress, for its trace.
    pub cause: Cause,
    /// The pass that queued it.
    pub parent: Option<PassId>,
    /// Barriers wait for it.
    pub epoch: Arc<PassEpoch>,
    /// From the finish of a pass to the queues, in picoseconds.
    pub time_to_queues_ps: u64,
}

/// A packet that an extern made.
#[derive(Debug)]
pub(crate) struct EmittedPacket {
    /// That of the packet whose pass made it.
    pub reception: Arc<Reception>,
    pub bytes: Vec<u8>,
    /// The pass that made it.
    pub parent: Option<PassId>,
}

/// What stands in a queue.
#[derive(Debug)]
pub(crate) enum Queued {
    /// On its way to egress.
    Packet(ProgramId, Box<QueuedPacket>),
    /// On its way back to ingress.
    Arrival(ProgramId, Box<Arrival>),
    /// On its way to the wire, without egress.
    Emitted(ProgramId, Box<EmittedPacket>),
}
