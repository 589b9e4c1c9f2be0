// SPDX-License-Identifier: Apache-2.0
//! Where the generators take their decisions from: a seed, or bytes that a fuzzer hands in. The same
//! source gives the same decisions on every machine and in every version.

use ir::Bits;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of decisions.
#[derive(Clone, Debug)]
pub struct Choices {
    /// Decided first, one byte each, then the random numbers decide.
    bytes: Vec<u8>,
    at: usize,
    random: ChaCha8Rng,
}

impl Choices {
    /// Decisions that follow from a seed.
    pub fn from_seed(seed: u64) -> Choices {
        Choices { bytes: Vec::new(), at: 0, random: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// The bytes decide, one decision each; when they are used up, random numbers of a fixed seed.
    pub fn from_bytes(bytes: Vec<u8>) -> Choices {
        Choices { bytes, at: 0, random: ChaCha8Rng::seed_from_u64(0) }
    }

    /// A number of 64 bits.
    pub fn word(&mut self) -> u64 {
        match self.bytes.get(self.at) {
            Some(byte) => {
                self.at += 1;
                // Spread over the word, so that bounds of any size see all bits of the byte.
                u64::from(*byte).wrapping_mul(0x0101_0101_0101_0101)
            }
            None => self.random.next_u64(),
        }
    }

    /// A number below `bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.word()) * bound as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below((high.max(low) - low) as usize + 1) as u32
    }

    /// True in that many of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the items, which are at least one.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Index of one of the weights, each as likely as its number says.
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

    /// Random bits of a width.
    pub fn bits(&mut self, width_bits: u32) -> Bits {
        let bytes: Vec<u8> = (0..width_bits.div_ceil(64))
            .flat_map(|_| self.random.next_u64().to_be_bytes())
            .collect();
        Bits::from_bytes_be(width_bits, &bytes)
    }

    /// A value of a width as programs and packets like to meet: 0, 1, all ones, the highest bit, one of
    /// the palette, or anything.
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
        for make in [|| Choices::from_seed(7), || Choices::from_bytes(vec![0, 127, 128, 255])] {
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
}
