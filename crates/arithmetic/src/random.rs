// SPDX-License-Identifier: Apache-2.0
//! Random numbers as a function of a seed and counters, without a state to share: the same seed and counters give
//! the same number, whatever else happens. All of them come from the finalizer of SplitMix64 (Steele, Lea and
//! Flood 2014).

pub mod stream;

/// The increment of SplitMix64: 2^64 divided by the golden ratio, odd.
const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer of SplitMix64: a bijection that spreads every input bit over all output bits.
#[inline]
fn finalize(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The first number of SplitMix64 with a seed. Numbers for a purpose at a place are made by mixing what names
/// them: `mix(seed ^ mix(counter))`.
#[inline]
pub fn mix(seed: u64) -> u64 {
    finalize(seed.wrapping_add(INCREMENT))
}

/// The number for a seed and a key of several words, such as device, packet, pass and call site. Each word changes
/// the number as a whole.
pub fn keyed(seed: u64, key: &[u64]) -> u64 {
    key.iter().fold(mix(seed), |number, word| finalize(number.wrapping_add(INCREMENT) ^ mix(*word)))
}

/// The sequence of SplitMix64: number `n` is a function of the seed and of `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The sequence of a seed, from its beginning.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// Number `n` of a seed's sequence, counted from 1.
    #[inline]
    pub fn number(seed: u64, n: u64) -> u64 {
        finalize(seed.wrapping_add(n.wrapping_mul(INCREMENT)))
    }

    /// The next number.
    #[inline]
    pub fn next_number(&mut self) -> u64 {
        let number = mix(self.0);
        self.0 = self.0.wrapping_add(INCREMENT);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published outputs of SplitMix64 for seed 0. Users compare recorded runs between versions.
    #[test]
    fn sequence_is_the_published_one() {
        let mut sequence = SplitMix64::new(0);
        for (n, expected) in
            (1..).zip([0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f])
        {
            assert_eq!(sequence.next_number(), expected);
            assert_eq!(SplitMix64::number(0, n), expected);
        }
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn every_word_of_a_key_counts() {
        let number = keyed(1, &[2, 3, 4]);
        assert_eq!(number, keyed(1, &[2, 3, 4]));
        for other in [keyed(0, &[2, 3, 4]), keyed(1, &[3, 2, 4]), keyed(1, &[2, 3])] {
            assert_ne!(number, other);
        }
    }
}
