// SPDX-License-Identifier: Apache-2.0
//! Counter-based random numbers and distributions: the n-th number for a purpose at a place is a function of
//! (seed, purpose, place, n) alone, so it does not depend on other draws.

use crate::interpreter::RandomSource;
use arithmetic::random::mix;
use lucid::core::arithmetic::mask;

/// The purpose of a random number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// `Sys.random()`; the place is the switch.
    Program = 1,
    /// Delay of generated events; the place is the switch.
    GenerateDelay = 2,
    /// Jitter of links; the place is the direction of a link.
    Jitter = 3,
    /// Loss on links; the place is the direction of a link.
    Loss = 4,
    /// Values and gaps of generators; the place is the input's number.
    Generator = 5,
    /// Loss of events that go to a switch without a path of links; the place is the sender.
    DirectLoss = 6,
}

/// Numbers for one purpose at one place.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    key: u64,
    counter: u64,
}

impl Stream {
    /// The stream of a purpose at a place, from its beginning.
    pub fn new(seed: u64, purpose: Purpose, place: u64) -> Stream {
        Stream { key: mix(mix(seed ^ mix(purpose as u64)) ^ mix(place)), counter: 0 }
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

    /// Uniform from 0 to `most`, both included.
    pub(crate) fn up_to_wide(&mut self, most: u128) -> u128 {
        match u64::try_from(most) {
            Ok(most) => u128::from(self.up_to(most)),
            Err(_) => {
                let bits = 128 - most.leading_zeros();
                // At least one of two draws is accepted on average.
                loop {
                    let drawn = self.draw(mask(bits));
                    if drawn <= most {
                        return drawn;
                    }
                }
            }
        }
    }

    /// Even in [0, 1).
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Exponential with a mean.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.fraction()).ln()
    }

    /// True with a probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.fraction() < probability
    }

    /// 1 to `items` with probability proportional to 1 / k^exponent, by rejection from a continuous
    /// distribution that lies above (Hörmann and Derflinger 1996), so that no table is needed.
    pub(crate) fn zipf(&mut self, items: u64, exponent: f64) -> u64 {
        // Integral of x^-exponent and its inverse.
        let integral = |x: f64| {
            if (exponent - 1.0).abs() < 1e-9 {
                x.ln()
            } else {
                (x.powf(1.0 - exponent) - 1.0) / (1.0 - exponent)
            }
        };
        let inverse = |y: f64| {
            if (exponent - 1.0).abs() < 1e-9 {
                y.exp()
            } else {
                (1.0 + y * (1.0 - exponent)).max(0.0).powf(1.0 / (1.0 - exponent))
            }
        };
        let density = |x: f64| x.powf(-exponent);
        let low = integral(1.5) - 1.0;
        let high = integral(items as f64 + 0.5);
        loop {
            let y = high + self.fraction() * (low - high);
            let x = inverse(y);
            let k = (x + 0.5).floor().clamp(1.0, items as f64);
            if y >= integral(k + 0.5) - density(k) {
                return k as u64;
            }
        }
    }
}

impl RandomSource for Stream {
    fn draw(&mut self, mask: u128) -> u128 {
        let low = u128::from(self.bits());
        if mask <= u128::from(u64::MAX) {
            low & mask
        } else {
            (u128::from(self.bits()) << 64 | low) & mask
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_depend_on_seed_purpose_and_place_alone() {
        let first = |seed, purpose, place| Stream::new(seed, purpose, place).bits();
        assert_eq!(first(1, Purpose::Loss, 2), first(1, Purpose::Loss, 2));
        assert_ne!(first(1, Purpose::Loss, 2), first(2, Purpose::Loss, 2));
        assert_ne!(first(1, Purpose::Loss, 2), first(1, Purpose::Jitter, 2));
        assert_ne!(first(1, Purpose::Loss, 2), first(1, Purpose::Loss, 1));
    }

    #[test]
    fn means_are_near_what_they_should_be() {
        let mut stream = Stream::new(7, Purpose::Generator, 0);
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let even = mean((0..20_000).map(|_| stream.up_to(10) as f64).collect());
        assert!((even - 5.0).abs() < 0.1, "{even}");
        let gap = mean((0..20_000).map(|_| stream.exponential(100.0)).collect());
        assert!((gap - 100.0).abs() < 3.0, "{gap}");
        assert!((0..1000).all(|_| stream.up_to_wide(1 << 100) <= 1 << 100));
    }

    /// Frequencies of the first items against 1 / k^exponent over the sum.
    #[test]
    fn zipf_has_its_frequencies() {
        for exponent in [0.5, 1.0, 1.3] {
            let mut stream = Stream::new(3, Purpose::Generator, 1);
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
