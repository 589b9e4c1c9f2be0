// SPDX-License-Identifier: Apache-2.0
//! The arithmetic of [`Bits`] against big integers: every operation at random widths on both sides of
//! the inline limit, and the corner cases by hand.

use super::*;
use num_bigint::{BigInt, BigUint};
use proptest::prelude::*;

/// All operations with two operands.
pub(crate) const OPERATIONS: [BinaryOperation; 22] = [
    BinaryOperation::Add,
    BinaryOperation::Subtract,
    BinaryOperation::Multiply,
    BinaryOperation::DivideUnsigned,
    BinaryOperation::RemainderUnsigned,
    BinaryOperation::AddSaturatingUnsigned,
    BinaryOperation::AddSaturatingSigned,
    BinaryOperation::SubtractSaturatingUnsigned,
    BinaryOperation::SubtractSaturatingSigned,
    BinaryOperation::And,
    BinaryOperation::Or,
    BinaryOperation::Xor,
    BinaryOperation::ShiftLeft,
    BinaryOperation::ShiftRightLogical,
    BinaryOperation::ShiftRightArithmetic,
    BinaryOperation::Equal,
    BinaryOperation::NotEqual,
    BinaryOperation::LessUnsigned,
    BinaryOperation::LessEqualUnsigned,
    BinaryOperation::LessSigned,
    BinaryOperation::LessEqualSigned,
    BinaryOperation::Concat,
];

fn power(exponent: u32) -> BigInt {
    BigInt::from(1) << exponent
}

/// What the operation should give, by integers alone.
fn expected(operation: BinaryOperation, left: &Bits, right: &Bits) -> Bits {
    use BinaryOperation as Op;
    let width = left.width_bits();
    let (unsigned_left, unsigned_right) =
        (BigInt::from(left.to_biguint()), BigInt::from(right.to_biguint()));
    let (signed_left, signed_right) = (left.to_signed_bigint(), right.to_signed_bigint());
    let bit = |value: bool| Bits::from_bit(value);
    let number = |value: BigInt| Bits::from_bigint(width, &value);
    let unsigned_clamp = |value: BigInt| value.clamp(BigInt::ZERO, power(width) - 1);
    let signed_clamp = |value: BigInt| match width {
        0 => BigInt::ZERO,
        _ => value.clamp(-power(width - 1), power(width - 1) - 1),
    };
    let amount = u32::try_from(&unsigned_right).unwrap_or(u32::MAX).min(width);
    match operation {
        Op::Add => number(unsigned_left + unsigned_right),
        Op::Subtract => number(unsigned_left - unsigned_right),
        Op::Multiply => number(unsigned_left * unsigned_right),
        Op::DivideUnsigned | Op::RemainderUnsigned if unsigned_right == BigInt::ZERO => {
            Bits::zero(width)
        }
        Op::DivideUnsigned => number(unsigned_left / unsigned_right),
        Op::RemainderUnsigned => number(unsigned_left % unsigned_right),
        Op::AddSaturatingUnsigned => number(unsigned_clamp(unsigned_left + unsigned_right)),
        Op::SubtractSaturatingUnsigned => number(unsigned_clamp(unsigned_left - unsigned_right)),
        Op::AddSaturatingSigned => number(signed_clamp(signed_left + signed_right)),
        Op::SubtractSaturatingSigned => number(signed_clamp(signed_left - signed_right)),
        Op::And => number(unsigned_left & unsigned_right),
        Op::Or => number(unsigned_left | unsigned_right),
        Op::Xor => number(unsigned_left ^ unsigned_right),
        Op::ShiftLeft => number(unsigned_left << amount),
        Op::ShiftRightLogical => number(unsigned_left >> amount),
        Op::ShiftRightArithmetic => number(signed_left >> amount),
        Op::Equal => bit(unsigned_left == unsigned_right),
        Op::NotEqual => bit(unsigned_left != unsigned_right),
        Op::LessUnsigned => bit(unsigned_left < unsigned_right),
        Op::LessEqualUnsigned => bit(unsigned_left <= unsigned_right),
        Op::LessSigned => bit(signed_left < signed_right),
        Op::LessEqualSigned => bit(signed_left <= signed_right),
        Op::Concat => Bits::from_bigint(
            width + right.width_bits(),
            &(unsigned_left * power(right.width_bits()) + unsigned_right),
        ),
    }
}

/// Widths on both sides of words and of the inline limit.
fn any_width() -> impl Strategy<Value = u32> {
    prop_oneof![
        0u32..140,
        prop::sample::select(vec![0, 1, 63, 64, 65, 127, 128, 129, 192, 256]),
        0u32..700
    ]
}

/// Random values, with many near zero, near the top and near the sign change.
fn any_value(width: u32) -> impl Strategy<Value = Bits> {
    let random = prop::collection::vec(any::<u8>(), width.div_ceil(8) as usize)
        .prop_map(move |bytes| Bits::from_bytes_be(width, &bytes));
    let near = (-3i32..4, 0u32..3).prop_map(move |(offset, place)| {
        let base = match (place, width) {
            (0, _) | (_, 0) => BigInt::ZERO,
            (1, _) => power(width - 1),
            _ => BigInt::from(width),
        };
        Bits::from_bigint(width, &(base + offset))
    });
    prop_oneof![2 => random, 1 => near]
}

fn two_values() -> impl Strategy<Value = (Bits, Bits)> {
    any_width().prop_flat_map(|width| (any_value(width), any_value(width)))
}

fn value_and_width() -> impl Strategy<Value = (Bits, u32)> {
    (any_width().prop_flat_map(any_value), any_width())
}

proptest! {
    #[test]
    fn binary_operations_agree_with_integers((left, right) in two_values()) {
        for operation in OPERATIONS {
            prop_assert_eq!(
                left.binary(operation, &right),
                expected(operation, &left, &right),
                "{:?}", operation
            );
        }
    }

    #[test]
    fn shifts_and_concat_take_any_width(
        left in any_width().prop_flat_map(any_value),
        right in any_width().prop_flat_map(any_value),
    ) {
        for operation in [
            BinaryOperation::ShiftLeft,
            BinaryOperation::ShiftRightLogical,
            BinaryOperation::ShiftRightArithmetic,
            BinaryOperation::Concat,
        ] {
            prop_assert_eq!(left.binary(operation, &right), expected(operation, &left, &right));
        }
        prop_assert_eq!(left.cmp_unsigned(&right), left.to_biguint().cmp(&right.to_biguint()));
        prop_assert_eq!(left.concat(&right), left.binary(BinaryOperation::Concat, &right));
    }

    #[test]
    fn unary_operations_agree_with_integers((value, _) in two_values()) {
        let width = value.width_bits();
        let number = BigInt::from(value.to_biguint());
        prop_assert_eq!(value.unary(UnaryOperation::Negate), Bits::from_bigint(width, &-number.clone()));
        prop_assert_eq!(
            value.unary(UnaryOperation::Not),
            Bits::from_bigint(width, &(power(width) - 1 - number))
        );
    }

    #[test]
    fn resizing_agrees_with_integers((value, width) in value_and_width()) {
        let unsigned = BigInt::from(value.to_biguint());
        prop_assert_eq!(
            value.resize(ResizeKind::ZeroExtend, width), Bits::from_bigint(width, &unsigned));
        prop_assert_eq!(
            value.resize(ResizeKind::Truncate, width), Bits::from_bigint(width, &unsigned));
        prop_assert_eq!(
            value.resize(ResizeKind::SignExtend, width),
            Bits::from_bigint(width, &value.to_signed_bigint()));
    }

    #[test]
    fn slices_agree_with_integers(
        (value, from) in value_and_width(),
        length in 1u32..200,
    ) {
        let expected = Bits::from_biguint(length, &(value.to_biguint() >> from));
        prop_assert_eq!(value.slice(from + length - 1, from), expected);
        prop_assert_eq!(value.bit(from), value.to_biguint().bit(u64::from(from)));
    }

    #[test]
    fn conversions_return((value, _) in two_values()) {
        let width = value.width_bits();
        prop_assert_eq!(&Bits::from_biguint(width, &value.to_biguint()), &value);
        prop_assert_eq!(&Bits::from_bigint(width, &value.to_signed_bigint()), &value);
        let bytes = value.to_bytes_be();
        prop_assert_eq!(bytes.len() as u32, width.div_ceil(8));
        prop_assert_eq!(BigUint::from_bytes_be(&bytes), value.to_biguint());
        prop_assert_eq!(&Bits::from_bytes_be(width, &bytes), &value);
        prop_assert_eq!(value.to_u128(), u128::try_from(value.to_biguint()).ok());
        prop_assert_eq!(value.to_u64(), u64::try_from(value.to_biguint()).ok());
        prop_assert_eq!(BigUint::from(value.low_u64()), value.to_biguint() % (1u128 << 64));
        prop_assert_eq!(value.is_zero(), value.to_biguint() == BigUint::ZERO);
        if let Some(small) = value.to_u128() {
            prop_assert_eq!(&Bits::from_u128(width, small), &value);
        }
    }

    #[test]
    fn words_return((value, width) in value_and_width(), stray in any::<u64>()) {
        let mut words = vec![stray; width.div_ceil(64) as usize];
        value.write_words(&mut words);
        let held_bits = words.len() as u32 * 64;
        let held = Bits::from_biguint(held_bits, &value.to_biguint());
        prop_assert_eq!(&Bits::from_words(held_bits, &words), &held);
        let expected = Bits::from_biguint(width, &value.to_biguint());
        prop_assert_eq!(&Bits::from_words(width, &words), &expected);
        words.push(stray);
        prop_assert_eq!(Bits::from_words(width, &words), expected);
    }

    #[test]
    fn prefix_masks_have_their_ones_in_front(width in any_width(), length in any_width()) {
        let mask = Bits::prefix_mask(width, length);
        for at in 0..width {
            prop_assert_eq!(mask.bit(at), width - at <= length);
        }
    }
}

fn check(value: Bits, expected: &str) {
    assert_eq!(value.to_string(), expected);
}

#[test]
fn values_wrap_to_their_width() {
    check(Bits::from_u64(8, 0x1ff), "8w0xff");
    check(Bits::from_u64(0, 5), "0w0");
    check(Bits::from_bigint(4, &BigInt::from(-3)), "4w0xd");
    check(Bits::from_bytes_be(12, &[0xab, 0xcd]), "12w0xbcd");
    check(Bits::from_bytes_be(24, &[0xcd]), "24w0xcd");
    check(Bits::ones(130), "130w0x3ffffffffffffffffffffffffffffffff");
    check(Bits::from_bit(true), "1w1");
}

#[test]
fn division_by_zero_gives_zero() {
    for width in [8, 128, 200] {
        let (seven, zero) = (Bits::from_u64(width, 7), Bits::zero(width));
        assert!(seven.binary(BinaryOperation::DivideUnsigned, &zero).is_zero());
        assert!(seven.binary(BinaryOperation::RemainderUnsigned, &zero).is_zero());
    }
}

#[test]
fn values_of_different_widths_are_not_equal() {
    let (short, long) = (Bits::from_u64(8, 1), Bits::from_u64(16, 1));
    check(short.binary(BinaryOperation::Equal, &long), "1w0");
    check(short.binary(BinaryOperation::NotEqual, &long), "1w1");
}

#[test]
fn huge_shift_amounts_do_not_wrap() {
    let amount = Bits::ones(300);
    check(Bits::ones(8).binary(BinaryOperation::ShiftLeft, &amount), "8w0");
    check(Bits::ones(8).binary(BinaryOperation::ShiftRightArithmetic, &amount), "8w0xff");
}

#[test]
fn slices_beyond_the_end_are_clear() {
    check(Bits::ones(4).slice(7, 2), "6w3");
    check(Bits::ones(4).slice(1, 2), "0w0");
}
