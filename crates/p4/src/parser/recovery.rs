// SPDX-License-Identifier: Apache-2.0
//! Recovery after syntax errors: skips to the next element or declaration, and decides which tokens
//! begin a statement or declaration. Skipping statements is in `source::parse`.

use super::cursor::is_name;
use super::{Parser, RecursiveDescent};
use crate::codes::syntax;
use crate::dialect::Unparsed;
use crate::token::TokenKind;
use source::{Diagnostic, Span};

impl Parser<'_> {
    /// Whether what begins at the current token can stand after a `;`: then the parser reports a
    /// missing one and continues.
    pub(super) fn begins_after_semicolon(&self) -> bool {
        use TokenKind as T;
        if matches!(self.kind(), T::CloseBrace | T::End | T::At) {
            return true;
        }
        if self.begins_statement_keyword() || self.begins_top_level() {
            return true;
        }
        match self.kind() {
            // `x = 1 y = 2;` and `x = 1 bit<8> y;`, but not `x = 1 2;`
            T::Bit | T::Int | T::Varbit | T::Bool | T::Const | T::Void | T::Tuple => true,
            T::Identifier => {
                self.follows_a_gap()
                    && matches!(
                        self.ahead(1),
                        T::Dot
                            | T::Assign
                            | T::OpenParen
                            | T::Identifier
                            | T::OpenBracket
                            | T::Semicolon
                    )
            }
            T::State | T::Key | T::Actions | T::Entries | T::Apply => true,
            _ => false,
        }
    }

    /// Whether something separates the current token from the one before. Tokens hold no line ends, so
    /// any gap may be one.
    fn follows_a_gap(&self) -> bool {
        let before = self.previous_span();
        let here = self.span();
        before.file != here.file || here.start >= before.end.saturating_add(1)
    }

    /// Whether a keyword stands here that only begins statements.
    pub(super) fn begins_statement_keyword(&self) -> bool {
        use TokenKind as T;
        matches!(
            self.kind(),
            T::If
                | T::Else
                | T::Switch
                | T::Return
                | T::Exit
                | T::Break
                | T::Continue
                | T::For
                | T::Transition
        )
    }

    /// Whether a declaration begins here that can only stand at the top level. Inside a block this
    /// means that a `}` is missing before it.
    pub(super) fn begins_top_level(&self) -> bool {
        use TokenKind as T;
        match self.kind() {
            T::Control | T::Parser | T::Package | T::Extern | T::Typedef => true,
            T::Header | T::HeaderUnion | T::Struct => true,
            T::Enum => true,
            T::Error | T::MatchKind => self.ahead(1) == T::OpenBrace,
            _ => false,
        }
    }

    /// Skips to the next declaration at the top level.
    pub(super) fn skip_declaration(&mut self) {
        let start = self.cursor.position;
        loop {
            match self.kind() {
                TokenKind::End => return,
                TokenKind::Semicolon => {
                    self.bump();
                    return;
                }
                TokenKind::CloseBrace => {
                    self.bump();
                    self.eat(TokenKind::Semicolon);
                    return;
                }
                TokenKind::OpenBrace => {
                    self.skip_braces();
                    if self.at_name() && self.ahead(1) == TokenKind::Semicolon {
                        self.bump();
                    }
                    self.eat(TokenKind::Semicolon);
                    return;
                }
                TokenKind::At if self.cursor.position > start => return,
                _ if self.cursor.position > start
                    && self.begins_top_level()
                    // `package` or `control` may be part of what is being skipped only when a name
                    // does not follow.
                    && is_name(self.ahead(1)) =>
                {
                    return;
                }
                _ => self.bump(),
            }
        }
    }

    /// Skips to a `,` or closing delimiter at the same level, for lists in parentheses.
    pub(super) fn skip_element(&mut self, close: TokenKind) {
        let mut depth = 0u32;
        loop {
            let kind = self.kind();
            match kind {
                TokenKind::End | TokenKind::Semicolon | TokenKind::CloseBrace
                    if depth == 0 || kind == TokenKind::End =>
                {
                    return;
                }
                TokenKind::Comma if depth == 0 => return,
                _ if kind == close && depth == 0 => return,
                TokenKind::OpenParen | TokenKind::OpenBracket | TokenKind::OpenBrace => depth += 1,
                TokenKind::CloseParen | TokenKind::CloseBracket | TokenKind::CloseBrace => {
                    depth = depth.saturating_sub(1);
                }
                _ => {}
            }
            self.bump();
        }
    }

    /// After an error between the braces of an expression: past the `}`, so that it is not taken for
    /// the end of a block.
    pub(super) fn leave_braces(&mut self) {
        self.skip_element(TokenKind::CloseBrace);
        while self.eat(TokenKind::Comma) {
            self.skip_element(TokenKind::CloseBrace);
        }
        self.eat(TokenKind::CloseBrace);
    }

    /// Reports that the block opened at `opener` is not closed where `what` should end.
    pub(super) fn report_unclosed(&mut self, opener: Span, what: &str) {
        let found = self.found();
        let diagnostic = Diagnostic::error(
            syntax::UNCLOSED_DELIMITER,
            self.span(),
            format!("{what} is not closed: expected `}}`, found {found}"),
        )
        .here("expected `}` before this")
        .label(opener, "this `{` has no `}`");
        let _ = self.report(diagnostic);
    }

    /// Reports that nothing closes the brace here, which opens a text in another language.
    pub(super) fn report_open_text(&mut self) -> Unparsed {
        let message = "nothing closes this `{`";
        let diagnostic = Diagnostic::error(syntax::UNCLOSED_DELIMITER, self.span(), message);
        self.report(diagnostic.help("look for a `{` or `(` too many in the text, or add a `}`"))
    }

    /// Takes the `}` that ends a block, or reports that it is missing and continues as if it were there.
    pub(super) fn close_block(&mut self, opener: Span, what: &str) {
        if !self.eat(TokenKind::CloseBrace) {
            self.report_unclosed(opener, what);
        }
    }

    /// Whether a list in braces ends here: at its `}`, at the end, or where a declaration
    /// of the top level shows that the `}` is missing.
    pub(super) fn at_block_end(&self) -> bool {
        matches!(self.kind(), TokenKind::CloseBrace | TokenKind::End) || self.begins_top_level()
    }
}
