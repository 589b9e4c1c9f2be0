// SPDX-License-Identifier: Apache-2.0
//! Looking at the next tokens and taking them, names, and the reports when something else stands
//! there. Finding a place to go on after an error is in `recovery`.

use super::{ERROR_LIMIT, NESTING_LIMIT, Parsed, Parser};
use crate::ast::{Name, Path};
use crate::codes::{lexical, syntax};
use crate::dialect::Unparsed;
use crate::token::{Token, TokenKind};
use source::{Diagnostic, Span};

/// How many tokens after text that the lexer has reported errors may follow from it.
const BROKEN_REACH: usize = 200;

impl Parser<'_> {
    pub(super) fn token(&self) -> &Token {
        &self.tokens[self.position]
    }

    pub(super) fn kind(&self) -> TokenKind {
        self.tokens[self.position].kind
    }

    pub(super) fn token_at(&self, position: usize) -> &Token {
        &self.tokens[position.min(self.tokens.len() - 1)]
    }

    pub(super) fn kind_at(&self, position: usize) -> TokenKind {
        self.token_at(position).kind
    }

    /// The kind of the token `distance` after the current one.
    pub(super) fn ahead(&self, distance: usize) -> TokenKind {
        self.kind_at(self.position + distance)
    }

    pub(super) fn at(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    pub(super) fn at_end(&self) -> bool {
        self.at(TokenKind::End)
    }

    pub(super) fn span(&self) -> Span {
        self.token().span
    }

    /// The span of the token before the current one.
    pub(super) fn previous_span(&self) -> Span {
        match self.position.checked_sub(1) {
            Some(position) => self.tokens[position].span,
            None => self.span(),
        }
    }

    /// From `start` to the token before the current one.
    pub(super) fn span_from(&self, start: Span) -> Span {
        start.to(self.previous_span())
    }

    pub(super) fn bump(&mut self) {
        if self.position + 1 < self.tokens.len() {
            self.position += 1;
        }
    }

    /// Takes the token if it is of this kind.
    pub(super) fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// Adds a report, unless one was made at this very token.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Unparsed {
        if self.reported_at != Some(self.position) {
            self.reported_at = Some(self.position);
            if !self.follows_broken_text() {
                let diagnostic = self.with_guess(diagnostic);
                self.report_read(diagnostic);
            }
        }
        Unparsed
    }

    /// Adds a report about something that was read well enough to go on from, whatever else was
    /// reported at this token.
    pub(super) fn report_read(&mut self, diagnostic: Diagnostic) {
        if self.silent {
            return;
        }
        self.error_count += 1;
        if self.error_count <= ERROR_LIMIT {
            self.diagnostics.push(diagnostic);
        } else {
            self.suppressed_at.get_or_insert(diagnostic.primary.span);
        }
    }

    /// Says how many errors were counted only.
    pub(super) fn report_suppressed(&mut self) {
        let Some(span) = self.suppressed_at else { return };
        let count = self.error_count - ERROR_LIMIT;
        let plural = if count == 1 { "" } else { "s" };
        self.diagnostics.push(Diagnostic::error(
            lexical::TOO_MANY_ERRORS,
            span,
            format!("and {count} more syntax error{plural} from here on"),
        ));
    }

    /// Whether the lexer has reported something between the beginning of the statement and here.
    fn follows_broken_text(&self) -> bool {
        let after = self.broken.partition_point(|at| *at <= self.position);
        let Some(broken) = after.checked_sub(1).map(|last| self.broken[last]) else {
            return false;
        };
        let ends = |token: &Token| {
            matches!(
                token.kind,
                TokenKind::Semicolon | TokenKind::OpenBrace | TokenKind::CloseBrace
            )
        };
        self.position - broken < BROKEN_REACH
            && !self.tokens[broken..self.position].iter().any(ends)
    }

    /// Gives up the rest of the program without another word.
    pub(super) fn abandon(&mut self) {
        self.silent = true;
        self.position = self.tokens.len() - 1;
    }

    /// How the current token is called in a message.
    pub(super) fn found(&self) -> String {
        describe(self.token())
    }

    /// "expected X, found Y" at the current token.
    pub(super) fn unexpected(&mut self, expected: &str) -> Unparsed {
        let token = self.token();
        let diagnostic = Diagnostic::error(
            syntax::UNEXPECTED_TOKEN,
            token.span,
            format!("expected {expected}, found {}", describe(token)),
        )
        .here(format!("expected {expected}"));
        self.report(diagnostic)
    }

    /// Takes a token of this kind or reports that it is missing. `place` ends the sentence
    /// "expected `(` ...".
    pub(super) fn expect(&mut self, kind: TokenKind, place: &str) -> Parsed<()> {
        if self.eat(kind) {
            return Ok(());
        }
        Err(self.missing(kind, place))
    }

    fn missing(&mut self, kind: TokenKind, place: &str) -> Unparsed {
        let spelling = kind.spelling();
        let message = format!("expected `{spelling}` {place}, found {}", self.found());
        let diagnostic = Diagnostic::error(syntax::UNEXPECTED_TOKEN, self.span(), message)
            .here(format!("expected `{spelling}`"));
        self.report(diagnostic)
    }

    /// Takes a `;`, or reports that there is none and goes on as if there were, when what follows
    /// can stand after one.
    pub(super) fn expect_semicolon(&mut self, after: &str) -> Parsed<()> {
        if self.eat(TokenKind::Semicolon) {
            return Ok(());
        }
        let diagnostic = Diagnostic::error(
            syntax::MISSING_SEMICOLON,
            self.previous_span().after(),
            format!("expected `;` after {after}, found {}", self.found()),
        )
        .here("expected `;`");
        let unparsed = self.report(diagnostic);
        if self.can_follow_semicolon() {
            // What begins here is read on its own, and may have its own mistake.
            self.reported_at = None;
            return Ok(());
        }
        Err(unparsed)
    }

    /// Takes the `>` that closes type arguments, splitting `>>`, `>=` and `>>=`.
    pub(super) fn expect_close_angle(&mut self, opener: Span) -> Parsed<()> {
        let (rest, spelling) = match self.kind() {
            TokenKind::CloseAngle => {
                self.bump();
                return Ok(());
            }
            TokenKind::ShiftRight => (TokenKind::CloseAngle, ">"),
            TokenKind::GreaterEqual => (TokenKind::Assign, "="),
            TokenKind::ShiftRightAssign => (TokenKind::GreaterEqual, ">="),
            _ => {
                let diagnostic = Diagnostic::error(
                    syntax::UNCLOSED_DELIMITER,
                    self.span(),
                    format!("expected `>`, found {}", self.found()),
                )
                .here("expected `>`")
                .label(opener, "to close this `<`");
                return Err(self.report(diagnostic));
            }
        };
        let span = self.span();
        let first = Span { end: span.start.saturating_add(1).min(span.end), ..span };
        let second = Span { start: first.end, ..span };
        self.tokens[self.position] = Token { kind: rest, span: second, text: spelling.into() };
        Ok(())
    }

    /// Takes a closing bracket or brace, or reports it with the place it was opened.
    pub(super) fn expect_close(&mut self, kind: TokenKind, opener: Span) -> Parsed<()> {
        if self.eat(kind) {
            return Ok(());
        }
        let (close, open) = match kind {
            TokenKind::CloseParen => (")", "("),
            TokenKind::CloseBracket => ("]", "["),
            TokenKind::CloseBrace => ("}", "{"),
            _ => (">", "<"),
        };
        let diagnostic = Diagnostic::error(
            syntax::UNCLOSED_DELIMITER,
            self.span(),
            format!("expected `{close}`, found {}", self.found()),
        )
        .here(format!("expected `{close}`"))
        .label(opener, format!("to close this `{open}`"));
        Err(self.report(diagnostic))
    }

    /// Whether the current token can be a name where something is declared: an identifier, or one
    /// of the words that are reserved only in their place (§6.2, `name`).
    pub(super) fn at_name(&self) -> bool {
        is_name(self.kind())
    }

    /// Takes a name; `what` is what it names, with its article: "a field".
    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        if self.at_name() {
            return Ok(self.take_name());
        }
        let token = self.token();
        if token.kind.is_keyword() && token.kind != TokenKind::Underscore {
            let diagnostic = Diagnostic::error(
                syntax::RESERVED_WORD,
                token.span,
                format!("`{}` is a reserved word and cannot name {what}", token.text),
            )
            .here("reserved word")
            .help("choose another name");
            let replacement = Name { text: token.text.clone(), span: token.span };
            // Where the word stands as a name would, the rest can be read.
            let next = self.ahead(1);
            let stands_as_name = matches!(
                next,
                TokenKind::Semicolon
                    | TokenKind::Assign
                    | TokenKind::Comma
                    | TokenKind::CloseParen
                    | TokenKind::OpenParen
                    | TokenKind::OpenBrace
            );
            let unparsed = self.report(diagnostic);
            if stands_as_name {
                self.bump();
                return Ok(replacement);
            }
            return Err(unparsed);
        }
        Err(self.unexpected(&format!("the name of {what}")))
    }

    /// Takes the current token as a name.
    pub(super) fn take_name(&mut self) -> Name {
        let token = self.token();
        let name = Name { text: token.text.clone(), span: token.span };
        self.bump();
        name
    }

    /// Takes `name` or `.name`.
    pub(super) fn path(&mut self, what: &str) -> Parsed<Path> {
        let absolute = self.eat(TokenKind::Dot);
        Ok(Path { absolute, name: self.name(what)? })
    }

    /// Reads something one level deeper, on a stack that is large enough.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= NESTING_LIMIT {
            let diagnostic = Diagnostic::error(
                syntax::NESTED_TOO_DEEPLY,
                self.span(),
                format!("this is nested more than {NESTING_LIMIT} levels deep"),
            )
            .help("move the inner part into an action, a function or a variable of its own");
            let unparsed = self.report(diagnostic);
            self.abandon();
            return Err(unparsed);
        }
        self.nesting += 1;
        let result = stacker::maybe_grow(256 * 1024, 2 * 1024 * 1024, || read(self));
        self.nesting -= 1;
        result
    }
}

/// Whether a token of this kind can be a name.
pub(super) fn is_name(kind: TokenKind) -> bool {
    kind == TokenKind::List || is_value_name(kind)
}

/// Whether a token of this kind can name a value (§6.2, `nonTypeName`).
pub(super) fn is_value_name(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Identifier
            | TokenKind::Apply
            | TokenKind::Key
            | TokenKind::Actions
            | TokenKind::State
            | TokenKind::Entries
            | TokenKind::Type
            | TokenKind::Priority
    )
}

/// How a token is called in a message.
pub(super) fn describe(token: &Token) -> String {
    const LONGEST: usize = 40;
    match token.kind {
        TokenKind::End => "the end of the file".to_owned(),
        TokenKind::String => "a string".to_owned(),
        _ if token.text.chars().count() > LONGEST => {
            let start: String = token.text.chars().take(LONGEST).collect();
            format!("`{start}...`")
        }
        _ => format!("`{}`", token.text),
    }
}
