// SPDX-License-Identifier: Apache-2.0
//! Cubic (RFC 9438): after a reduction the window grows by a cubic function of time whose plateau is the window before.
//! Cube roots are `libm`'s, so every machine computes the same windows.

use super::hystart::Hystart;
use super::{Acknowledgement, Cause, CongestionControl, Window};

/// The constant C of the growth, in segments per cubic second (section 5).
const C: f64 = 0.4;
/// The factor of a reduction, beta (section 4.6).
const BETA: f64 = 0.7;
/// Reno's growth with this beta, in segments a window (section 4.3).
const RENO_GROWTH: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
const SECOND_PS: f64 = 1e12;

/// The growth since the last reduction.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    started_ps: u64,
    /// Seconds until the plateau, K.
    to_plateau: f64,
    /// The plateau in segments, W_max.
    plateau: f64,
    /// Reno's window by now in segments, W_est.
    reno: f64,
}

/// Cubic's state.
#[derive(Clone, Debug)]
pub(super) struct Cubic {
    hystart: Option<Hystart>,
    epoch: Option<Epoch>,
    /// The window before the last reduction in segments, with fast convergence; 0 before the first.
    last_plateau: f64,
    /// The window at the last reduction in segments, cwnd_prior.
    before_reduction: f64,
    least_round_trip_ps: Option<u64>,
    /// Growth in segments that is not a whole byte yet.
    credit: f64,
}

impl Cubic {
    /// With or without HyStart.
    pub(super) fn new(has_hystart: bool) -> Cubic {
        Cubic {
            hystart: has_hystart.then(Hystart::default),
            epoch: None,
            last_plateau: 0.0,
            before_reduction: 0.0,
            least_round_trip_ps: None,
            credit: 0.0,
        }
    }
}

impl CongestionControl for Cubic {
    fn observe(&mut self, window: &mut Window, ack: &Acknowledgement) {
        let Some(round_trip_ps) = ack.round_trip_ps else { return };
        let least_ps = self.least_round_trip_ps.unwrap_or(u64::MAX).min(round_trip_ps);
        self.least_round_trip_ps = Some(least_ps);
        if let Some(hystart) = &mut self.hystart {
            hystart.observe(window, ack, least_ps);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &Acknowledgement) {
        let segment = window.segment_bytes as f64;
        let mut bytes = ack.acknowledged_bytes;
        if window.is_in_slow_start() {
            let used = bytes.min(window.slow_start_threshold - window.bytes);
            window.bytes += used;
            bytes -= used;
            if bytes == 0 {
                return;
            }
        }
        let segments = window.bytes as f64 / segment;
        let acknowledged = bytes as f64 / segment;
        let epoch = self.epoch.get_or_insert_with(|| {
            let plateau = segments.max(self.last_plateau);
            let to_plateau = libm::cbrt((plateau - segments) / C);
            Epoch { started_ps: ack.now_ps, to_plateau, plateau, reno: segments }
        });
        // Section 4.2: the target is the window of one round-trip time later, at most half as much again.
        let ahead_ps = self.least_round_trip_ps.unwrap_or(0);
        let seconds = (ack.now_ps - epoch.started_ps + ahead_ps) as f64 / SECOND_PS;
        let distance = seconds - epoch.to_plateau;
        let target = epoch.plateau + C * distance * distance * distance;
        let target = target.clamp(segments, 1.5 * segments);
        // Section 4.3: not slower than Reno. Without a reduction before, Reno's growth is one segment a window.
        let alpha = match epoch.reno >= self.before_reduction {
            true => 1.0,
            false => RENO_GROWTH,
        };
        epoch.reno += alpha * acknowledged / segments;
        let growth = (target - segments) / segments * acknowledged;
        let growth = growth.max((epoch.reno - segments).min(acknowledged));
        self.credit += growth.max(0.0) * segment;
        let whole = self.credit as u64;
        self.credit -= whole as f64;
        window.bytes += whole;
    }

    /// Sections 4.6 and 4.7 (fast convergence).
    fn reduced(&mut self, window: &Window, _: u64, cause: Cause) -> u64 {
        let segments = window.bytes as f64 / window.segment_bytes as f64;
        self.last_plateau = match segments < self.last_plateau {
            true => segments * (1.0 + BETA) / 2.0,
            false => segments,
        };
        self.before_reduction = segments;
        self.epoch = None;
        self.credit = 0.0;
        if cause == Cause::Timeout
            && let Some(hystart) = &mut self.hystart
        {
            *hystart = Hystart::default();
        }
        ((window.bytes as f64 * BETA) as u64).max(window.least_bytes())
    }
}
