// SPDX-License-Identifier: Apache-2.0
//! Recovery after syntax errors: skips to the next declaration, and decides which tokens begin a
//! statement or declaration, and where a `}` is missing. Skipping statements is in `source::parse`.

use super::super::codes;
use super::super::token::{Role, TokenKind};
use super::{Parser, RecursiveDescent};
use source::parse::ERROR_LIMIT;
use source::{Diagnostic, Span};

impl Parser {
    /// Whether a type begins `distance` ahead that is a reserved word.
    pub(super) fn type_word_ahead(&self, distance: usize) -> bool {
        matches!(
            self.ahead(distance),
            TokenKind::Int
                | TokenKind::Bool
                | TokenKind::Auto
                | TokenKind::Event
                | TokenKind::Group
                | TokenKind::Memop
                | TokenKind::Bitstring
                | TokenKind::Variable
        )
    }

    /// Whether the current token is a keyword that only begins statements.
    pub(super) fn at_statement_word(&self) -> bool {
        matches!(
            self.kind(),
            TokenKind::If
                | TokenKind::Match
                | TokenKind::Return
                | TokenKind::Printf
                | TokenKind::Generate
                | TokenKind::GenerateMany
                | TokenKind::GenerateSwitch
                | TokenKind::GeneratePort
                | TokenKind::GeneratePorts
                | TokenKind::For
        )
    }

    /// Whether a statement begins here.
    pub(super) fn begins_statement(&self) -> bool {
        self.at_statement_word() || self.at_type_word() || self.at(TokenKind::Identifier)
    }

    /// Whether a declaration begins here.
    pub(super) fn at_declaration(&self) -> bool {
        let next = self.ahead(1);
        match self.kind() {
            TokenKind::Const
            | TokenKind::Symbolic
            | TokenKind::Extern
            | TokenKind::Global
            | TokenKind::Handle
            | TokenKind::Fun
            | TokenKind::Type
            | TokenKind::Constructor
            | TokenKind::Module
            | TokenKind::Action
            | TokenKind::Include => true,
            TokenKind::Size | TokenKind::Parser => next == TokenKind::Identifier,
            TokenKind::Memop => {
                next == TokenKind::Identifier && self.ahead(2) == TokenKind::OpenParen
            }
            // `event e = f();` is a statement.
            TokenKind::Event => {
                next == TokenKind::Identifier
                    && matches!(self.ahead(2), TokenKind::OpenParen | TokenKind::Annotation)
            }
            TokenKind::Annotation => self.text_of(self.token()) != "@noinline",
            TokenKind::Identifier if next == TokenKind::Event => {
                self.at_word("packet") || self.at_word("entry") || self.at_word("exit")
            }
            TokenKind::Identifier if next == TokenKind::Handle => self.at_word("control"),
            TokenKind::Identifier if next == TokenKind::Identifier => {
                self.at_word("table_type") || self.at_word("action_constr")
            }
            _ => false,
        }
    }

    /// Whether what begins at the current token can stand after a `;`: then the parser reports a
    /// missing one and continues.
    pub(super) fn begins_after_semicolon(&self) -> bool {
        if matches!(self.kind(), TokenKind::CloseBrace | TokenKind::End) {
            return true;
        }
        if self.at_statement_word() || self.at_declaration() || self.at_type_word() {
            return true;
        }
        let before = self.previous_span();
        let between = self.text.get(before.end as usize..self.span().start as usize);
        let is_next_line = between.is_some_and(|text| text.contains('\n'));
        self.at(TokenKind::Identifier)
            && (is_next_line
                || matches!(
                    self.after_path().0,
                    TokenKind::Assign | TokenKind::OpenParen | TokenKind::Identifier
                ))
    }

    /// Skips the rest of a declaration: past its `;` or its block.
    pub(super) fn skip_declaration(&mut self) {
        if std::mem::take(&mut self.recovered) {
            return;
        }
        let start = self.cursor.position;
        loop {
            match self.kind() {
                TokenKind::End | TokenKind::CloseBrace => return,
                TokenKind::Semicolon => {
                    self.bump();
                    return;
                }
                TokenKind::OpenBrace => {
                    self.skip_braces();
                    if self.at(TokenKind::OpenBrace) || self.at(TokenKind::Else) {
                        continue;
                    }
                    self.eat(TokenKind::Semicolon);
                    return;
                }
                _ if self.cursor.position > start && self.at_declaration() => return,
                _ => self.bump(),
            }
        }
    }

    /// Skips to the next declaration outside of braces, past everything else.
    pub(super) fn skip_to_declaration(&mut self) {
        while !self.at(TokenKind::End) && !self.at_declaration() {
            match self.kind() {
                TokenKind::OpenBrace => self.skip_braces(),
                _ => self.bump(),
            }
        }
    }

    /// Returns the start of the line of a place.
    fn line_start(&self, span: Span) -> u32 {
        let line = self.line_starts.partition_point(|start| *start <= span.start);
        line.checked_sub(1).map_or(0, |line| self.line_starts[line])
    }

    /// Returns the column of a place, from 0, in bytes.
    fn column(&self, span: Span) -> usize {
        (span.start - self.line_start(span)) as usize
    }

    /// Returns the indentation of the line of a place, in bytes.
    fn indentation(&self, span: Span) -> usize {
        let line = self.text.get(self.line_start(span) as usize..).unwrap_or("");
        line.len() - line.trim_start_matches([' ', '\t']).len()
    }

    /// Whether a block ends here: at its `}`, at the end of the file, or where a declaration that
    /// is not indented further than the block shows that the `}` is missing.
    pub(super) fn at_block_end(&self, opener: Span) -> bool {
        matches!(self.kind(), TokenKind::CloseBrace | TokenKind::End)
            || (self.at_declaration() && self.column(self.span()) <= self.indentation(opener))
    }

    /// Takes the `}` that ends a block, or reports that it is missing and continues as if it were there.
    pub(super) fn close_block(&mut self, opener: Span, what: &str) {
        self.mark(Role::BlockClose);
        if self.eat(TokenKind::CloseBrace) {
            return;
        }
        // The blocks around an unclosed one are unclosed too.
        if self.cursor.reported_at == Some(self.cursor.position) {
            return;
        }
        let found = self.found();
        let suspect = match self.cursor.error_count < ERROR_LIMIT {
            true => self.suspect_opener(opener),
            false => None,
        };
        let mut diagnostic = Diagnostic::error(
            codes::UNCLOSED_DELIMITER,
            self.span(),
            format!("the body of {what} is not closed: expected `}}`, found {found}"),
        )
        .here("expected `}` before this")
        .label(opener, "this `{` has no `}`");
        if let Some((open, close)) = suspect {
            diagnostic = diagnostic
                .label(open, "perhaps it is missing for this `{`")
                .label(close, "whose `}` seems to be this one, which is indented differently");
        }
        let _ = self.report(diagnostic);
    }

    /// Returns the last pair of braces between `opener` and here whose lines are indented differently.
    fn suspect_opener(&self, opener: Span) -> Option<(Span, Span)> {
        let first = self.cursor.tokens.partition_point(|token| token.span.start <= opener.start);
        let mut open = Vec::new();
        let mut suspect = None;
        for token in &self.cursor.tokens[first..self.cursor.position] {
            match token.kind {
                TokenKind::OpenBrace => open.push(token.span),
                TokenKind::CloseBrace => {
                    let Some(start) = open.pop() else { continue };
                    let begins_line = self.indentation(token.span) == self.column(token.span);
                    if begins_line && self.indentation(start) != self.indentation(token.span) {
                        suspect = Some((start, token.span));
                    }
                }
                _ => {}
            }
        }
        suspect
    }

    /// Reports a `}` outside of all blocks.
    pub(super) fn report_stray_brace(&mut self) {
        let span = self.span();
        let mut diagnostic = Diagnostic::error(codes::STRAY_BRACE, span, "this `}` closes nothing")
            .here("unmatched");
        // The block that ended before was perhaps meant to go on.
        let mut open: Vec<Span> = Vec::new();
        let mut last = None;
        let is_shown = self.cursor.error_count < ERROR_LIMIT;
        for token in &self.cursor.tokens[..if is_shown { self.cursor.position } else { 0 }] {
            match token.kind {
                TokenKind::OpenBrace => open.push(token.span),
                TokenKind::CloseBrace => last = open.pop().map(|start| (start, token.span)),
                _ => {}
            }
        }
        if let Some((start, end)) =
            last.filter(|(start, end)| self.indentation(*start) != self.indentation(*end))
        {
            diagnostic = diagnostic
                .label(start, "this block")
                .label(end, "ended here, which is indented differently");
        }
        let _ = self.report(diagnostic.help("remove it, or add the `{` that it should close"));
        self.bump();
    }
}
