// SPDX-License-Identifier: Apache-2.0
//! `FastPath`: the units that an architecture describes and a device runs, with their inputs, outputs and exits.
//! `fast_path_run` runs them; each architecture continues packets that take an exit.

use crate::configuration_view::ConfigurationView;
use crate::packet::Reception;
use crate::traffic_manager::GateKind;
use interpreter::PacketContext;
use std::sync::Arc;

/// Input of a unit of the fast path: the ingress port.
pub(crate) const INPUT_PORT: usize = 0;
/// Input: device time in the unit of time stamps.
pub(crate) const INPUT_TIME: usize = 1;
/// Output: the egress port.
pub(crate) const OUTPUT_PORT: usize = 0;
/// Output: the queue of that port.
pub(crate) const OUTPUT_QUEUE: usize = 1;
/// Output: the length of the packet in its queue, after an exit or of a packet with a planned departure.
pub(crate) const OUTPUT_QUEUED_LENGTH: usize = 2;
/// Outputs from here on are specific to the architecture.
pub(crate) const FIRST_OWN_OUTPUT: usize = 3;
/// Exit of a packet dropped after ingress: [`crate::DropReason::IngressDrop`].
pub(crate) const EXIT_INGRESS_DROP: u32 = jit::FIRST_WITHOUT_STORAGE;
/// Exit of a packet dropped after egress: [`crate::DropReason::EgressDrop`].
pub(crate) const EXIT_EGRESS_DROP: u32 = jit::FIRST_WITHOUT_STORAGE + 1;

/// The variant of the fast path's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FastPathKind {
    /// Without gates: no packet has to wait, whatever its port and queue.
    Plain,
    /// With gates: a packet whose gate is closed takes an exit.
    Gated(GateKind),
    /// With planned departures.
    Planned,
}

/// The fast path of a program.
#[derive(Clone, Debug)]
pub(crate) struct FastPath {
    pub unit: jit::Unit,
    /// The unit with gates of ports and queues ([`crate::traffic_manager::GateKind`]): a packet whose gate is closed
    /// takes the exit before the queue.
    pub gated: Option<jit::Unit>,
    /// The unit that runs egress when a packet is queued ([`crate::DeviceOptions::plans_departures`]), if that changes
    /// nothing in the packet.
    pub planned: Option<jit::Unit>,
    /// The pass of the packet in which the last block runs, from 0.
    pub last_pass: u64,
    /// The fast path of copies that do not have to wait, if the program has one.
    pub replicas: Option<ReplicaPath>,
    /// Notes for users on what slows it down.
    pub notes: Vec<String>,
}

/// Input of a unit for copies: the replica's instance. [`INPUT_PORT`] is the copy's egress port.
pub(crate) const INPUT_INSTANCE: usize = 2;
/// Input of a unit for copies: the length of the copy in its queue.
pub(crate) const INPUT_LENGTH: usize = 3;

/// The fast path of copies.
#[derive(Clone, Debug)]
pub(crate) struct ReplicaPath {
    /// The blocks after the multicast, on the storage that ingress left: one unit, or two if the second one gives the
    /// same bytes for every copy.
    pub units: Vec<jit::Unit>,
    /// The smallest number of queues of a port.
    pub min_queue_count: u32,
}

/// A packet that took an exit of the fast path.
#[derive(Debug)]
pub(crate) struct FastPathExit {
    /// The exit; `None` if the deparser had no room.
    pub exit: Option<u32>,
    /// Number of the packet.
    pub number: u64,
    /// The ingress port.
    pub port: u32,
    /// The reception that it shares with its copies, if there may be copies already.
    pub reception: Option<Arc<Reception>>,
    /// The received bytes and the storage.
    pub context: PacketContext,
    /// The outputs of the unit so far.
    pub outputs: [u32; jit::MAX_OUTPUTS],
    /// The configuration that the unit has read.
    pub view: ConfigurationView,
}
