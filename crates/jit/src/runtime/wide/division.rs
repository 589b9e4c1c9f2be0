// SPDX-License-Identifier: Apache-2.0
//! Division of numbers in words, low word first, without allocation.

use super::{pair, shifted_left, shifted_right};

/// Words of the widest value.
const MAX_WORDS: usize = (ir::MAX_WIDTH_BITS as usize).div_ceil(64);

/// Long division (Knuth, The Art of Computer Programming, volume 2, 4.3.1, algorithm D) in words. The
/// operands have equally many words, at most [`MAX_WORDS`], and so have the results. By zero both are
/// zero.
pub(super) fn divide(
    left: &[u64],
    right: &[u64],
    mut quotient: Option<&mut [u64]>,
    remainder: Option<&mut [u64]>,
) {
    if let Some(quotient) = &mut quotient {
        quotient.fill(0);
    }
    let used =
        |words: &[u64]| words.len() - words.iter().rev().take_while(|word| **word == 0).count();
    let (left_count, right_count) = (used(left), used(right));
    if right_count == 0 {
        if let Some(remainder) = remainder {
            remainder.fill(0);
        }
        return;
    }
    // Both moved up until the divisor's highest bit is set; the dividend gets one word more.
    let shift = right[right_count - 1].leading_zeros() as u64;
    let (mut rest, mut divisor) = ([0; MAX_WORDS + 1], [0; MAX_WORDS]);
    let rest = &mut rest[..left_count + 1];
    let divisor = &mut divisor[..right_count];
    shifted_left(rest, &left[..left_count], shift);
    shifted_left(divisor, &right[..right_count], shift);
    let top = divisor[right_count - 1];
    let second = right_count.checked_sub(2).map_or(0, |at| divisor[at]);
    for at in (0..(left_count + 1).saturating_sub(right_count)).rev() {
        let part = &mut rest[at..=at + right_count];
        let high = pair(part[right_count - 1], part[right_count]);
        let next = right_count.checked_sub(2).map_or(0, |at| part[at]);
        let mut digit = high / u128::from(top);
        let mut digit_rest = high % u128::from(top);
        while digit_rest <= u128::from(u64::MAX)
            && (digit > u128::from(u64::MAX)
                || digit * u128::from(second) > pair(next, digit_rest as u64))
        {
            digit -= 1;
            digit_rest += u128::from(top);
        }
        let mut digit = digit as u64;
        if subtract_product(part, divisor, digit) {
            digit -= 1;
            add_back(part, divisor);
        }
        if let Some(quotient) = &mut quotient {
            quotient[at] = digit;
        }
    }
    if let Some(remainder) = remainder {
        shifted_right(remainder, rest, shift);
    }
}

/// Subtracts the divisor times a digit; whether the result is negative.
fn subtract_product(part: &mut [u64], divisor: &[u64], digit: u64) -> bool {
    let (mut carry, mut borrow) = (0u128, false);
    let last = divisor.len();
    for (at, place) in part.iter_mut().enumerate() {
        carry += u128::from(divisor.get(at).copied().unwrap_or(0)) * u128::from(digit);
        debug_assert!(at < last || carry <= u128::from(u64::MAX));
        let (partial, first) = place.overflowing_sub(carry as u64);
        let (total, second) = partial.overflowing_sub(u64::from(borrow));
        borrow = first || second;
        *place = total;
        carry >>= 64;
    }
    borrow
}

fn add_back(part: &mut [u64], divisor: &[u64]) {
    let mut carry = false;
    for (at, place) in part.iter_mut().enumerate() {
        let divisor = divisor.get(at).copied().unwrap_or(0);
        let (partial, first) = place.overflowing_add(divisor);
        let (total, second) = partial.overflowing_add(u64::from(carry));
        carry = first || second;
        *place = total;
    }
}
