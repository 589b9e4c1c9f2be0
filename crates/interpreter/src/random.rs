// SPDX-License-Identifier: Apache-2.0
//! Random numbers that programs draw: each is a function of seed, device, packet, pass, call site and count, so
//! that runs repeat exactly, in any order of packets and on any engine. Not for cryptography.

use arithmetic::random::keyed;
use ir::{BinaryOperation, Bits};

/// The key of a pass: what distinguishes draws besides the call site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RandomKey {
    /// The user's seed.
    pub seed: u64,
    /// Number of the device.
    pub device: u64,
    /// Number of the packet in its device.
    pub packet: u64,
    /// Which pass of the packet, copies counted.
    pub pass: u64,
}

/// Number `word` of the draw at a call site ([`ir::RandomSite::number`]); `occurrence` counts the draws of one
/// pass at this site ([`DrawCounts`]).
fn draw(key: RandomKey, site: u64, occurrence: u64, word: u64) -> u64 {
    let RandomKey { seed, device, packet, pass } = key;
    keyed(seed, &[device, packet, pass, site, occurrence, word])
}

/// A draw from `low` to `high`, both included, unsigned and of one width; `low` when `high` is smaller.
/// The bias is below 2^-64.
pub fn draw_between(key: RandomKey, site: u64, occurrence: u64, low: &Bits, high: &Bits) -> Bits {
    let width_bits = low.width_bits();
    if high.cmp_unsigned(low).is_le() {
        return low.clone();
    }
    let span = high.binary(BinaryOperation::Subtract, low).to_biguint() + 1u32;
    let word_count = u64::from(width_bits).div_ceil(64) + 1;
    let bytes: Vec<u8> =
        (0..word_count).flat_map(|word| draw(key, site, occurrence, word).to_be_bytes()).collect();
    let random_bits = (word_count * 64) as u32;
    let random = Bits::from_bytes_be(random_bits, &bytes).to_biguint();
    // The random number as a fraction of 1, times the span.
    let offset = (random * span) >> random_bits;
    low.binary(BinaryOperation::Add, &Bits::from_biguint(width_bits, &offset))
}

/// [`draw_between`] for numbers of at most 64 bits.
pub fn draw_number_between(key: RandomKey, site: u64, occurrence: u64, low: u64, high: u64) -> u64 {
    if high <= low {
        return low;
    }
    let (first, second) = (draw(key, site, occurrence, 0), draw(key, site, occurrence, 1));
    // The random number of 128 bits as a fraction of 1, times the span, which is at most 2^64.
    let span = u128::from(high - low) + 1;
    let lower = (u128::from(second) * span) >> 64;
    let offset = (u128::from(first) * span + lower) >> 64;
    low + offset as u64
}

/// How many numbers a pass has drawn at each call site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawCounts {
    counts: Vec<(u64, u64)>,
}

impl DrawCounts {
    /// Counts a draw at this site. Returns the number of draws there before.
    pub fn next(&mut self, site: u64) -> u64 {
        match self.counts.iter_mut().find(|(known, _)| *known == site) {
            Some((_, count)) => {
                *count += 1;
                *count - 1
            }
            None => {
                self.counts.push((site, 1));
                0
            }
        }
    }

    /// Begins a pass.
    pub fn clear(&mut self) {
        self.counts.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_repeat_and_stay_inside() {
        let key = RandomKey { seed: 1, device: 2, packet: 3, pass: 0 };
        let (low, high) = (Bits::from_u64(8, 10), Bits::from_u64(8, 13));
        let mut seen = [0u32; 4];
        for packet in 0..4000 {
            let key = RandomKey { packet, ..key };
            let value = draw_between(key, 5, 0, &low, &high);
            assert_eq!(value, draw_between(key, 5, 0, &low, &high));
            seen[(value.low_u64() - 10) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (900..1100).contains(&count)), "{seen:?}");
    }

    proptest::proptest! {
        #[test]
        fn narrow_draws_are_the_same(
            packet: u64, site: u64, low: u64, high: u64, width_bits in 1u32..=64,
        ) {
            let key = RandomKey { seed: 1, device: 2, packet, pass: 4 };
            let mask = u64::MAX >> (64 - width_bits);
            let (low, high) = (low & mask, high & mask);
            let [low_bits, high_bits] = [low, high].map(|end| Bits::from_u64(width_bits, end));
            let wide = draw_between(key, site, 5, &low_bits, &high_bits);
            proptest::prop_assert_eq!(
                wide.low_u64(), draw_number_between(key, site, 5, low, high)
            );
        }
    }

    #[test]
    fn ends_are_handled() {
        let key = RandomKey::default();
        let (low, high) = (Bits::from_u64(8, 9), Bits::from_u64(8, 3));
        assert_eq!(draw_between(key, 0, 0, &low, &high), low);
        let all = draw_between(key, 0, 0, &Bits::zero(200), &Bits::ones(200));
        assert_eq!(all.width_bits(), 200);
        assert_ne!(all, draw_between(key, 0, 1, &Bits::zero(200), &Bits::ones(200)));
        assert_eq!(draw_between(key, 0, 0, &Bits::zero(0), &Bits::zero(0)), Bits::zero(0));
    }

    /// Users compare recorded runs between versions.
    #[test]
    fn draws_stay_the_same_from_version_to_version() {
        let key = RandomKey { seed: 1, device: 2, packet: 3, pass: 4 };
        assert_eq!(draw(key, 5, 6, 7), 0xe2d8_7a4c_2928_1bb0);
    }
}
