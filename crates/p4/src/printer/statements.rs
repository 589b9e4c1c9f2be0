// SPDX-License-Identifier: Apache-2.0
//! Statements and blocks as pieces.

use super::emitter::Emitter;
use crate::ast::{Block, Expression, Statement, StatementKind, SwitchCase, Variable};
use crate::format::pieces::Role;
use crate::parser::operators::{assignment_token, binary_token};
use crate::token::TokenKind as T;

impl Emitter {
    pub(super) fn block(&mut self, block: &Block) {
        self.annotations(&block.annotations);
        self.role(T::OpenBrace, Role::BlockOpen);
        for statement in &block.statements {
            self.statement(statement);
        }
        self.token(T::CloseBrace);
    }

    pub(super) fn statement(&mut self, statement: &Statement) {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || {
            if self.open_statement(statement) {
                self.token(T::Semicolon);
            }
        });
    }

    /// A statement without the `;` it may need; returns whether it needs one.
    fn open_statement(&mut self, statement: &Statement) -> bool {
        match &statement.kind {
            StatementKind::Assign { target, operator, value } => {
                self.expression(target);
                match operator.and_then(assignment_token) {
                    Some(token) => {
                        self.role(token, Role::Binary);
                        self.expression(value);
                    }
                    None => {
                        self.role(T::Assign, Role::Binary);
                        self.assigned(target, *operator, value);
                    }
                }
            }
            StatementKind::Call(call) => self.expression(call),
            StatementKind::If { condition, then, otherwise } => {
                self.tokens(&[T::If, T::OpenParen]);
                self.expression(condition);
                self.token(T::CloseParen);
                if otherwise.is_some() && ends_in_open_if(then) {
                    // Without braces the `else` would go to the inner `if`.
                    self.role(T::OpenBrace, Role::BlockOpen);
                    self.statement(then);
                    self.token(T::CloseBrace);
                } else {
                    self.statement(then);
                }
                if let Some(otherwise) = otherwise {
                    self.token(T::Else);
                    self.statement(otherwise);
                }
                return false;
            }
            StatementKind::Block(block) => {
                self.block(block);
                return false;
            }
            StatementKind::Empty => {}
            StatementKind::Exit => self.token(T::Exit),
            StatementKind::Return(value) => {
                self.token(T::Return);
                if let Some(value) = value {
                    self.expression(value);
                }
            }
            StatementKind::Break => self.token(T::Break),
            StatementKind::Continue => self.token(T::Continue),
            StatementKind::Switch { subject, cases } => {
                self.tokens(&[T::Switch, T::OpenParen]);
                self.expression(subject);
                self.token(T::CloseParen);
                self.role(T::OpenBrace, Role::BlockOpen);
                for case in cases {
                    self.switch_case(case);
                }
                self.token(T::CloseBrace);
                return false;
            }
            StatementKind::For { annotations, init, condition, update, body } => {
                self.annotations(annotations);
                self.tokens(&[T::For, T::OpenParen]);
                self.comma_list(init, |emitter, statement| {
                    emitter.loop_statement(statement);
                });
                self.token(T::Semicolon);
                self.expression(condition);
                self.token(T::Semicolon);
                self.comma_list(update, |emitter, statement| {
                    emitter.loop_statement(statement);
                });
                self.token(T::CloseParen);
                self.statement(body);
                return false;
            }
            StatementKind::ForIn { annotations, variable, collection, body } => {
                self.annotations(annotations);
                self.tokens(&[T::For, T::OpenParen]);
                self.loop_variable(variable);
                self.token(T::In);
                self.expression(collection);
                self.token(T::CloseParen);
                self.statement(body);
                return false;
            }
            StatementKind::Declaration(declaration) => {
                self.declaration(declaration);
                return false;
            }
            StatementKind::Extension(extension) => {
                self.extension(extension);
                return false;
            }
        }
        true
    }

    /// `target = target op value` for an operator without an assignment of its own.
    fn assigned(
        &mut self,
        target: &Expression,
        operator: Option<crate::ast::BinaryOperator>,
        value: &Expression,
    ) {
        if let Some(operator) = operator {
            let strength = crate::parser::operators::precedence(operator);
            self.operand(target, strength);
            self.role(binary_token(operator), Role::Binary);
            self.operand(value, strength + 1);
        } else {
            self.expression(value);
        }
    }

    fn loop_variable(&mut self, variable: &Variable) {
        self.annotations(&variable.annotations);
        self.type_ref(&variable.ty);
        self.name(&variable.name);
    }

    /// A statement in the parentheses of `for`: it has no `;`.
    fn loop_statement(&mut self, statement: &Statement) {
        if let StatementKind::Declaration(declaration) = &statement.kind {
            self.variable_without_semicolon(declaration);
        } else {
            self.open_statement(statement);
        }
    }

    fn switch_case(&mut self, case: &SwitchCase) {
        self.expression(&case.label);
        self.role(T::Colon, Role::Plain);
        if let Some(body) = &case.body {
            self.block(body);
        }
    }
}

/// Whether a statement ends in an `if` that an `else` after it would belong to.
fn ends_in_open_if(statement: &Statement) -> bool {
    let mut last = statement;
    loop {
        last = match &last.kind {
            StatementKind::If { otherwise: None, .. } => return true,
            StatementKind::If { otherwise: Some(otherwise), .. } => otherwise,
            StatementKind::For { body, .. } | StatementKind::ForIn { body, .. } => body,
            _ => return false,
        };
    }
}
