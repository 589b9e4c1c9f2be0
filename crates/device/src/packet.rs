// SPDX-License-Identifier: Apache-2.0
//! Packets between passes: arrivals that wait for ingress as bytes, queued packets with headers and metadata, and packets
//! that externs emitted.

use crate::circulation::Circulating;
use crate::ingress_source::IngressSource;
use crate::trace::{Cause, PassId};
use interpreter::PacketContext;
use ir::{Bits, SlotId};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of a program in a device. A device never reuses a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramId(pub(crate) u32);

impl fmt::Display for ProgramId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "program {}", self.0)
    }
}

/// State that a received packet shares with all its copies.
#[derive(Debug)]
pub(crate) struct Reception {
    /// Number in order of reception, from 0.
    pub number: u64,
    /// Number of passes of the packet and its copies so far.
    passes: AtomicU64,
}

impl Reception {
    pub fn new(number: u64) -> Arc<Reception> {
        Arc::new(Reception { number, passes: AtomicU64::new(0) })
    }

    /// Becomes that of another packet.
    fn reset(&mut self, number: u64) {
        *self = Reception { number, passes: AtomicU64::new(0) };
    }

    /// Counts passes that the fast path made.
    pub fn add_passes(&self, passes: u64) {
        self.passes.store(self.passes() + passes, Ordering::Relaxed);
    }

    /// Returns the number of passes so far.
    pub fn passes(&self) -> u64 {
        self.passes.load(Ordering::Relaxed)
    }

    /// Counts a pass and returns its number, from 0; `None` at the limit.
    pub fn next_pass(&self, limit: Option<u32>) -> Option<u64> {
        let pass = self.passes.load(Ordering::Relaxed);
        limit.is_none_or(|limit| pass < u64::from(limit)).then(|| {
            self.passes.store(pass + 1, Ordering::Relaxed);
            pass
        })
    }
}

/// A token that all passes hold that began between two barriers; it is dropped when the last of them has ended. A
/// packet holds it from ingress to the wire, queues included, and so do its copies.
#[derive(Debug, Default)]
pub(crate) struct PassEpoch;

/// A packet that arrives at ingress.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub reception: Arc<Reception>,
    pub source: IngressSource,
    /// The ingress port; on an internal path, that of the previous pass.
    pub port: u32,
    /// Arrival of its last bit, in picoseconds; the packet may have waited for ingress since.
    pub arrived_ps: u64,
    pub bytes: Vec<u8>,
    /// Zeros behind them that are not stored; only until the slow path takes the packet.
    pub absent_bytes: u32,
    /// Values preserved from the previous pass.
    pub preserved: Vec<(SlotId, Bits)>,
    /// The pass that sent it here.
    pub parent: Option<PassId>,
    /// The rounds that it makes without the program.
    pub circulating: Option<Circulating>,
}

impl Arrival {
    /// Makes an arrival from outside.
    pub fn from_wire(
        number: u64,
        port: u32,
        arrived_ps: u64,
        (bytes, absent_bytes): (Vec<u8>, u32),
    ) -> Arrival {
        Arrival {
            reception: Reception::new(number),
            source: IngressSource::Wire,
            port,
            arrived_ps,
            bytes,
            absent_bytes,
            preserved: Vec::new(),
            parent: None,
            circulating: None,
        }
    }

    /// Becomes another arrival from outside, in the same memory. Returns false if a copy of the packet is left.
    pub fn reuse(
        &mut self,
        number: u64,
        port: u32,
        arrived_ps: u64,
        bytes: &mut (Vec<u8>, u32),
    ) -> bool {
        let Some(reception) = Arc::get_mut(&mut self.reception) else { return false };
        reception.reset(number);
        (self.source, self.port, self.arrived_ps) = (IngressSource::Wire, port, arrived_ps);
        (self.bytes, self.absent_bytes) = std::mem::take(bytes);
        self.preserved.clear();
        (self.parent, self.circulating) = (None, None);
        true
    }

    /// Returns its length, stored or not.
    pub fn length_bytes(&self) -> usize {
        self.bytes.len() + self.absent_bytes as usize
    }

    /// Stores all of its bytes.
    pub fn store_absent(&mut self) {
        self.bytes.resize(self.length_bytes(), 0);
        self.absent_bytes = 0;
    }
}

/// Requests that blocks have issued and the architecture has not executed yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PendingRequests {
    /// Clone: session and field list.
    pub clone: Option<(u32, Option<u32>)>,
    /// Resubmit: field list.
    pub resubmit: Option<Option<u32>>,
    /// Recirculate: field list.
    pub recirculate: Option<Option<u32>>,
    /// Truncate the transmitted packet to this length.
    pub truncate_bytes: Option<u64>,
    /// Skip egress.
    pub bypass_egress: bool,
}

/// A packet between ingress and egress.
#[derive(Clone, Debug)]
pub(crate) struct QueuedPacket {
    pub reception: Arc<Reception>,
    /// The ingress port.
    pub ingress_port: u32,
    pub context: PacketContext,
    /// Length at reception, which counters and meters count.
    pub received_bytes: u32,
    /// Length after added and removed headers.
    pub length_bytes: u32,
    pub requests: PendingRequests,
    /// The cause of its egress pass, for traces.
    pub cause: Cause,
    /// The pass that queued it.
    pub parent: Option<PassId>,
    /// The token that barriers wait for.
    pub epoch: Arc<PassEpoch>,
    /// Time from the finish of the pass to the queues, in picoseconds.
    pub time_to_queues_ps: u64,
}

/// A packet that an extern emitted.
#[derive(Debug)]
pub(crate) struct EmittedPacket {
    /// The reception of the packet whose pass called the extern.
    pub reception: Arc<Reception>,
    pub bytes: Vec<u8>,
    /// The pass that made it.
    pub parent: Option<PassId>,
}

/// An item of a queue.
#[derive(Debug)]
pub(crate) enum Queued {
    /// A packet for egress.
    Packet(ProgramId, Box<QueuedPacket>),
    /// A packet for ingress, on an internal path.
    Arrival(ProgramId, Box<Arrival>),
    /// A packet for the wire, without egress.
    Emitted(ProgramId, Box<EmittedPacket>),
}
