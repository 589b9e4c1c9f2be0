// SPDX-License-Identifier: Apache-2.0
//! Looking at the next tokens and taking them, names, and the reports when something else stands
//! there. Finding a place to go on after an error is in `recovery`.

use super::super::ast::{Binder, Path, Segment};
use super::super::codes;
use super::super::token::{Role, Token, TokenKind};
use super::{ERROR_LIMIT, NESTING_LIMIT, Parsed, Parser, Unparsed};
use source::{Diagnostic, Span};
use std::sync::Arc;

/// How many tokens after text that the lexer has reported errors may follow from it.
const BROKEN_REACH: usize = 200;

impl Parser<'_> {
    pub(super) fn token(&self) -> Token {
        self.tokens[self.position]
    }

    pub(super) fn kind(&self) -> TokenKind {
        self.tokens[self.position].kind
    }

    /// The token `distance` after the current one.
    pub(super) fn token_ahead(&self, distance: usize) -> Token {
        self.tokens[(self.position + distance).min(self.tokens.len() - 1)]
    }

    /// The kind of the token `distance` after the current one.
    pub(super) fn ahead(&self, distance: usize) -> TokenKind {
        self.token_ahead(distance).kind
    }

    pub(super) fn at(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    pub(super) fn span(&self) -> Span {
        self.token().span
    }

    /// The text of a token.
    pub(super) fn text_of(&self, token: Token) -> &str {
        self.text.get(token.span.start as usize..token.span.end as usize).unwrap_or("")
    }

    /// Whether the token `distance` after the current one is this word, which is not reserved.
    pub(super) fn word_ahead(&self, distance: usize, word: &str) -> bool {
        let token = self.token_ahead(distance);
        token.kind == TokenKind::Identifier && self.text_of(token) == word
    }

    /// Whether the current token is this word, which is not reserved.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.word_ahead(0, word)
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

    /// Adds a warning, unless there are very many.
    pub(super) fn warn(&mut self, diagnostic: Diagnostic) {
        self.warning_count += 1;
        if !self.silent && self.warning_count <= ERROR_LIMIT {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Says how many errors were counted only.
    pub(super) fn report_suppressed(&mut self) {
        let Some(span) = self.suppressed_at else { return };
        let count = self.error_count - ERROR_LIMIT;
        let plural = if count == 1 { "" } else { "s" };
        self.diagnostics.push(Diagnostic::error(
            codes::TOO_MANY_ERRORS,
            span,
            format!("and {count} more syntax error{plural} from here on"),
        ));
    }

    /// Whether the lexer has reported something between the beginning of the statement and here.
    fn follows_broken_text(&self) -> bool {
        let here = self.span();
        let before = self.broken.partition_point(|broken| broken.start <= here.start);
        let Some(broken) = before.checked_sub(1).map(|last| self.broken[last]) else {
            return false;
        };
        for token in self.tokens[..self.position].iter().rev().take(BROKEN_REACH) {
            if token.span.start < broken.start {
                return true;
            }
            if matches!(
                token.kind,
                TokenKind::Semicolon | TokenKind::OpenBrace | TokenKind::CloseBrace
            ) {
                return false;
            }
        }
        self.position < BROKEN_REACH
    }

    /// Gives up the rest of the file without another word.
    pub(super) fn abandon(&mut self) {
        self.silent = true;
        self.position = self.tokens.len() - 1;
    }

    /// How a token is called in a message.
    pub(super) fn describe(&self, token: Token) -> String {
        const LONGEST: usize = 40;
        let text = self.text_of(token);
        match token.kind {
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::String => "a string".to_owned(),
            _ if text.chars().count() > LONGEST => {
                let start: String = text.chars().take(LONGEST).collect();
                format!("`{start}...`")
            }
            _ => format!("`{text}`"),
        }
    }

    /// How the current token is called in a message.
    pub(super) fn found(&self) -> String {
        self.describe(self.token())
    }

    /// "expected X, found Y" at the current token.
    pub(super) fn unexpected(&mut self, expected: &str) -> Unparsed {
        let diagnostic = Diagnostic::error(
            codes::UNEXPECTED_TOKEN,
            self.span(),
            format!("expected {expected}, found {}", self.found()),
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
        let spelling = kind.spelling();
        let message = format!("expected `{spelling}` {place}, found {}", self.found());
        let diagnostic = Diagnostic::error(codes::UNEXPECTED_TOKEN, self.span(), message)
            .here(format!("expected `{spelling}`"));
        Err(self.report(diagnostic))
    }

    /// Takes a `;`, or reports that there is none and goes on as if there were, when what follows
    /// can stand after one.
    pub(super) fn expect_semicolon(&mut self, after: &str) -> Parsed<()> {
        if self.eat(TokenKind::Semicolon) {
            return Ok(());
        }
        if let Some(unparsed) = self.foreign_operator() {
            return Err(unparsed);
        }
        let diagnostic = Diagnostic::error(
            codes::MISSING_SEMICOLON,
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

    /// Takes a closing bracket or brace, or reports it with the place it was opened.
    pub(super) fn expect_close(&mut self, kind: TokenKind, opener: Span) -> Parsed<()> {
        if self.eat(kind) {
            return Ok(());
        }
        if let Some(unparsed) = self.foreign_operator() {
            return Err(unparsed);
        }
        let open = match kind {
            TokenKind::CloseParen => "(",
            TokenKind::CloseBracket => "[",
            TokenKind::CloseBrace => "{",
            TokenKind::ShiftRight => "<<",
            _ => "<",
        };
        let close = kind.spelling();
        let diagnostic = Diagnostic::error(
            codes::UNCLOSED_DELIMITER,
            self.span(),
            format!("expected `{close}`, found {}", self.found()),
        )
        .here(format!("expected `{close}`"))
        .label(opener, format!("to close this `{open}`"));
        Err(self.report(diagnostic))
    }

    /// Takes the `>` that closes sizes, splitting `>>`, `>>>` and `>=`.
    pub(super) fn expect_close_angle(&mut self, opener: Span) -> Parsed<()> {
        let rest = match self.kind() {
            TokenKind::ShiftRight => TokenKind::Greater,
            TokenKind::TripleGreater => TokenKind::ShiftRight,
            TokenKind::GreaterEqual => TokenKind::Assign,
            _ => {
                self.mark(Role::AngleClose);
                return self.expect_close(TokenKind::Greater, opener);
            }
        };
        self.mark(Role::AngleClose);
        self.split(rest, 1);
        Ok(())
    }

    /// Takes the `>>` that closes sizes or types, from `>>`, `>>>` or `> >`.
    pub(super) fn expect_close_double_angle(&mut self, opener: Span) -> Parsed<()> {
        self.mark(Role::AngleClose);
        match (self.kind(), self.ahead(1)) {
            (TokenKind::TripleGreater, _) => self.split(TokenKind::Greater, 2),
            (TokenKind::Greater, TokenKind::Greater) => {
                self.bump();
                self.mark(Role::AngleClose);
                self.bump();
            }
            // The inner `>` was taken from `>>>` with a blank in it.
            (TokenKind::Greater, TokenKind::ShiftRight) => {
                self.bump();
                self.mark(Role::AngleClose);
                self.split(TokenKind::Greater, 1);
            }
            _ => return self.expect_close(TokenKind::ShiftRight, opener),
        }
        Ok(())
    }

    /// Takes the first `length` bytes of the current token and leaves the rest as a token.
    fn split(&mut self, rest: TokenKind, length: u32) {
        let token = &mut self.tokens[self.position];
        token.kind = rest;
        token.span.start = token.span.start.saturating_add(length).min(token.span.end);
    }

    /// The text, shared by all equal names of the file.
    pub(super) fn intern(&mut self, token: Token) -> Arc<str> {
        let range = token.span.start as usize..token.span.end as usize;
        let text = self.text.get(range).unwrap_or("");
        match self.names.get(text) {
            Some(name) => name.clone(),
            None => {
                let name: Arc<str> = text.into();
                self.names.insert(name.clone());
                name
            }
        }
    }

    /// Takes a name; `what` is what it names, with its article: "a field".
    pub(super) fn segment(&mut self, what: &str) -> Parsed<Segment> {
        let token = self.token();
        if token.kind == TokenKind::Identifier {
            let name = self.intern(token);
            self.bump();
            return Ok(Segment { name, span: token.span });
        }
        if !token.kind.is_reserved() {
            return Err(self.unexpected(&format!("the name of {what}")));
        }
        let text = self.text_of(token);
        let diagnostic = Diagnostic::error(
            codes::RESERVED_WORD,
            token.span,
            format!("`{text}` is a reserved word and cannot name {what}"),
        )
        .here("reserved word")
        .help(format!("choose another name, such as `{text}_`"));
        let unparsed = self.report(diagnostic);
        // Where the word stands as a name would, the rest can be read.
        let stands_as_name = matches!(
            self.ahead(1),
            TokenKind::Semicolon
                | TokenKind::Assign
                | TokenKind::Comma
                | TokenKind::CloseParen
                | TokenKind::OpenParen
                | TokenKind::OpenBrace
                | TokenKind::CloseBrace
        );
        if !stands_as_name {
            return Err(unparsed);
        }
        let name = self.intern(token);
        self.bump();
        Ok(Segment { name, span: token.span })
    }

    /// Takes the name of something that is declared here.
    pub(super) fn binder(&mut self, what: &str) -> Parsed<Binder> {
        let Segment { name, span } = self.segment(what)?;
        Ok(Binder { id: self.id(), name, span })
    }

    /// Takes a name in use, perhaps qualified.
    pub(super) fn path(&mut self, what: &str) -> Parsed<Path> {
        let start = self.span();
        let mut segments = vec![self.segment(what)?];
        while self.at(TokenKind::Dot) {
            self.bump();
            segments.push(self.segment(what)?);
        }
        Ok(Path { id: self.id(), segments, span: self.span_from(start) })
    }

    /// A path of names that are not in the text, for constructs that have another spelling.
    pub(super) fn made_path(&mut self, names: &[&str], span: Span) -> Path {
        let segments = names.iter().map(|name| Segment { name: (*name).into(), span }).collect();
        Path { id: self.id(), segments, span }
    }

    /// Reads something one level deeper, on a stack that is large enough.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= NESTING_LIMIT {
            let diagnostic = Diagnostic::error(
                codes::NESTED_TOO_DEEPLY,
                self.span(),
                format!("this is nested more than {NESTING_LIMIT} levels deep"),
            )
            .help("move the inner part into a function or a variable of its own");
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
