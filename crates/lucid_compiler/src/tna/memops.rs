// SPDX-License-Identifier: Apache-2.0
//! Expressions of memops in the form that a stateful ALU of Tofino computes: at the width that a cell has in hardware,
//! since conditions see whole cells, and without negative steps in comparisons, which the ALU compares without
//! wrapping around.

use lucid::core::arithmetic::mask;
use lucid::core::walk::{each_expression, each_expression_mut, operands_mut};
use lucid::core::{Constant, Expression, ExpressionKind, LocalId, Type};
use lucid::syntax::ast::{BinaryOperator, UnaryOperator};
use source::Span;

/// Whether an expression computes the same at a greater width, of values with zeros above: then the result has zeros
/// above too.
pub(super) fn ignores_width(expression: &Expression) -> bool {
    let mut all = true;
    each_expression(expression, &mut |one| all &= keeps_zeros(one));
    all
}

fn keeps_zeros(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Constant(_) | ExpressionKind::Local(_) => true,
        ExpressionKind::Unary(operator, _) => *operator == UnaryOperator::Not,
        ExpressionKind::Binary(operator, left, _) => match operator {
            BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::SaturatingAdd
            | BinaryOperator::ShiftLeft
            | BinaryOperator::Concatenate => false,
            BinaryOperator::SaturatingSubtract
            | BinaryOperator::ShiftRight
            | BinaryOperator::BitAnd
            | BinaryOperator::BitOr
            | BinaryOperator::BitXor
            | BinaryOperator::And
            | BinaryOperator::Or => true,
            BinaryOperator::Equal
            | BinaryOperator::NotEqual
            | BinaryOperator::Less
            | BinaryOperator::Greater
            | BinaryOperator::LessOrEqual
            | BinaryOperator::GreaterOrEqual => {
                matches!(left.ty, Type::Int(_) | Type::Bool)
            }
        },
        _ => false,
    }
}

/// The expression at another width.
pub(super) fn at_width(expression: &Expression, width_bits: u32) -> Expression {
    let mut expression = expression.clone();
    each_expression_mut(&mut expression, &mut |one| {
        if let Type::Int(_) = one.ty {
            one.ty = Type::Int(width_bits);
        }
        if let ExpressionKind::Constant(Constant::Int(_, width)) = &mut one.kind {
            *width = width_bits;
        }
    });
    expression
}

/// The expression with comparisons that need no `x - 1` and no `x + 1`.
pub(super) fn without_steps(expression: &Expression) -> Expression {
    let mut expression = expression.clone();
    replace_steps(&mut expression);
    expression
}

/// Where a comparison subtracts a constant.
pub(super) fn subtracts(condition: &Expression) -> Option<Span> {
    let mut found = None;
    each_expression(condition, &mut |one| {
        let ExpressionKind::Binary(operator, _, by) = &one.kind else { return };
        let is_constant = matches!(by.kind, ExpressionKind::Constant(_));
        if *operator == BinaryOperator::Subtract && is_constant {
            found = Some(one.span);
        }
    });
    found
}

/// Whether one of two branches gives the memop's argument as it is, and the other one something else.
pub(super) fn gives_argument_or_else(then: &Expression, otherwise: &Expression) -> bool {
    let is_argument = |of: &Expression| matches!(of.kind, ExpressionKind::Local(LocalId(1)));
    is_argument(then) != is_argument(otherwise)
}

fn replace_steps(expression: &mut Expression) {
    for operand in operands_mut(expression) {
        replace_steps(operand);
    }
    let ExpressionKind::Binary(operator, left, right) = &expression.kind else { return };
    let replaced = match stepped(left) {
        Some((inner, step)) => compared(inner, step, *operator, right),
        None => match (stepped(right), turned(*operator)) {
            (Some((inner, step)), Some(operator)) => compared(inner, step, operator, left),
            _ => None,
        },
    };
    if let Some(kind) = replaced {
        expression.kind = kind;
    }
}

/// The operator of the comparison with its sides exchanged.
fn turned(operator: BinaryOperator) -> Option<BinaryOperator> {
    match operator {
        BinaryOperator::Less => Some(BinaryOperator::Greater),
        BinaryOperator::Greater => Some(BinaryOperator::Less),
        BinaryOperator::LessOrEqual => Some(BinaryOperator::GreaterOrEqual),
        BinaryOperator::GreaterOrEqual => Some(BinaryOperator::LessOrEqual),
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Down,
    Up,
}

/// `x - 1` or `x + 1`.
fn stepped(expression: &Expression) -> Option<(&Expression, Step)> {
    let ExpressionKind::Binary(operator, inner, by) = &expression.kind else { return None };
    let Type::Int(width_bits) = expression.ty else { return None };
    let ExpressionKind::Constant(Constant::Int(by, _)) = by.kind else { return None };
    match (operator, by & mask(width_bits)) {
        (BinaryOperator::Subtract, 1) => Some((inner, Step::Down)),
        (BinaryOperator::Add, 1) => Some((inner, Step::Up)),
        (BinaryOperator::Add, by) if by == mask(width_bits) => Some((inner, Step::Down)),
        (BinaryOperator::Subtract, by) if by == mask(width_bits) => Some((inner, Step::Up)),
        _ => None,
    }
}

/// `x - 1 < y` is `x != 0 && x <= y`, since 0 - 1 is the greatest value, and so on.
fn compared(
    inner: &Expression,
    step: Step,
    operator: BinaryOperator,
    other: &Expression,
) -> Option<ExpressionKind> {
    use BinaryOperator::{And, Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual, Or};
    let (wraps, joins, compares) = match (step, operator) {
        (Step::Down, Less) => (NotEqual, And, LessOrEqual),
        (Step::Down, GreaterOrEqual) => (Equal, Or, Greater),
        (Step::Up, Greater) => (NotEqual, And, GreaterOrEqual),
        (Step::Up, LessOrEqual) => (Equal, Or, Less),
        _ => return None,
    };
    let Type::Int(width_bits) = inner.ty else { return None };
    if step == Step::Up && width_bits >= 32 {
        // Constants of the ALU have 32 bits with a sign.
        return None;
    }
    let last = if step == Step::Down { 0 } else { mask(width_bits) };
    let last = Expression {
        kind: ExpressionKind::Constant(Constant::Int(last, width_bits)),
        ty: inner.ty,
        span: inner.span,
    };
    let test = |operator, right: &Expression| Expression {
        kind: ExpressionKind::Binary(operator, Box::new(inner.clone()), Box::new(right.clone())),
        ty: Type::Bool,
        span: inner.span,
    };
    let wraps = test(wraps, &last);
    Some(ExpressionKind::Binary(joins, Box::new(wraps), Box::new(test(compares, other))))
}
