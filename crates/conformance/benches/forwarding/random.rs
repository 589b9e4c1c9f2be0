// SPDX-License-Identifier: Apache-2.0
//! Numbers from a fixed seed, the same on every machine: what is random in a workload comes from here.

use arithmetic::random::SplitMix64;

/// Random numbers.
pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.next_number()
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// Whether one of `times` falls on this time.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of a list.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len() as u64) as usize]
    }

    /// One of a list of values with weights.
    pub fn weighted<T: Copy>(&mut self, list: &[(T, u32)]) -> T {
        let total: u64 = list.iter().map(|(_, weight)| u64::from(*weight)).sum();
        let mut rest = self.below(total);
        for (value, weight) in list {
            if rest < u64::from(*weight) {
                return *value;
            }
            rest -= u64::from(*weight);
        }
        unreachable!("the rest is below the sum of the weights")
    }
}
