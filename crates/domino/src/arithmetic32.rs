// SPDX-License-Identifier: Apache-2.0
//! What operators compute: 32 bits, wrapping, and a value for each case that C leaves undefined. The interpreters, constant
//! folding and the compiler's analyses call these functions.

use crate::program::Operation;
use crate::syntax::ast::{BinaryOperator, UnaryOperator};
use arithmetic::crc::CrcParameters;

/// Computes an operator with one operand.
pub fn unary(operator: UnaryOperator, value: u32) -> u32 {
    match operator {
        UnaryOperator::Plus => value,
        UnaryOperator::Negate => value.wrapping_neg(),
        UnaryOperator::Complement => !value,
        UnaryOperator::Not => u32::from(value == 0),
    }
}

/// Computes an operator with two operands. A division by 0 gives 0, a remainder by 0 too; the quotient of the smallest
/// `int` and -1 is the smallest `int`. A shift count is taken as 32 unsigned bits; from 32 on the result is 0 or the sign.
pub fn binary(operation: Operation, left: u32, right: u32) -> u32 {
    let Operation { operator, is_unsigned } = operation;
    let (signed_left, signed_right) = (left as i32, right as i32);
    let compare =
        |signed: bool, unsigned: bool| u32::from(if is_unsigned { unsigned } else { signed });
    match operator {
        BinaryOperator::Add => left.wrapping_add(right),
        BinaryOperator::Subtract => left.wrapping_sub(right),
        BinaryOperator::Multiply => left.wrapping_mul(right),
        BinaryOperator::Divide | BinaryOperator::Remainder if right == 0 => 0,
        BinaryOperator::Divide if is_unsigned => left / right,
        BinaryOperator::Divide => signed_left.wrapping_div(signed_right) as u32,
        BinaryOperator::Remainder if is_unsigned => left % right,
        BinaryOperator::Remainder => signed_left.wrapping_rem(signed_right) as u32,
        BinaryOperator::And => left & right,
        BinaryOperator::Or => left | right,
        BinaryOperator::Xor => left ^ right,
        BinaryOperator::ShiftLeft => left.checked_shl(right).unwrap_or(0),
        BinaryOperator::ShiftRight if is_unsigned => left.checked_shr(right).unwrap_or(0),
        BinaryOperator::ShiftRight => (signed_left >> right.min(31)) as u32,
        BinaryOperator::Equal => u32::from(left == right),
        BinaryOperator::NotEqual => u32::from(left != right),
        BinaryOperator::Less => compare(signed_left < signed_right, left < right),
        BinaryOperator::Greater => compare(signed_left > signed_right, left > right),
        BinaryOperator::LessEqual => compare(signed_left <= signed_right, left <= right),
        BinaryOperator::GreaterEqual => compare(signed_left >= signed_right, left >= right),
    }
}

/// Computes `hash2` or `hash3`: CRC-16/ARC over the values as little-endian words.
pub fn hash(values: &[u32]) -> u32 {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    CrcParameters::CRC16.compute(&bytes) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_header() {
        let signed =
            |values: &[i32]| hash(&values.iter().map(|one| *one as u32).collect::<Vec<_>>());
        for (values, expected) in [
            (&[1, 2][..], 29888),
            (&[2, 1], 9600),
            (&[0, 0], 0),
            (&[-1, 5], 56384),
            (&[12345, 80], 32226),
            (&[i32::MAX, i32::MIN], 28224),
            (&[1, 2, 3], 24188),
            (&[-1, -2, -3], 62869),
            (&[0, 0, 0], 0),
        ] {
            assert_eq!(signed(values), expected, "{values:?}");
        }
    }

    #[test]
    fn what_c_leaves_undefined_has_a_value() {
        use BinaryOperator as B;
        let minimum = i32::MIN as u32;
        for (operator, is_unsigned, left, right, expected) in [
            (B::Divide, false, 7, 0, 0),
            (B::Remainder, false, 7, 0, 0),
            (B::Divide, true, 7, 0, 0),
            (B::Divide, false, minimum, u32::MAX, minimum),
            (B::Remainder, false, minimum, u32::MAX, 0),
            (B::ShiftLeft, false, 1, 32, 0),
            (B::ShiftLeft, false, 1, u32::MAX, 0),
            (B::ShiftRight, false, minimum, 40, u32::MAX),
            (B::ShiftRight, true, minimum, 40, 0),
            (B::ShiftRight, false, 8, u32::MAX, 0),
            (B::Divide, false, -7_i32 as u32, 2, -3_i32 as u32),
            (B::Remainder, false, -7_i32 as u32, 2, -1_i32 as u32),
        ] {
            let operation = Operation { operator, is_unsigned };
            assert_eq!(binary(operation, left, right), expected, "{left} {operator:?} {right}");
        }
    }
}
