// SPDX-License-Identifier: Apache-2.0
//! The user's P4_16 in front of the dispatcher and behind it (Lucid §8.1) as pieces of a program: every token
//! keeps its place in the user's files, so diagnostics name these places. Each back end decides where the pieces go.

use super::v1model::user_tokens;
use crate::options::UserP4;
use crate::template::spelling;
use p4::token::{Token, TokenKind};
use source::{Code, Diagnostic, Diagnostics, FileId, SourceMap, Span};

/// Tokens of a file and of what it includes, each with its place, and the files; one that does not declare
/// the control `hook` is refused with this code.
pub(super) fn read(
    map: &mut SourceMap,
    given: &UserP4,
    (hook, parameters): (&str, &str),
    code: Code,
    found: &mut Diagnostics,
) -> (Vec<FileId>, Vec<(Span, String)>) {
    let (main, files, tokens) = user_tokens(given, map, found);
    let is_hook = |pair: &[Token]| pair[0].kind == TokenKind::Control && &*pair[1].text == hook;
    if !tokens.windows(2).any(is_hook) {
        let message = format!("`{}` declares no control `{hook}`", given.name);
        let help = format!("declare `control {hook}{parameters}`");
        found.push(Diagnostic::error(code, Span::new(main, 0, 0), message).help(help));
    }
    (files, tokens.iter().map(|token| (token.span, spelling(token))).collect())
}
