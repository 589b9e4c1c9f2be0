// SPDX-License-Identifier: Apache-2.0
//! Sums over time in bounded memory: buckets of one width, which doubles whenever the run outgrows them.

use std::collections::VecDeque;

/// The first width of a bucket, in picoseconds.
const FIRST_WIDTH_PS: u64 = 1 << 10;

/// The width of the buckets of all series of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    width_ps: u64,
    max_buckets: u64,
}

impl Scale {
    /// At most this many buckets; at least 2.
    pub(crate) fn new(max_buckets: usize) -> Scale {
        Scale { width_ps: FIRST_WIDTH_PS, max_buckets: max_buckets.max(2) as u64 }
    }

    /// Widens the buckets until a time is within them.
    #[inline]
    pub(crate) fn reach(&mut self, time_ps: u64) {
        while time_ps / self.width_ps >= self.max_buckets {
            self.width_ps *= 2;
        }
    }

    /// The width of a bucket.
    pub(crate) fn width_ps(&self) -> u64 {
        self.width_ps
    }
}

/// What can be added up.
pub(crate) trait Merge: Default {
    /// Adds the following bucket.
    fn merge(&mut self, next: &Self);
}

impl Merge for u64 {
    fn merge(&mut self, next: &u64) {
        *self += next;
    }
}

/// Buckets from the first that has something to the last one.
#[derive(Clone, Debug)]
pub(crate) struct Series<B> {
    width_ps: u64,
    first: u64,
    buckets: VecDeque<B>,
}

impl<B> Default for Series<B> {
    fn default() -> Series<B> {
        Series { width_ps: FIRST_WIDTH_PS, first: 0, buckets: VecDeque::new() }
    }
}

impl<B: Merge> Series<B> {
    /// Merges buckets until they have the width of the scale.
    pub(crate) fn widen(&mut self, scale: &Scale) {
        while self.width_ps < scale.width_ps {
            let mut buckets = std::mem::take(&mut self.buckets).into_iter();
            let mut number = self.first;
            self.first /= 2;
            while let Some(mut bucket) = buckets.next() {
                if number.is_multiple_of(2)
                    && let Some(next) = buckets.next()
                {
                    bucket.merge(&next);
                }
                number = number / 2 * 2 + 2;
                self.buckets.push_back(bucket);
            }
            self.width_ps *= 2;
        }
    }

    /// The bucket of a time within the scale.
    #[inline]
    pub(crate) fn at(&mut self, scale: &Scale, time_ps: u64) -> &mut B {
        if self.width_ps != scale.width_ps {
            self.widen(scale);
        }
        let number = time_ps / self.width_ps;
        if self.buckets.is_empty() {
            self.first = number;
        }
        while number < self.first {
            self.buckets.push_front(B::default());
            self.first -= 1;
        }
        let at = (number - self.first) as usize;
        if at >= self.buckets.len() {
            self.buckets.resize_with(at + 1, B::default);
        }
        &mut self.buckets[at]
    }

    /// Calls `each` with the buckets of an interval and the part of it in each, in picoseconds.
    pub(crate) fn spread(
        &mut self,
        scale: &Scale,
        (from_ps, to_ps): (u64, u64),
        mut each: impl FnMut(&mut B, u64),
    ) {
        let mut time_ps = from_ps;
        while time_ps < to_ps {
            let end_ps = (time_ps / scale.width_ps + 1) * scale.width_ps;
            let part_ps = end_ps.min(to_ps) - time_ps;
            each(self.at(scale, time_ps), part_ps);
            time_ps = end_ps;
        }
    }

    /// The number of the first bucket, and the buckets.
    pub(crate) fn buckets(&self) -> (u64, impl ExactSizeIterator<Item = &B>) {
        (self.first, self.buckets.iter())
    }

    /// How many buckets it has.
    pub(crate) fn count(&self) -> usize {
        self.buckets.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wider buckets hold the sums of the narrower ones, wherever the series began and however it grew.
    #[test]
    fn merged_buckets_keep_sums_at_their_times() {
        let mut random = 1_u64;
        let mut next = move |limit: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % limit
        };
        for max_buckets in [2, 7, 64] {
            let mut scale = Scale::new(max_buckets);
            let mut series = Series::<u64>::default();
            let mut added = Vec::new();
            let mut latest_ps = next(1 << 20);
            for _ in 0..500 {
                latest_ps += next(latest_ps / 8 + 10);
                // Some lie before others, as departures of different ports do.
                let time_ps = latest_ps - next(latest_ps / 4 + 1);
                let amount = next(1000);
                scale.reach(latest_ps);
                *series.at(&scale, time_ps) += amount;
                added.push((time_ps, amount));
            }
            series.widen(&scale);
            assert!(series.count() <= max_buckets, "{} buckets", series.count());
            let (first, buckets) = series.buckets();
            for (number, sum) in (first..).zip(buckets) {
                let is_in = |(time_ps, _): &&(u64, u64)| time_ps / scale.width_ps() == number;
                let expected: u64 = added.iter().filter(is_in).map(|(_, amount)| amount).sum();
                assert_eq!(*sum, expected, "bucket {number} of {max_buckets}");
            }
            let total: u64 = series.buckets().1.sum();
            assert_eq!(total, added.iter().map(|(_, amount)| amount).sum::<u64>());
        }
    }

    #[test]
    fn an_interval_is_spread_over_its_buckets() {
        let mut scale = Scale::new(16);
        scale.reach(10 * FIRST_WIDTH_PS);
        let mut series = Series::<u64>::default();
        let interval = (FIRST_WIDTH_PS + 24, 4 * FIRST_WIDTH_PS + 1);
        series.spread(&scale, interval, |sum, part_ps| *sum += part_ps);
        let (first, buckets) = series.buckets();
        assert_eq!((first, buckets.copied().collect::<Vec<_>>()), (1, vec![1000, 1024, 1024, 1]));
        series.spread(&scale, (5, 5), |_, _| panic!("an empty interval has no part"));
    }
}
