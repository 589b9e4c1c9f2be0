// SPDX-License-Identifier: Apache-2.0
//! Constructors of core expressions that fold constants: an operator on constants becomes a constant,
//! evaluated by `arithmetic`, and casts, slices and boolean operators that change nothing are left out.
//! Rewrites that look deeper into operands belong to passes of the compiler.

use super::{Constant, Expression, ExpressionKind, LocalId, Type, arithmetic, constant_type};
use crate::syntax::ast::{BinaryOperator, UnaryOperator};
use source::Span;

impl Expression {
    /// A constant.
    pub fn constant(constant: Constant, span: Span) -> Expression {
        let ty = constant_type(&constant);
        Expression { kind: ExpressionKind::Constant(constant), ty, span }
    }

    /// An integer constant.
    pub fn int(value: u128, width_bits: u32, span: Span) -> Expression {
        Expression::constant(Constant::Int(value, width_bits), span)
    }

    /// A boolean constant.
    pub fn bool(value: bool, span: Span) -> Expression {
        Expression::constant(Constant::Bool(value), span)
    }

    /// The value of a local.
    pub fn local(local: LocalId, ty: Type, span: Span) -> Expression {
        Expression { kind: ExpressionKind::Local(local), ty, span }
    }

    /// The value of a constant expression.
    pub fn as_constant(&self) -> Option<&Constant> {
        match &self.kind {
            ExpressionKind::Constant(constant) => Some(constant),
            _ => None,
        }
    }

    /// The value of a constant integer.
    pub fn as_int(&self) -> Option<u128> {
        match self.as_constant() {
            Some(Constant::Int(value, _)) => Some(*value),
            _ => None,
        }
    }

    /// The value of a constant boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self.as_constant() {
            Some(Constant::Bool(value)) => Some(*value),
            _ => None,
        }
    }

    /// `operator operand`
    pub fn unary(operator: UnaryOperator, operand: Expression, span: Span) -> Expression {
        let folded = operand.as_constant().and_then(|known| arithmetic::unary(operator, known));
        if let Some(value) = folded {
            return Expression::constant(value, span);
        }
        let ty = operand.ty;
        match (operator, operand.kind) {
            (UnaryOperator::Not, ExpressionKind::Unary(UnaryOperator::Not, inner)) => *inner,
            (_, kind) => {
                let operand = Box::new(Expression { kind, ..operand });
                Expression { kind: ExpressionKind::Unary(operator, operand), ty, span }
            }
        }
    }

    /// `left operator right`, of this type.
    pub fn binary(
        operator: BinaryOperator,
        left: Expression,
        right: Expression,
        ty: Type,
        span: Span,
    ) -> Expression {
        if let (Some(one), Some(other)) = (left.as_constant(), right.as_constant())
            && let Some(value) = arithmetic::binary(operator, one, other)
        {
            return Expression::constant(value, span);
        }
        // Expressions have no effects, so an operand can be dropped.
        match (operator, left.as_bool(), right.as_bool()) {
            (BinaryOperator::And, Some(true), _) | (BinaryOperator::Or, Some(false), _) => right,
            (BinaryOperator::And, _, Some(true)) | (BinaryOperator::Or, _, Some(false)) => left,
            (BinaryOperator::And, Some(false), _) | (BinaryOperator::And, _, Some(false)) => {
                Expression::bool(false, span)
            }
            (BinaryOperator::Or, Some(true), _) | (BinaryOperator::Or, _, Some(true)) => {
                Expression::bool(true, span)
            }
            _ => {
                let kind = ExpressionKind::Binary(operator, Box::new(left), Box::new(right));
                Expression { kind, ty, span }
            }
        }
    }

    /// `(int<width>)operand`
    pub fn cast(operand: Expression, width_bits: u32, span: Span) -> Expression {
        let ty = Type::Int(width_bits);
        if operand.ty == ty {
            return operand;
        }
        match operand.as_constant().and_then(|known| arithmetic::cast(known, width_bits)) {
            Some(value) => Expression::constant(value, span),
            None => Expression { kind: ExpressionKind::Cast(Box::new(operand)), ty, span },
        }
    }

    /// The bits from `low` up, `width_bits` of them.
    pub fn slice(operand: Expression, low: u32, width_bits: u32, span: Span) -> Expression {
        let ty = Type::Int(width_bits);
        if low == 0 && operand.ty == ty {
            return operand;
        }
        match operand.as_int() {
            Some(value) => {
                Expression::int(arithmetic::slice(value, low, width_bits), width_bits, span)
            }
            None => Expression { kind: ExpressionKind::Slice(Box::new(operand), low), ty, span },
        }
    }
}
