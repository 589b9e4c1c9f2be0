// SPDX-License-Identifier: Apache-2.0
//! HyStart (Ha and Rhee 2011): ends slow start before losses, when round-trip times rise or when the ACKs of a round trip
//! arrive in a train that is longer than half the least round-trip time.

use super::{Acknowledgement, Window};

const MS: u64 = 1_000_000_000;
/// The least window in segments.
const LOW_WINDOW_SEGMENTS: u64 = 16;
/// Samples of a round that give its round-trip time.
const SAMPLES: u32 = 8;
/// The largest gap between ACKs of a train.
const TRAIN_GAP_PS: u64 = 2 * MS;
/// Bounds of the rise of the round-trip time, which is else an eighth of it.
const RISE_PS: (u64, u64) = (4 * MS, 16 * MS);

/// The state of a round.
#[derive(Clone, Debug, Default)]
pub(super) struct Hystart {
    round_end: u64,
    round_started_ps: u64,
    last_ack_ps: u64,
    least_of_round_ps: Option<u64>,
    samples: u32,
}

impl Hystart {
    /// Ends slow start if it has to end now.
    pub(super) fn observe(
        &mut self,
        window: &mut Window,
        ack: &Acknowledgement,
        least_round_trip_ps: u64,
    ) {
        let Some(round_trip_ps) = ack.round_trip_ps else { return };
        if !window.is_in_slow_start() {
            return;
        }
        if ack.position > self.round_end {
            *self = Hystart {
                round_end: ack.sent,
                round_started_ps: ack.now_ps,
                last_ack_ps: ack.now_ps,
                ..Hystart::default()
            };
        }
        if window.bytes < LOW_WINDOW_SEGMENTS * window.segment_bytes {
            return;
        }
        let mut ends = false;
        if ack.now_ps - self.last_ack_ps <= TRAIN_GAP_PS {
            self.last_ack_ps = ack.now_ps;
            ends |= ack.now_ps - self.round_started_ps > least_round_trip_ps / 2;
        }
        if self.samples < SAMPLES {
            self.samples += 1;
            let least_ps = self.least_of_round_ps.unwrap_or(u64::MAX).min(round_trip_ps);
            self.least_of_round_ps = Some(least_ps);
        } else if let Some(least_ps) = self.least_of_round_ps {
            let rise_ps = (least_round_trip_ps / 8).clamp(RISE_PS.0, RISE_PS.1);
            ends |= least_ps > least_round_trip_ps + rise_ps;
        }
        if ends {
            window.slow_start_threshold = window.bytes;
        }
    }
}
