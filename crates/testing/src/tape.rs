// SPDX-License-Identifier: Apache-2.0
//! Tapes: lists of numbers that choices are taken from ([`Choices::from_tape`](crate::Choices::from_tape)). A choice
//! takes the next number, and zeros when the tape is used up. So a shorter tape of smaller numbers makes a simpler
//! test case, and a tape that fails is shrunk instead of the case.

use arithmetic::random::SplitMix64;

/// Returns a tape of this length from a seed.
pub fn from_seed(seed: u64, length: usize) -> Vec<u32> {
    let mut numbers = SplitMix64::new(seed);
    (0..length).map(|_| (numbers.next_number() >> 32) as u32).collect()
}

/// Numbers that shrinking tries in the place of larger ones; choices take remainders, so larger numbers choose nothing
/// else.
const SMALL: [u32; 6] = [0, 1, 2, 3, 4, 5];

/// Returns the simplest tape found that still fails: shorter, with more zeros and smaller numbers. Calls `fails` at most
/// `tries` times.
pub fn shrink(tape: &[u32], tries: usize, fails: &mut dyn FnMut(&[u32]) -> bool) -> Vec<u32> {
    let mut best = tape.to_vec();
    let mut left = tries;
    let mut attempt = |best: &mut Vec<u32>, candidate: Vec<u32>| {
        if left == 0 || candidate == *best {
            return false;
        }
        left -= 1;
        let is_smaller = fails(&candidate);
        if is_smaller {
            *best = candidate;
        }
        is_smaller
    };
    loop {
        let before = best.clone();
        // The end is cut first: choices behind it become zeros.
        let mut cut = best.len() / 2;
        while cut > 0 {
            let kept = best.len().saturating_sub(cut);
            let beginning = best[..kept].to_vec();
            if kept > 0 && attempt(&mut best, beginning) {
                continue;
            }
            cut /= 2;
        }
        let mut size = (best.len() / 2).max(1);
        loop {
            let mut start = 0;
            while start < best.len() {
                let end = (start + size).min(best.len());
                let without = [&best[..start], &best[end..]].concat();
                if attempt(&mut best, without) {
                    continue;
                }
                if best[start..end].iter().any(|number| *number != 0) {
                    let mut zeros = best.clone();
                    zeros[start..end].fill(0);
                    attempt(&mut best, zeros);
                }
                start += size;
            }
            if size == 1 {
                break;
            }
            size /= 2;
        }
        for at in 0..best.len() {
            for number in SMALL {
                if at < best.len() && number < best[at] {
                    let mut smaller = best.clone();
                    smaller[at] = number;
                    if attempt(&mut best, smaller) {
                        break;
                    }
                }
            }
        }
        if best == before {
            return best;
        }
    }
}
