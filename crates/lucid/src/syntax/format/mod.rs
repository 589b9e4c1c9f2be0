// SPDX-License-Identifier: Apache-2.0
//! Source text in one consistent layout: 4 columns of indentation, at most [`source::layout::LINE_WIDTH`] columns
//! where a line can be broken, comments where their author put them, and every construct in the
//! spelling its author chose. What may stay on one line when it was there before, such as the body of
//! a memop, is decided in `layout`.

mod layout;
mod pieces;
mod spacing;
mod structure;
mod wrap;

use super::codes;
use super::lexer::{Lexed, lex};
use super::parser::parse_tokens;
use super::token::TokenKind;
use source::layout::{formatter_fault, until_stable};
use source::{Diagnostics, Severity, SourceMap, Span};

/// Formats one file. Only white space changes: the tokens and comments are those of `text`, in their
/// order.
///
/// # Errors
///
/// Returns the errors of the parser.
pub fn format_source(text: &str) -> Result<String, Diagnostics> {
    until_stable(format_once(text)?, codes::FORMATTER_CHANGED_TOKENS, format_once)
}

fn format_once(text: &str) -> Result<String, Diagnostics> {
    let mut map = SourceMap::new();
    let file = map.add("source", text);
    let mut diagnostics = Diagnostics::new();
    let lexed = lex(&map, file, &mut diagnostics);
    let mut next_id = 0;
    let parsed = parse_tokens(&map, lexed.clone(), &mut next_id, &mut diagnostics);
    if diagnostics.has_errors() {
        let mut errors = Diagnostics::new();
        for found in super::in_order_of_place(diagnostics) {
            if found.severity == Severity::Error {
                errors.push(found);
            }
        }
        return Err(errors);
    }
    let pieces = pieces::pieces(text, &lexed, &parsed.places);
    let items = structure::structure(&pieces);
    let formatted = layout::write(&pieces, &items);
    if same_text(text, &lexed, &formatted) {
        return Ok(formatted);
    }
    Err(formatter_fault(
        codes::FORMATTER_CHANGED_TOKENS,
        "formatting would change this program, so it is left as it is",
    ))
}

/// Whether formatted text has the tokens and comments it was made from.
fn same_text(text: &str, before: &Lexed, formatted: &str) -> bool {
    let mut map = SourceMap::new();
    let file = map.add("formatted", formatted);
    let mut diagnostics = Diagnostics::new();
    let after = lex(&map, file, &mut diagnostics);
    !diagnostics.has_errors()
        && tokens(text, before).eq(tokens(formatted, &after))
        && comments(text, before).eq(comments(formatted, &after))
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap_or("")
}

fn tokens<'t>(text: &'t str, lexed: &'t Lexed) -> impl Iterator<Item = (TokenKind, &'t str)> {
    lexed.tokens.iter().map(|token| (token.kind, slice(text, token.span)))
}

/// Returns the words of all comments: their lines may be indented anew.
fn comments<'t>(text: &'t str, lexed: &'t Lexed) -> impl Iterator<Item = &'t str> {
    lexed.comments.iter().flat_map(|comment| slice(text, comment.span).split_whitespace())
}
