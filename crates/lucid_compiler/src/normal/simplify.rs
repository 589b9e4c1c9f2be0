// SPDX-License-Identifier: Apache-2.0
//! Expressions with their known parts computed and without casts, slices and operands that change
//! nothing. Each rule looks at an expression whose operands are done. What locals are worth is not
//! known here.
//!
//! Where there is a choice: a cast only widens (or takes a boolean), narrowing is a slice from bit 0;
//! `!` stands before what is no comparison; constants are right operands of operators that commute.

use super::locals::{constant, number};
use lucid::core::walk::{each_expression_mut, is_leaf};
use lucid::core::{Constant, Expression, ExpressionKind as Kind, Type, arithmetic};
use lucid::syntax::ast::{BinaryOperator as B, UnaryOperator};

/// Simplifies an expression and everything in it.
pub(super) fn simplify(expression: &mut Expression) {
    each_expression_mut(expression, &mut step);
}

fn known(expression: &Expression) -> Option<&Constant> {
    match &expression.kind {
        Kind::Constant(constant) => Some(constant),
        _ => None,
    }
}

fn known_int(expression: &Expression) -> Option<u128> {
    match known(expression) {
        Some(Constant::Int(value, _)) => Some(*value),
        _ => None,
    }
}

fn known_bool(expression: &Expression) -> Option<bool> {
    match known(expression) {
        Some(Constant::Bool(value)) => Some(*value),
        _ => None,
    }
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
        Kind::Delay { event, nanoseconds } => match known_int(&nanoseconds) {
            Some(0) if !matches!(event.kind, Kind::Delay { .. }) => *event,
            _ => Expression { kind: Kind::Delay { event, nanoseconds }, ty, span },
        },
        kind => Expression { kind, ty, span },
    };
    *expression = new;
}

fn unary(operator: UnaryOperator, operand: Expression, ty: Type, span: source::Span) -> Expression {
    if let Some(value) = known(&operand).and_then(|known| arithmetic::unary(operator, known)) {
        return constant(value, span);
    }
    match (operator, operand.kind) {
        (UnaryOperator::Not, Kind::Unary(UnaryOperator::Not, inner))
        | (UnaryOperator::BitNot, Kind::Unary(UnaryOperator::BitNot, inner)) => *inner,
        (UnaryOperator::Not, Kind::Binary(comparison, left, right))
            if opposite(comparison).is_some() =>
        {
            let comparison = opposite(comparison).unwrap_or(comparison);
            Expression { kind: Kind::Binary(comparison, left, right), ty, span }
        }
        (operator, kind) => {
            let operand = Box::new(Expression { kind, ..operand });
            Expression { kind: Kind::Unary(operator, operand), ty, span }
        }
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
    if let (Some(one), Some(other)) = (known(&left), known(&right))
        && let Some(value) = arithmetic::binary(operator, one, other)
    {
        return constant(value, span);
    }
    if known(&left).is_some()
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
    let value = known_int(&right);
    match (operator, value) {
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
        (B::BitAnd, Some(0)) => return number(0, bits, span),
        (B::BitAnd, Some(value)) if value == ones => return left,
        (B::BitOr, Some(value)) if value == ones => return number(ones, bits, span),
        (B::ShiftLeft | B::ShiftRight, Some(by)) if by >= u128::from(bits) => {
            return number(0, bits, span);
        }
        (B::Less, Some(0)) => return constant(Constant::Bool(false), span),
        (B::GreaterOrEqual, Some(0)) => return constant(Constant::Bool(true), span),
        (B::Greater, Some(value)) if value == ones => {
            return constant(Constant::Bool(false), span);
        }
        (B::LessOrEqual, Some(value)) if value == ones => {
            return constant(Constant::Bool(true), span);
        }
        _ => {}
    }
    match (operator, known_bool(&right)) {
        (B::And | B::Equal, Some(true)) | (B::Or | B::NotEqual, Some(false)) => return left,
        (B::And, Some(false)) => return constant(Constant::Bool(false), span),
        (B::Or, Some(true)) => return constant(Constant::Bool(true), span),
        (B::Equal, Some(false)) | (B::NotEqual, Some(true)) => {
            return unary(UnaryOperator::Not, left, ty, span);
        }
        _ => {}
    }
    if is_leaf(&left) && same_leaf(&left, &right) {
        match operator {
            B::Equal | B::LessOrEqual | B::GreaterOrEqual => {
                return constant(Constant::Bool(true), span);
            }
            B::NotEqual | B::Less | B::Greater => return constant(Constant::Bool(false), span),
            B::BitAnd | B::BitOr | B::And | B::Or => return left,
            B::BitXor | B::Subtract | B::SaturatingSubtract => return number(0, bits, span),
            _ => {}
        }
    }
    let kind = Kind::Binary(operator, Box::new(left), Box::new(right));
    Expression { kind, ty, span }
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
    if operand.ty == ty {
        return operand;
    }
    if let Some(value) = known(&operand).and_then(|known| arithmetic::cast(known, bits)) {
        return constant(value, span);
    }
    if matches!(operand.ty, Type::Int(from) if from > bits) {
        return slice(operand, 0, bits, span);
    }
    match operand.kind {
        // It only widened.
        Kind::Cast(inner) => cast(*inner, ty, span),
        kind => {
            let operand = Box::new(Expression { kind, ..operand });
            Expression { kind: Kind::Cast(operand), ty, span }
        }
    }
}

/// Bits `low` up, `bits` of them.
fn slice(operand: Expression, low: u32, bits: u32, span: source::Span) -> Expression {
    let ty = Type::Int(bits);
    if low == 0 && operand.ty == ty {
        return operand;
    }
    if let Some(value) = known_int(&operand) {
        let value = value.checked_shr(low).unwrap_or(0) & arithmetic::mask(bits);
        return number(value, bits, span);
    }
    match operand.kind {
        Kind::Slice(inner, under) => slice(*inner, under + low, bits, span),
        Kind::Cast(inner) => {
            let from = width(&inner);
            if low >= from {
                number(0, bits, span)
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
                let operand = Box::new(Expression { kind, ..operand });
                Expression { kind: Kind::Slice(operand, low), ty, span }
            }
        }
        // What the surroundings give is cut to the width of its use.
        kind @ (Kind::SelfSwitch | Kind::IngressPort | Kind::RecirculationPort | Kind::Time)
            if low == 0 =>
        {
            Expression { kind, ty, span }
        }
        kind => {
            let operand = Box::new(Expression { kind, ..operand });
            Expression { kind: Kind::Slice(operand, low), ty, span }
        }
    }
}
