// SPDX-License-Identifier: Apache-2.0
//! Source text in one consistent layout: 4 columns of indentation, at most [`layout::LINE_WIDTH`] columns
//! where a line can be broken, comments and directives where their author put them. Works on the
//! tokens of one file that is not preprocessed, so that macros and inactive branches stay as they
//! are; the printer lays out its tokens by the same engine.

mod annotations;
mod bodies;
pub(crate) mod pieces;
mod readable;
mod roles;
mod spacing;
mod structure;
mod wrap;

use crate::codes::syntax;
use crate::dialect::{Dialect, Foreign};
use crate::lexer;
use crate::token::{Token, TokenKind};
use pieces::Piece;
use source::{Diagnostics, SourceMap, layout};
use std::borrow::Cow;

/// Formats one file. Only white space changes: the tokens, comments and directives are those of `text`,
/// in their order.
///
/// # Errors
///
/// Returns the errors of the lexer, and those of the parser that no unknown macro can cause.
pub fn format_source(text: &str) -> Result<String, Diagnostics> {
    format_dialect(text, None)
}

/// Like [`format_source`], for text in a dialect.
///
/// # Errors
///
/// As of [`format_source`].
pub fn format_dialect(text: &str, dialect: Option<&dyn Dialect>) -> Result<String, Diagnostics> {
    let foreign = Foreign::of(dialect);
    let formatted = format_tokens(text, foreign)?;
    let mistakes = readable::certain_mistakes(text, dialect);
    if mistakes.has_errors() {
        return Err(mistakes);
    }
    // Text whose structure only macros could tell may need another round until nothing changes.
    let format = |text: &str| format_tokens(text, foreign);
    layout::until_stable(formatted, syntax::FORMATTER_CHANGED_TOKENS, format)
}

/// Formats whatever has only tokens of P4.
fn format_tokens(text: &str, foreign: Foreign<'_>) -> Result<String, Diagnostics> {
    let mut map = SourceMap::new();
    let file = map.add("source", text);
    let mut diagnostics = Diagnostics::new();
    let (tokens, trivia) = lexer::lex_foreign(&map, file, foreign, &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let pieces = pieces::from_source(text, &tokens, &trivia);
    let formatted = lay_out(pieces);
    if same_tokens(&tokens, &formatted, foreign) {
        return Ok(formatted);
    }
    Err(layout::formatter_fault(
        syntax::FORMATTER_CHANGED_TOKENS,
        "formatting would change this program, so it is left as it is",
    ))
}

/// Returns the text of pieces, laid out.
pub(crate) fn lay_out(pieces: Vec<Piece<'_>>) -> String {
    let structured = structure::structure(pieces);
    wrap::write_lines(&structured)
}

/// Returns the text of pieces on one line, however long, for messages.
pub(crate) fn single_line(pieces: Vec<Piece<'_>>) -> String {
    let structured = structure::structure(pieces);
    let mut text = String::new();
    for (at, piece) in structured.pieces.iter().enumerate() {
        let blank = at > 0 && spacing::blank_between(&structured.pieces[at - 1], piece);
        if blank {
            text.push(' ');
        }
        text.push_str(&piece.text);
    }
    text
}

/// Whether formatted text has the tokens it was made from.
fn same_tokens(before: &[Token], formatted: &str, foreign: Foreign<'_>) -> bool {
    let mut map = SourceMap::new();
    let file = map.add("formatted", formatted);
    let mut diagnostics = Diagnostics::new();
    let after = lexer::lex_foreign(&map, file, foreign, &mut diagnostics).0;
    !diagnostics.has_errors() && spelled(before).eq(spelled(&after))
}

/// Returns the tokens with `>>` taken apart: between type arguments `> >` and `>>` are the same. Texts in another language
/// have the ends of lines that the formatter writes.
fn spelled(tokens: &[Token]) -> impl Iterator<Item = (TokenKind, Cow<'_, str>)> {
    tokens.iter().flat_map(|token| {
        let text = token.text.as_ref();
        let (kind, text, count) = match token.kind {
            TokenKind::ShiftRight => (TokenKind::CloseAngle, Cow::Borrowed(">"), 2),
            TokenKind::Verbatim if text.contains("\r\n") => {
                (TokenKind::Verbatim, Cow::Owned(text.replace("\r\n", "\n")), 1)
            }
            kind => (kind, Cow::Borrowed(text), 1),
        };
        std::iter::repeat_n((kind, text), count)
    })
}

#[cfg(test)]
mod tests;
