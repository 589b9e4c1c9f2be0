// SPDX-License-Identifier: Apache-2.0
//! Reno's window (RFC 5681): growth once an ACK ([`Reno`]), or by acknowledged segments ([`LinuxReno`]). With delayed
//! ACKs the second grows twice as fast.

use super::{Acknowledgement, Cause, CongestionControl, Window};

/// Growth once an ACK.
#[derive(Clone, Debug)]
pub(super) struct Reno;

impl CongestionControl for Reno {
    fn grow(&mut self, window: &mut Window, ack: &Acknowledgement) {
        let segment = window.segment_bytes;
        window.bytes += match window.is_in_slow_start() {
            // Equation 2.
            true => ack.acknowledged_bytes.min(segment),
            // Equation 3.
            false => (segment * segment / window.bytes).max(1),
        };
    }

    /// Equation 4. RFC 5681's FlightSize would count what is selectively acknowledged too; ns-3 does not. At ten segments
    /// that is a window smaller by two.
    fn reduced(&mut self, window: &Window, in_flight_bytes: u64, _: Cause) -> u64 {
        (in_flight_bytes / 2).max(window.least_bytes())
    }
}

/// Growth by acknowledged segments: twofold a round trip in slow start (RFC 3465 without its limit), one segment
/// a round trip after it.
#[derive(Clone, Debug, Default)]
pub(super) struct LinuxReno {
    acknowledged_bytes: u64,
}

impl CongestionControl for LinuxReno {
    fn grow(&mut self, window: &mut Window, ack: &Acknowledgement) {
        let mut bytes = ack.acknowledged_bytes;
        if window.is_in_slow_start() {
            let used = bytes.min(window.slow_start_threshold - window.bytes);
            window.bytes += used;
            bytes -= used;
        }
        if bytes > 0 {
            self.acknowledged_bytes += bytes;
            if self.acknowledged_bytes >= window.bytes {
                self.acknowledged_bytes -= window.bytes;
                window.bytes += window.segment_bytes;
            }
        }
    }

    /// Halves the window, not what is in flight.
    fn reduced(&mut self, window: &Window, _: u64, _: Cause) -> u64 {
        self.acknowledged_bytes = 0;
        (window.bytes / 2).max(window.least_bytes())
    }
}
