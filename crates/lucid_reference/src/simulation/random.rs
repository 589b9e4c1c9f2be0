// SPDX-License-Identifier: Apache-2.0
//! The purposes of random numbers in a run; each has streams of its own ([`arithmetic::random::stream`]).

use crate::interpreter::RandomSource;
use arithmetic::random::stream::Stream;
use lucid::core::arithmetic::mask;

/// The purpose of a random number. Those of links are `network::links`'.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// `Sys.random()`; the place is the switch.
    Program = 1,
    /// Delay of generated events; the place is the switch.
    GenerateDelay = 2,
    /// Values and gaps of generators; the place is the input's number.
    Generator = 5,
    /// Loss of events that go to a switch without a path of links; the place is the sender.
    DirectLoss = 6,
}

impl Purpose {
    /// The stream of this purpose at a place, from its beginning.
    pub fn stream(self, seed: u64, place: u64) -> Stream {
        Stream::new(seed, self as u64, place)
    }
}

/// Uniform from 0 to `most`, both included.
pub(crate) fn up_to_wide(stream: &mut Stream, most: u128) -> u128 {
    match u64::try_from(most) {
        Ok(most) => u128::from(stream.up_to(most)),
        Err(_) => {
            let bits = 128 - most.leading_zeros();
            // At least one of two draws is accepted on average.
            loop {
                let drawn = stream.draw(mask(bits));
                if drawn <= most {
                    return drawn;
                }
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
    fn wide_numbers_keep_their_bound() {
        let mut stream = Purpose::Generator.stream(7, 0);
        assert!((0..1000).all(|_| up_to_wide(&mut stream, 1 << 100) <= 1 << 100));
    }
}
