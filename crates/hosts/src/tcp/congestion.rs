// SPDX-License-Identifier: Apache-2.0
//! Congestion control: [`CongestionControl`] says how a sender's window grows, and how small it gets after a loss or a mark.
//! Loss recovery is `sender`'s.

mod cubic;
mod dctcp;
mod hystart;
mod reno;

use super::options::Control;

/// The least window in segments after a reduction (RFC 5681 equation 4).
const LEAST_SEGMENTS: u64 = 2;

/// The congestion window, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// The window.
    pub bytes: u64,
    /// Below it the window grows by slow start.
    pub slow_start_threshold: u64,
    /// The payload of a full segment.
    pub segment_bytes: u64,
}

impl Window {
    pub(super) fn is_in_slow_start(&self) -> bool {
        self.bytes < self.slow_start_threshold
    }

    fn least_bytes(&self) -> u64 {
        LEAST_SEGMENTS * self.segment_bytes
    }
}

/// An acknowledgement, as congestion control sees it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Acknowledgement {
    /// Now, in picoseconds.
    pub now_ps: u64,
    /// Bytes acknowledged, not counting selective acknowledgements.
    pub acknowledged_bytes: u64,
    /// Whether it echoes a mark (ECE).
    pub echoes_mark: bool,
    /// The position behind everything acknowledged.
    pub position: u64,
    /// The position behind everything sent.
    pub sent: u64,
    /// The round-trip time of the latest segment that it acknowledges, in picoseconds.
    pub round_trip_ps: Option<u64>,
}

/// Why a window is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// Segments were lost.
    Loss,
    /// The peer echoed a mark.
    Mark,
    /// The retransmission timer expired.
    Timeout,
}

/// A sender's congestion control.
pub(super) trait CongestionControl {
    /// Sees each acknowledgement, in every phase.
    fn observe(&mut self, _window: &mut Window, _ack: &Acknowledgement) {}

    /// Grows the window after an acknowledgement of new data outside of recovery.
    fn grow(&mut self, window: &mut Window, ack: &Acknowledgement);

    /// Returns the slow start threshold after a congestion event. `in_flight_bytes` is what is on its way by RFC 6675:
    /// neither acknowledged, also not selectively, nor lost.
    fn reduced(&mut self, window: &Window, in_flight_bytes: u64, cause: Cause) -> u64;
}

/// Makes a congestion control.
pub(super) fn new(control: Control) -> Box<dyn CongestionControl> {
    match control {
        Control::Reno => Box::new(reno::Reno),
        Control::LinuxReno => Box::new(reno::LinuxReno::default()),
        Control::Cubic => Box::new(cubic::Cubic::new(true)),
        Control::CubicWithoutHystart => Box::new(cubic::Cubic::new(false)),
        Control::Dctcp => Box::new(dctcp::Dctcp::default()),
    }
}
