// SPDX-License-Identifier: Apache-2.0
//! Architectures: in which order the blocks of a program run, what their metadata means and what
//! becomes of their requests. One file an architecture; the device knows only this interface.

mod paths;
mod tna;
pub(crate) mod v1model;

use crate::engine::Engine;
use crate::machine::Machine;
use crate::options::DeviceOptions;
use crate::output::{DeviceError, LoadError};
use crate::packet::{Arrival, Reception, Traveller};
use crate::pass::{Half, Pass};
use crate::tap::EgressPacket;
use crate::traffic_manager::Dequeued;
use crate::view::View;
use interpreter::{Outcome, PacketContext};
use ir::SlotId;
use std::sync::Arc;

/// Architectures that a device runs, by the names in [`ir::Program::architecture`].
pub const SUPPORTED_ARCHITECTURES: &[&str] = &["v1model", "tna"];

/// One program's blocks at work.
pub(crate) trait Architecture: std::fmt::Debug + Send + Sync {
    /// The largest port that its metadata can name.
    fn largest_port(&self) -> u32;

    /// The slot whose value drops a packet, for traces that say who set it.
    fn drop_slot(&self) -> Option<SlotId>;

    /// What a block does in the device, in the words of its users: `ingress`.
    fn stage_name(&self, block: usize) -> &'static str;

    /// Sets options that a user did not set and that are otherwise on this architecture.
    fn set_defaults(&self, options: &mut DeviceOptions) {
        let _ = options;
    }

    /// A packet comes to ingress: its pass begins, unless it ends here.
    fn begin_ingress(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        arrival: Arrival,
    ) -> Option<Pass>;

    /// A packet from ingress comes to the queues of a port.
    fn enqueue(&self, engine: &mut Engine, machine: &mut Machine, port: u32, packet: Traveller);

    /// A packet left its queue for egress: its pass begins, unless it ends here or goes on without one.
    fn begin_egress(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        port: u32,
        packet: Dequeued<Traveller>,
    ) -> Option<Pass>;

    /// The blocks that run between beginning and finish of a pass through ingress, in order.
    fn ingress_blocks(&self) -> &[usize];

    /// The same for egress.
    fn egress_blocks(&self) -> &[usize];

    /// The same for a pass.
    fn blocks(&self, half: Half) -> &[usize] {
        match half {
            Half::Ingress => self.ingress_blocks(),
            Half::Egress(_) => self.egress_blocks(),
        }
    }

    /// One of these blocks ended; gives the pass back if it goes on.
    fn after_block(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        pass: Pass,
        block: usize,
        outcome: &Outcome,
    ) -> Option<Pass>;

    /// Finishes a pass behind the last of these blocks: makes copies, sends digests, queues the packet or
    /// sends it.
    fn finish(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        view: &View,
        pass: Pass,
    ) -> Result<(), DeviceError>;

    /// The packet as it comes to the egress parser, where nothing but bytes does.
    fn at_egress(&self, _: &Traveller) -> Option<EgressPacket> {
        None
    }

    /// The way of a packet that goes straight from a port to a port, as one unit, where the
    /// architecture has such a way. It takes the inputs of [`Straight`], and exits before it does
    /// anything that only [`Architecture::leave_straight`] can go on from. No port has fewer queues
    /// than `least_queue_count`. The error is why there is no such way, for people.
    fn straight(&self, program: &ir::Program, least_queue_count: u32) -> Result<Straight, String>;

    /// Goes on with a packet that left the straight way.
    fn leave_straight(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        left: LeftStraight,
    ) -> Result<(), DeviceError>;
}

/// Input of a straight unit: the port that the packet came from.
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

/// A straight way.
#[derive(Clone, Debug)]
pub(crate) struct Straight {
    pub unit: jit::Unit,
    /// The same with gates of ports and queues ([`crate::traffic_manager::Passage`]): a packet whose gate is
    /// closed leaves it before the queue.
    pub gated: Option<jit::Unit>,
    /// The pass of the packet in which its last block runs, from 0.
    pub last_pass: u64,
    /// The way of copies that nothing holds up, if they have one.
    pub replicas: Option<Replicas>,
    /// What keeps it from being as fast as can be, for people.
    pub notes: Vec<String>,
}

/// The way of copies.
#[derive(Clone, Debug)]
pub(crate) struct Replicas {
    /// From a multicast group to the outgoing bits, on storage as ingress left it: one unit, or two where
    /// the second one makes the same of every copy.
    pub units: Vec<jit::Unit>,
    /// No port has fewer queues.
    pub least_queue_count: u32,
}

/// A packet that left the straight way.
#[derive(Debug)]
pub(crate) struct LeftStraight {
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
    pub outputs: [u32; jit::OUTPUTS],
    /// What it read its tables from.
    pub view: View,
}

/// The description that fits a program.
pub(crate) fn describe(
    program: &Arc<ir::Program>,
    drop_port: Option<u32>,
) -> Result<Arc<dyn Architecture>, LoadError> {
    match &*program.architecture {
        "v1model" => Ok(Arc::new(v1model::V1Model::new(program, drop_port)?)),
        "tna" => Ok(Arc::new(tna::Tna::new(program)?)),
        other => Err(LoadError::UnsupportedArchitecture {
            architecture: other.into(),
            supported: SUPPORTED_ARCHITECTURES,
        }),
    }
}
