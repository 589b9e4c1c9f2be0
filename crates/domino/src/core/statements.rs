// SPDX-License-Identifier: Apache-2.0
//! Statements of functions in evaluation order: loops are unrolled, and what follows a statement that may return moves to
//! the branch that does not, or under a flag.

use super::effects::mentions;
use super::flatten::{Flattener, Frame};
use super::flow::{Rest, may_return, rest_of};
use super::{Expression, StatementKind};
use crate::program;
use crate::syntax::ast::UnaryOperator;

impl Flattener<'_> {
    pub(super) fn block(&mut self, statements: &[program::Statement], frame: &Frame) {
        for (at, statement) in statements.iter().enumerate() {
            if self.too_large.is_some() {
                return;
            }
            let rest = &statements[at + 1..];
            match (rest_of(statement), statement) {
                (
                    Rest::InThen | Rest::InElse,
                    program::Statement::If(condition, then, otherwise, span),
                ) if !rest.is_empty() => {
                    let rest_in_then = rest_of(statement) == Rest::InThen;
                    let condition = self.expression(condition, frame);
                    let (then, ()) = self.separately(|one| {
                        one.block(then, frame);
                        if rest_in_then {
                            one.block(rest, frame);
                        }
                    });
                    let (otherwise, ()) = self.separately(|one| {
                        one.block(otherwise, frame);
                        if !rest_in_then {
                            one.block(rest, frame);
                        }
                    });
                    self.emit(StatementKind::If(condition, then, otherwise), *span);
                    return;
                }
                (Rest::Flagged, _) if !rest.is_empty() => {
                    self.statement(statement, frame);
                    self.unless_returned(frame, |one| one.block(rest, frame));
                    return;
                }
                (Rest::Nowhere, _) => {
                    self.statement(statement, frame);
                    return;
                }
                _ => self.statement(statement, frame),
            }
        }
    }

    /// Rewrites statements that run only if the function has not returned.
    fn unless_returned(&mut self, frame: &Frame, rewrite: impl FnOnce(&mut Self)) {
        let (inside, ()) = self.separately(rewrite);
        let Some(first) = inside.first() else { return };
        let span = first.span;
        match frame.has_returned {
            Some(flag) => {
                let condition =
                    Expression::Unary(UnaryOperator::Not, Box::new(Expression::Variable(flag)));
                self.emit(StatementKind::If(condition, inside, Vec::new()), span);
            }
            None => self.out.extend(inside),
        }
    }

    fn statement(&mut self, statement: &program::Statement, frame: &Frame) {
        match statement {
            program::Statement::Evaluate(expression) => self.effects(expression, frame),
            program::Statement::Call(function, arguments, span) => {
                let arguments = self.operands(arguments, frame, *span);
                self.function(*function, arguments, *span);
            }
            program::Statement::Declare(index, value, span) => {
                let local = frame.locals[*index];
                let value = match value {
                    Some(value) => {
                        if mentions(value, *index) {
                            self.emit(StatementKind::Assign(local, Expression::Constant(0)), *span);
                        }
                        self.expression(value, frame)
                    }
                    None => Expression::Constant(0),
                };
                self.emit(StatementKind::Assign(local, value), *span);
            }
            program::Statement::If(condition, then, otherwise, span) => {
                let condition = self.expression(condition, frame);
                let (then, ()) = self.separately(|one| one.block(then, frame));
                let (otherwise, ()) = self.separately(|one| one.block(otherwise, frame));
                if !then.is_empty() || !otherwise.is_empty() {
                    self.emit(StatementKind::If(condition, then, otherwise), *span);
                }
            }
            program::Statement::For(each) => {
                self.block(&each.begin, frame);
                let is_flagged = each.body.iter().any(may_return);
                for _ in 0..each.turns {
                    if self.too_large.is_some() {
                        return;
                    }
                    let turn = |one: &mut Self| {
                        one.block(&each.body, frame);
                        let step = |one: &mut Self| one.effects(&each.step, frame);
                        if is_flagged { one.unless_returned(frame, step) } else { step(one) }
                    };
                    if is_flagged {
                        self.unless_returned(frame, turn);
                    } else {
                        turn(self);
                    }
                }
            }
            program::Statement::Return(value, span) => {
                if let Some(value) = value {
                    let value = self.expression(value, frame);
                    if let Some(result) = frame.result {
                        self.emit(StatementKind::Assign(result, value), *span);
                    }
                }
                if let Some(flag) = frame.has_returned {
                    self.emit(StatementKind::Assign(flag, Expression::Constant(1)), *span);
                }
            }
        }
    }
}
