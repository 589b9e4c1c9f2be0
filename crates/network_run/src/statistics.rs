// SPDX-License-Identifier: Apache-2.0
//! [`Sample`]: measured times in order, with percentiles and moments.

/// Measured times in picoseconds, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample(Vec<u64>);

impl FromIterator<u64> for Sample {
    fn from_iter<I: IntoIterator<Item = u64>>(times: I) -> Sample {
        let mut times: Vec<u64> = times.into_iter().collect();
        times.sort_unstable();
        Sample(times)
    }
}

/// The arithmetic mean; `None` of nothing.
pub(crate) fn mean(values: &[u64]) -> Option<f64> {
    let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
    (!values.is_empty()).then(|| sum as f64 / values.len() as f64)
}

impl Sample {
    /// The times in order.
    pub fn times(self) -> impl Iterator<Item = u64> {
        self.0.into_iter()
    }

    /// The number of times.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The least time.
    pub fn least(&self) -> Option<u64> {
        self.0.first().copied()
    }

    /// The largest time.
    pub fn largest(&self) -> Option<u64> {
        self.0.last().copied()
    }

    /// The mean.
    pub fn mean(&self) -> Option<u64> {
        mean(&self.0).map(|mean| mean as u64)
    }

    /// The standard deviation of all times (`mdev` of ping).
    pub fn deviation(&self) -> Option<u64> {
        let mean = mean(&self.0)?;
        let squares: f64 = self.0.iter().map(|time| (*time as f64 - mean).powi(2)).sum();
        Some((squares / self.0.len() as f64).sqrt() as u64)
    }

    /// The least time that this share of all does not exceed (nearest rank).
    pub fn percentile(&self, share: f64) -> Option<u64> {
        let rank = (share * self.0.len() as f64).ceil() as usize;
        self.0.get(rank.clamp(1, self.0.len().max(1)) - 1).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let sample: Sample = (1..=100).rev().collect();
        assert_eq!(sample.percentile(0.5), Some(50));
        assert_eq!(sample.percentile(0.99), Some(99));
        assert_eq!(sample.percentile(1.0), Some(100));
        assert_eq!(sample.percentile(0.0), Some(1));
        assert_eq!(
            (sample.least(), sample.largest(), sample.mean()),
            (Some(1), Some(100), Some(50))
        );
        assert_eq!(sample.deviation(), Some(28));
        let nothing = Sample::default();
        assert_eq!(
            (nothing.percentile(0.5), nothing.mean(), nothing.deviation()),
            (None, None, None)
        );
    }
}
