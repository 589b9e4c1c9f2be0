// SPDX-License-Identifier: Apache-2.0
//! Declarations that Lucid spells otherwise, and what stands where a declaration should.

use super::super::super::ast::{Type, TypeKind};
use super::super::super::codes;
use super::super::super::token::TokenKind;
use super::super::{LOOKAHEAD_LIMIT, Parsed, Parser, RecursiveDescent, Unparsed};
use source::{Diagnostic, Span};

impl Parser {
    /// `memop int f(int a, int b) { ... }`; the type is passed over.
    pub(in super::super) fn report_memop_type(&mut self) -> Parsed<()> {
        if !self.at_type_word() {
            return Ok(());
        }
        let start = self.span();
        self.ty()?;
        let diagnostic = Diagnostic::error(
            codes::UNEXPECTED_TOKEN,
            self.span_from(start),
            "the type that a memop returns is not written",
        )
        .help("leave it out: a memop returns what its array holds");
        self.report_read(diagnostic);
        Ok(())
    }

    /// `(x, y)` for parameters.
    pub(in super::super) fn parameter_without_type(&mut self, ty: &Type) -> Unparsed {
        let is_name = matches!(ty.kind, TypeKind::Named { ref sizes, .. } if sizes.is_empty());
        let (what, help) = match is_name {
            true => ("type", "write `int x` for a parameter of 32 bits"),
            false => ("name", "write the type and then the name, such as `int x`"),
        };
        let diagnostic = Diagnostic::error(
            codes::UNEXPECTED_TOKEN,
            ty.span,
            format!("this parameter has no {what}"),
        )
        .here("expected a type and a name")
        .help(help);
        self.report(diagnostic)
    }

    /// `include` inside of a module.
    pub(in super::super) fn misplaced_include(&mut self) -> Unparsed {
        let diagnostic = Diagnostic::error(
            codes::MISPLACED_DECLARATION,
            self.span(),
            "files are included outside of modules only",
        )
        .help("move it to the beginning of the file");
        self.report(diagnostic)
    }

    /// `@egress` before something else than a handler.
    pub(in super::super) fn egress_without_handler(&mut self, pragma: Span) -> Unparsed {
        let message = format!("expected `handle` after `@egress`, found {}", self.found());
        let diagnostic = Diagnostic::error(codes::UNEXPECTED_TOKEN, self.span(), message)
            .here("expected `handle`")
            .label(pragma, "which says that a handler runs as events leave the switch");
        self.report(diagnostic)
    }

    /// `const K = 4;`
    pub(in super::super) fn constant_without_type(&mut self) -> Unparsed {
        let name = self.text_of(self.token());
        let help = format!("write `const int {name} = ...;`");
        let diagnostic = Diagnostic::error(
            codes::UNEXPECTED_TOKEN,
            self.span(),
            "expected the type of the constant before its name",
        )
        .help(help);
        self.report(diagnostic)
    }

    /// `fun f(int x) { ... }`
    pub(in super::super) fn function_without_type(&mut self) -> Unparsed {
        let name = self.text_of(self.token());
        let help = format!("write `fun void {name}(...)` if it returns nothing");
        let diagnostic = Diagnostic::error(
            codes::UNEXPECTED_TOKEN,
            self.span(),
            "expected the type that the function returns before its name",
        )
        .help(help)
        .help("write `fun int` if it returns an integer of 32 bits");
        self.report(diagnostic)
    }

    /// Where a declaration should begin, and does not. Skips to the next one if what stands here is a
    /// statement, of which more will follow.
    pub(in super::super) fn no_declaration(&mut self) -> Unparsed {
        if self.at(TokenKind::Hash) {
            return self.directive();
        }
        if self.at_type_word() && self.ahead(1) == TokenKind::Identifier {
            return self.typed_like_c();
        }
        if self.at(TokenKind::Int) {
            let mut distance = 1;
            while distance < LOOKAHEAD_LIMIT
                && !matches!(
                    self.ahead(distance),
                    TokenKind::Identifier
                        | TokenKind::Semicolon
                        | TokenKind::OpenBrace
                        | TokenKind::End
                )
            {
                distance += 1;
            }
            if self.ahead(distance) == TokenKind::Identifier {
                return self.typed_like_c();
            }
        }
        let word = self.text_of(self.token()).to_owned();
        let named = match word.as_str() {
            "struct" | "header" | "typedef" => Some("write `type t = { int a; int b; }`"),
            "control" => {
                Some("write `control handle e(int x) { ... }` for a handler on the processor")
            }
            "table" => Some("write `global Table.t<<key, installed, argument, result>> t = ...;`"),
            "import" | "using" | "open" => Some("write `include \"file.dpt\"`"),
            "function" | "def" | "func" | "fn" | "let" => Some("write `fun int f(int x) { ... }`"),
            "handler" => Some("write `handle e(int x) { ... }`"),
            "var" | "static" | "register" => {
                Some("write `global Array.t<32> a = Array.create(8);` for values that stay")
            }
            "enum" => Some("write a `const int` for each value"),
            "Array" | "Counter" | "PairArray" | "Table" => {
                Some("write `global` before it: `global Array.t<32> a = Array.create(8);`")
            }
            _ => None,
        };
        if let Some(help) = named {
            let diagnostic = Diagnostic::error(
                codes::UNEXPECTED_TOKEN,
                self.span(),
                format!("expected a declaration, found `{word}`"),
            )
            .here("expected a declaration")
            .help(help);
            return self.report(diagnostic);
        }
        let begins_statement = self.begins_statement() || self.at(TokenKind::Else);
        if !begins_statement {
            return self.unexpected("a declaration, such as `event`, `handle`, `fun` or `global`");
        }
        let mut diagnostic = Diagnostic::error(
            codes::MISPLACED_STATEMENT,
            self.span(),
            format!("expected a declaration, found {}", self.found()),
        )
        .here("expected a declaration")
        .help("statements stand in handlers, functions and memops");
        if self.cursor.position > 0
            && self.cursor.tokens[self.cursor.position - 1].kind == TokenKind::CloseBrace
        {
            diagnostic =
                diagnostic.label(self.previous_span(), "the declaration before ended here");
        }
        let unparsed = self.report(diagnostic);
        self.skip_to_declaration();
        self.recovered = true;
        unparsed
    }

    /// `int x = 5;` and `int f(int x) { ... }` outside of everything.
    fn typed_like_c(&mut self) -> Unparsed {
        let mut distance = 1;
        while distance < LOOKAHEAD_LIMIT
            && !matches!(
                self.ahead(distance),
                TokenKind::Assign | TokenKind::OpenParen | TokenKind::Semicolon | TokenKind::End
            )
        {
            distance += 1;
        }
        let (message, help) = match self.ahead(distance) {
            TokenKind::OpenParen => (
                "a function begins with `fun`",
                "write `fun int f(int x) { ... }`; a handler is `handle e(int x) { ... }`",
            ),
            _ => (
                "expected a declaration, found a type",
                "write `const int x = ...;` for a value that never changes, and \
                 `global Array.t<32> x = Array.create(1);` for one that stays and changes",
            ),
        };
        let diagnostic =
            Diagnostic::error(codes::MISPLACED_STATEMENT, self.span(), message).help(help);
        self.report(diagnostic)
    }

    /// `#include` and `#define`.
    fn directive(&mut self) -> Unparsed {
        let word = self.text_of(self.token_ahead(1)).to_owned();
        let help = match word.as_str() {
            "include" => "write `include \"file.dpt\"`",
            "define" => "write `const int NAME = 5;` or `size name = 5;`",
            _ => "there are no macros; `symbolic` values can be given from outside",
        };
        let place = self.span().to(self.token_ahead(1).span);
        let diagnostic =
            Diagnostic::error(codes::UNEXPECTED_TOKEN, place, "Lucid has no preprocessor")
                .help(help);
        let unparsed = self.report(diagnostic);
        // The directive ends with its line.
        let end = self.span().end as usize;
        let line = self.text.get(end..).and_then(|rest| rest.find('\n')).map(|at| end + at);
        let limit = line.unwrap_or(self.text.len()) as u32;
        while !self.at(TokenKind::End) && self.span().start < limit {
            self.bump();
        }
        self.recovered = true;
        unparsed
    }
}
