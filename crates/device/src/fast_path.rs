// SPDX-License-Identifier: Apache-2.0
//! The fast path as architectures describe it and devices run it: units with their inputs, outputs and exits,
//! and a packet that left it. Running it is in `fast_path_run`; what a packet that left needs is each
//! architecture's.

use crate::configuration_view::ConfigurationView;
use crate::packet::Reception;
use interpreter::PacketContext;
use std::sync::Arc;

/// Input of a unit of the fast path: the port that the packet came from.
pub(crate) const INPUT_PORT: usize = 0;
/// Input: device time in the unit of time stamps.
pub(crate) const INPUT_TIME: usize = 1;
/// Output: the port that the packet leaves by.
pub(crate) const OUTPUT_PORT: usize = 0;
/// Output: the queue of that port.
pub(crate) const OUTPUT_QUEUE: usize = 1;
/// Outputs from here on are the architecture's own.
pub(crate) const FIRST_OWN_OUTPUT: usize = 2;
/// Exit of a packet that ends after ingress: [`crate::DropReason::IngressDrop`].
pub(crate) const EXIT_INGRESS_DROP: u32 = jit::FIRST_WITHOUT_STORAGE;
/// Exit of a packet that ends after egress: [`crate::DropReason::EgressDrop`].
pub(crate) const EXIT_EGRESS_DROP: u32 = jit::FIRST_WITHOUT_STORAGE + 1;

/// The fast path of a program: its units.
#[derive(Clone, Debug)]
pub(crate) struct FastPath {
    pub unit: jit::Unit,
    /// The same with gates of ports and queues ([`crate::traffic_manager::GateKind`]): a packet whose gate is
    /// closed leaves it before the queue.
    pub gated: Option<jit::Unit>,
    /// The pass of the packet in which its last block runs, from 0.
    pub last_pass: u64,
    /// The fast path of copies that nothing holds up, if they have one.
    pub replicas: Option<ReplicaPath>,
    /// What keeps it from being as fast as can be, for people.
    pub notes: Vec<String>,
}

/// Input of a unit for copies: what tells the copy from others. [`INPUT_PORT`] is the port of the copy.
pub(crate) const INPUT_INSTANCE: usize = 2;
/// Input of a unit for copies: the length that the copy has for its queue.
pub(crate) const INPUT_LENGTH: usize = 3;

/// The fast path of copies.
#[derive(Clone, Debug)]
pub(crate) struct ReplicaPath {
    /// From a multicast group to the outgoing bits, on storage as ingress left it: one unit, or two where
    /// the second one makes the same of every copy.
    pub units: Vec<jit::Unit>,
    /// No port has fewer queues.
    pub min_queue_count: u32,
}

/// A packet that left the fast path.
#[derive(Debug)]
pub(crate) struct FastPathExit {
    /// By which exit; `None` before a deparser that found no room.
    pub exit: Option<u32>,
    /// Number and port of the packet.
    pub number: u64,
    pub port: u32,
    /// What it has in common with its copies, where there may be some already.
    pub reception: Option<Arc<Reception>>,
    /// The packet as received, and what has become of it.
    pub context: PacketContext,
    /// What the unit gave so far.
    pub outputs: [u32; jit::MAX_OUTPUTS],
    /// What it read its tables from.
    pub view: ConfigurationView,
}
