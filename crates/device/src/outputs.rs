// SPDX-License-Identifier: Apache-2.0
//! [`Outputs`]: what a device sends in one call, for callers that reuse the memory.

use crate::output::Transmitted;
use crate::traffic_manager::CongestionSignal;

/// What a device has sent, in the order of [`crate::Device::drain_transmitted`].
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// Packets.
    pub transmitted: Vec<Transmitted>,
    /// Congestion signals.
    pub signals: Vec<CongestionSignal>,
    /// [`crate::Device::next_event_ps`] at the end of the last call.
    pub next_event_ps: Option<u64>,
}
