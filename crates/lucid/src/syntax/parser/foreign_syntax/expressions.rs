// SPDX-License-Identifier: Apache-2.0
//! Operators that Lucid does not have, and what stands where a value should. Statements are in
//! `statements`.

use super::super::super::ast::BinaryOperator;
use super::super::super::codes;
use super::super::super::token::TokenKind;
use super::super::{LOOKAHEAD_LIMIT, Parsed, Parser, RecursiveDescent, Unparsed};
use super::instead_of;
use source::{Diagnostic, Span};

impl Parser {
    /// Reports an operator that Lucid does not have, if one stands here.
    pub(in super::super) fn report_foreign_operator(&mut self) -> Option<Unparsed> {
        let (name, help) = instead_of(self.kind())?;
        let text = self.text_of(self.token());
        let diagnostic = Diagnostic::error(
            codes::UNSUPPORTED_OPERATOR,
            self.span(),
            format!("Lucid has no `{text}`: there is no {name}"),
        )
        .here("not an operator of Lucid")
        .help(help);
        Some(self.report(diagnostic))
    }

    /// The same among sizes, which have `+` only.
    pub(in super::super) fn foreign_size_operator(&mut self) -> Option<Unparsed> {
        let foreign = matches!(
            self.kind(),
            TokenKind::Star
                | TokenKind::Slash
                | TokenKind::Percent
                | TokenKind::Minus
                | TokenKind::Ampersand
                | TokenKind::Pipe
        );
        if !foreign {
            return None;
        }
        let text = self.text_of(self.token());
        let diagnostic = Diagnostic::error(
            codes::UNSUPPORTED_OPERATOR,
            self.span(),
            format!("sizes can be added but have no `{text}`"),
        )
        .here("not an operator of sizes")
        .help("declare a size with the value you need: `size n = 8;`")
        .note("sizes are known before the program runs: they say how wide values are and how long vectors");
        Some(self.report(diagnostic))
    }

    /// Where an expression should begin, and does not.
    pub(in super::super) fn no_expression(&mut self) -> Unparsed {
        if let Some(unparsed) = self.foreign_operator() {
            return unparsed;
        }
        let previous = *self.token_at(self.cursor.position.saturating_sub(1));
        let (previous_text, text) = (self.text_of(&previous), self.text_of(self.token()));
        let adjacent = previous.span.end == self.span().start;
        if adjacent && previous.kind == TokenKind::Plus && self.at(TokenKind::Plus) {
            return self.increment("++", previous.span);
        }
        let is_compound = matches!(
            previous.kind,
            TokenKind::Plus
                | TokenKind::Minus
                | TokenKind::Ampersand
                | TokenKind::Pipe
                | TokenKind::Caret
                | TokenKind::CaretCaret
                | TokenKind::ShiftLeft
                | TokenKind::ShiftRight
        );
        if adjacent && is_compound && self.at(TokenKind::Assign) {
            let spelled = format!("{previous_text}{text}");
            return self.compound(&spelled, previous_text.to_owned(), previous.span);
        }
        if self.at(TokenKind::Assign) && previous.kind == TokenKind::EqualEqual {
            let diagnostic = Diagnostic::error(
                codes::UNEXPECTED_TOKEN,
                previous.span.to(self.span()),
                "Lucid has no `===`",
            )
            .help("compare with `==`");
            return self.report(diagnostic);
        }
        if self.at_type_word() {
            let diagnostic = Diagnostic::error(
                codes::UNEXPECTED_TOKEN,
                self.span(),
                format!("expected a value, found the type `{text}`"),
            )
            .here("expected a value");
            return self.report(diagnostic);
        }
        self.unexpected("a value")
    }

    pub(super) fn increment(&mut self, spelled: &str, start: Span) -> Unparsed {
        let operator = &spelled[..1];
        let diagnostic = Diagnostic::error(
            codes::COMPOUND_ASSIGNMENT,
            start.to(self.span()),
            format!("Lucid has no `{spelled}`"),
        )
        .help(format!("write `x = x {operator} 1;`"));
        self.report(diagnostic)
    }

    pub(super) fn compound(&mut self, spelled: &str, operator: String, start: Span) -> Unparsed {
        let operator = if operator == "^" { "^^".to_owned() } else { operator };
        let diagnostic = Diagnostic::error(
            codes::COMPOUND_ASSIGNMENT,
            start.to(self.span()),
            format!("Lucid has no `{spelled}`"),
        )
        .help(format!("write the variable again: `x = x {operator} y;`"));
        self.report(diagnostic)
    }

    /// `a ++ b` and `a += b` behind the first character of the operator, which was taken.
    pub(in super::super) fn report_doubled_operator(
        &mut self,
        operator: BinaryOperator,
        span: Span,
    ) -> Parsed<()> {
        let adjacent = span.end == self.span().start;
        let doubled = operator == BinaryOperator::Add && self.at(TokenKind::Plus);
        if adjacent && (doubled || self.at(TokenKind::Assign)) {
            return Err(self.no_expression());
        }
        Ok(())
    }

    /// `r#f.g` and `f(x).g`.
    pub(in super::super) fn dot_for_field(&mut self) -> Unparsed {
        let diagnostic = Diagnostic::error(
            codes::UNEXPECTED_TOKEN,
            self.span(),
            "a field of a record follows `#`, not `.`",
        )
        .here("expected `#`")
        .help("write `r#f`; a `.` follows only the name of a module");
        self.report(diagnostic)
    }

    /// Whether `<...>` with sizes or types and a `(` behind it stands `distance` ahead.
    pub(in super::super) fn at_sizes_of_call(&self, mut distance: usize) -> bool {
        let mut depth = 0usize;
        loop {
            match self.ahead(distance) {
                TokenKind::Less => depth += 1,
                TokenKind::ShiftLeft => depth += 2,
                TokenKind::Greater if depth >= 1 => depth -= 1,
                TokenKind::ShiftRight if depth >= 2 => depth -= 2,
                TokenKind::Number
                | TokenKind::Identifier
                | TokenKind::Variable
                | TokenKind::Int
                | TokenKind::Bool
                | TokenKind::Auto
                | TokenKind::Comma
                | TokenKind::Dot
                    if depth > 0 => {}
                _ => return false,
            }
            distance += 1;
            if distance > LOOKAHEAD_LIMIT {
                return false;
            }
            if depth == 0 {
                return self.ahead(distance) == TokenKind::OpenParen;
            }
        }
    }

    /// `Array.create<32>(8)` behind the name.
    pub(in super::super) fn sizes_of_call(&mut self) -> Option<Unparsed> {
        let is_call = self.at_sizes_of_call(0)
            // `a < b > (c)` is a chain of comparisons.
            && self.previous_span().end == self.span().start;
        if !is_call {
            return None;
        }
        let diagnostic = Diagnostic::error(
            codes::UNEXPECTED_TOKEN,
            self.span(),
            "a call takes no sizes or types in `<...>`",
        )
        .here("expected `(`")
        .help(
            "leave them out; the type of what is declared says them: \
               `global Array.t<32> a = Array.create(8);`",
        );
        Some(self.report(diagnostic))
    }
}
