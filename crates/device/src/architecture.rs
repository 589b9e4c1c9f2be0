// SPDX-License-Identifier: Apache-2.0
//! `Architecture`: how a pass through ingress or egress begins, which blocks it runs and how it is finished. An
//! architecture acts through `services`; it does not see the loaded program and the switch core. The implementations
//! are in `architectures`.

use crate::engine::BlockRunner;
use crate::fast_path::{FastPath, FastPathExit};
use crate::options::DeviceOptions;
use crate::output::DeviceError;
use crate::packet::{Arrival, QueuedPacket};
use crate::pass::{EgressAhead, EmptyQueues, Gress, Pass};
use crate::services::Services;
use crate::tap::EgressPacket;
use crate::traffic_manager::Dequeued;
use interpreter::Outcome;
use ir::SlotId;
use std::sync::Arc;

/// An architecture, bound to one program.
pub(crate) trait Architecture: std::fmt::Debug + Send + Sync {
    /// Returns the largest port number that its metadata can hold.
    fn largest_port(&self) -> u32;

    /// Returns the slot whose value drops a packet. Traces name the statement that wrote it last.
    fn drop_slot(&self) -> Option<SlotId>;

    /// Completes the options with the architecture's defaults, where the user has set nothing.
    fn set_defaults(&self, options: &mut DeviceOptions) {
        let _ = options;
    }

    /// Begins a pass through ingress. Returns `None` if the packet was dropped.
    fn begin_ingress(&self, services: &mut Services<'_>, arrival: Arrival) -> Option<Pass>;

    /// Puts a packet that finished ingress into a queue of a port.
    fn enqueue(&self, services: &mut Services<'_>, port: u32, packet: Box<QueuedPacket>);

    /// Begins a pass through egress of a dequeued packet. Returns `None` if the packet was dropped or bypasses egress.
    fn begin_egress(
        &self,
        services: &mut Services<'_>,
        port: u32,
        packet: Dequeued<Box<QueuedPacket>>,
    ) -> Option<Pass>;

    /// Returns the blocks that a pass runs between its begin and its finish, in order.
    fn blocks(&self, gress: Gress) -> &Arc<[usize]>;

    /// Updates a pass after one of its blocks ended at a time in picoseconds; may end the pass.
    fn after_block(&self, pass: &mut Pass, block: usize, outcome: &Outcome, now_ps: u64);

    /// Finishes a pass after its last block: makes copies, sends digests, and queues or transmits the packet. The pass
    /// has a view of the configuration.
    fn finish(&self, services: &mut Services<'_>, pass: Pass) -> Result<(), DeviceError>;

    /// Returns the packet at the egress parser, for architectures whose traffic manager passes only bytes to egress.
    fn at_egress(&self, _: &QueuedPacket) -> Option<EgressPacket> {
        None
    }

    /// Returns whether [`Architecture::run_egress_ahead`] may run egress of the program.
    fn egress_runs_ahead(&self) -> bool {
        false
    }

    /// Runs egress of a packet whose pass through ingress has run ahead of its arrival, at which all queues are empty and all
    /// wires idle. A packet that needs something else of the device stays as it is.
    fn run_egress_ahead(
        &self,
        _: &mut BlockRunner,
        _: &mut Pass,
        _: EmptyQueues,
    ) -> Result<EgressAhead, DeviceError> {
        Ok(EgressAhead::No)
    }

    /// Describes the fast path: the blocks from a port to a port as one unit with the inputs of [`FastPath`]. The unit
    /// exits before any effect that only the slow path can complete. Every port has at least `min_queue_count`
    /// queues. The error says, for users, why the program has no fast path. The default has none.
    fn fast_path(&self, program: &ir::Program, min_queue_count: u32) -> Result<FastPath, String> {
        let _ = min_queue_count;
        Err(format!("devices have no fast path for `{}`", program.architecture))
    }

    /// Continues a packet that took an exit of the fast path on the slow path. Not called without a fast path.
    fn resume_after_exit(
        &self,
        services: &mut Services<'_>,
        left: FastPathExit,
    ) -> Result<(), DeviceError> {
        services.recycle(left.context);
        Ok(())
    }
}
