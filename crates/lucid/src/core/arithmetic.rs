// SPDX-License-Identifier: Apache-2.0
//! Evaluates operators on constants; integers are unsigned and wrap at their width. Constant folding,
//! the compiler and the reference interpreter all use these functions. Locals and state are unknown here.

use super::Constant;
use crate::syntax::ast::{BinaryOperator, UnaryOperator};

/// All bits of an integer of this width (at most 128 bits) set.
pub fn mask(width_bits: u32) -> u128 {
    match width_bits {
        0 => 0,
        1..128 => (1u128 << width_bits) - 1,
        _ => u128::MAX,
    }
}

/// `!`, `~`, `-` on an integer of a width; `-x` is `0 - x`, wrapping.
pub fn integer_unary(operator: UnaryOperator, value: u128, width_bits: u32) -> u128 {
    match operator {
        UnaryOperator::Not | UnaryOperator::BitNot => !value & mask(width_bits),
        UnaryOperator::Negate => value.wrapping_neg() & mask(width_bits),
    }
}

/// An operator that gives an integer. Both operands are `width_bits` wide, except that the right
/// operand of a shift may have any width, and that `right_width_bits` counts for concatenation, whose
/// result is as wide as both together. Shifts by the width or more give zero. `None` for operators
/// that give a boolean.
pub fn integer_binary(
    operator: BinaryOperator,
    left: u128,
    right: u128,
    width_bits: u32,
    right_width_bits: u32,
) -> Option<u128> {
    let all = mask(width_bits);
    let value = match operator {
        BinaryOperator::Add => left.wrapping_add(right) & all,
        BinaryOperator::Subtract => left.wrapping_sub(right) & all,
        BinaryOperator::SaturatingAdd => {
            left.checked_add(right).filter(|sum| *sum <= all).unwrap_or(all)
        }
        BinaryOperator::SaturatingSubtract => left.saturating_sub(right),
        BinaryOperator::BitAnd => left & right,
        BinaryOperator::BitOr => left | right,
        BinaryOperator::BitXor => left ^ right,
        BinaryOperator::ShiftLeft if right >= u128::from(width_bits) => 0,
        BinaryOperator::ShiftLeft => (left << right) & all,
        BinaryOperator::ShiftRight if right >= u128::from(width_bits) => 0,
        BinaryOperator::ShiftRight => left >> right,
        BinaryOperator::Concatenate => {
            let upper = left.checked_shl(right_width_bits).unwrap_or(0);
            upper | (right & mask(right_width_bits))
        }
        BinaryOperator::Equal
        | BinaryOperator::NotEqual
        | BinaryOperator::Less
        | BinaryOperator::Greater
        | BinaryOperator::LessOrEqual
        | BinaryOperator::GreaterOrEqual
        | BinaryOperator::And
        | BinaryOperator::Or => return None,
    };
    Some(value)
}

/// A comparison of unsigned integers; `None` for other operators.
pub fn integer_comparison(operator: BinaryOperator, left: u128, right: u128) -> Option<bool> {
    Some(match operator {
        BinaryOperator::Equal => left == right,
        BinaryOperator::NotEqual => left != right,
        BinaryOperator::Less => left < right,
        BinaryOperator::Greater => left > right,
        BinaryOperator::LessOrEqual => left <= right,
        BinaryOperator::GreaterOrEqual => left >= right,
        _ => return None,
    })
}

/// An operator of one operand on a constant; `None` if it is not defined there.
pub fn unary(operator: UnaryOperator, operand: &Constant) -> Option<Constant> {
    match (operator, operand) {
        (UnaryOperator::Not, Constant::Bool(value)) => Some(Constant::Bool(!value)),
        (UnaryOperator::BitNot | UnaryOperator::Negate, Constant::Int(value, width)) => {
            Some(Constant::Int(integer_unary(operator, *value, *width), *width))
        }
        _ => None,
    }
}

/// An operator of two operands on constants; `None` if it is not defined there.
pub fn binary(operator: BinaryOperator, left: &Constant, right: &Constant) -> Option<Constant> {
    match (left, right) {
        (Constant::Int(left, width), Constant::Int(right, right_width)) => {
            if let Some(truth) = integer_comparison(operator, *left, *right) {
                return Some(Constant::Bool(truth));
            }
            let value = integer_binary(operator, *left, *right, *width, *right_width)?;
            let width = match operator {
                BinaryOperator::Concatenate => width + right_width,
                _ => *width,
            };
            (width <= super::MAX_INTEGER_BITS).then_some(Constant::Int(value, width))
        }
        (Constant::Bool(left), Constant::Bool(right)) => Some(Constant::Bool(match operator {
            BinaryOperator::And => left & right,
            BinaryOperator::Or => left | right,
            BinaryOperator::Equal => left == right,
            BinaryOperator::NotEqual => left != right,
            _ => return None,
        })),
        (Constant::Group(left), Constant::Group(right)) => match operator {
            BinaryOperator::Equal => Some(Constant::Bool(left == right)),
            BinaryOperator::NotEqual => Some(Constant::Bool(left != right)),
            _ => None,
        },
        _ => None,
    }
}

/// The value of a binary operator on words: integers, or booleans as 0 and 1. Operators that are not
/// defined on words give 0. The widths are those of [`integer_binary`].
pub fn word_binary(
    operator: BinaryOperator,
    left: u128,
    right: u128,
    width_bits: u32,
    right_width_bits: u32,
) -> u128 {
    match (integer_comparison(operator, left, right), operator) {
        (Some(truth), _) => u128::from(truth),
        (None, BinaryOperator::And) => left & right,
        (None, BinaryOperator::Or) => left | right,
        _ => integer_binary(operator, left, right, width_bits, right_width_bits).unwrap_or(0),
    }
}

/// The bits of an integer from `low` up, `width_bits` of them.
pub fn slice(value: u128, low: u32, width_bits: u32) -> u128 {
    value.checked_shr(low).unwrap_or(0) & mask(width_bits)
}

/// To an integer of a width: cut or filled with zeros; a boolean as 0 or 1.
pub fn cast(operand: &Constant, width_bits: u32) -> Option<Constant> {
    match operand {
        Constant::Int(value, _) => Some(Constant::Int(value & mask(width_bits), width_bits)),
        Constant::Bool(value) => Some(Constant::Int(u128::from(*value), width_bits)),
        Constant::Group(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use BinaryOperator as B;

    #[test]
    fn operators_wrap_at_their_width() {
        let cases = [
            (B::Add, 250, 10, 8, 4),
            (B::Subtract, 0, 1, 8, 255),
            (B::Subtract, 0, 1, 128, u128::MAX),
            (B::SaturatingAdd, 250, 10, 8, 255),
            (B::SaturatingAdd, u128::MAX, 1, 128, u128::MAX),
            (B::SaturatingSubtract, 3, 5, 8, 0),
            (B::ShiftLeft, 0b1100_0001, 1, 8, 0b1000_0010),
            (B::ShiftLeft, 1, 8, 8, 0),
            (B::ShiftLeft, 1, 127, 128, 1 << 127),
            (B::ShiftRight, 0x80, 7, 8, 1),
            (B::ShiftRight, 0x80, u128::MAX, 8, 0),
            (B::Concatenate, 0xab, 0xcd, 8, 0xabcd),
            (B::BitXor, 0b1100, 0b1010, 8, 0b0110),
        ];
        for (operator, left, right, width, expected) in cases {
            let found = integer_binary(operator, left, right, width, width);
            assert_eq!(found, Some(expected), "{operator:?} {left} {right} at {width} bits");
        }
        assert_eq!(integer_unary(UnaryOperator::Negate, 1, 8), 255);
        assert_eq!(integer_unary(UnaryOperator::Negate, 0, 8), 0);
        assert_eq!(integer_unary(UnaryOperator::BitNot, 0b1010, 4), 0b0101);
    }

    #[test]
    fn concatenations_wider_than_the_limit_have_no_value() {
        let wide = Constant::Int(1, 100);
        assert_eq!(binary(B::Concatenate, &wide, &wide), None);
    }
}
