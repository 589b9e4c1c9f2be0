// SPDX-License-Identifier: Apache-2.0
//! Statements.

use super::Parser;
use crate::codes::syntax as codes;
use crate::syntax::ast::{For, Statement, StatementKind};
use crate::syntax::token::TokenKind;
use source::Diagnostic;
use source::parse::{Parsed, RecursiveDescent};

impl Parser {
    /// Reads statements in braces; `what` names them in messages.
    pub(super) fn block(&mut self, what: &str) -> Parsed<Vec<Statement>> {
        let opener = self.span();
        self.expect(TokenKind::OpenBrace, &format!("of {what}"))?;
        let mut statements = Vec::new();
        while !matches!(self.kind(), TokenKind::CloseBrace | TokenKind::End) {
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(_) => self.skip_statement(),
            }
        }
        self.expect_close(TokenKind::CloseBrace, opener)?;
        Ok(statements)
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.span();
        let kind = self.nested(|parser| parser.statement_kind())?;
        Ok(Statement { kind, span: self.span_from(start) })
    }

    fn statement_kind(&mut self) -> Parsed<StatementKind> {
        if let Some(unparsed) = self.foreign_statement() {
            return Err(unparsed);
        }
        self.qualifiers();
        match self.kind() {
            TokenKind::Semicolon => {
                self.bump();
                Ok(StatementKind::Empty)
            }
            TokenKind::OpenBrace => Ok(StatementKind::Block(self.block("the block")?)),
            TokenKind::If => self.conditional(),
            TokenKind::For => self.for_loop(),
            TokenKind::Return => {
                self.bump();
                let value = match self.at(TokenKind::Semicolon) {
                    true => None,
                    false => Some(self.expression()?),
                };
                self.expect_semicolon("`return`")?;
                Ok(StatementKind::Return(value))
            }
            TokenKind::Else => {
                let message = "this `else` has no `if`";
                let found = Diagnostic::error(codes::UNEXPECTED_TOKEN, self.span(), message);
                Err(self.report(
                    found.help("an `else` stands directly behind the statement of its `if`"),
                ))
            }
            _ => {
                let kind = self.simple_statement()?;
                let what = match kind {
                    StatementKind::Declaration(..) => "the declaration",
                    _ => "the statement",
                };
                self.expect_semicolon(what)?;
                Ok(kind)
            }
        }
    }

    /// Reads a declaration or an expression, without its semicolon.
    fn simple_statement(&mut self) -> Parsed<StatementKind> {
        if let Some(unparsed) = self.other_type() {
            return Err(unparsed);
        }
        if matches!(self.kind(), TokenKind::Struct | TokenKind::Void) {
            let message = "a local is `int` or `unsigned`";
            let found = Diagnostic::error(codes::UNSUPPORTED_TYPE, self.span(), message);
            return Err(self.report(found.help("name the packet's field itself")));
        }
        let Some(ty) = self.value_type() else {
            return Ok(StatementKind::Expression(self.expression()?));
        };
        let mut names = Vec::new();
        loop {
            self.qualifiers();
            self.pointer()?;
            let name = self.name("a local")?;
            if self.at(TokenKind::OpenBracket) {
                let message = "a local is a scalar, not an array";
                let found = Diagnostic::error(codes::UNSUPPORTED_TYPE, self.span(), message);
                return Err(self.report(found.help("declare the array outside of the function")));
            }
            let value = match self.eat(TokenKind::Assign) {
                true => Some(self.assignment()?),
                false => None,
            };
            names.push((name, value));
            if !self.eat(TokenKind::Comma) {
                return Ok(StatementKind::Declaration(ty, names));
            }
        }
    }

    fn conditional(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let opener = self.span();
        self.expect(TokenKind::OpenParen, "behind `if`")?;
        let condition = self.expression()?;
        self.expect_close(TokenKind::CloseParen, opener)?;
        let then = self.statement()?;
        let otherwise = match self.eat(TokenKind::Else) {
            true => Some(Box::new(self.statement()?)),
            false => None,
        };
        Ok(StatementKind::If(condition, Box::new(then), otherwise))
    }

    fn for_loop(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let opener = self.span();
        self.expect(TokenKind::OpenParen, "behind `for`")?;
        let start = self.span();
        let begin = match self.at(TokenKind::Semicolon) {
            true => StatementKind::Empty,
            false => self.simple_statement()?,
        };
        let begin = Statement { kind: begin, span: self.span_from(start) };
        self.expect_semicolon("the beginning of the loop")?;
        let condition = match self.at(TokenKind::Semicolon) {
            true => None,
            false => Some(self.expression()?),
        };
        self.expect_semicolon("the loop's condition")?;
        let step = match self.at(TokenKind::CloseParen) {
            true => None,
            false => Some(self.expression()?),
        };
        self.expect_close(TokenKind::CloseParen, opener)?;
        let body = self.statement()?;
        Ok(StatementKind::For(Box::new(For { begin, condition, step, body })))
    }
}
