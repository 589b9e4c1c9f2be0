// SPDX-License-Identifier: Apache-2.0
//! Makes a tape that shows a difference small: shorter, with more zeros, with smaller numbers, for as
//! long as the difference stays. A simpler tape is a simpler program with fewer events.

/// Numbers that choices look at; larger ones say the same as a remainder.
const SMALL: [u32; 6] = [0, 1, 2, 3, 4, 5];

/// The simplest tape found that still fails, with at most so many tries.
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
        // Without the end: what is missing is zeros.
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
