// SPDX-License-Identifier: Apache-2.0
//! Statements that Lucid does not have, and what stands where a statement should. Declarations are in
//! `declarations`.

use super::super::super::ast::{
    Binder, Expression, ExpressionKind, Spelling, StatementKind, Type, TypeKind,
};
use super::super::super::codes;
use super::super::super::token::TokenKind;
use super::super::operators::binary_operator;
use super::super::{Parsed, Parser, RecursiveDescent, Unparsed};
use super::instead_of;
use source::{Diagnostic, Span};

impl Parser {
    /// `while`, `switch`, `break` and so on, at a name.
    pub(in super::super) fn foreign_statement(&mut self) -> Option<Unparsed> {
        let next = self.ahead(1);
        let word = self.text_of(self.token()).to_owned();
        let (fits, help) = match word.as_str() {
            "while" => (
                next == TokenKind::OpenParen,
                "a packet passes a switch once, so nothing loops at run time: generate an event that \
                 goes on, or use `for (i < 4) { ... }` with a bound that is known before",
            ),
            "do" => (
                next == TokenKind::OpenBrace,
                "a packet passes a switch once, so nothing loops at run time: generate an event that \
                 goes on",
            ),
            "switch" => {
                (next == TokenKind::OpenParen, "use `match x with | 1 -> { ... } | _ -> { ... }`")
            }
            "break" | "continue" => {
                (next == TokenKind::Semicolon, "put what should not run into an `if`")
            }
            "goto" => (next == TokenKind::Identifier, "generate an event"),
            "var" | "let" => (next == TokenKind::Identifier, "write `auto x = ...;`"),
            "struct" => (
                next == TokenKind::Identifier || next == TokenKind::OpenBrace,
                "declare a type outside of functions: `type t = { int a; int b; }`",
            ),
            "unsigned" | "signed" | "long" | "short" => (
                next == TokenKind::Identifier || self.type_word_ahead(1),
                "integers are unsigned and `int<N>` is N bits wide, such as `int<16>`",
            ),
            "static" => (
                next == TokenKind::Identifier || self.type_word_ahead(1),
                "values that stay are arrays: `global Array.t<32> a = Array.create(1);` outside of \
                 functions",
            ),
            "const" => return None,
            _ => return None,
        };
        if !fits {
            return None;
        }
        let diagnostic = Diagnostic::error(
            codes::UNSUPPORTED_STATEMENT,
            self.span(),
            format!("Lucid has no `{word}`"),
        )
        .here("not a statement of Lucid")
        .help(help);
        let unparsed = self.report(diagnostic);
        if word == "do" {
            // Its `while` belongs to it.
            self.bump();
            self.skip_braces();
        }
        Some(unparsed)
    }

    /// A `for` loop of C, behind its `(`.
    pub(in super::super) fn foreign_loop(&mut self, start: Span, opener: Span) -> Option<Unparsed> {
        let named = self.at(TokenKind::Identifier)
            && matches!(self.ahead(1), TokenKind::Assign | TokenKind::LessEqual);
        if !self.at_type_word() && !named && !self.at(TokenKind::Semicolon) {
            return None;
        }
        let diagnostic = Diagnostic::error(
            codes::UNSUPPORTED_STATEMENT,
            start.to(self.span()),
            "Lucid has no such `for` loop",
        )
        .help("write `for (i < 4) { ... }`: the size `i` counts from 0 to one less than the bound")
        .note("loops are unrolled before the program runs, so the bound is a number or a size");
        let unparsed = self.report(diagnostic);
        // Past the parentheses, whose semicolons end no statement.
        let mut depth = 1usize;
        while depth > 0 && !self.at(TokenKind::End) && !self.at(TokenKind::OpenBrace) {
            match self.kind() {
                TokenKind::OpenParen => depth += 1,
                TokenKind::CloseParen => depth -= 1,
                _ => {}
            }
            self.bump();
        }
        let _ = opener;
        Some(unparsed)
    }

    /// Where a statement should begin, and does not.
    pub(in super::super) fn no_statement(&mut self) -> Unparsed {
        if self.at(TokenKind::Else) {
            let diagnostic = Diagnostic::error(
                codes::UNEXPECTED_TOKEN,
                self.span(),
                "this `else` belongs to no `if`",
            )
            .help("an `if` ends with the `}` of its block; a `;` behind it ends it too");
            return self.report(diagnostic);
        }
        if self.at_declaration() {
            return self.misplaced_declaration();
        }
        if self.at(TokenKind::Const) {
            return self.misplaced_declaration();
        }
        if matches!(self.kind(), TokenKind::Plus | TokenKind::Minus) {
            let (first, second) = (*self.token(), *self.token_ahead(1));
            if first.kind == second.kind && first.span.end == second.span.start {
                let spelled = if first.kind == TokenKind::Plus { "++" } else { "--" };
                return self.increment(spelled, first.span);
            }
        }
        self.unexpected("a statement")
    }

    /// Where a statement begins with a name but is none.
    pub(in super::super) fn no_effect(&mut self) -> Unparsed {
        let start = self.span();
        let (kind, distance) = self.after_path();
        let operator = *self.token_ahead(distance);
        let next = *self.token_ahead(distance + 1);
        let adjacent = operator.span.end == next.span.start;
        let name: String = {
            let end = self.token_ahead(distance - 1).span.end;
            self.text.get(start.start as usize..end as usize).unwrap_or("x").to_owned()
        };
        let spelled = format!("{}{}", self.text_of(&operator), self.text_of(&next));
        let place = operator.span.to(next.span);
        let step_doubled = matches!(kind, TokenKind::Plus | TokenKind::Minus) && next.kind == kind;
        if adjacent && step_doubled {
            let sign = &spelled[..1];
            let diagnostic = Diagnostic::error(
                codes::COMPOUND_ASSIGNMENT,
                place,
                format!("Lucid has no `{spelled}`"),
            )
            .help(format!("write `{name} = {name} {sign} 1;`"));
            return self.report(diagnostic);
        }
        let known = binary_operator(kind).is_some()
            || instead_of(kind).is_some_and(|_| kind != TokenKind::Question);
        if adjacent && known && next.kind == TokenKind::Assign {
            let sign = match self.text_of(&operator) {
                "^" => "^^",
                sign => sign,
            };
            let mut diagnostic = Diagnostic::error(
                codes::COMPOUND_ASSIGNMENT,
                place,
                format!("Lucid has no `{spelled}`"),
            );
            diagnostic = match instead_of(kind) {
                Some((_, help)) => diagnostic.help(help),
                None => {
                    let operand = self.line_up_to_semicolon(next.span.end);
                    diagnostic.help(format!("write `{name} = {name} {sign} {operand};`"))
                }
            };
            return self.report(diagnostic);
        }
        match kind {
            TokenKind::OpenBracket | TokenKind::Hash => self.assigned_part(&name, kind),
            TokenKind::Semicolon => {
                let diagnostic = Diagnostic::error(
                    codes::EXPRESSION_AS_STATEMENT,
                    start.to(self.token_ahead(distance - 1).span),
                    format!("`{name}` alone does nothing"),
                )
                .help(format!("call it, `{name}();`, or assign to it"));
                self.report(diagnostic)
            }
            _ => {
                let found = self.describe(&operator);
                let diagnostic = Diagnostic::error(
                    codes::UNEXPECTED_TOKEN,
                    operator.span,
                    format!("expected `=`, `(` or a name after `{name}`, found {found}"),
                )
                .here("expected `=`, `(` or a name");
                self.report(diagnostic)
            }
        }
    }

    /// What stands on the line from `start` to the `;`, or dots if that is not short.
    fn line_up_to_semicolon(&self, start: u32) -> &str {
        let rest = self.text.get(start as usize..).unwrap_or("");
        let is_end = |character: char| matches!(character, ';' | '\n' | '\r');
        let end = rest.char_indices().take(40).find(|(_, character)| is_end(*character));
        match end {
            Some((at, ';')) if !rest[..at].trim().is_empty() => rest[..at].trim(),
            _ => "...",
        }
    }

    /// `a[i] = 5;` and `r#f = 5;`
    fn assigned_part(&mut self, name: &str, kind: TokenKind) -> Unparsed {
        let place = self.span();
        let (message, help) = match kind {
            TokenKind::Hash => (
                "a field cannot be assigned on its own",
                format!(
                    "make a record with the field changed: `{name} = {{{name} with f = ...}};`"
                ),
            ),
            _ => (
                "an element cannot be assigned on its own",
                format!(
                    "write to a persistent array with `Array.set({name}, i, x);`, and make a vector \
                     as a whole: `[a; b]`, `[e for i < n]`"
                ),
            ),
        };
        let diagnostic =
            Diagnostic::error(codes::EXPRESSION_AS_STATEMENT, place, message).help(help);
        self.report(diagnostic)
    }

    /// `int x;`, which Lucid does not have; gives 0 to go on with.
    pub(in super::super) fn local_without_value(
        &mut self,
        start: Span,
        ty: &Type,
        name: &Binder,
    ) -> Option<Parsed<StatementKind>> {
        if self.at(TokenKind::OpenParen) {
            let diagnostic = Diagnostic::error(
                codes::MISPLACED_DECLARATION,
                name.span,
                "functions and events are declared outside of handlers and functions",
            )
            .help("move it out, and write `fun` before a function: `fun int f(int x) { ... }`");
            return Some(Err(self.report(diagnostic)));
        }
        if !matches!(self.kind(), TokenKind::Semicolon | TokenKind::Comma) {
            return None;
        }
        let spelled = self.text.get(start.start as usize..self.previous_span().end as usize);
        let example = spelled.unwrap_or("int x").to_owned();
        let zero = match ty.kind {
            TypeKind::Bool => "false",
            TypeKind::Int(_) | TypeKind::Auto => "0",
            _ => "...",
        };
        let diagnostic = Diagnostic::error(
            codes::LOCAL_WITHOUT_VALUE,
            name.span,
            format!("`{}` needs a value", name.name),
        )
        .here("expected ` = ...` after this")
        .help(format!("write `{example} = {zero};`"));
        self.report_read(diagnostic);
        let value = Expression {
            id: self.id(),
            kind: match ty.kind {
                TypeKind::Bool => ExpressionKind::Boolean(false),
                _ => ExpressionKind::Integer { value: 0, width: None, spelling: Spelling::Later },
            },
            span: name.span.after(),
        };
        if self.at(TokenKind::Comma) {
            // One report is enough for `int a, b, c;`.
            while !matches!(
                self.kind(),
                TokenKind::Semicolon | TokenKind::CloseBrace | TokenKind::End
            ) {
                self.bump();
            }
        }
        self.eat(TokenKind::Semicolon);
        let local =
            StatementKind::Local { name: name.clone(), ty: ty.clone(), value, no_inline: false };
        Some(Ok(local))
    }

    /// `int x = 1, y = 2;`
    pub(in super::super) fn report_further_locals(&mut self) -> Parsed<()> {
        if !self.at(TokenKind::Comma) {
            return Ok(());
        }
        let diagnostic = Diagnostic::error(
            codes::UNEXPECTED_TOKEN,
            self.span(),
            "a declaration gives one variable: expected `;`, found `,`",
        )
        .here("expected `;`")
        .help("declare each variable on its own: `int x = 1; int y = 2;`");
        Err(self.report(diagnostic))
    }

    /// `return a, b;`
    pub(in super::super) fn returned_list(&mut self) -> Unparsed {
        let diagnostic = Diagnostic::error(
            codes::RETURNED_LIST,
            self.span(),
            "a function returns one value: expected `;`, found `,`",
        )
        .here("expected `;`")
        .help("return a record: `type pair = { int a; int b; }` and `return {a = x; b = y};`");
        self.report(diagnostic)
    }

    /// `if (x = 1)`
    pub(in super::super) fn report_assignment_in_condition(&mut self) -> Parsed<()> {
        if !self.at(TokenKind::Assign) {
            return Ok(());
        }
        let diagnostic = Diagnostic::error(
            codes::ASSIGNMENT_IN_CONDITION,
            self.span(),
            "a condition compares with `==`; `=` assigns",
        )
        .here("expected `==`")
        .help("write `==`");
        self.report_read(diagnostic);
        self.bump();
        self.expression().map(|_| ())
    }

    /// `true` as a pattern.
    pub(in super::super) fn boolean_pattern(&mut self) -> Unparsed {
        let text = self.text_of(self.token());
        let diagnostic = Diagnostic::error(
            codes::UNEXPECTED_TOKEN,
            self.span(),
            format!("expected a pattern, found `{text}`"),
        )
        .here("expected a pattern")
        .help("`match` compares integers and events; use `if` for a `bool`");
        self.report(diagnostic)
    }

    /// A declaration between statements.
    pub(in super::super) fn misplaced_declaration(&mut self) -> Unparsed {
        let text = self.text_of(self.token());
        let diagnostic = Diagnostic::error(
            codes::MISPLACED_DECLARATION,
            self.span(),
            format!("`{text}` declares something outside of handlers and functions only"),
        )
        .here("expected a statement")
        .help("move it out; or, if the block should have ended before, add the missing `}`")
        .note("variables of a handler are declared with their type: `int x = 5;`");
        self.report(diagnostic)
    }
}
