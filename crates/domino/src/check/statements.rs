// SPDX-License-Identifier: Apache-2.0
//! Statements and calls of functions without a value.

use super::Checker;
use super::names::Declared;
use crate::codes::check as codes;
use crate::program::{Local, Statement};
use crate::syntax::ast::{self, ExpressionKind, StatementKind};
use source::Diagnostic;

impl Checker<'_> {
    pub(super) fn statements(&mut self, statements: &[ast::Statement]) -> Vec<Statement> {
        let mut checked = Vec::new();
        for statement in statements {
            self.statement(statement, &mut checked);
        }
        checked
    }

    /// Checks a statement that is a scope of its own.
    pub(super) fn scoped(&mut self, statement: &ast::Statement) -> Vec<Statement> {
        let mut checked = Vec::new();
        self.names.open();
        self.statement(statement, &mut checked);
        self.names.close();
        checked
    }

    pub(super) fn statement(&mut self, statement: &ast::Statement, out: &mut Vec<Statement>) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Empty => {}
            StatementKind::Expression(expression) => {
                if let ExpressionKind::Call(name, arguments) = &expression.kind
                    && let Some((_, Declared::Function(index))) = self.names.find(&name.text)
                    && self.functions[index].returns.is_none()
                {
                    if let Some(arguments) = self.arguments(name, index, arguments) {
                        out.push(Statement::Call(index, arguments, expression.span));
                    }
                    return;
                }
                out.extend(self.expression(expression).map(Statement::Evaluate));
            }
            StatementKind::Declaration(ty, names) => {
                for (name, value) in names {
                    let local = self.current.locals.len();
                    self.declare(name, Declared::Local(local));
                    self.current.locals.push(Local { name: name.text.clone(), ty: *ty });
                    let checked = value.as_ref().map(|value| self.expression(value));
                    match checked {
                        Some(None) => {}
                        Some(Some(value)) => out.push(Statement::Declare(local, Some(value), span)),
                        None => out.push(Statement::Declare(local, None, span)),
                    }
                }
            }
            StatementKind::If(condition, then, otherwise) => {
                let condition = self.expression(condition);
                let then = self.scoped(then);
                let otherwise = otherwise.as_ref().map_or(Vec::new(), |one| self.scoped(one));
                if let Some(condition) = condition {
                    out.push(Statement::If(condition, then, otherwise, span));
                }
            }
            StatementKind::For(each) => out.extend(self.for_loop(each, span)),
            StatementKind::Return(value) => self.return_statement(value.as_ref(), span, out),
            StatementKind::Block(statements) => {
                self.names.open();
                out.extend(self.statements(statements));
                self.names.close();
            }
        }
    }

    fn return_statement(
        &mut self,
        value: Option<&ast::Expression>,
        span: source::Span,
        out: &mut Vec<Statement>,
    ) {
        let checked = value.map(|value| self.expression(value));
        let name = &self.current.name;
        let found = match (self.current.returns, value) {
            (None, None) | (Some(_), Some(_)) => None,
            (Some(_), None) => Some(
                Diagnostic::error(
                    codes::RETURN,
                    span,
                    format!("`{name}` returns a value, and none stands here"),
                )
                .help("write `return 0;`"),
            ),
            (None, Some(value)) => Some(
                Diagnostic::error(
                    codes::RETURN,
                    value.span,
                    format!("`{name}` is `void` and returns no value"),
                )
                .help("write `return;`, or declare the function as `int`"),
            ),
        };
        match (found, checked) {
            (Some(found), _) => self.diagnostics.push(found),
            (None, Some(None)) => {}
            (None, Some(Some(value))) => out.push(Statement::Return(Some(value), span)),
            (None, None) => out.push(Statement::Return(None, span)),
        }
    }
}
