// SPDX-License-Identifier: Apache-2.0
//! [`Stream`]: random numbers for one purpose at one place, and the distributions of simulations. The n-th number is a
//! function of (seed, purpose, place, n) alone, so it does not depend on other draws. Logarithms and powers are those of
//! `libm`, so every machine draws the same numbers.

use super::mix;

/// Random numbers for one purpose at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    key: u64,
    counter: u64,
}

impl Stream {
    /// The stream of a purpose at a place, from its beginning.
    pub fn new(seed: u64, purpose: u64, place: u64) -> Stream {
        Stream { key: mix(mix(seed ^ mix(purpose)) ^ mix(place)), counter: 0 }
    }

    /// The next number, all 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.counter += 1;
        mix(self.key ^ mix(self.counter))
    }

    /// Uniform from 0 to `most`, both included.
    pub fn up_to(&mut self, most: u64) -> u64 {
        if most == 0 {
            return 0;
        }
        // The high half of a product; uneven by less than one part in 2^64 / most.
        let product = u128::from(self.bits()) * (u128::from(most) + 1);
        (product >> 64) as u64
    }

    /// A random time from 0 to `range_ps`, in whole nanoseconds if the range is.
    pub fn spread_ps(&mut self, range_ps: u64) -> u64 {
        if range_ps.is_multiple_of(1000) {
            self.up_to(range_ps / 1000) * 1000
        } else {
            self.up_to(range_ps)
        }
    }

    /// Uniform in [0, 1).
    pub fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Exponential with a mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.fraction())
    }

    /// True with a probability. A probability of 0 draws no number.
    pub fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.fraction() < probability
    }

    /// 1 to `items` with probability proportional to 1 / k^exponent, by rejection from a continuous
    /// distribution that lies above (Hörmann and Derflinger 1996), so that no table is needed.
    pub fn zipf(&mut self, items: u64, exponent: f64) -> u64 {
        // Integral of x^-exponent and its inverse.
        let is_harmonic = libm::fabs(exponent - 1.0) < 1e-9;
        let integral = |x: f64| match is_harmonic {
            true => libm::log(x),
            false => (libm::pow(x, 1.0 - exponent) - 1.0) / (1.0 - exponent),
        };
        let inverse = |y: f64| match is_harmonic {
            true => libm::exp(y),
            false => libm::pow((1.0 + y * (1.0 - exponent)).max(0.0), 1.0 / (1.0 - exponent)),
        };
        let density = |x: f64| libm::pow(x, -exponent);
        let low = integral(1.5) - 1.0;
        let high = integral(items as f64 + 0.5);
        loop {
            let y = high + self.fraction() * (low - high);
            let x = inverse(y);
            let k = libm::floor(x + 0.5).clamp(1.0, items as f64);
            if y >= integral(k + 0.5) - density(k) {
                return k as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_depend_on_seed_purpose_and_place_alone() {
        let first = |seed, purpose, place| Stream::new(seed, purpose, place).bits();
        assert_eq!(first(1, 4, 2), first(1, 4, 2));
        assert_ne!(first(1, 4, 2), first(2, 4, 2));
        assert_ne!(first(1, 4, 2), first(1, 3, 2));
        assert_ne!(first(1, 4, 2), first(1, 4, 1));
    }

    #[test]
    fn means_are_near_what_they_should_be() {
        let mut stream = Stream::new(7, 5, 0);
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let even = mean((0..20_000).map(|_| stream.up_to(10) as f64).collect());
        assert!((even - 5.0).abs() < 0.1, "{even}");
        let gap = mean((0..20_000).map(|_| stream.exponential(100.0)).collect());
        assert!((gap - 100.0).abs() < 3.0, "{gap}");
    }

    /// Frequencies of the first items against 1 / k^exponent over the sum.
    #[test]
    fn zipf_has_its_frequencies() {
        for exponent in [0.5, 1.0, 1.3] {
            let mut stream = Stream::new(3, 5, 1);
            let (items, draws) = (50u64, 100_000);
            let mut counts = vec![0u32; items as usize + 1];
            for _ in 0..draws {
                counts[stream.zipf(items, exponent) as usize] += 1;
            }
            let sum: f64 = (1..=items).map(|k| (k as f64).powf(-exponent)).sum();
            for k in [1u64, 2, 5, 20] {
                let expected = (k as f64).powf(-exponent) / sum;
                let found = f64::from(counts[k as usize]) / f64::from(draws);
                assert!((found - expected).abs() < 0.006, "{exponent} {k}: {found} {expected}");
            }
        }
    }
}
