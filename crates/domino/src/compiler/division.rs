// SPDX-License-Identifier: Apache-2.0
//! Division in P4_16, which has none for values of the data plane: by a constant as a multiplication and a shift, by a
//! variable as 32 subtractions under conditions.

use super::Printer;
use super::expressions::literal;
use crate::core::{Expression, Range};
use crate::program::Operation;
use crate::syntax::ast::BinaryOperator;
use source::Span;
use std::fmt::Write;

/// A multiplication and a right shift that divide by a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reciprocal {
    factor: u128,
    shift: u32,
    /// The bits of the product.
    width_bits: u32,
}

/// Returns the reciprocal of a divisor of at least 3 that is no power of two, for numerators up to `largest`.
///
/// With `factor = ceil(2^shift / divisor)` the quotient is exact if `(factor * divisor - 2^shift) * largest < 2^shift`:
/// the error of the product stays below the distance of a quotient's fraction from the next whole number.
fn reciprocal(divisor: u32, largest: u32) -> Reciprocal {
    let mut shift = 32 - divisor.leading_zeros();
    loop {
        let power = 1u128 << shift;
        let factor = power.div_ceil(u128::from(divisor));
        let error = factor * u128::from(divisor) - power;
        if error * u128::from(largest) < power {
            let product = factor * u128::from(largest);
            let width_bits = if product < 1 << 64 { 64 } else { 96 };
            return Reciprocal { factor, shift, width_bits };
        }
        shift += 1;
    }
}

/// The function that divides by a variable. A division by 0 gives any result.
pub(super) fn function() -> String {
    let mut text = String::from(
        "bit<64> divide(in bit<32> numerator, in bit<32> denominator) {
             bit<64> rest = 32w0 ++ numerator;
             bit<64> part = 64w0;
             bit<32> quotient = 32w0;",
    );
    for bit in (0..32).rev() {
        let _ = write!(
            text,
            "part = (32w0 ++ denominator) << 8w{bit};
             if (rest >= part) {{ rest = rest - part; quotient = quotient | 32w{}; }}",
            1u32 << bit
        );
    }
    text.push_str("return quotient ++ rest[31:0]; }");
    text
}

/// A numerator or divisor without its sign.
struct Magnitude {
    text: String,
    /// The condition that it was negative.
    is_negative: Option<String>,
    largest: u32,
}

impl Printer<'_> {
    /// Writes a division or remainder.
    pub(super) fn divide(
        &mut self,
        operation: Operation,
        left: &Expression,
        right: &Expression,
        span: Span,
    ) -> String {
        let is_remainder = operation.operator == BinaryOperator::Remainder;
        let divisor_range = self.ranges.of(right);
        let (divisor, left_natural) = (divisor_range.constant(), self.ranges.of(left).is_natural());
        if divisor == Some(0) {
            return literal(0);
        }
        let is_unsigned = operation.is_unsigned || left_natural && divisor_range.is_natural();
        let numerator = match is_unsigned {
            true => {
                let largest = self.largest(left);
                Magnitude { text: self.simple(left, span), is_negative: None, largest }
            }
            false => self.magnitude(left, span),
        };
        if let Some(divisor) = divisor {
            let is_negative = !is_unsigned && (divisor as i32) < 0;
            let magnitude = if is_negative { divisor.wrapping_neg() } else { divisor };
            let quotient = self.by_constant(&numerator, magnitude, span);
            if is_remainder {
                let rest = match magnitude {
                    1 => return literal(0),
                    power if power.is_power_of_two() => {
                        format!("({} & {})", numerator.text, literal(power - 1))
                    }
                    _ => format!("({} - {quotient} * {})", numerator.text, literal(magnitude)),
                };
                return self.signed(&rest, numerator.is_negative.as_deref(), span);
            }
            let sign = match (&numerator.is_negative, is_negative) {
                (Some(sign), false) => Some(sign.clone()),
                (Some(sign), true) => Some(format!("!{sign}")),
                (None, true) => return format!("(-{quotient})"),
                (None, false) => None,
            };
            return self.signed(&quotient, sign.as_deref(), span);
        }
        let denominator = match is_unsigned {
            true => {
                Magnitude { text: self.simple(right, span), is_negative: None, largest: u32::MAX }
            }
            false => self.magnitude(right, span),
        };
        self.has_division = true;
        let call = format!("divide({}, {})", numerator.text, denominator.text);
        let both = self.keep(span, "bit<64>", "divided", &call);
        let (part, sign) = match is_remainder {
            true => (format!("{both}[31:0]"), numerator.is_negative),
            false => {
                let sign = match (numerator.is_negative, denominator.is_negative) {
                    (Some(one), Some(other)) => Some(format!("({one} != {other})")),
                    (one, other) => one.or(other),
                };
                (format!("{both}[63:32]"), sign)
            }
        };
        let value = self.signed(&part, sign.as_deref(), span);
        let may_be_zero = divisor_range.contains(0);
        match may_be_zero {
            true => format!("({} == 32w0 ? 32w0 : {value})", denominator.text),
            false => value,
        }
    }

    /// Writes a number without its sign; keeps whether it was negative.
    fn magnitude(&mut self, value: &Expression, span: Span) -> Magnitude {
        let range: Range = self.ranges.of(value);
        let text = self.simple(value, span);
        if range.is_natural() {
            return Magnitude { text, is_negative: None, largest: range.high as u32 };
        }
        let condition = format!("((int<32>) {text} < 32s0)");
        let is_negative = self.keep(span, "bool", "is_negative", &condition);
        let magnitude = format!("({is_negative} ? -{text} : {text})");
        let text = self.keep(span, "bit<32>", "magnitude", &magnitude);
        let largest = range.low.unsigned_abs().max(range.high.unsigned_abs());
        let largest = u32::try_from(largest).unwrap_or(1 << 31);
        Magnitude { text, is_negative: Some(is_negative), largest }
    }

    fn by_constant(&mut self, numerator: &Magnitude, divisor: u32, span: Span) -> String {
        if divisor == 1 {
            return numerator.text.clone();
        }
        if divisor > numerator.largest {
            return literal(0);
        }
        if divisor.is_power_of_two() {
            return format!("({} >> 8w{})", numerator.text, divisor.trailing_zeros());
        }
        let Reciprocal { factor, shift, width_bits } = reciprocal(divisor, numerator.largest);
        let product = format!(
            "((bit<{width_bits}>) {} * {width_bits}w{factor}) >> 8w{shift}",
            numerator.text
        );
        self.keep(span, "bit<32>", "quotient", &format!("(bit<32>) ({product})"))
    }

    /// Negates a value under a condition.
    fn signed(&mut self, value: &str, is_negative: Option<&str>, span: Span) -> String {
        match is_negative {
            None => value.to_string(),
            Some(condition) => {
                let value = self.keep(span, "bit<32>", "unsigned", value);
                format!("({condition} ? -{value} : {value})")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reciprocals_divide_exactly() {
        let largests = [u32::MAX, 1 << 31, i32::MAX as u32, 0xffff, 1000];
        let divisors = [
            3,
            5,
            6,
            7,
            10,
            30,
            641,
            8000,
            10000,
            65537,
            1_000_003,
            (1 << 31) - 1,
            (1 << 31) + 1,
            u32::MAX,
        ];
        for largest in largests {
            for divisor in divisors.into_iter().chain((0..200).map(|k| k * k * k * 521 + 3)) {
                if divisor < 3 || divisor > largest || divisor.is_power_of_two() {
                    continue;
                }
                let Reciprocal { factor, shift, width_bits } = reciprocal(divisor, largest);
                assert!(shift < width_bits && factor < 1 << 64, "{divisor} {largest}");
                let near = (largest / divisor) * divisor;
                let middle = (largest / divisor / 2) * divisor;
                for numerator in [
                    0,
                    1,
                    divisor - 1,
                    divisor,
                    middle,
                    middle.saturating_sub(1),
                    near,
                    near - 1,
                    largest,
                ] {
                    let product = factor * u128::from(numerator);
                    assert!(product < 1 << width_bits);
                    assert_eq!(
                        (product >> shift) as u32,
                        numerator / divisor,
                        "{numerator} / {divisor}"
                    );
                }
            }
        }
    }
}
