// SPDX-License-Identifier: Apache-2.0
//! Simplifies expressions: folds constants, and removes casts, slices and operands that change nothing.
//! Each rule sees an expression whose operands are already simplified; the values of locals are unknown.
//!
//! Canonical forms: a cast only widens (or takes a boolean), and narrowing is a slice from bit 0; `!`
//! stands only before what is not a comparison; the constant operand of a commutative operator is on
//! the right.

use lucid::core::walk::{each_expression_mut, is_leaf};
use lucid::core::{Expression, ExpressionKind as Kind, Type, arithmetic};
use lucid::syntax::ast::{BinaryOperator as B, UnaryOperator};

/// Simplifies an expression and everything in it.
pub(super) fn simplify(expression: &mut Expression) {
    each_expression_mut(expression, &mut step);
}

fn width(expression: &Expression) -> u32 {
    match expression.ty {
        Type::Int(width) => width,
        _ => 1,
    }
}

/// One expression whose operands are simple.
fn step(expression: &mut Expression) {
    let Expression { kind, ty, span } = expression;
    let (ty, span) = (*ty, *span);
    let nothing = Kind::EmptyPayload;
    let new = match std::mem::replace(kind, nothing) {
        Kind::Unary(operator, operand) => unary(operator, *operand, ty, span),
        Kind::Binary(operator, left, right) => binary(operator, *left, *right, ty, span),
        Kind::Cast(operand) => cast(*operand, ty, span),
        Kind::Slice(operand, low) => match ty {
            Type::Int(width) => slice(*operand, low, width, span),
            _ => Expression { kind: Kind::Slice(operand, low), ty, span },
        },
        Kind::Delay { event, nanoseconds } => match nanoseconds.as_int() {
            Some(0) if !matches!(event.kind, Kind::Delay { .. }) => *event,
            _ => Expression { kind: Kind::Delay { event, nanoseconds }, ty, span },
        },
        kind => Expression { kind, ty, span },
    };
    *expression = new;
}

fn unary(operator: UnaryOperator, operand: Expression, ty: Type, span: source::Span) -> Expression {
    match (operator, operand.kind) {
        (UnaryOperator::BitNot, Kind::Unary(UnaryOperator::BitNot, inner)) => *inner,
        (UnaryOperator::Not, Kind::Binary(comparison, left, right))
            if let Some(comparison) = opposite(comparison) =>
        {
            Expression { kind: Kind::Binary(comparison, left, right), ty, span }
        }
        (operator, kind) => Expression::unary(operator, Expression { kind, ..operand }, span),
    }
}

/// The comparison that holds where this one does not.
fn opposite(comparison: B) -> Option<B> {
    Some(match comparison {
        B::Equal => B::NotEqual,
        B::NotEqual => B::Equal,
        B::Less => B::GreaterOrEqual,
        B::GreaterOrEqual => B::Less,
        B::Greater => B::LessOrEqual,
        B::LessOrEqual => B::Greater,
        _ => return None,
    })
}

/// The comparison with its sides exchanged.
fn mirrored(operator: B) -> Option<B> {
    Some(match operator {
        B::Less => B::Greater,
        B::Greater => B::Less,
        B::LessOrEqual => B::GreaterOrEqual,
        B::GreaterOrEqual => B::LessOrEqual,
        B::Equal
        | B::NotEqual
        | B::Add
        | B::SaturatingAdd
        | B::BitAnd
        | B::BitOr
        | B::BitXor
        | B::And
        | B::Or => operator,
        _ => return None,
    })
}

fn binary(
    operator: B,
    left: Expression,
    right: Expression,
    ty: Type,
    span: source::Span,
) -> Expression {
    if left.as_constant().is_some()
        && right.as_constant().is_none()
        && let Some(operator) = mirrored(operator)
    {
        return with_known_right(operator, right, left, ty, span);
    }
    with_known_right(operator, left, right, ty, span)
}

/// `left operator right`, where a constant of an operator that commutes is on the right.
fn with_known_right(
    operator: B,
    left: Expression,
    right: Expression,
    ty: Type,
    span: source::Span,
) -> Expression {
    let bits = width(&left);
    let ones = arithmetic::mask(bits);
    if left.as_constant().is_some() && right.as_constant().is_some() {
        return Expression::binary(operator, left, right, ty, span);
    }
    match (operator, right.as_int()) {
        (
            B::Add
            | B::Subtract
            | B::SaturatingAdd
            | B::SaturatingSubtract
            | B::BitOr
            | B::BitXor
            | B::ShiftLeft
            | B::ShiftRight,
            Some(0),
        ) => return left,
        (B::BitAnd, Some(0)) => return Expression::int(0, bits, span),
        (B::BitAnd, Some(value)) if value == ones => return left,
        (B::BitOr, Some(value)) if value == ones => return Expression::int(ones, bits, span),
        (B::ShiftLeft | B::ShiftRight, Some(by)) if by >= u128::from(bits) => {
            return Expression::int(0, bits, span);
        }
        (B::Less, Some(0)) => return Expression::bool(false, span),
        (B::GreaterOrEqual, Some(0)) => return Expression::bool(true, span),
        (B::Greater, Some(value)) if value == ones => {
            return Expression::bool(false, span);
        }
        (B::LessOrEqual, Some(value)) if value == ones => {
            return Expression::bool(true, span);
        }
        _ => {}
    }
    match (operator, right.as_bool()) {
        (B::Equal, Some(true)) | (B::NotEqual, Some(false)) => return left,
        (B::Equal, Some(false)) | (B::NotEqual, Some(true)) => {
            return unary(UnaryOperator::Not, left, ty, span);
        }
        _ => {}
    }
    if is_leaf(&left) && same_leaf(&left, &right) {
        match operator {
            B::Equal | B::LessOrEqual | B::GreaterOrEqual => {
                return Expression::bool(true, span);
            }
            B::NotEqual | B::Less | B::Greater => return Expression::bool(false, span),
            B::BitAnd | B::BitOr | B::And | B::Or => return left,
            B::BitXor | B::Subtract | B::SaturatingSubtract => {
                return Expression::int(0, bits, span);
            }
            _ => {}
        }
    }
    Expression::binary(operator, left, right, ty, span)
}

/// Whether two leaves are the same; a wrong `false` does no harm.
pub(super) fn same_leaf(one: &Expression, other: &Expression) -> bool {
    one.ty == other.ty
        && match (&one.kind, &other.kind) {
            (Kind::Local(one), Kind::Local(other)) => one == other,
            (Kind::Extern(one), Kind::Extern(other)) => one == other,
            (Kind::Constant(one), Kind::Constant(other)) => one == other,
            (Kind::SelfSwitch, Kind::SelfSwitch)
            | (Kind::IngressPort, Kind::IngressPort)
            | (Kind::RecirculationPort, Kind::RecirculationPort)
            | (Kind::Time, Kind::Time)
            | (Kind::DequeueDepth, Kind::DequeueDepth) => true,
            _ => false,
        }
}

fn cast(operand: Expression, ty: Type, span: source::Span) -> Expression {
    let Type::Int(bits) = ty else {
        return Expression { kind: Kind::Cast(Box::new(operand)), ty, span };
    };
    if matches!(operand.ty, Type::Int(from) if from > bits) {
        return slice(operand, 0, bits, span);
    }
    match operand.kind {
        // The inner cast only widens.
        Kind::Cast(inner) if operand.ty != ty => cast(*inner, ty, span),
        kind => Expression::cast(Expression { kind, ..operand }, bits, span),
    }
}

/// Bits `low` up, `bits` of them.
fn slice(operand: Expression, low: u32, bits: u32, span: source::Span) -> Expression {
    let ty = Type::Int(bits);
    if low == 0 && operand.ty == ty {
        return operand;
    }
    match operand.kind {
        Kind::Slice(inner, under) => slice(*inner, under + low, bits, span),
        Kind::Cast(inner) => {
            let from = width(&inner);
            if low >= from {
                Expression::int(0, bits, span)
            } else if inner.ty == Type::Bool {
                // The one bit, filled up.
                cast(*inner, ty, span)
            } else if low + bits <= from {
                slice(*inner, low, bits, span)
            } else {
                let rest = from - low;
                cast(slice(*inner, low, rest, span), ty, span)
            }
        }
        Kind::Binary(B::Concatenate, upper, lower) => {
            let lower_bits = width(&lower);
            if low >= lower_bits {
                slice(*upper, low - lower_bits, bits, span)
            } else if low + bits <= lower_bits {
                slice(*lower, low, bits, span)
            } else {
                let kind = Kind::Binary(B::Concatenate, upper, lower);
                Expression::slice(Expression { kind, ..operand }, low, bits, span)
            }
        }
        // What the surroundings give is cut to the width of its use.
        kind @ (Kind::SelfSwitch | Kind::IngressPort | Kind::RecirculationPort | Kind::Time)
            if low == 0 =>
        {
            Expression { kind, ty, span }
        }
        kind => Expression::slice(Expression { kind, ..operand }, low, bits, span),
    }
}
