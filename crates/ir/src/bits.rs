// SPDX-License-Identifier: Apache-2.0
//! Values of a fixed width in bits, and the arithmetic of the IR on them. The meaning of each operation
//! stands at [`UnaryOperation`], [`BinaryOperation`] and [`ResizeKind`]. They are
//! independent of programs.

use crate::{BinaryOperation, ResizeKind, UnaryOperation};
use num_bigint::{BigInt, BigUint, Sign};
use std::cmp::Ordering;
use std::fmt;

/// An unsigned number of a fixed width, 0 to [`crate::MAX_WIDTH_BITS`] bits. Up to 128 bits it is held
/// inline, beyond that in words on the heap. Two values are equal when width and number are.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Bits(Representation);

/// Always canonical: `Narrow` exactly up to 128 bits, and no bit is set at or above the width.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Representation {
    Narrow {
        width_bits: u32,
        value: u128,
    },
    /// Words from the lowest on, as many as the width needs.
    Wide {
        width_bits: u32,
        words: Box<[u64]>,
    },
}

use Representation::{Narrow, Wide};

/// The widest value that is held inline.
const NARROW_WIDTH_BITS: u32 = 128;

fn mask(width_bits: u32) -> u128 {
    match width_bits {
        0 => 0,
        1..NARROW_WIDTH_BITS => u128::MAX >> (NARROW_WIDTH_BITS - width_bits),
        _ => u128::MAX,
    }
}

fn word_count(width_bits: u32) -> usize {
    width_bits.div_ceil(64) as usize
}

/// A narrow value with its sign bit spread over the whole number.
fn sign_spread(width_bits: u32, value: u128) -> i128 {
    match width_bits {
        0 => 0,
        _ => {
            let unused = NARROW_WIDTH_BITS - width_bits;
            ((value << unused) as i128) >> unused
        }
    }
}

impl Bits {
    /// Zero.
    pub fn zero(width_bits: u32) -> Bits {
        Bits::from_u128(width_bits, 0)
    }

    /// Every bit set.
    pub fn ones(width_bits: u32) -> Bits {
        Bits::zero(width_bits).not()
    }

    /// The number modulo 2 to the width.
    pub fn from_u64(width_bits: u32, value: u64) -> Bits {
        Bits::from_u128(width_bits, u128::from(value))
    }

    /// The number modulo 2 to the width.
    pub fn from_u128(width_bits: u32, value: u128) -> Bits {
        if width_bits <= NARROW_WIDTH_BITS {
            return Bits(Narrow { width_bits, value: value & mask(width_bits) });
        }
        let mut words = vec![0; word_count(width_bits)];
        words[0] = value as u64;
        words[1] = (value >> 64) as u64;
        Bits::wide(width_bits, words)
    }

    /// The number modulo 2 to the width.
    pub fn from_biguint(width_bits: u32, value: &BigUint) -> Bits {
        Bits::from_word_iterator(width_bits, value.iter_u64_digits())
    }

    /// The number, in two's complement, modulo 2 to the width.
    pub fn from_bigint(width_bits: u32, value: &BigInt) -> Bits {
        let magnitude = Bits::from_biguint(width_bits, value.magnitude());
        if value.sign() == Sign::Minus { magnitude.negate() } else { magnitude }
    }

    /// The number in network byte order, modulo 2 to the width; right aligned.
    pub fn from_bytes_be(width_bits: u32, bytes: &[u8]) -> Bits {
        let words = bytes
            .rchunks(8)
            .map(|chunk| chunk.iter().fold(0u64, |word, byte| word << 8 | u64::from(*byte)));
        Bits::from_word_iterator(width_bits, words)
    }

    /// One bit.
    pub fn from_bit(bit: bool) -> Bits {
        Bits(Narrow { width_bits: 1, value: u128::from(bit) })
    }

    /// A mask as of a prefix match: the first `length_bits` bits (at most all) set, the others clear.
    pub fn prefix_mask(width_bits: u32, length_bits: u32) -> Bits {
        Bits::ones(width_bits).shift_left(u64::from(width_bits.saturating_sub(length_bits)))
    }

    /// The number in words from the lowest on, modulo 2 to the width; zeros where words are missing.
    pub fn from_words(width_bits: u32, words: &[u64]) -> Bits {
        Bits::from_word_iterator(width_bits, words.iter().copied())
    }

    /// Writes the number into words from the lowest on, zeros into those that it does not reach. Bits
    /// for which there is no word are left out.
    pub fn write_words(&self, words: &mut [u64]) {
        for (at, word) in words.iter_mut().enumerate() {
            *word = self.word(at);
        }
    }

    fn from_word_iterator(width_bits: u32, mut words: impl Iterator<Item = u64>) -> Bits {
        if width_bits <= NARROW_WIDTH_BITS {
            let low = words.next().unwrap_or(0);
            let high = words.next().unwrap_or(0);
            return Bits::from_u128(width_bits, u128::from(high) << 64 | u128::from(low));
        }
        let count = word_count(width_bits);
        let mut words: Vec<u64> = words.take(count).collect();
        words.resize(count, 0);
        Bits::wide(width_bits, words)
    }

    /// Wide values only: `words` are as many as the width needs, bits above the width are dropped.
    fn wide(width_bits: u32, mut words: Vec<u64>) -> Bits {
        debug_assert!(width_bits > NARROW_WIDTH_BITS && words.len() == word_count(width_bits));
        let in_last = width_bits % 64;
        if in_last != 0
            && let Some(last) = words.last_mut()
        {
            *last &= u64::MAX >> (64 - in_last);
        }
        Bits(Wide { width_bits, words: words.into_boxed_slice() })
    }

    /// The width.
    pub fn width_bits(&self) -> u32 {
        match self.0 {
            Narrow { width_bits, .. } | Wide { width_bits, .. } => width_bits,
        }
    }

    /// Word `at` from the lowest on; zero beyond the end.
    fn word(&self, at: usize) -> u64 {
        match &self.0 {
            Narrow { value, .. } => match at {
                0 => *value as u64,
                1 => (*value >> 64) as u64,
                _ => 0,
            },
            Wide { words, .. } => words.get(at).copied().unwrap_or(0),
        }
    }

    /// 64 bits from bit `low` on; zeros beyond the end.
    fn word_from_bit(&self, low: u64) -> u64 {
        let at = (low / 64) as usize;
        match low % 64 {
            0 => self.word(at),
            shift => self.word(at) >> shift | self.word(at + 1) << (64 - shift),
        }
    }

    /// Whether no bit is set.
    pub fn is_zero(&self) -> bool {
        match &self.0 {
            Narrow { value, .. } => *value == 0,
            Wide { words, .. } => words.iter().all(|word| *word == 0),
        }
    }

    /// Whether any bit is set: the truth of a one-bit value.
    pub fn is_true(&self) -> bool {
        !self.is_zero()
    }

    /// The number, if it fits.
    pub fn to_u64(&self) -> Option<u64> {
        self.to_u128().and_then(|value| u64::try_from(value).ok())
    }

    /// The lowest 64 bits.
    pub fn low_u64(&self) -> u64 {
        self.word(0)
    }

    /// The number, if it fits.
    pub fn to_u128(&self) -> Option<u128> {
        match &self.0 {
            Narrow { value, .. } => Some(*value),
            Wide { words, .. } => words[2..]
                .iter()
                .all(|word| *word == 0)
                .then(|| u128::from(words[1]) << 64 | u128::from(words[0])),
        }
    }

    /// The number without sign.
    pub fn to_biguint(&self) -> BigUint {
        match &self.0 {
            Narrow { value, .. } => BigUint::from(*value),
            Wide { .. } => BigUint::from_bytes_be(&self.to_bytes_be()),
        }
    }

    /// The number as two's complement.
    pub fn to_signed_bigint(&self) -> BigInt {
        match &self.0 {
            Narrow { width_bits, value } => BigInt::from(sign_spread(*width_bits, *value)),
            Wide { .. } if self.sign_bit() => -BigInt::from(self.negate().to_biguint()),
            Wide { .. } => BigInt::from(self.to_biguint()),
        }
    }

    /// The number in network byte order, in as few bytes as hold the width; right aligned.
    pub fn to_bytes_be(&self) -> Vec<u8> {
        let count = self.width_bits().div_ceil(8);
        (0..count).rev().map(|at| self.word_from_bit(u64::from(at) * 8) as u8).collect()
    }

    /// Bit `at`, the lowest being 0; clear beyond the width.
    pub fn bit(&self, at: u32) -> bool {
        self.word_from_bit(u64::from(at)) & 1 == 1
    }

    fn sign_bit(&self) -> bool {
        self.width_bits().checked_sub(1).is_some_and(|at| self.bit(at))
    }

    /// Order as unsigned numbers, whatever the widths.
    pub fn cmp_unsigned(&self, other: &Bits) -> Ordering {
        match (&self.0, &other.0) {
            (Narrow { value: left, .. }, Narrow { value: right, .. }) => left.cmp(right),
            _ => {
                let count = word_count(self.width_bits().max(other.width_bits())).max(2);
                let at = |bits: &Bits| (0..count).rev().map(|at| bits.word(at)).collect::<Vec<_>>();
                at(self).cmp(&at(other))
            }
        }
    }

    /// Order as two's complement numbers of the same width.
    pub fn cmp_signed(&self, other: &Bits) -> Ordering {
        match (self.sign_bit(), other.sign_bit()) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            _ => self.cmp_unsigned(other),
        }
    }

    /// The result of an operation with one operand.
    pub fn unary(&self, operation: UnaryOperation) -> Bits {
        match operation {
            UnaryOperation::Not => self.not(),
            UnaryOperation::Negate => self.negate(),
        }
    }

    fn not(&self) -> Bits {
        match &self.0 {
            Narrow { width_bits, value } => Bits::from_u128(*width_bits, !value),
            Wide { width_bits, words } => {
                Bits::wide(*width_bits, words.iter().map(|word| !word).collect())
            }
        }
    }

    fn negate(&self) -> Bits {
        self.not().add(&Bits::from_u64(self.width_bits(), 1))
    }

    /// The result of an operation with two operands. Where the operation requires equal widths, the right
    /// operand counts in the width of the left one; the verifier makes sure that they are equal.
    pub fn binary(&self, operation: BinaryOperation, right: &Bits) -> Bits {
        use BinaryOperation as Op;
        match operation {
            Op::ShiftLeft => return self.shift_left(right.to_u64().unwrap_or(u64::MAX)),
            Op::ShiftRightLogical => {
                return self.shift_right(right.to_u64().unwrap_or(u64::MAX), false);
            }
            Op::ShiftRightArithmetic => {
                return self.shift_right(right.to_u64().unwrap_or(u64::MAX), self.sign_bit());
            }
            Op::Concat => return self.concat(right),
            Op::Equal => return Bits::from_bit(self == right),
            Op::NotEqual => return Bits::from_bit(self != right),
            _ => {}
        }
        let same_width;
        let right = if right.width_bits() == self.width_bits() {
            right
        } else {
            same_width = right.in_width(self.width_bits());
            &same_width
        };
        match operation {
            Op::Add => self.add(right),
            Op::Subtract => self.subtract(right),
            Op::Multiply => self.multiply(right),
            Op::DivideUnsigned => self.divide(right, false),
            Op::RemainderUnsigned => self.divide(right, true),
            Op::AddSaturatingUnsigned => {
                let sum = self.add(right);
                let wrapped = sum.cmp_unsigned(self) == Ordering::Less;
                if wrapped { Bits::ones(self.width_bits()) } else { sum }
            }
            Op::SubtractSaturatingUnsigned => match self.cmp_unsigned(right) {
                Ordering::Less => Bits::zero(self.width_bits()),
                _ => self.subtract(right),
            },
            Op::AddSaturatingSigned => {
                let sum = self.add(right);
                let overflow =
                    self.sign_bit() == right.sign_bit() && sum.sign_bit() != self.sign_bit();
                if overflow { self.signed_bound() } else { sum }
            }
            Op::SubtractSaturatingSigned => {
                let difference = self.subtract(right);
                let overflow =
                    self.sign_bit() != right.sign_bit() && difference.sign_bit() != self.sign_bit();
                if overflow { self.signed_bound() } else { difference }
            }
            Op::And => self.combine(right, |left, right| left & right),
            Op::Or => self.combine(right, |left, right| left | right),
            Op::Xor => self.combine(right, |left, right| left ^ right),
            Op::LessUnsigned => Bits::from_bit(self.cmp_unsigned(right) == Ordering::Less),
            Op::LessEqualUnsigned => Bits::from_bit(self.cmp_unsigned(right) != Ordering::Greater),
            Op::LessSigned => Bits::from_bit(self.cmp_signed(right) == Ordering::Less),
            Op::LessEqualSigned => Bits::from_bit(self.cmp_signed(right) != Ordering::Greater),
            Op::ShiftLeft
            | Op::ShiftRightLogical
            | Op::ShiftRightArithmetic
            | Op::Concat
            | Op::Equal
            | Op::NotEqual => unreachable!("answered above"),
        }
    }

    /// The largest signed number, or the smallest when this one is negative.
    fn signed_bound(&self) -> Bits {
        let largest = Bits::ones(self.width_bits()).shift_right(1, false);
        if self.sign_bit() { largest.not() } else { largest }
    }

    fn combine(&self, right: &Bits, word: impl Fn(u64, u64) -> u64) -> Bits {
        let count = word_count(self.width_bits());
        Bits::from_word_iterator(
            self.width_bits(),
            (0..count).map(|at| word(self.word(at), right.word(at))),
        )
    }

    fn add(&self, right: &Bits) -> Bits {
        if let (Narrow { width_bits, value: left }, Narrow { value: right, .. }) =
            (&self.0, &right.0)
        {
            return Bits::from_u128(*width_bits, left.wrapping_add(*right));
        }
        let mut carry = false;
        let count = word_count(self.width_bits());
        let sum = (0..count).map(|at| {
            let (partial, first) = self.word(at).overflowing_add(right.word(at));
            let (total, second) = partial.overflowing_add(u64::from(carry));
            carry = first || second;
            total
        });
        Bits::from_word_iterator(self.width_bits(), sum)
    }

    fn subtract(&self, right: &Bits) -> Bits {
        self.add(&right.negate())
    }

    fn multiply(&self, right: &Bits) -> Bits {
        match (&self.0, &right.0) {
            (Narrow { width_bits, value: left }, Narrow { value: right, .. }) => {
                Bits::from_u128(*width_bits, left.wrapping_mul(*right))
            }
            _ => Bits::from_biguint(self.width_bits(), &(self.to_biguint() * right.to_biguint())),
        }
    }

    fn divide(&self, right: &Bits, remainder: bool) -> Bits {
        if right.is_zero() {
            return Bits::zero(self.width_bits());
        }
        match (&self.0, &right.0) {
            (Narrow { width_bits, value: left }, Narrow { value: right, .. }) => {
                Bits::from_u128(*width_bits, if remainder { left % right } else { left / right })
            }
            _ => {
                let (left, right) = (self.to_biguint(), right.to_biguint());
                let result = if remainder { left % right } else { left / right };
                Bits::from_biguint(self.width_bits(), &result)
            }
        }
    }

    fn shift_left(&self, amount: u64) -> Bits {
        let width_bits = self.width_bits();
        if amount >= u64::from(width_bits) {
            return Bits::zero(width_bits);
        }
        if let Narrow { value, .. } = self.0 {
            return Bits::from_u128(width_bits, value << amount);
        }
        let (whole, part) = ((amount / 64) as usize, amount % 64);
        let word = |at: usize| {
            let high = at.checked_sub(whole).map_or(0, |at| self.word(at));
            let low = at.checked_sub(whole + 1).map_or(0, |at| self.word(at));
            if part == 0 { high } else { high << part | low >> (64 - part) }
        };
        Bits::from_word_iterator(width_bits, (0..word_count(width_bits)).map(word))
    }

    fn shift_right(&self, amount: u64, fill: bool) -> Bits {
        let width_bits = self.width_bits();
        if amount >= u64::from(width_bits) {
            return if fill { Bits::ones(width_bits) } else { Bits::zero(width_bits) };
        }
        let words =
            (0..word_count(width_bits) as u64).map(|at| self.word_from_bit(at * 64 + amount));
        let shifted = Bits::from_word_iterator(width_bits, words);
        if fill {
            shifted.combine(&Bits::prefix_mask(width_bits, amount as u32), |word, sign| word | sign)
        } else {
            shifted
        }
    }

    /// The number modulo 2 to the new width, zeros in front.
    fn in_width(&self, width_bits: u32) -> Bits {
        let count = word_count(width_bits).max(2);
        Bits::from_word_iterator(width_bits, (0..count).map(|at| self.word(at)))
    }

    /// The value in another width. Every kind can narrow: then the low bits are kept.
    pub fn resize(&self, kind: ResizeKind, width_bits: u32) -> Bits {
        let resized = self.in_width(width_bits);
        let more = width_bits.saturating_sub(self.width_bits());
        match kind {
            ResizeKind::SignExtend if more > 0 && self.sign_bit() => {
                resized.combine(&Bits::prefix_mask(width_bits, more), |word, sign| word | sign)
            }
            _ => resized,
        }
    }

    /// Bits `high` down to `low`, both included. Bits beyond the width are clear; nothing remains when
    /// `high` is less than `low`.
    pub fn slice(&self, high: u32, low: u32) -> Bits {
        let Some(above) = high.checked_sub(low) else { return Bits::zero(0) };
        let width_bits = above.saturating_add(1);
        let words = (0..word_count(width_bits) as u64)
            .map(|at| self.word_from_bit(at * 64 + u64::from(low)));
        Bits::from_word_iterator(width_bits, words)
    }

    /// This value in the high bits, the other in the low ones.
    pub fn concat(&self, low: &Bits) -> Bits {
        let width_bits = self.width_bits().saturating_add(low.width_bits());
        let high = self.in_width(width_bits).shift_left(u64::from(low.width_bits()));
        high.combine(&low.in_width(width_bits), |high, low| high | low)
    }
}

/// As a P4 literal: the width, `w`, and the number, in hexadecimal from 10 on: `8w5`, `16w0x800`.
impl fmt::Display for Bits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width_bits = self.width_bits();
        match self.to_u64() {
            Some(digit @ 0..10) => write!(formatter, "{width_bits}w{digit}"),
            _ => match &self.0 {
                Narrow { value, .. } => write!(formatter, "{width_bits}w{value:#x}"),
                Wide { .. } => write!(formatter, "{width_bits}w{:#x}", self.to_biguint()),
            },
        }
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
pub(crate) mod tests;
