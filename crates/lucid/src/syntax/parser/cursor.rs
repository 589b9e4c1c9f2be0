// SPDX-License-Identifier: Apache-2.0
//! What Lucid's parser adds to [`RecursiveDescent`]: how errors are worded, closing angle brackets,
//! names. `recovery` decides where parsing continues after an error.

use super::super::ast::{Binder, Path, Segment};
use super::super::codes;
use super::super::token::{Role, Token, TokenKind};
use super::{NESTING_LIMIT, Parser};
use source::parse::{
    Cursor, ERROR_LIMIT, NestingLimit, Parsed, RecursiveDescent, SyntaxCodes, Unparsed,
};
use source::{Diagnostic, Span};
use std::sync::Arc;

impl RecursiveDescent for Parser {
    type Token = Token;
    type Kind = TokenKind;
    const CODES: SyntaxCodes = SyntaxCodes {
        unexpected_token: codes::UNEXPECTED_TOKEN,
        missing_semicolon: codes::MISSING_SEMICOLON,
        unclosed_delimiter: codes::UNCLOSED_DELIMITER,
        reserved_word: codes::RESERVED_WORD,
        nested_too_deeply: codes::NESTED_TOO_DEEPLY,
        too_many_errors: codes::TOO_MANY_ERRORS,
    };
    const NESTING: NestingLimit = NestingLimit {
        levels: NESTING_LIMIT,
        help: "move the inner part into a function or a variable of its own",
    };

    fn cursor(&self) -> &Cursor<Token> {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor<Token> {
        &mut self.cursor
    }

    fn text_of<'t>(&'t self, token: &'t Token) -> &'t str {
        self.text.get(token.span.start as usize..token.span.end as usize).unwrap_or("")
    }

    fn can_follow_semicolon(&self) -> bool {
        self.begins_after_semicolon()
    }

    fn at_recovery_point(&self) -> bool {
        self.at_statement_word() || self.at_declaration()
    }

    fn statement_continues(&self) -> bool {
        use TokenKind as T;
        matches!(self.kind(), T::Semicolon | T::CloseParen | T::Comma | T::Else | T::Pipe)
    }

    fn foreign_operator(&mut self) -> Option<Unparsed> {
        self.report_foreign_operator()
    }
}

impl Parser {
    /// Whether the token `distance` after the current one is this word, which is not reserved.
    pub(super) fn word_ahead(&self, distance: usize, word: &str) -> bool {
        let token = self.token_ahead(distance);
        token.kind == TokenKind::Identifier && self.text_of(token) == word
    }

    /// Whether the current token is this word, which is not reserved.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.word_ahead(0, word)
    }

    /// Adds a warning, unless there are very many.
    pub(super) fn warn(&mut self, diagnostic: Diagnostic) {
        self.warning_count += 1;
        if !self.cursor.silent && self.warning_count <= ERROR_LIMIT {
            self.cursor.diagnostics.push(diagnostic);
        }
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
        let token = &mut self.cursor.tokens[self.cursor.position];
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
        let token = *self.token();
        if token.kind == TokenKind::Identifier {
            let name = self.intern(token);
            self.bump();
            return Ok(Segment { name, span: token.span });
        }
        if !token.kind.is_reserved() {
            return Err(self.unexpected(&format!("the name of {what}")));
        }
        self.reserved_word(what)?;
        let name = self.intern(token);
        self.bump();
        Ok(Segment { name, span: token.span })
    }

    /// Consumes the name in a declaration.
    pub(super) fn binder(&mut self, what: &str) -> Parsed<Binder> {
        let Segment { name, span } = self.segment(what)?;
        Ok(Binder { id: self.id(), name, span })
    }

    /// Consumes a use of a name, which may be qualified.
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
}
