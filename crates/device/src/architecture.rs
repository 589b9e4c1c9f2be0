// SPDX-License-Identifier: Apache-2.0
//! What an architecture says of its programs: how a pass begins, which blocks run in it, how it is finished.
//! It sees services, not the program and the switch behind them. The architectures are in `architectures`.

use crate::fast_path::{FastPath, LeftFastPath};
use crate::options::DeviceOptions;
use crate::output::DeviceError;
use crate::packet::{Arrival, QueuedPacket};
use crate::pass::{Gress, Pass};
use crate::services::Services;
use crate::tap::EgressPacket;
use crate::traffic_manager::Dequeued;
use interpreter::Outcome;
use ir::SlotId;
use std::sync::Arc;

/// One program's blocks at work.
pub(crate) trait Architecture: std::fmt::Debug + Send + Sync {
    /// The largest port that its metadata can name.
    fn largest_port(&self) -> u32;

    /// The slot whose value drops a packet, for traces that say who set it.
    fn drop_slot(&self) -> Option<SlotId>;

    /// Sets options that a user did not set and that are otherwise on this architecture.
    fn set_defaults(&self, options: &mut DeviceOptions) {
        let _ = options;
    }

    /// Begins a pass through ingress, unless the packet ends here.
    fn begin_ingress(&self, services: &mut Services<'_>, arrival: Arrival) -> Option<Pass>;

    /// Puts a packet from ingress into a queue of a port.
    fn enqueue(&self, services: &mut Services<'_>, port: u32, packet: Box<QueuedPacket>);

    /// Begins the pass through egress of a packet that left its queue, unless the packet ends here or goes on
    /// without one.
    fn begin_egress(
        &self,
        services: &mut Services<'_>,
        port: u32,
        packet: Dequeued<Box<QueuedPacket>>,
    ) -> Option<Pass>;

    /// The blocks that run between beginning and finish of a pass, in order.
    fn blocks(&self, gress: Gress) -> &Arc<[usize]>;

    /// Notes that a block of a pass ended, at a time in picoseconds; it may end the pass.
    fn after_block(&self, pass: &mut Pass, block: usize, outcome: &Outcome, now_ps: u64);

    /// Finishes a pass behind the last of its blocks: makes copies, sends digests, queues the packet or sends
    /// it. The pass has a view of the configuration.
    fn finish(&self, services: &mut Services<'_>, pass: Pass) -> Result<(), DeviceError>;

    /// The packet as it comes to the egress parser, where nothing but bytes does.
    fn at_egress(&self, _: &QueuedPacket) -> Option<EgressPacket> {
        None
    }

    /// The fast path of a packet that goes from a port to a port at once, as one unit, where the architecture
    /// has one. It takes the inputs of [`FastPath`], and exits before it does anything that only
    /// [`Architecture::leave_fast_path`] can go on from. No port has fewer queues than `least_queue_count`.
    /// The error is why there is none, for people.
    fn fast_path(&self, program: &ir::Program, least_queue_count: u32) -> Result<FastPath, String>;

    /// Goes on with a packet that left the fast path.
    fn leave_fast_path(
        &self,
        services: &mut Services<'_>,
        left: LeftFastPath,
    ) -> Result<(), DeviceError>;
}
