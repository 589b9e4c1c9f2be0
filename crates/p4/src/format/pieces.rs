// SPDX-License-Identifier: Apache-2.0
//! `Piece`: a token, comment or directive that the formatter lays out, with its role. This file makes
//! them of a source file, the printer of a tree.

use crate::lexer::{Trivia, TriviaKind};
use crate::token::{Token, TokenKind};
use source::layout::line_ends;
use std::borrow::Cow;

/// The kinds of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// A token.
    Token(TokenKind),
    /// The body of an annotation with its parentheses, kept as written.
    AnnotationBody,
    /// `// ...`
    LineComment,
    /// `/* ... */`
    BlockComment,
    /// A directive line, kept as written, at the left margin; with the text it excludes.
    Directive,
    /// `@pragma ...`: an annotation that needs a line of its own.
    PragmaLine,
}

/// The role of a token that decides the blanks and line ends around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Not determined yet.
    Unknown,
    /// Nothing special.
    Plain,
    /// `<` before type arguments.
    AngleOpen,
    /// `>` or `>>` after type arguments.
    AngleClose,
    /// An operator with one operand.
    Unary,
    /// An operator with two operands, or an assignment's.
    Binary,
    /// `)` of a cast.
    CastClose,
    /// `{` of declarations or statements.
    BlockOpen,
    /// `{` of an expression.
    ListOpen,
    /// `{` of an enum, of errors or match kinds.
    NamesOpen,
    /// `:` of `a ? b : c`.
    ConditionalColon,
    /// `:` between bits of a slice.
    SliceColon,
    /// `.` that begins a path.
    LeadingDot,
    /// A comment behind something on its line.
    TrailingComment,
    /// A comment under a trailing one, in the same column, that continues it.
    ContinuedComment,
}

/// A token, comment or directive to lay out.
#[derive(Clone, Debug)]
pub(crate) struct Piece<'t> {
    pub(crate) kind: PieceKind,
    pub(crate) text: Cow<'t, str>,
    /// Line ends before it: 0, 1, or 2 for an empty line.
    pub(crate) lines_before: u8,
    pub(crate) role: Role,
    /// For a comment, how many bytes stand before it on its line.
    pub(crate) column: usize,
}

impl Piece<'_> {
    /// Returns the kind of token, if it is one.
    pub(crate) fn token(&self) -> Option<TokenKind> {
        match self.kind {
            PieceKind::Token(kind) => Some(kind),
            _ => None,
        }
    }

    pub(crate) fn is_comment(&self) -> bool {
        matches!(self.kind, PieceKind::LineComment | PieceKind::BlockComment)
    }

    /// A comment or directive: no part of the program proper.
    pub(crate) fn is_trivia(&self) -> bool {
        self.is_comment() || self.kind == PieceKind::Directive
    }

    /// Whether a line must end after it.
    pub(crate) fn ends_line(&self) -> bool {
        matches!(self.kind, PieceKind::LineComment | PieceKind::Directive | PieceKind::PragmaLine)
    }
}

/// Returns the pieces of a file.
pub(crate) fn from_source<'t>(
    text: &'t str,
    tokens: &[Token],
    trivia: &[Trivia],
) -> Vec<Piece<'t>> {
    let mut reader = Reader { text, tokens, trivia, token: 0, next_trivia: 0, end: 0 };
    let mut pieces = Vec::with_capacity(tokens.len() + trivia.len());
    while let Some(piece) = reader.next_piece() {
        let is_name = matches!(piece.kind, PieceKind::Token(_));
        let after_at = pieces
            .last()
            .is_some_and(|before: &Piece| before.kind == PieceKind::Token(TokenKind::At));
        let is_pragma = after_at && piece.text == "pragma";
        pieces.push(piece);
        if is_pragma {
            reader.take_pragma_line(&mut pieces);
        } else if after_at && is_name {
            reader.take_annotation_body(&mut pieces);
        }
    }
    mark_comments(&mut pieces);
    pieces
}

/// Marks the comments at the ends of lines, and those that continue them.
fn mark_comments(pieces: &mut [Piece<'_>]) {
    for at in 1..pieces.len() {
        if pieces[at].kind != PieceKind::LineComment {
            continue;
        }
        let before = &pieces[at - 1];
        let follows_comment = matches!(before.role, Role::TrailingComment | Role::ContinuedComment);
        pieces[at].role = match pieces[at].lines_before {
            0 if before.kind != PieceKind::Directive => Role::TrailingComment,
            1 if follows_comment && before.column == pieces[at].column => Role::ContinuedComment,
            _ => Role::Unknown,
        };
    }
}

struct Reader<'t, 's> {
    text: &'t str,
    tokens: &'s [Token],
    trivia: &'s [Trivia],
    token: usize,
    next_trivia: usize,
    /// Where the last piece ended.
    end: usize,
}

impl<'t> Reader<'t, '_> {
    fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or("")
    }

    fn next_piece(&mut self) -> Option<Piece<'t>> {
        let token = self.tokens.get(self.token).filter(|token| token.kind != TokenKind::End);
        let trivia = self.trivia.get(self.next_trivia);
        let trivia_first = match (token, trivia) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(token), Some(trivia)) => trivia.span.start < token.span.start,
        };
        let (kind, span) = match (trivia_first, token, trivia) {
            (true, _, Some(trivia)) => {
                self.next_trivia += 1;
                let kind = match trivia.kind {
                    TriviaKind::LineComment => PieceKind::LineComment,
                    TriviaKind::BlockComment => PieceKind::BlockComment,
                    TriviaKind::Directive | TriviaKind::Excluded => PieceKind::Directive,
                };
                (kind, trivia.span)
            }
            (_, Some(token), _) => {
                self.token += 1;
                (PieceKind::Token(shown_kind(token.kind)), token.span)
            }
            _ => return None,
        };
        let (start, end) = (span.start as usize, span.end as usize);
        Some(self.piece(kind, start, end))
    }

    fn piece(&mut self, kind: PieceKind, start: usize, end: usize) -> Piece<'t> {
        let gap = self.slice(self.end, start);
        let breaks = line_ends(gap);
        let lines_before = u8::try_from(breaks.min(2)).unwrap_or(2);
        self.end = end;
        let text = self.slice(start, end);
        // Directives and comments may end with the carriage return of their line.
        let is_excluded = kind == PieceKind::Directive && text.contains(['\n', '\r']);
        let is_kept = is_excluded || matches!(kind, PieceKind::Token(_));
        let text = if is_kept { text } else { text.trim_end() };
        let text = match kind {
            PieceKind::BlockComment if text.contains('\r') => {
                Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
            }
            PieceKind::Token(TokenKind::Verbatim) if text.contains("\r\n") => {
                Cow::Owned(text.replace("\r\n", "\n"))
            }
            _ => Cow::Borrowed(text),
        };
        let column = if kind == PieceKind::LineComment {
            let line_start = self.slice(0, start).rfind(['\n', '\r']).map_or(0, |end| end + 1);
            start - line_start
        } else {
            0
        };
        Piece { kind, text, lines_before, role: Role::Unknown, column }
    }

    /// After `@ pragma`: one piece for everything to the end of the line.
    fn take_pragma_line(&mut self, pieces: &mut Vec<Piece<'t>>) {
        let Some(_word) = pieces.pop() else { return };
        let Some(at) = pieces.pop() else { return };
        let start = self.end - "pragma".len();
        let mut end = self.end;
        while let Some(token) = self.tokens.get(self.token) {
            let begins = token.span.start as usize;
            if token.kind == TokenKind::End || self.slice(end, begins).contains(['\n', '\r']) {
                break;
            }
            end = token.span.end as usize;
            self.token += 1;
        }
        // A comment inside the line stays inside; one after it is a piece of its own.
        while self.trivia.get(self.next_trivia).is_some_and(|t| (t.span.start as usize) < end) {
            self.next_trivia += 1;
        }
        self.end = end;
        let text = Cow::Owned(format!("@{}", self.slice(start, end).trim_end()));
        pieces.push(Piece { kind: PieceKind::PragmaLine, text, ..at });
    }

    /// After `@ name`: the body in parentheses as one piece. It is free text, so its spacing is
    /// its author's.
    fn take_annotation_body(&mut self, pieces: &mut Vec<Piece<'t>>) {
        let Some(open) = self.tokens.get(self.token) else { return };
        if open.kind != TokenKind::OpenParen {
            return;
        }
        let trivia_between = self
            .trivia
            .get(self.next_trivia)
            .is_some_and(|trivia| trivia.span.start < open.span.start);
        if trivia_between {
            return;
        }
        let start = open.span.start as usize;
        let mut depth = 0usize;
        for (offset, token) in self.tokens[self.token..].iter().enumerate() {
            match token.kind {
                TokenKind::OpenParen => depth += 1,
                TokenKind::CloseParen => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        let end = token.span.end as usize;
                        self.token += offset + 1;
                        let inside = |trivia: &Trivia| (trivia.span.start as usize) < end;
                        while self.trivia.get(self.next_trivia).is_some_and(inside) {
                            self.next_trivia += 1;
                        }
                        let piece = self.piece(PieceKind::AnnotationBody, start, end);
                        pieces.push(Piece { lines_before: 0, ..piece });
                        return;
                    }
                }
                TokenKind::End => return,
                _ => {}
            }
        }
    }
}

/// Returns the kind that decides the spacing of a token: characters of a dialect are spaced like names.
fn shown_kind(kind: TokenKind) -> TokenKind {
    match kind {
        TokenKind::Foreign => TokenKind::Identifier,
        other => other,
    }
}
