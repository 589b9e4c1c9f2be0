// SPDX-License-Identifier: Apache-2.0
//! [`TcpStatistics`]: the counters of a connection.

/// Counters of a connection. Times are in picoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TcpStatistics {
    /// Segments sent, of any kind.
    pub segments_sent: u64,
    /// Segments received, of any kind.
    pub segments_received: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    /// Losses found by selective or duplicate acknowledgements: entries of recovery.
    pub recoveries: u64,
    /// Acknowledgements that echo a mark (ECE).
    pub echoed_marks: u64,
    /// Segments received with a mark (CE).
    pub marks: u64,
    /// Bytes of the application that the peer acknowledged.
    pub acknowledged_bytes: u64,
    /// Bytes that arrived in order.
    pub received_bytes: u64,
    /// Segments that arrived out of order.
    pub out_of_order: u64,
    /// Samples of the round-trip time.
    pub samples: u64,
    /// Their sum.
    pub round_trip_sum_ps: u128,
    /// The least of them.
    pub least_round_trip_ps: Option<u64>,
    /// The largest of them.
    pub largest_round_trip_ps: Option<u64>,
}

impl TcpStatistics {
    #[inline]
    pub(super) fn sample(&mut self, round_trip_ps: u64) {
        self.samples += 1;
        self.round_trip_sum_ps += u128::from(round_trip_ps);
        let least_ps = self.least_round_trip_ps.unwrap_or(u64::MAX).min(round_trip_ps);
        self.least_round_trip_ps = Some(least_ps);
        let largest_ps = self.largest_round_trip_ps.unwrap_or(0).max(round_trip_ps);
        self.largest_round_trip_ps = Some(largest_ps);
    }

    /// The mean round-trip time, in picoseconds.
    pub fn mean_round_trip_ps(&self) -> Option<u64> {
        let count = u128::from(self.samples);
        (count > 0).then(|| (self.round_trip_sum_ps / count) as u64)
    }
}
