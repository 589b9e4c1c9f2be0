// SPDX-License-Identifier: Apache-2.0
//! Constant expressions: sizes, first values and bounds of loops.

use super::Checker;
use crate::arithmetic32;
use crate::codes::check as codes;
use crate::program::Operation;
use crate::syntax::ast::{
    BinaryOperator, Expression, ExpressionKind, LogicalOperator, Type, UnaryOperator,
};
use source::{Diagnostic, Span};

/// Why an expression is no constant.
pub(super) enum NotConstant {
    /// This part has no value before the program runs.
    Variable(Span),
    /// This part divides by 0.
    Division(Span),
}

/// Returns the type of an operator's value and the operation on these types.
pub(super) fn operation(operator: BinaryOperator, left: Type, right: Type) -> (Operation, Type) {
    let common = match left.is_unsigned() || right.is_unsigned() {
        _ if operator.is_shift() => left,
        true => Type::Unsigned,
        false => Type::Int,
    };
    let ty = if operator.is_comparison() { Type::Int } else { common };
    (Operation { operator, is_unsigned: common.is_unsigned() }, ty)
}

/// Computes a constant expression.
pub(super) fn fold(expression: &Expression) -> Result<(u32, Type), NotConstant> {
    Ok(match &expression.kind {
        ExpressionKind::Literal(value, ty) => (*value, *ty),
        ExpressionKind::Unary(operator, operand) => {
            let (value, ty) = fold(operand)?;
            let ty = if *operator == UnaryOperator::Not { Type::Int } else { ty };
            (arithmetic32::unary(*operator, value), ty)
        }
        ExpressionKind::Binary(operator, left, right) => {
            let ((left, left_type), (right, right_type)) = (fold(left)?, fold(right)?);
            if matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder) && right == 0
            {
                return Err(NotConstant::Division(expression.span));
            }
            let (operation, ty) = operation(*operator, left_type, right_type);
            (arithmetic32::binary(operation, left, right), ty)
        }
        ExpressionKind::Logical(operator, left, right) => {
            let (left, _) = fold(left)?;
            let decided = match operator {
                LogicalOperator::And => left == 0,
                LogicalOperator::Or => left != 0,
            };
            let value = match (decided, fold(right)) {
                (true, Ok(_) | Err(NotConstant::Division(_))) => left != 0,
                (false, Ok((right, _))) => right != 0,
                (_, Err(error)) => return Err(error),
            };
            (u32::from(value), Type::Int)
        }
        ExpressionKind::Conditional(condition, then, otherwise) => {
            let (condition, _) = fold(condition)?;
            let (taken, other) = if condition != 0 { (then, otherwise) } else { (otherwise, then) };
            let (value, ty) = fold(taken)?;
            // The other one decides the type only.
            match fold(other) {
                Ok((_, Type::Unsigned)) => (value, Type::Unsigned),
                Ok(_) | Err(NotConstant::Division(_)) => (value, ty),
                Err(error) => return Err(error),
            }
        }
        ExpressionKind::Name(_)
        | ExpressionKind::Member(..)
        | ExpressionKind::Index(..)
        | ExpressionKind::Call(..)
        | ExpressionKind::Assign(..)
        | ExpressionKind::Step(..) => return Err(NotConstant::Variable(expression.span)),
    })
}

impl Checker<'_> {
    /// Computes a constant or reports that it is none; `what` says what it is.
    pub(super) fn constant(&mut self, expression: &Expression, what: &str) -> Option<(u32, Type)> {
        let found = match fold(expression) {
            Ok(value) => return Some(value),
            Err(NotConstant::Division(span)) => {
                Diagnostic::error(codes::CONSTANT_DIVISION, span, format!("{what} divides by 0"))
                    .help("divide by another constant")
            }
            Err(NotConstant::Variable(span)) => {
                Diagnostic::error(codes::NOT_CONSTANT, span, format!("{what} is a constant"))
                    .here("not known before the program runs")
                    .help("write a number, or `#define` a name for it")
            }
        };
        self.diagnostics.push(found);
        None
    }
}
