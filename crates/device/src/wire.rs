// SPDX-License-Identifier: Apache-2.0
//! `OutputPath`, and the transmission time of bytes on a wire. `traffic_manager` has queues and schedules.

use std::fmt;

/// Picoseconds in a second.
pub const PICOSECONDS_PER_SECOND: u64 = 1_000_000_000_000;

/// An output path. The two internal paths back to ingress have queues and a rate like ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutputPath {
    /// Back to ingress with the received packet.
    Resubmission,
    /// Back to ingress with the deparsed packet.
    Recirculation,
    /// A numbered port.
    Port(u32),
}

impl fmt::Display for OutputPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutputPath::Resubmission => formatter.write_str("resubmission path"),
            OutputPath::Recirculation => formatter.write_str("recirculation path"),
            OutputPath::Port(port) => write!(formatter, "port {port}"),
        }
    }
}

/// Returns the transmission time of bytes at a rate in bits per second, rounded up; `None` is infinite.
pub fn transmission_ps(length_bytes: u64, rate_bps: Option<u64>) -> u64 {
    match rate_bps {
        None | Some(0) => 0,
        Some(rate) => {
            // 64-bit division is much faster and suffices for packets.
            if let Some(exact) = length_bytes.checked_mul(8 * PICOSECONDS_PER_SECOND) {
                return exact.div_ceil(rate);
            }
            let exact = u128::from(length_bytes) * 8 * u128::from(PICOSECONDS_PER_SECOND);
            u64::try_from(exact.div_ceil(u128::from(rate))).unwrap_or(u64::MAX)
        }
    }
}
