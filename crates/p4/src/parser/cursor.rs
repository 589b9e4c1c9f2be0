// SPDX-License-Identifier: Apache-2.0
//! What P4_16's parser adds to [`RecursiveDescent`]: how errors are worded, closing angle brackets,
//! names. Where reading goes on after an error is decided in `recovery`.

use super::{NESTING_LIMIT, Parser};
use crate::ast::{Name, Path};
use crate::codes::{lexical, syntax};
use crate::token::{Token, TokenKind};
use source::parse::{Cursor, NestingLimit, Parsed, RecursiveDescent, SyntaxCodes};
use source::{Diagnostic, Span};

impl RecursiveDescent for Parser<'_> {
    type Token = Token;
    type Kind = TokenKind;
    const CODES: SyntaxCodes = SyntaxCodes {
        unexpected_token: syntax::UNEXPECTED_TOKEN,
        missing_semicolon: syntax::MISSING_SEMICOLON,
        unclosed_delimiter: syntax::UNCLOSED_DELIMITER,
        reserved_word: syntax::RESERVED_WORD,
        nested_too_deeply: syntax::NESTED_TOO_DEEPLY,
        too_many_errors: lexical::TOO_MANY_ERRORS,
    };
    const NESTING: NestingLimit = NestingLimit {
        levels: NESTING_LIMIT,
        help: "move the inner part into an action, a function or a variable of its own",
    };

    fn cursor(&self) -> &Cursor<Token> {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor<Token> {
        &mut self.cursor
    }

    fn text_of<'t>(&'t self, token: &'t Token) -> &'t str {
        &token.text
    }

    fn can_follow_semicolon(&self) -> bool {
        self.begins_after_semicolon()
    }

    fn at_recovery_point(&self) -> bool {
        (self.begins_statement_keyword() || self.begins_top_level()) && !self.at(TokenKind::Else)
    }

    fn statement_continues(&self) -> bool {
        use TokenKind as T;
        matches!(self.kind(), T::Semicolon | T::CloseParen | T::Comma | T::Else)
    }

    fn with_suggestion(&self, diagnostic: Diagnostic) -> Diagnostic {
        self.suggestion_for(diagnostic)
    }
}

impl Parser<'_> {
    pub(super) fn at_end(&self) -> bool {
        self.at(TokenKind::End)
    }

    /// Takes the `>` that closes type arguments, splitting `>>`, `>=` and `>>=`.
    pub(super) fn expect_close_angle(&mut self, opener: Span) -> Parsed<()> {
        let (rest, spelling) = match self.kind() {
            TokenKind::ShiftRight => (TokenKind::CloseAngle, ">"),
            TokenKind::GreaterEqual => (TokenKind::Assign, "="),
            TokenKind::ShiftRightAssign => (TokenKind::GreaterEqual, ">="),
            _ => return self.expect_close(TokenKind::CloseAngle, opener),
        };
        let span = self.span();
        let start = span.start.saturating_add(1).min(span.end);
        let second = Span { start, ..span };
        let at = self.cursor.position;
        self.cursor.tokens[at] = Token { kind: rest, span: second, text: spelling.into() };
        Ok(())
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
        if self.kind().is_keyword() && !self.at(TokenKind::Underscore) {
            self.reserved_word(what)?;
            return Ok(self.take_name());
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
