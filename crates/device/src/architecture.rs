// SPDX-License-Identifier: Apache-2.0
//! Architectures: in which order the blocks of a program run, what their metadata means and what
//! becomes of their requests. One file an architecture; the device knows only this interface.

pub(crate) mod v1model;

use crate::engine::Engine;
use crate::machine::Machine;
use crate::output::{DeviceError, LoadError};
use crate::packet::{Arrival, Traveller};
use crate::traffic_manager::Dequeued;
use ir::SlotId;
use std::sync::Arc;

/// Architectures that a device runs, by the names in [`ir::Program::architecture`].
pub const SUPPORTED_ARCHITECTURES: &[&str] = &["v1model"];

/// One program's blocks at work.
pub(crate) trait Architecture: std::fmt::Debug + Send + Sync {
    /// The largest port that its metadata can name.
    fn largest_port(&self) -> u32;

    /// The slot whose value drops a packet, for traces that say who set it.
    fn drop_slot(&self) -> Option<SlotId>;

    /// What a block does in the device, in the words of its users: `ingress`.
    fn stage_name(&self, block: usize) -> &'static str;

    /// A packet comes to ingress.
    fn ingress(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        arrival: Arrival,
    ) -> Result<(), DeviceError>;

    /// A packet from ingress comes to the queues of a port.
    fn enqueue(&self, engine: &mut Engine, machine: &mut Machine, port: u32, packet: Traveller);

    /// A packet left its queue for egress.
    fn egress(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        port: u32,
        packet: Dequeued<Traveller>,
    ) -> Result<(), DeviceError>;
}

/// The description that fits a program.
pub(crate) fn describe(
    program: &Arc<ir::Program>,
    drop_port: Option<u32>,
) -> Result<Arc<dyn Architecture>, LoadError> {
    match &*program.architecture {
        "v1model" => Ok(Arc::new(v1model::V1Model::new(program, drop_port)?)),
        other => Err(LoadError::UnsupportedArchitecture {
            architecture: other.into(),
            supported: SUPPORTED_ARCHITECTURES,
        }),
    }
}
