// SPDX-License-Identifier: Apache-2.0
//! Tokens with the comments around them: which comment belongs to the token before it and which to
//! the one behind it.

use super::super::lexer::{Comment, Lexed};
use super::super::token::{Place, Role, TokenKind};
use source::Span;
use source::layout::line_ends;

/// A comment and where it stood.
#[derive(Clone, Debug)]
pub(super) struct PlacedComment<'t> {
    /// Without blanks at its end.
    pub text: &'t str,
    /// `// ...`
    pub is_line: bool,
    /// Line ends between it and what stood before, 2 at most.
    pub lines_before: usize,
    /// Columns before it on its line.
    pub column: usize,
    /// It continues the comment at the end of the line above.
    pub continued: bool,
}

/// A token with its comments.
#[derive(Clone, Debug)]
pub(super) struct Piece<'t> {
    pub text: &'t str,
    pub kind: TokenKind,
    pub role: Role,
    /// A statement, declaration or field begins here.
    pub begins: bool,
    /// The number of the line it stood on.
    pub line: usize,
    /// Line ends between it and what stood before, comments included, 2 at most.
    pub lines_before: usize,
    /// The comments before it that do not belong to the token before.
    pub leading: Vec<PlacedComment<'t>>,
    /// The comments behind it on its line, with their continuation lines.
    pub trailing: Vec<PlacedComment<'t>>,
}

/// Columns that a tab reaches on to.
const TAB_WIDTH: usize = 4;

/// Columns of a text, with tabs.
pub(super) fn columns(text: &str) -> usize {
    text.chars().fold(0, |column, character| match character {
        '\t' => (column / TAB_WIDTH + 1) * TAB_WIDTH,
        _ => column + 1,
    })
}

/// Returns the tokens of a text in order; the last is the end.
pub(super) fn pieces<'t>(text: &'t str, lexed: &Lexed, places: &[Place]) -> Vec<Piece<'t>> {
    let mut reader = Reader { text, end: 0, line: 0 };
    let mut comments = lexed.comments.iter().peekable();
    let mut pieces: Vec<Piece<'t>> = Vec::with_capacity(lexed.tokens.len());
    let mut waiting: Vec<PlacedComment<'t>> = Vec::new();
    for (token, place) in lexed.tokens.iter().zip(places) {
        while let Some(comment) = comments.next_if(|next| next.span.start < token.span.start) {
            waiting.push(reader.comment(comment));
        }
        let lines_before = reader.advance(token.span);
        let line = reader.line;
        reader.leave(token.span);
        let piece_text = super::slice(text, token.span);
        let mut piece = Piece {
            text: piece_text,
            kind: token.kind,
            role: place.role,
            begins: place.begins,
            line,
            lines_before,
            leading: std::mem::take(&mut waiting),
            trailing: Vec::new(),
        };
        if let Some(before) = pieces.last_mut() {
            give_back(before, &mut piece);
        }
        pieces.push(piece);
    }
    pieces
}

/// Gives those comments to the token before that stand behind it on its line and not before the next
/// token on the same line.
fn give_back<'t>(before: &mut Piece<'t>, piece: &mut Piece<'t>) {
    let beside = piece.leading.iter().take_while(|comment| comment.lines_before == 0).count();
    let ends_line = match piece.leading.get(beside) {
        Some(next) => next.lines_before > 0,
        None => piece.lines_before > 0 || piece.kind == TokenKind::End,
    };
    let closes = matches!(
        piece.kind,
        TokenKind::Comma | TokenKind::Semicolon | TokenKind::CloseParen | TokenKind::CloseBracket
    );
    if beside == 0 || !(ends_line || (closes && beside == piece.leading.len())) {
        return;
    }
    let mut taken = beside;
    let column = piece.leading[beside - 1].column;
    if piece.leading[beside - 1].is_line {
        let goes_on = |comment: &&PlacedComment<'_>| {
            comment.is_line && comment.lines_before == 1 && comment.column == column && column > 0
        };
        taken += piece.leading[beside..].iter().take_while(goes_on).count();
    }
    let rest = piece.leading.split_off(taken);
    before.trailing = std::mem::replace(&mut piece.leading, rest);
    for comment in &mut before.trailing[beside..] {
        comment.continued = true;
    }
}

struct Reader<'t> {
    text: &'t str,
    /// Where what was read last ended.
    end: usize,
    /// The number of the line there.
    line: usize,
}

impl<'t> Reader<'t> {
    /// Goes to the start of a span; how many line ends are before it.
    fn advance(&mut self, span: Span) -> usize {
        let gap = self.text.get(self.end..span.start as usize).unwrap_or("");
        let breaks = line_ends(gap);
        self.line += breaks;
        self.end = span.start as usize;
        breaks.min(2)
    }

    /// Goes to the end of a span.
    fn leave(&mut self, span: Span) {
        self.line += line_ends(super::slice(self.text, span));
        self.end = span.end as usize;
    }

    fn comment(&mut self, comment: &Comment) -> PlacedComment<'t> {
        let lines_before = self.advance(comment.span);
        let before = self.text.get(..self.end).unwrap_or("");
        let line_start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let column = columns(&before[line_start..]);
        self.leave(comment.span);
        PlacedComment {
            text: super::slice(self.text, comment.span).trim_end(),
            is_line: comment.is_line,
            lines_before,
            column,
            continued: false,
        }
    }
}
