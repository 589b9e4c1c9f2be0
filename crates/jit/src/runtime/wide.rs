// SPDX-License-Identifier: Apache-2.0
//! Arithmetic on words in memory, low word first, for compiled code. Values are canonical (no bit at
//! or above the width) and so are results. Nothing here allocates; results never overlap operands.

mod division;

use division::divide;
use std::slice;

fn word_count(width_bits: u64) -> usize {
    width_bits.div_ceil(64).max(1) as usize
}

/// Words that compiled code reads.
///
/// # Safety
///
/// At `address` are `count` words that no other code writes during the call.
unsafe fn read<'a>(address: u64, count: usize) -> &'a [u64] {
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(address as usize as *const u64, count) }
}

/// Words that the call writes.
///
/// # Safety
///
/// At `address` is room for `count` words that no other code uses during the call. They may have never been
/// written: they are memory of compiled code's stack frame, whose content is unknown, not uninitialised in the
/// sense of the language.
unsafe fn write<'a>(address: u64, count: usize) -> &'a mut [u64] {
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts_mut(address as usize as *mut u64, count) }
}

/// Drops bits above the width.
fn cut(words: &mut [u64], width_bits: u64) {
    let used_bits = width_bits % 64;
    if let Some(last) = words.last_mut() {
        match (width_bits, used_bits) {
            (0, _) => *last = 0,
            (_, 0) => {}
            _ => *last &= u64::MAX >> (64 - used_bits),
        }
    }
}

fn sign(words: &[u64], width_bits: u64) -> bool {
    width_bits > 0 && {
        let at = width_bits - 1;
        words[(at / 64) as usize] >> (at % 64) & 1 == 1
    }
}

fn is_less(left: &[u64], right: &[u64]) -> bool {
    left.iter().rev().lt(right.iter().rev())
}

/// 64 bits from bit `low` on, zeros beyond the words.
fn window(words: &[u64], low: u64) -> u64 {
    let at = usize::try_from(low / 64).unwrap_or(usize::MAX);
    let word = |at: usize| words.get(at).copied().unwrap_or(0);
    match low % 64 {
        0 => word(at),
        shift => word(at) >> shift | word(at.saturating_add(1)) << (64 - shift),
    }
}

/// Left plus right, or plus the complement of right and one.
fn sum(result: &mut [u64], left: &[u64], right: &[u64], subtracts: bool) {
    let mut carry = subtracts;
    for ((result, left), right) in result.iter_mut().zip(left).zip(right) {
        let right = if subtracts { !right } else { *right };
        let (partial, first) = left.overflowing_add(right);
        let (total, second) = partial.overflowing_add(u64::from(carry));
        carry = first || second;
        *result = total;
    }
}

fn shifted_left(result: &mut [u64], value: &[u64], amount: u64) {
    let (whole, part) = ((amount / 64) as usize, amount % 64);
    for (at, result) in result.iter_mut().enumerate() {
        let word = |at: Option<usize>| at.and_then(|at| value.get(at)).copied().unwrap_or(0);
        let high = word(at.checked_sub(whole));
        *result = match part {
            0 => high,
            _ => high << part | word(at.checked_sub(whole + 1)) >> (64 - part),
        };
    }
}

/// Sets bits from bit `low` up to the end of the words.
fn fill_from(words: &mut [u64], low: u64) {
    let (whole, part) = ((low / 64) as usize, low % 64);
    for (at, word) in words.iter_mut().enumerate().skip(whole) {
        *word |= if at == whole { u64::MAX << part } else { u64::MAX };
    }
}

/// Declares functions that compute a value from two values of the same width.
macro_rules! binary_functions {
    ($($(#[$documentation:meta])* $name:ident($result:ident, $left:ident, $right:ident, $width_bits:ident) $body:block)*) => {$(
        $(#[$documentation])*
        ///
        /// # Safety
        ///
        /// The three addresses are those of as many words as the width in bits needs; the first are written,
        /// and no other code uses them during the call.
        pub(crate) unsafe extern "C" fn $name(result: u64, left: u64, right: u64, width_bits: u64) {
            let count = word_count(width_bits);
            // SAFETY: the caller's promise.
            let words = unsafe { (write(result, count), read(left, count), read(right, count)) };
            let ($result, $left, $right) = words;
            let $width_bits = width_bits;
            $body
            cut($result, $width_bits);
        }
    )*};
}

binary_functions! {
    /// Sum.
    add(result, left, right, width_bits) {
        sum(result, left, right, false);
    }

    /// Difference.
    subtract(result, left, right, width_bits) {
        sum(result, left, right, true);
    }

    /// Product.
    multiply(result, left, right, width_bits) {
        result.fill(0);
        let used = right.len() - right.iter().rev().take_while(|word| **word == 0).count();
        for (shift, &left) in left.iter().enumerate().filter(|(_, word)| **word != 0) {
            let mut carry = 0u128;
            let places = result[shift..].iter_mut();
            for (at, place) in places.enumerate() {
                if at >= used && carry == 0 {
                    break;
                }
                let right = right.get(at).copied().unwrap_or(0);
                carry += u128::from(left) * u128::from(right) + u128::from(*place);
                *place = carry as u64;
                carry >>= 64;
            }
        }
    }

    /// Unsigned quotient; by zero gives zero.
    quotient(result, left, right, width_bits) {
        divide(left, right, Some(result), None);
    }

    /// Unsigned remainder; by zero gives zero.
    remainder(result, left, right, width_bits) {
        divide(left, right, None, Some(result));
    }

    /// Unsigned sum, at most all ones.
    add_saturating_unsigned(result, left, right, width_bits) {
        sum(result, left, right, false);
        // Without a carry out of the words, the sum shows above the width.
        let used_bits = width_bits % 64;
        let overflows = match (used_bits, result.last()) {
            (0, _) => is_less(result, left),
            (_, last) => last.is_some_and(|last| last >> used_bits != 0),
        };
        if overflows {
            result.fill(u64::MAX);
        }
    }

    /// Unsigned difference, at least zero.
    subtract_saturating_unsigned(result, left, right, width_bits) {
        match is_less(left, right) {
            true => result.fill(0),
            false => sum(result, left, right, true),
        }
    }

    /// Signed sum, kept in range.
    add_saturating_signed(result, left, right, width_bits) {
        sum(result, left, right, false);
        let (left, right) = (sign(left, width_bits), sign(right, width_bits));
        if left == right && sign(result, width_bits) != left {
            set_bound(result, width_bits, left);
        }
    }

    /// Signed difference, kept in range.
    subtract_saturating_signed(result, left, right, width_bits) {
        sum(result, left, right, true);
        let (left, right) = (sign(left, width_bits), sign(right, width_bits));
        if left != right && sign(result, width_bits) != left {
            set_bound(result, width_bits, left);
        }
    }

    /// Bitwise and.
    and(result, left, right, width_bits) {
        combine(result, left, right, |left, right| left & right);
    }

    /// Bitwise or.
    or(result, left, right, width_bits) {
        combine(result, left, right, |left, right| left | right);
    }

    /// Bitwise exclusive or.
    xor(result, left, right, width_bits) {
        combine(result, left, right, |left, right| left ^ right);
    }
}

fn combine(result: &mut [u64], left: &[u64], right: &[u64], word: impl Fn(u64, u64) -> u64) {
    for ((result, left), right) in result.iter_mut().zip(left).zip(right) {
        *result = word(*left, *right);
    }
}

/// The largest signed number, or the smallest. Bits above the width are left to be cut.
fn set_bound(result: &mut [u64], width_bits: u64, is_negative: bool) {
    result.fill(0);
    fill_from(result, width_bits - 1);
    if !is_negative {
        result.iter_mut().for_each(|word| *word = !*word);
    }
}

/// Declares functions that compute a value from a value of the same width and one more number.
macro_rules! shift_functions {
    ($($(#[$documentation:meta])* $name:ident($result:ident, $value:ident, $amount:ident, $width_bits:ident) $body:block)*) => {$(
        $(#[$documentation])*
        ///
        /// # Safety
        ///
        /// The first two addresses are those of as many words as the width in bits needs; the first are
        /// written, and no other code uses them during the call.
        pub(crate) unsafe extern "C" fn $name(result: u64, value: u64, amount: u64, width_bits: u64) {
            let count = word_count(width_bits);
            // SAFETY: the caller's promise.
            let ($result, $value) = unsafe { (write(result, count), read(value, count)) };
            let ($amount, $width_bits) = (amount, width_bits);
            $body
            cut($result, $width_bits);
        }
    )*};
}

shift_functions! {
    /// Left shift.
    shift_left(result, value, amount, width_bits) {
        match amount < width_bits {
            true => shifted_left(result, value, amount),
            false => result.fill(0),
        }
    }

    /// Right shift, filling with zeros.
    shift_right(result, value, amount, width_bits) {
        shifted_right(result, value, amount.min(width_bits));
    }

    /// Right shift, filling with the sign.
    shift_right_arithmetic(result, value, amount, width_bits) {
        let amount = amount.min(width_bits);
        shifted_right(result, value, amount);
        if sign(value, width_bits) {
            fill_from(result, width_bits - amount);
        }
    }
}

fn shifted_right(result: &mut [u64], value: &[u64], amount: u64) {
    for (at, result) in result.iter_mut().enumerate() {
        *result = window(value, at as u64 * 64 + amount);
    }
}

/// Two's complement.
///
/// # Safety
///
/// The addresses are those of as many words as the width in bits needs; the first are written, and no other
/// code uses them during the call.
pub(crate) unsafe extern "C" fn negate(result: u64, value: u64, width_bits: u64) {
    let count = word_count(width_bits);
    // SAFETY: the caller's promise.
    let (result, value) = unsafe { (write(result, count), read(value, count)) };
    let mut carry = true;
    for (result, value) in result.iter_mut().zip(value) {
        (*result, carry) = (!value).overflowing_add(u64::from(carry));
    }
    cut(result, width_bits);
}

/// Every bit flipped.
///
/// # Safety
///
/// As of [`negate`].
pub(crate) unsafe extern "C" fn not(result: u64, value: u64, width_bits: u64) {
    let count = word_count(width_bits);
    // SAFETY: the caller's promise.
    let (result, value) = unsafe { (write(result, count), read(value, count)) };
    combine(result, value, value, |word, _| !word);
    cut(result, width_bits);
}

/// 1 when the left number is less, without sign.
///
/// # Safety
///
/// The addresses are those of as many words as the width in bits needs.
pub(crate) unsafe extern "C" fn less_unsigned(left: u64, right: u64, width_bits: u64) -> u64 {
    let count = word_count(width_bits);
    // SAFETY: the caller's promise.
    let (left, right) = unsafe { (read(left, count), read(right, count)) };
    u64::from(is_less(left, right))
}

/// 1 when the left number is less, as two's complement.
///
/// # Safety
///
/// As of [`less_unsigned`].
pub(crate) unsafe extern "C" fn less_signed(left: u64, right: u64, width_bits: u64) -> u64 {
    let count = word_count(width_bits);
    // SAFETY: the caller's promise.
    let (left, right) = unsafe { (read(left, count), read(right, count)) };
    u64::from(match (sign(left, width_bits), sign(right, width_bits)) {
        (true, false) => true,
        (false, true) => false,
        _ => is_less(left, right),
    })
}

/// Returns 1 when some of `count` words differ.
///
/// # Safety
///
/// At both addresses are `count` words.
pub(crate) unsafe extern "C" fn differ(left: u64, right: u64, count: u64) -> u64 {
    // SAFETY: the caller's promise.
    let (left, right) = unsafe { (read(left, count as usize), read(right, count as usize)) };
    u64::from(left != right)
}

/// 1 when two varbits differ in length or bits.
///
/// # Safety
///
/// At each address are as many words as the length in bits before it needs.
pub(crate) unsafe extern "C" fn varbits_differ(
    left_bits: u64,
    left: u64,
    right_bits: u64,
    right: u64,
) -> u64 {
    if left_bits != right_bits {
        return 1;
    }
    // SAFETY: the caller's promise; the lengths are equal.
    unsafe { differ(left, right, word_count(left_bits) as u64) }
}

/// Returns the number in `count` words if it fits into 64 bits, else all ones.
///
/// # Safety
///
/// At the address are `count` words.
pub(crate) unsafe extern "C" fn low_or_saturated(value: u64, count: u64) -> u64 {
    // SAFETY: the caller's promise.
    let words = unsafe { read(value, count as usize) };
    match words.split_first() {
        Some((low, above)) if above.iter().all(|word| *word == 0) => *low,
        Some(_) => u64::MAX,
        None => 0,
    }
}

/// Copies `count` words.
///
/// # Safety
///
/// At both addresses are `count` words; no other code uses the first ones during the call.
pub(crate) unsafe extern "C" fn copy(to: u64, from: u64, count: u64) {
    // SAFETY: the caller's promise.
    let (to, from) = unsafe { (write(to, count as usize), read(from, count as usize)) };
    to.copy_from_slice(from);
}

/// Sets `count` words to zero.
///
/// # Safety
///
/// At the address are `count` words; no other code uses them during the call.
pub(crate) unsafe extern "C" fn clear(words: u64, count: u64) {
    // SAFETY: the caller's promise.
    unsafe { write(words, count as usize) }.fill(0);
}

/// Some bits of a value, from bit `low` on; zeros beyond its width.
///
/// # Safety
///
/// Each address is followed by a width in bits and is that of as many words as this needs; the first words are
/// written, and no other code uses them during the call.
pub(crate) unsafe extern "C" fn slice(
    result: u64,
    result_bits: u64,
    value: u64,
    value_bits: u64,
    low: u64,
) {
    // SAFETY: the caller's promise.
    let (result, value) =
        unsafe { (write(result, word_count(result_bits)), read(value, word_count(value_bits))) };
    shifted_right(result, value, low);
    cut(result, result_bits);
}

/// A value with its sign spread over a larger width.
///
/// # Safety
///
/// As of [`slice`].
pub(crate) unsafe extern "C" fn sign_extend(
    result: u64,
    result_bits: u64,
    value: u64,
    value_bits: u64,
) {
    // SAFETY: the caller's promise.
    let (result, value) =
        unsafe { (write(result, word_count(result_bits)), read(value, word_count(value_bits))) };
    shifted_right(result, value, 0);
    if sign(value, value_bits) {
        fill_from(result, value_bits);
    }
    cut(result, result_bits);
}

/// One value in the high bits, another one in the low ones; the result has both widths.
///
/// # Safety
///
/// `high` and `low` are addresses of as many words as the width in bits behind each needs, `result` of as many
/// as both together need; these are written, and no other code uses them during the call.
pub(crate) unsafe extern "C" fn concat(
    result: u64,
    high: u64,
    high_bits: u64,
    low: u64,
    low_bits: u64,
) {
    // SAFETY: the caller's promise.
    let (result, high, low) = unsafe {
        (
            write(result, word_count(high_bits + low_bits)),
            read(high, word_count(high_bits)),
            read(low, word_count(low_bits)),
        )
    };
    shifted_left(result, high, low_bits);
    for (result, low) in result.iter_mut().zip(low) {
        *result |= low;
    }
}

/// Quotient of two numbers of 128 bits, given as low and high words; by zero gives zero.
///
/// # Safety
///
/// At `result` is room for two words that no other code uses during the call.
pub(crate) unsafe extern "C" fn pair_quotient(
    result: u64,
    left_low: u64,
    left_high: u64,
    right_low: u64,
    right_high: u64,
) {
    let quotient = pair(left_low, left_high).checked_div(pair(right_low, right_high));
    // SAFETY: the caller's promise.
    unsafe { store_pair(result, quotient.unwrap_or(0)) }
}

/// Remainder of two numbers of 128 bits, given as low and high words; by zero gives zero.
///
/// # Safety
///
/// As of [`pair_quotient`].
pub(crate) unsafe extern "C" fn pair_remainder(
    result: u64,
    left_low: u64,
    left_high: u64,
    right_low: u64,
    right_high: u64,
) {
    let remainder = pair(left_low, left_high).checked_rem(pair(right_low, right_high));
    // SAFETY: the caller's promise.
    unsafe { store_pair(result, remainder.unwrap_or(0)) }
}

fn pair(low: u64, high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// # Safety
///
/// As of [`pair_quotient`].
unsafe fn store_pair(result: u64, number: u128) {
    // SAFETY: the caller's promise.
    let words = unsafe { write(result, 2) };
    words.copy_from_slice(&[number as u64, (number >> 64) as u64]);
}
