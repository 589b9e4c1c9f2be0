// SPDX-License-Identifier: Apache-2.0
//! The phases of a sender between congestion events ([`Phase`]), and Proportional Rate Reduction ([`Reduction`], RFC 6937).

/// What a sender is doing about congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing; the window grows.
    Open,
    /// It shrinks the window after a mark (RFC 3168 section 6.1.2).
    Marked(Reduction),
    /// It sends lost segments again (RFC 6675).
    Recovery(Reduction),
    /// It starts again after a timeout (RFC 5681 section 3.1), until this position is acknowledged.
    Timeout {
        /// The position behind everything sent at the timeout.
        until: u64,
    },
}

/// A reduction of the window, spread over a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reduction {
    /// It ends when everything before this position is acknowledged.
    pub until: u64,
    /// Bytes sent and not acknowledged at its begin, RecoverFS.
    flight_bytes: u64,
    /// Bytes that arrived since then, prr_delivered.
    delivered_bytes: u64,
    /// Bytes sent since then, prr_out.
    sent_bytes: u64,
    /// Whether the first lost segment has yet to be sent again, whatever the window.
    pub must_send: bool,
    /// Whether the rescue retransmission was used (RFC 6675 section 4).
    pub has_rescued: bool,
}

impl Reduction {
    pub(super) fn new(until: u64, flight_bytes: u64, must_send: bool) -> Reduction {
        Reduction {
            until,
            flight_bytes: flight_bytes.max(1),
            delivered_bytes: 0,
            sent_bytes: 0,
            must_send,
            has_rescued: false,
        }
    }

    /// Returns the window after an acknowledgement, with the slow start reduction bound.
    pub(super) fn window(
        &mut self,
        arrived_bytes: u64,
        in_flight_bytes: u64,
        threshold: u64,
        segment_bytes: u64,
    ) -> u64 {
        self.delivered_bytes += arrived_bytes;
        let may_send = if in_flight_bytes > threshold {
            // Proportional part: at most threshold / flight bytes for each byte that arrived.
            let product = u128::from(self.delivered_bytes) * u128::from(threshold);
            let allowed = product.div_ceil(u128::from(self.flight_bytes)) as u64;
            allowed.saturating_sub(self.sent_bytes)
        } else {
            let balance = self.delivered_bytes.saturating_sub(self.sent_bytes);
            let limit = balance.max(arrived_bytes) + segment_bytes;
            limit.min(threshold - in_flight_bytes)
        };
        in_flight_bytes + may_send
    }

    /// Notes bytes sent.
    pub(super) fn sent(&mut self, bytes: u64) {
        self.sent_bytes += bytes;
        self.must_send = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6937 section 3.1: with one loss and a window halved, one segment leaves for two that arrive.
    #[test]
    fn the_window_shrinks_in_proportion_to_what_arrives() {
        let mut reduction = Reduction::new(20_000, 20_000, true);
        let (mut in_flight, mut sent) = (19_000, 0);
        reduction.sent(1000);
        for _ in 0..18 {
            in_flight -= 1000;
            let window = reduction.window(1000, in_flight, 10_000, 1000);
            while in_flight + 1000 <= window {
                in_flight += 1000;
                sent += 1;
                reduction.sent(1000);
            }
        }
        assert!((8..=9).contains(&sent), "{sent}");
        assert!((9_000..=10_000).contains(&in_flight), "{in_flight}");
    }

    /// After heavy loss the flight grows back to the threshold, a segment more than arrived at a time.
    #[test]
    fn the_bound_lets_the_flight_grow_back() {
        let mut reduction = Reduction::new(20_000, 20_000, false);
        assert_eq!(reduction.window(1000, 2_000, 10_000, 1000), 4_000);
        assert_eq!(reduction.window(1000, 9_500, 10_000, 1000), 10_000);
    }
}
