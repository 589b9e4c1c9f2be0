// SPDX-License-Identifier: Apache-2.0
//! A pass of a packet through ingress or egress, from where it begins to where it is finished. Architectures
//! begin and finish passes; `engine` runs the blocks between, at once, or `timed_pass` in the time they take.

use crate::packet::Traveller;
use crate::trace::PassId;

/// In which pass of which packet a block runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub packet: u64,
    pub pass_number: u64,
    /// What counters and meters count.
    pub counted_bytes: u32,
    /// Where the trace goes.
    pub pass: Option<PassId>,
}

/// The half of the switch that a pass goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Ingress,
    Egress(Departure),
}

/// Where a packet leaves by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Departure {
    pub port: u32,
    /// The queue of the port that it was in.
    pub queue: u32,
    /// When it left the queue.
    pub dequeued_ps: u64,
    /// From the queue to the wire, in picoseconds.
    pub time_to_wire_ps: u64,
}

/// A pass that has begun.
#[derive(Debug)]
pub(crate) struct Pass {
    pub half: Half,
    pub run: Run,
    pub packet: Traveller,
    /// Bytes of the packet's headers before the control changed them.
    pub header_bytes: u32,
}
