// SPDX-License-Identifier: Apache-2.0
//! Data Center TCP (RFC 8257): the window shrinks by half the share of marked bytes. Fractions are integers of 1 / 2^20.

use super::reno::LinuxReno;
use super::{Acknowledgement, Cause, CongestionControl, Window};

/// One, as a fraction.
const ONE: u64 = 1 << 20;
/// The weight of a new sample is 1 / 2^4 (section 4.2).
const GAIN_SHIFT: u32 = 4;

/// The share of marked bytes, and Reno's growth.
#[derive(Clone, Debug)]
pub(super) struct Dctcp {
    growth: LinuxReno,
    /// The estimated share of marked bytes, DCTCP.Alpha.
    share: u64,
    acknowledged_bytes: u64,
    marked_bytes: u64,
    /// The end of the observation window, DCTCP.WindowEnd.
    window_end: u64,
}

impl Default for Dctcp {
    fn default() -> Dctcp {
        Dctcp {
            growth: LinuxReno::default(),
            // Section 4.2: starts with 1, so that the first mark halves the window.
            share: ONE,
            acknowledged_bytes: 0,
            marked_bytes: 0,
            window_end: 0,
        }
    }
}

impl CongestionControl for Dctcp {
    /// Section 3.3.
    fn observe(&mut self, _: &mut Window, ack: &Acknowledgement) {
        self.acknowledged_bytes += ack.acknowledged_bytes;
        if ack.echoes_mark {
            self.marked_bytes += ack.acknowledged_bytes;
        }
        if ack.position <= self.window_end {
            return;
        }
        let sample = self.marked_bytes * ONE / self.acknowledged_bytes.max(1);
        self.share = self.share - (self.share >> GAIN_SHIFT) + (sample >> GAIN_SHIFT);
        self.window_end = ack.sent;
        self.acknowledged_bytes = 0;
        self.marked_bytes = 0;
    }

    fn grow(&mut self, window: &mut Window, ack: &Acknowledgement) {
        self.growth.grow(window, ack);
    }

    /// Sections 3.3 and 3.5: losses halve the window. It keeps at least two segments, as Linux's.
    fn reduced(&mut self, window: &Window, in_flight_bytes: u64, cause: Cause) -> u64 {
        match cause {
            Cause::Loss | Cause::Timeout => self.growth.reduced(window, in_flight_bytes, cause),
            Cause::Mark => {
                let cut = u128::from(window.bytes) * u128::from(self.share) / u128::from(2 * ONE);
                (window.bytes - cut as u64).max(window.least_bytes())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_shrinks_by_half_the_share_of_marked_bytes() {
        let mut control = Dctcp::default();
        let mut window = Window { bytes: 100_000, slow_start_threshold: 0, segment_bytes: 1000 };
        assert_eq!(control.reduced(&window, 0, Cause::Mark), 50_000);
        // Ten windows with one byte of four marked: the share nears a quarter.
        for round in 0..200 {
            for part in 1..=4 {
                let position = round * 4000 + part * 1000;
                let ack = Acknowledgement {
                    acknowledged_bytes: 1000,
                    echoes_mark: part == 2,
                    position,
                    sent: position + 3000,
                    ..Acknowledgement::default()
                };
                control.observe(&mut window, &ack);
            }
        }
        let share = control.share as f64 / ONE as f64;
        assert!((0.24..0.26).contains(&share), "{share}");
        let reduced = control.reduced(&window, 0, Cause::Mark);
        assert!((87_000..88_500).contains(&reduced), "{reduced}");
        assert_eq!(control.reduced(&window, 0, Cause::Loss), 50_000);
        let small = Window { bytes: 2100, ..window };
        assert_eq!(control.reduced(&small, 0, Cause::Mark), 2000);
    }
}
