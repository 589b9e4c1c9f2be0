// SPDX-License-Identifier: Apache-2.0
//! [`Choices`]: the decisions of a generator, from a seed, from the bytes of a fuzzer, or from a tape that shrinks. The
//! same source gives the same decisions on every machine and in every version.

use ir::Bits;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of decisions.
#[derive(Clone, Debug)]
pub struct Choices(Source);

#[derive(Clone, Debug)]
enum Source {
    /// The bytes decide first, one decision each, then random numbers.
    Random { bytes: std::vec::IntoIter<u8>, random: Box<ChaCha8Rng> },
    /// The numbers decide, then zeros.
    Tape(std::vec::IntoIter<u32>),
}

impl Choices {
    /// Creates decisions that follow from a seed.
    pub fn from_seed(seed: u64) -> Choices {
        let random = Box::new(ChaCha8Rng::seed_from_u64(seed));
        Choices(Source::Random { bytes: Vec::new().into_iter(), random })
    }

    /// Creates decisions that bytes take, one each; after the last byte, random numbers of a fixed seed take them.
    pub fn from_bytes(bytes: Vec<u8>) -> Choices {
        let random = Box::new(ChaCha8Rng::seed_from_u64(0));
        Choices(Source::Random { bytes: bytes.into_iter(), random })
    }

    /// Creates decisions that a tape takes: its numbers one each, and zeros after the last one. A zero is the first
    /// alternative of each decision, so generators put the simplest one first.
    pub fn from_tape<N: Into<u32>>(tape: impl IntoIterator<Item = N>) -> Choices {
        let numbers: Vec<u32> = tape.into_iter().map(Into::into).collect();
        Choices(Source::Tape(numbers.into_iter()))
    }

    /// Returns a number of 64 bits.
    pub fn word(&mut self) -> u64 {
        match &mut self.0 {
            Source::Random { bytes, random } => match bytes.next() {
                // Spread over the word, so that bounds of any size see all bits of the byte.
                Some(byte) => u64::from(byte).wrapping_mul(0x0101_0101_0101_0101),
                None => random.next_u64(),
            },
            Source::Tape(numbers) => numbers.next().map_or(0, u64::from),
        }
    }

    /// Returns a number below `bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let word = self.word();
        match self.0 {
            Source::Random { .. } => ((u128::from(word) * bound as u128) >> 64) as usize,
            Source::Tape(_) => (word % bound.max(1) as u64) as usize,
        }
    }

    /// Returns a number from `low` to `high`, both included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below((high.max(low) - low) as usize + 1) as u32
    }

    /// Returns true in half of the cases; false on a tape's zeros.
    pub fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    /// Returns true in one of `count` cases; false on a tape's zeros, if `count` is not 1.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) + 1 == count
    }

    /// Returns true in that many of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns one of the items, of which there is at least one.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Returns the index of one of the weights, each as likely as its number says.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut point = self.below(weights.iter().sum());
        for (index, weight) in weights.iter().enumerate() {
            if point < *weight {
                return index;
            }
            point -= weight;
        }
        0
    }

    /// Returns random bits of a width. The bytes of a fuzzer do not decide them.
    pub fn bits(&mut self, width_bits: u32) -> Bits {
        let bytes: Vec<u8> = (0..width_bits.div_ceil(64))
            .flat_map(|_| match &mut self.0 {
                Source::Random { random, .. } => random.next_u64().to_be_bytes(),
                Source::Tape(_) => self.word().to_be_bytes(),
            })
            .collect();
        Bits::from_bytes_be(width_bits, &bytes)
    }

    /// Returns a value that programs and packets meet often: 0, 1, all ones, the highest bit, one of the palette; in one
    /// of five cases any value.
    pub fn value(&mut self, width_bits: u32, palette: &[u64]) -> Bits {
        match self.weighted(&[8, 8, 6, 4, 54, 20]) {
            0 => Bits::zero(width_bits),
            1 => Bits::from_u64(width_bits, 1),
            2 => Bits::ones(width_bits),
            3 => Bits::prefix_mask(width_bits, 1),
            4 => {
                let word = *self.pick(palette);
                Bits::from_bytes_be(width_bits, &word.to_be_bytes())
            }
            _ => self.bits(width_bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_repeat_and_stay_in_bounds() {
        let sources = [
            || Choices::from_seed(7),
            || Choices::from_bytes(vec![0, 127, 128, 255]),
            || Choices::from_tape(0..300u32),
        ];
        for make in sources {
            let (mut one, mut other) = (make(), make());
            for bound in 1..200 {
                let found = one.below(bound);
                assert!(found < bound);
                assert_eq!(found, other.below(bound));
            }
        }
        let mut bytes = Choices::from_bytes(vec![0, 255]);
        assert_eq!((bytes.below(10), bytes.below(10)), (0, 9));
        assert_eq!(bytes.between(5, 5), 5);
    }

    #[test]
    fn zeros_follow_a_tape() {
        let mut choices = Choices::from_tape([7u8]);
        assert_eq!((choices.below(4), choices.below(4)), (3, 0));
        assert!(!choices.flag() && !choices.one_in(3));
        assert_eq!(choices.bits(70), Bits::zero(70));
    }
}
