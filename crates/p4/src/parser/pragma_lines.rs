// SPDX-License-Identifier: Apache-2.0
//! `@pragma name tokens` ends with its line, which tokens alone do not show. The preprocessor calls
//! this at its end, while the text is at hand, to turn such lines into `@name(tokens)`.

use crate::token::{Token, TokenKind};
use source::{SourceMap, Span};
use std::sync::Arc;

/// Turns every line that begins with `@pragma` into an ordinary annotation.
pub(crate) fn fold_pragma_lines(map: &SourceMap, tokens: Vec<Token>) -> Vec<Token> {
    let is_pragma = |pair: &[Token]| {
        pair[0].kind == TokenKind::At
            && pair[1].kind == TokenKind::Identifier
            && pair[1].text.as_ref() == "pragma"
    };
    if !tokens.windows(2).any(is_pragma) {
        return tokens;
    }
    let mut folded = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let begins = tokens.get(at..at + 2).is_some_and(is_pragma);
        let mut end = at + 1;
        if !begins {
            folded.push(tokens[at].clone());
            at = end;
            continue;
        }
        while end + 1 < tokens.len() && same_line(map, tokens[end].span, tokens[end + 1].span) {
            end += 1;
        }
        fold_line(&tokens[at..=end], &mut folded);
        at = end + 1;
    }
    folded
}

/// Whether no line ends between two tokens that follow each other.
fn same_line(map: &SourceMap, before: Span, after: Span) -> bool {
    if before.file != after.file {
        return false;
    }
    // Tokens of one macro share the place of its use.
    if after.start < before.end {
        return after.start >= before.start;
    }
    !map.slice(Span { start: before.end, end: after.start, ..before }).contains('\n')
}

/// `line` is `@ pragma name tokens`, or ends earlier.
fn fold_line(line: &[Token], folded: &mut Vec<Token>) {
    let named =
        line.get(2).filter(|name| name.kind == TokenKind::Identifier || name.kind.is_keyword());
    let Some(name) = named else {
        // `@pragma` alone, or something the parser will report.
        folded.extend_from_slice(line);
        return;
    };
    folded.push(line[0].clone());
    folded.push(name.clone());
    // What does not fit into parentheses cannot be an annotation's body and is dropped.
    let body = line.get(3..).filter(|body| !body.is_empty() && balanced(body));
    if let (Some(body), Some(last)) = (body, line.last()) {
        let paren = |kind: TokenKind, span| Token { kind, span, text: Arc::from(kind.spelling()) };
        folded.push(paren(TokenKind::OpenParen, name.span.after()));
        folded.extend_from_slice(body);
        folded.push(paren(TokenKind::CloseParen, last.span.after()));
    }
}

/// Whether every parenthesis has its partner.
pub(super) fn balanced(tokens: &[Token]) -> bool {
    let mut depth = 0usize;
    for token in tokens {
        match token.kind {
            TokenKind::OpenParen => depth += 1,
            TokenKind::CloseParen => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            _ => {}
        }
    }
    depth == 0
}
