// SPDX-License-Identifier: Apache-2.0
//! [`RoundTrip`]: the estimate of the round-trip time and the retransmission timeout (RFC 6298).

/// The granularity of timers, in picoseconds: the least variance that a timeout takes into account.
const GRANULARITY_PS: u64 = 1_000_000_000;
/// The largest timeout (RFC 6298 section 2.5), in picoseconds.
const LARGEST_TIMEOUT_PS: u64 = 60_000 * GRANULARITY_PS;

/// Smoothed round-trip time, its variation, and the timeout.
#[derive(Clone, Debug)]
pub(super) struct RoundTrip {
    smoothed_ps: Option<u64>,
    variation_ps: u64,
    timeout_ps: u64,
    least_timeout_ps: u64,
    doublings: u32,
}

impl RoundTrip {
    /// Without a sample the timeout is the first one.
    pub(super) fn new(first_timeout_ps: u64, least_timeout_ps: u64) -> RoundTrip {
        RoundTrip {
            smoothed_ps: None,
            variation_ps: 0,
            timeout_ps: first_timeout_ps,
            least_timeout_ps,
            doublings: 0,
        }
    }

    /// Takes a sample (sections 2.2 and 2.3).
    pub(super) fn sample(&mut self, sample_ps: u64) {
        let smoothed_ps = match self.smoothed_ps {
            None => {
                self.variation_ps = sample_ps / 2;
                sample_ps
            }
            Some(smoothed_ps) => {
                let error_ps = smoothed_ps.abs_diff(sample_ps);
                self.variation_ps = self.variation_ps - self.variation_ps / 4 + error_ps / 4;
                smoothed_ps - smoothed_ps / 8 + sample_ps / 8
            }
        };
        self.smoothed_ps = Some(smoothed_ps);
        self.timeout_ps = smoothed_ps + GRANULARITY_PS.max(4 * self.variation_ps);
    }

    /// The smoothed round-trip time, in picoseconds.
    pub(super) fn smoothed_ps(&self) -> Option<u64> {
        self.smoothed_ps
    }

    /// The timeout, in picoseconds.
    pub(super) fn timeout_ps(&self) -> u64 {
        let timeout_ps = self.timeout_ps.max(self.least_timeout_ps);
        timeout_ps.checked_shl(self.doublings).unwrap_or(u64::MAX).min(LARGEST_TIMEOUT_PS)
    }

    /// Doubles the timeout (section 5.5).
    pub(super) fn back_off(&mut self) {
        self.doublings = (self.doublings + 1).min(16);
    }

    /// Ends the doubling: new data was acknowledged.
    pub(super) fn reset_back_off(&mut self) {
        self.doublings = 0;
    }

    /// After a timeout of SYN (section 5.7): the timeout is 3 s when data begin, unless there is a sample by then.
    pub(super) fn handshake_timed_out(&mut self) {
        if self.smoothed_ps.is_none() {
            self.timeout_ps = 3000 * GRANULARITY_PS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    #[test]
    fn timeouts_follow_rfc_6298() {
        let mut estimate = RoundTrip::new(1000 * MS, 10 * MS);
        assert_eq!(estimate.timeout_ps(), 1000 * MS);
        estimate.sample(80 * MS);
        // 2.2: SRTT = R, RTTVAR = R / 2, RTO = SRTT + 4 RTTVAR.
        assert_eq!(estimate.timeout_ps(), 240 * MS);
        estimate.sample(160 * MS);
        // 2.3: RTTVAR = 3/4 x 40 + 1/4 x 80 = 50, SRTT = 7/8 x 80 + 1/8 x 160 = 90.
        assert_eq!(estimate.timeout_ps(), 290 * MS);
        estimate.back_off();
        assert_eq!(estimate.timeout_ps(), 580 * MS);
        (0..60).for_each(|_| estimate.back_off());
        assert_eq!(estimate.timeout_ps(), LARGEST_TIMEOUT_PS);
        estimate.reset_back_off();
        assert_eq!(estimate.timeout_ps(), 290 * MS);
    }

    #[test]
    fn the_least_timeout_holds() {
        let mut estimate = RoundTrip::new(1000 * MS, 200 * MS);
        (0..50).for_each(|_| estimate.sample(MS / 10));
        assert_eq!(estimate.timeout_ps(), 200 * MS);
    }
}
