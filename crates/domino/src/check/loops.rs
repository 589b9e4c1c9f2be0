// SPDX-License-Identifier: Apache-2.0
//! Loops of helpers: the number of turns follows from the beginning, the condition and the step.

use super::Checker;
use super::constants::operation;
use crate::arithmetic32;
use crate::codes::check as codes;
use crate::codes::syntax::LOOP_BOUND;
use crate::program::{Expression, ExpressionKind, For, Operation, Place, Statement};
use crate::syntax::ast::{self, BinaryOperator, Type};
use source::{Diagnostic, Span};

/// The largest number of turns of a loop.
pub(crate) const TURN_LIMIT: u32 = 4096;

impl Checker<'_> {
    pub(super) fn for_loop(&mut self, each: &ast::For, span: Span) -> Option<Statement> {
        let keyword = Span { end: span.start + 3, ..span };
        if self.current.is_packet {
            let found = Diagnostic::error(
                codes::LOOP_IN_PACKET_FUNCTION,
                keyword,
                "a packet function has no loops",
            );
            self.diagnostics.push(found.help("move the loop to a helper, with a constant bound"));
        }
        self.names.open();
        let mut begin = Vec::new();
        self.statement(&each.begin, &mut begin);
        let condition = each.condition.as_ref().map(|one| self.expression(one));
        let step = each.step.as_ref().map(|one| self.expression(one));
        let body = self.scoped(&each.body);
        self.names.close();
        let (condition, step) = match (condition, step) {
            (Some(condition), Some(step)) => (condition?, step?),
            _ => {
                self.bound_error(keyword, "this loop has no bound");
                return None;
            }
        };
        match turns(&begin, &condition, &step, &body) {
            Ok(turns) => {
                Some(Statement::For(Box::new(For { begin, condition, step, body, turns, span })))
            }
            Err(reason) => {
                if !self.current.is_packet {
                    self.bound_error(keyword, &reason);
                }
                None
            }
        }
    }

    fn bound_error(&mut self, span: Span, reason: &str) {
        let found = Diagnostic::error(LOOP_BOUND, span, reason)
            .help("count a local from a constant to a constant: `for (int i = 0; i < 8; i++)`");
        self.diagnostics.push(found);
    }
}

/// Returns the local that is compared with a constant.
fn compared(condition: &Expression) -> Option<(usize, Operation, bool, u32)> {
    let ExpressionKind::Binary(operation, left, right) = &condition.kind else { return None };
    if !operation.operator.is_comparison() {
        return None;
    }
    match (local(left), constant(right), constant(left), local(right)) {
        (Some(local), Some(bound), ..) => Some((local, *operation, false, bound)),
        (_, _, Some(bound), Some(local)) => Some((local, *operation, true, bound)),
        _ => None,
    }
}

fn local(expression: &Expression) -> Option<usize> {
    match &expression.kind {
        ExpressionKind::Read(Place::Local(local)) => Some(*local),
        _ => None,
    }
}

/// Computes an expression of constants.
fn constant(expression: &Expression) -> Option<u32> {
    match &expression.kind {
        ExpressionKind::Constant(value) => Some(*value),
        ExpressionKind::Unary(operator, operand) => {
            Some(arithmetic32::unary(*operator, constant(operand)?))
        }
        ExpressionKind::Binary(operation, left, right) => {
            Some(arithmetic32::binary(*operation, constant(left)?, constant(right)?))
        }
        _ => None,
    }
}

/// Returns the operation that a step does on the local.
fn stepped(step: &Expression, counter: usize) -> Option<(BinaryOperator, u32)> {
    match &step.kind {
        ExpressionKind::Step(Place::Local(local), step) if *local == counter => Some((
            if step.is_increment { BinaryOperator::Add } else { BinaryOperator::Subtract },
            1,
        )),
        ExpressionKind::Assign(Place::Local(local), Some(operation), value)
            if *local == counter =>
        {
            Some((operation.operator, constant(value)?))
        }
        ExpressionKind::Assign(Place::Local(target), None, value) if *target == counter => {
            let ExpressionKind::Binary(operation, left, right) = &value.kind else { return None };
            if local(left) == Some(counter) {
                return Some((operation.operator, constant(right)?));
            }
            let commutes =
                matches!(operation.operator, BinaryOperator::Add | BinaryOperator::Multiply);
            (commutes && local(right) == Some(counter))
                .then(|| Some((operation.operator, constant(left)?)))
                .flatten()
        }
        _ => None,
    }
}

/// Counts the turns of a loop.
fn turns(
    begin: &[Statement],
    condition: &Expression,
    step: &Expression,
    body: &[Statement],
) -> Result<u32, String> {
    let bounded = "the bound of this loop is no constant";
    let (counter, comparison, is_swapped, bound) = compared(condition).ok_or(bounded)?;
    let start = begin.iter().rev().find_map(|statement| match statement {
        Statement::Declare(local, value, _) if *local == counter => {
            Some(value.as_ref().map_or(Some(0), constant))
        }
        Statement::Evaluate(Expression {
            kind: ExpressionKind::Assign(Place::Local(local), None, value),
            ..
        }) if *local == counter => Some(constant(value)),
        _ => None,
    });
    let mixes = begin.iter().any(|statement| match statement {
        Statement::Evaluate(Expression {
            kind: ExpressionKind::Assign(_, None, value), ..
        }) => expression_assigns(value, counter),
        other => assigns(other, counter),
    });
    if mixes {
        return Err(
            "the beginning of this loop assigns to the local that counts its turns more than once"
                .into(),
        );
    }
    let mut value = start.flatten().ok_or("this loop does not begin at a constant")?;
    let (operator, by) = stepped(step, counter).ok_or("this loop does not step by a constant")?;
    let ty = if comparison.is_unsigned { Type::Unsigned } else { Type::Int };
    let (operation, _) = operation(operator, ty, ty);
    if body.iter().any(|statement| assigns(statement, counter)) {
        return Err("the body of this loop assigns to the local that counts its turns".into());
    }
    let mut turns = 0;
    let holds = |value| match is_swapped {
        true => arithmetic32::binary(comparison, bound, value),
        false => arithmetic32::binary(comparison, value, bound),
    };
    while holds(value) != 0 {
        turns += 1;
        if turns > TURN_LIMIT {
            return Err(format!("this loop has more than {TURN_LIMIT} turns"));
        }
        value = arithmetic32::binary(operation, value, by);
    }
    Ok(turns)
}

/// Whether a statement assigns to a local.
fn assigns(statement: &Statement, counter: usize) -> bool {
    let any = |list: &[Statement]| list.iter().any(|one| assigns(one, counter));
    let in_expression = |one: &Expression| expression_assigns(one, counter);
    match statement {
        Statement::Evaluate(value) => in_expression(value),
        Statement::Call(_, arguments, _) => arguments.iter().any(in_expression),
        Statement::Declare(_, value, _) | Statement::Return(value, _) => {
            value.as_ref().is_some_and(in_expression)
        }
        Statement::If(condition, then, otherwise, _) => {
            in_expression(condition) || any(then) || any(otherwise)
        }
        Statement::For(each) => {
            any(&each.begin)
                || in_expression(&each.condition)
                || in_expression(&each.step)
                || any(&each.body)
        }
    }
}

fn expression_assigns(expression: &Expression, counter: usize) -> bool {
    let inside = |one: &Expression| expression_assigns(one, counter);
    let in_place = |place: &Place| match place {
        Place::Local(local) => *local == counter,
        Place::Cell(_, index) => inside(index),
        _ => false,
    };
    match &expression.kind {
        ExpressionKind::Constant(_) => false,
        ExpressionKind::Read(Place::Cell(_, index)) => inside(index),
        ExpressionKind::Read(_) => false,
        ExpressionKind::Call(_, arguments) | ExpressionKind::Hash(arguments) => {
            arguments.iter().any(inside)
        }
        ExpressionKind::Unary(_, one) => inside(one),
        ExpressionKind::Binary(_, one, two) | ExpressionKind::Logical(_, one, two) => {
            inside(one) || inside(two)
        }
        ExpressionKind::Conditional(one, two, three) => inside(one) || inside(two) || inside(three),
        ExpressionKind::Assign(place, _, value) => in_place(place) || inside(value),
        ExpressionKind::Step(place, _) => in_place(place),
    }
}
