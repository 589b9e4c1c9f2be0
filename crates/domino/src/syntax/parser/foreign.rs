// SPDX-License-Identifier: Apache-2.0
//! What C has and Domino does not have: types, statements and operators that get an error of their own.

use super::Parser;
use crate::codes::syntax as codes;
use crate::syntax::token::{OTHER_TYPES, TokenKind};
use source::parse::{Parsed, RecursiveDescent, Unparsed};
use source::{Diagnostic, Span};

impl Parser {
    /// Reports a type that Domino does not have, if one stands here.
    pub(super) fn other_type(&mut self) -> Option<Unparsed> {
        if self.at_word(&["typedef"]) {
            let message = "Domino has no `typedef`";
            let found = Diagnostic::error(codes::UNSUPPORTED_TYPE, self.span(), message);
            return Some(
                self.report(found.help("write `int` or `unsigned` where the name is used")),
            );
        }
        if !self.at_word(OTHER_TYPES) {
            return None;
        }
        let text = self.token().text.clone();
        let found = Diagnostic::error(
            codes::UNSUPPORTED_TYPE,
            self.span(),
            format!("Domino has no type `{text}`"),
        );
        let help = match &*text {
            "enum" => "write each constant as `#define NAME value`",
            "float" | "double" => {
                "write `int`, with a fixed number of fraction bits where you need them"
            }
            "union" => "write a field for each member",
            _ => "write `int` or `unsigned`, which have 32 bits",
        };
        Some(self.report(found.help(help)))
    }

    /// Reports a `*` or `&` that makes a declared name a pointer or reference.
    pub(super) fn pointer(&mut self) -> Parsed<()> {
        if !matches!(self.kind(), TokenKind::Star | TokenKind::Ampersand) {
            return Ok(());
        }
        Err(self.pointer_at(self.span(), "declare a value, or an array with an index"))
    }

    /// Reports a pointer.
    pub(super) fn pointer_at(&mut self, span: Span, help: &str) -> Unparsed {
        let found = Diagnostic::error(codes::POINTER, span, "Domino has no pointers");
        self.report(found.help(help))
    }

    /// Reports a statement that Domino does not have, if one stands here, and skips it.
    pub(super) fn foreign_statement(&mut self) -> Option<Unparsed> {
        let token = self.token().clone();
        let (what, help) = match (token.kind, &*token.text) {
            (TokenKind::While, _) => (
                "`while`",
                "in a helper, write a `for` whose bound is a constant: `for (int i = 0; i < 8; i++)`",
            ),
            (TokenKind::Do, _) => (
                "`do`",
                "in a helper, write a `for` whose bound is a constant: `for (int i = 0; i < 8; i++)`",
            ),
            (TokenKind::Reserved, "switch") => ("`switch`", "write a chain of `if` and `else if`"),
            (TokenKind::Reserved, "case" | "default") => {
                ("`case`", "write a chain of `if` and `else if`")
            }
            (TokenKind::Reserved, "goto") => ("`goto`", "write `if` and `else`"),
            (TokenKind::Reserved, "break") => {
                ("`break`", "put the rest of the loop's body under an `if`")
            }
            (TokenKind::Reserved, "continue") => {
                ("`continue`", "put the rest of the loop's body under an `if`")
            }
            _ => return None,
        };
        let code = match token.kind {
            TokenKind::While | TokenKind::Do => codes::LOOP_BOUND,
            _ => codes::UNSUPPORTED_STATEMENT,
        };
        let found = Diagnostic::error(code, token.span, format!("Domino has no {what}"));
        Some(self.report(found.help(help)))
    }

    /// Reports an operator of C that Domino does not have, behind an expression.
    pub(super) fn foreign_behind_expression(&mut self) -> Option<Unparsed> {
        let span = self.span();
        let found = match self.kind() {
            TokenKind::Comma => Diagnostic::error(
                codes::UNSUPPORTED_EXPRESSION,
                span,
                "Domino has no comma operator",
            )
            .help("write a statement for each part"),
            TokenKind::Unknown => self.unknown(),
            _ => return None,
        };
        Some(self.report(found))
    }

    /// Describes text that is no token of C.
    fn unknown(&self) -> Diagnostic {
        let message = format!("C has no token `{}`", self.token().text);
        Diagnostic::error(codes::UNKNOWN_CHARACTER, self.span(), message).help("remove it")
    }

    /// Reports an operand of C that Domino does not have.
    pub(super) fn foreign_operand(&mut self) -> Option<Unparsed> {
        let token = self.token().clone();
        let code = codes::UNSUPPORTED_EXPRESSION;
        let found = match token.kind {
            TokenKind::Sizeof => Diagnostic::error(code, token.span, "Domino has no `sizeof`")
                .help(
                    "every value has 4 bytes; write the number, or `#define` the size of an array",
                ),
            TokenKind::Character => {
                let found =
                    Diagnostic::error(code, token.span, "Domino has no character constants");
                let mut inside = token.text.trim_matches('\'').chars();
                match (inside.next(), inside.next()) {
                    (Some(one), None) if one != '\\' => {
                        found.help(format!("write the character's number: {}", u32::from(one)))
                    }
                    _ => found.help("write the character's number"),
                }
            }
            TokenKind::String => Diagnostic::error(code, token.span, "Domino has no strings")
                .help("values are numbers of 32 bits"),
            TokenKind::Star | TokenKind::Ampersand => {
                return Some(self.pointer_at(token.span, "name the field, global or cell itself"));
            }
            TokenKind::Unknown => self.unknown(),
            _ => return None,
        };
        Some(self.report(found))
    }
}
