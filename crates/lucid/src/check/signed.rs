// SPDX-License-Identifier: Apache-2.0
//! Warns about comparisons that take integers for signed: with a negated number, or with 0 where no unsigned
//! integer is below it. `operators` finds the comparisons; the width is known at the end of the declaration.

use super::Checker;
use super::checked::Size;
use super::codes;
use super::reports::snippet;
use crate::syntax::ast::{BinaryOperator, Expression, ExpressionKind, UnaryOperator};
use source::{Diagnostic, Span};

/// A comparison by order with a number that only signed integers reach.
pub(super) struct SignedComparison {
    /// With the number on the right.
    operator: BinaryOperator,
    /// The other operand, as text.
    operand: String,
    /// The number without its sign; 0 is compared as it is.
    magnitude: u128,
    number: Span,
    is_number_left: bool,
}

impl SignedComparison {
    /// The comparison, if one operand is a negated number, or 0 in a comparison that always has one result.
    pub(super) fn of(
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
    ) -> Option<SignedComparison> {
        let (operator, number, other, is_number_left) = match (number(left), number(right)) {
            (None, Some(_)) => (operator, right, left, false),
            (Some(_), None) => (mirrored(operator), left, right, true),
            _ => return None,
        };
        let magnitude = self::number(number)?;
        let is_decided = matches!(operator, BinaryOperator::Less | BinaryOperator::GreaterOrEqual);
        (magnitude != 0 || is_decided).then(|| SignedComparison {
            operator,
            operand: snippet(other),
            magnitude,
            number: number.span,
            is_number_left,
        })
    }

    /// The comparison as text, with these operands.
    fn text(&self, operand: &str, number: &str) -> String {
        match self.is_number_left {
            false => format!("{operand} {} {number}", self.operator.symbol()),
            true => format!("{number} {} {operand}", mirrored(self.operator).symbol()),
        }
    }
}

/// The magnitude of a negated number, or 0 for a zero.
fn number(e: &Expression) -> Option<u128> {
    match &e.kind {
        ExpressionKind::Integer { value: 0, .. } => Some(0),
        ExpressionKind::Unary { operator: UnaryOperator::Negate, operand } => match operand.kind {
            ExpressionKind::Integer { value, .. } => Some(value).filter(|value| *value > 0),
            _ => None,
        },
        _ => None,
    }
}

/// The operator with its operands exchanged.
fn mirrored(operator: BinaryOperator) -> BinaryOperator {
    match operator {
        BinaryOperator::Less => BinaryOperator::Greater,
        BinaryOperator::Greater => BinaryOperator::Less,
        BinaryOperator::LessOrEqual => BinaryOperator::GreaterOrEqual,
        BinaryOperator::GreaterOrEqual => BinaryOperator::LessOrEqual,
        other => other,
    }
}

impl Checker {
    pub(super) fn signed_comparison(&mut self, slip: &SignedComparison, width: &Size, span: Span) {
        let Some(width @ 1..=128) = self.variables.resolve_size(width).known() else { return };
        let operand = &slip.operand;
        if slip.magnitude == 0 {
            let text = slip.text(operand, "0");
            let (result, bit) = match slip.operator {
                BinaryOperator::Less => ("never holds", 1),
                _ => ("always holds", 0),
            };
            let message = format!("`{text}` {result}: integers are unsigned");
            let top = width - 1;
            self.diagnostics.push(
                Diagnostic::warning(codes::SIGNED_COMPARISON, span, message).help(format!(
                    "for the sign of a number in two's complement, test its top bit: \
                     `{operand}[{top}:{top}] == {bit}`"
                )),
            );
            return;
        }
        let mask = u128::MAX >> (128 - width);
        let top_bit = 1u128 << (width - 1);
        let value = slip.magnitude.wrapping_neg() & mask;
        let (flipped, number) = (format!("({operand} ^^ {top_bit})"), value ^ top_bit);
        self.diagnostics.push(
            Diagnostic::warning(
                codes::SIGNED_COMPARISON,
                slip.number,
                format!("`-{}` is {value} in {width} bits: integers are unsigned", slip.magnitude),
            )
            .here(format!("the comparison is with {value}"))
            .help(format!(
                "to compare numbers in two's complement, flip the top bit of both: `{}`",
                slip.text(&flipped, &number.to_string())
            ))
            .help(format!("or write `{value}` if it is meant")),
        );
    }
}
