// SPDX-License-Identifier: Apache-2.0
//! [`Pace`]: ties simulated time to the clock, so that a run can be watched as it happens.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Real time between two looks at the clock.
const STEP: Duration = Duration::from_millis(10);

/// The largest number of simulated seconds a second, and when the run began.
pub(super) struct Pace {
    factor: f64,
    began: Instant,
}

impl Pace {
    pub(super) fn new(factor: f64) -> Pace {
        Pace { factor, began: Instant::now() }
    }

    /// The simulated time of a step, in picoseconds.
    pub(super) fn step_ps(&self) -> u64 {
        ((STEP.as_secs_f64() * 1e12 * self.factor) as u64).max(1)
    }

    /// Waits until the clock has reached a simulated time, or the run is interrupted. A run that is late does not wait.
    pub(super) fn wait(&self, simulated_ps: u64, interrupted: &AtomicBool) {
        let due = Duration::try_from_secs_f64(simulated_ps as f64 / 1e12 / self.factor);
        let due = due.unwrap_or(Duration::MAX);
        while !interrupted.load(Ordering::Relaxed) {
            let rest = due.saturating_sub(self.began.elapsed());
            if rest.is_zero() {
                return;
            }
            std::thread::sleep(rest.min(STEP));
        }
    }
}
