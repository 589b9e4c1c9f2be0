// SPDX-License-Identifier: Apache-2.0
//! Expressions in P4_16: values as `bit<32>`, conditions as `bool`. Signed comparisons and shifts cast their operands.

use super::Printer;
use crate::core::{Expression, Range};
use crate::program::Operation;
use crate::syntax::ast::{BinaryOperator, LogicalOperator, UnaryOperator};
use source::Span;

/// Writes a number as a `bit<32>`.
pub(super) fn literal(value: u32) -> String {
    format!("32w{value}")
}

impl Printer<'_> {
    /// Writes an expression as a variable or a number, so that it can be used twice.
    pub(super) fn simple(&mut self, expression: &Expression, span: Span) -> String {
        let text = self.value(expression, span);
        match expression.is_simple() {
            true if matches!(expression, Expression::Variable(_)) => text,
            _ => self.keep(span, "bit<32>", "value", &text),
        }
    }

    /// Writes an expression as a `bit<32>`. Statements that it needs are put before.
    pub(super) fn value(&mut self, expression: &Expression, span: Span) -> String {
        if let Some(value) = self.ranges.of(expression).constant() {
            return literal(value);
        }
        match expression {
            Expression::Constant(value) => literal(*value),
            Expression::Variable(variable) => self.variables[variable.index()].clone(),
            Expression::Unary(UnaryOperator::Not, _) | Expression::Logical(..) => {
                self.truth(expression, span)
            }
            Expression::Unary(operator, operand) => {
                let operand = self.value(operand, span);
                match operator {
                    UnaryOperator::Negate => format!("(-{operand})"),
                    UnaryOperator::Complement => format!("(~{operand})"),
                    UnaryOperator::Plus | UnaryOperator::Not => operand,
                }
            }
            Expression::Binary(operation, left, right, at) => match operation.operator {
                operator if operator.is_comparison() => self.truth(expression, span),
                BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => {
                    self.shift(*operation, left, right, *at)
                }
                BinaryOperator::Divide | BinaryOperator::Remainder => {
                    self.divide(*operation, left, right, *at)
                }
                operator => {
                    let (left, right) = (self.value(left, span), self.value(right, span));
                    format!("({left} {} {right})", operator.spelling())
                }
            },
            Expression::Conditional(condition, then, otherwise) => {
                let text = self.condition(condition, span);
                let (then, otherwise) = (self.value(then, span), self.value(otherwise, span));
                format!("({text} ? {then} : {otherwise})")
            }
        }
    }

    fn truth(&mut self, expression: &Expression, span: Span) -> String {
        format!("({} ? 32w1 : 32w0)", self.condition(expression, span))
    }

    /// Writes an expression as a `bool`: whether its value is not 0.
    pub(super) fn condition(&mut self, expression: &Expression, span: Span) -> String {
        if let Some(value) = self.ranges.of(expression).constant() {
            return (value != 0).to_string();
        }
        match expression {
            Expression::Unary(UnaryOperator::Not, operand) => {
                format!("(!{})", self.condition(operand, span))
            }
            Expression::Logical(operator, left, right) => {
                let (left, right) = (self.condition(left, span), self.condition(right, span));
                let operator = match operator {
                    LogicalOperator::And => "&&",
                    LogicalOperator::Or => "||",
                };
                format!("({left} {operator} {right})")
            }
            Expression::Binary(operation, left, right, _) if operation.operator.is_comparison() => {
                self.comparison(*operation, left, right, span)
            }
            Expression::Constant(_)
            | Expression::Variable(_)
            | Expression::Unary(..)
            | Expression::Binary(..)
            | Expression::Conditional(..) => format!("({} != 32w0)", self.value(expression, span)),
        }
    }

    fn comparison(
        &mut self,
        operation: Operation,
        left: &Expression,
        right: &Expression,
        span: Span,
    ) -> String {
        let is_natural = self.ranges.of(left).is_natural() && self.ranges.of(right).is_natural();
        let is_equality =
            matches!(operation.operator, BinaryOperator::Equal | BinaryOperator::NotEqual);
        let (left, right) = (self.value(left, span), self.value(right, span));
        let operator = operation.operator.spelling();
        match operation.is_unsigned || is_natural || is_equality {
            true => format!("({left} {operator} {right})"),
            false => format!("((int<32>) {left} {operator} (int<32>) {right})"),
        }
    }

    /// Writes a shift. P4 gives shifts by the width or more a value, but toolchains differ; BMv2 takes counts of 8 bits.
    fn shift(
        &mut self,
        operation: Operation,
        left: &Expression,
        right: &Expression,
        span: Span,
    ) -> String {
        let is_left = operation.operator == BinaryOperator::ShiftLeft;
        let is_signed = !is_left && !operation.is_unsigned && !self.ranges.of(left).is_natural();
        let range = self.ranges.of(right);
        let (is_guarded, is_over) = (!range.is_below(32), range.is_never_below(32));
        let value = match is_signed && is_guarded {
            true => self.simple(left, span),
            false => self.value(left, span),
        };
        let shifted = |count: &str| match (is_left, is_signed) {
            (true, _) => format!("({value} << {count})"),
            (false, false) => format!("({value} >> {count})"),
            (false, true) => format!("((bit<32>) ((int<32>) {value} >> {count}))"),
        };
        let over = if is_signed { shifted("8w31") } else { "32w0".to_string() };
        if is_over {
            return over;
        }
        if let Some(count) = range.constant() {
            return shifted(&format!("8w{count}"));
        }
        if !is_guarded {
            let count = self.value(right, span);
            return shifted(&format!("(bit<8>) {count}"));
        }
        let count = self.simple(right, span);
        format!("({count} < 32w32 ? {} : {over})", shifted(&format!("(bit<8>) {count}")))
    }

    /// Returns the range of a value as unsigned numbers.
    pub(super) fn largest(&mut self, expression: &Expression) -> u32 {
        let (_, high): (i64, i64) = Range::unsigned(self.ranges.of(expression));
        u32::try_from(high).unwrap_or(u32::MAX)
    }
}
