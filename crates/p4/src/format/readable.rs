// SPDX-License-Identifier: Apache-2.0
//! Syntax errors that stop the formatter. It parses the file on its own, so an error counts only where no
//! macro, condition or missing include can be its cause.

use crate::codes::{lexical, syntax};
use crate::dialect::{Dialect, Foreign};
use crate::interfaces::InterfacesOnly;
use crate::lexer::excluded::{directive_name, next_directive};
use crate::parser;
use crate::preprocessor::{PreprocessorOptions, preprocess_dialect};
use crate::token::{Token, TokenKind};
use source::{Diagnostic, Diagnostics, FileId, SourceMap};

/// Returns the syntax errors of a file, with places in the first file of a map, that it has however
/// it is compiled.
pub(super) fn certain_mistakes(text: &str, dialect: Option<&dyn Dialect>) -> Diagnostics {
    let mut map = SourceMap::new();
    let file = map.add("source", text);
    let mut diagnostics = Diagnostics::new();
    let options = PreprocessorOptions::default();
    let foreign = Foreign::of(dialect);
    let tokens =
        preprocess_dialect(&mut map, &InterfacesOnly, file, &options, foreign, &mut diagnostics)
            .tokens;
    if diagnostics.iter().any(|found| found.code == lexical::EXPANSION_LIMIT) {
        return Diagnostics::new();
    }
    let all_included = !diagnostics.has_errors();
    let mut mistakes = Diagnostics::new();
    parser::parse_dialect(tokens.clone(), dialect, &mut mistakes);
    let mut certain = Diagnostics::new();
    if mistakes.has_errors() && !depends_on_conditions(text) {
        let context = Context { map: &map, file, tokens: &tokens, all_included };
        for mistake in mistakes.iter().filter(|mistake| context.is_certain(mistake)) {
            let mut mistake = mistake.clone();
            mistake.labels.retain(|label| label.span.file == file);
            certain.push(mistake);
        }
    }
    certain
}

/// Whether a file has conditions other than a guard against being included twice.
fn depends_on_conditions(text: &str) -> bool {
    let mut offset = 0;
    let mut is_first = true;
    let mut guarded = false;
    while let Some(hash) = next_directive(text, offset) {
        let name = directive_name(text, hash);
        offset = name.end;
        match &text[name] {
            "ifndef" if is_first => guarded = true,
            "endif" if guarded => {}
            "if" | "ifdef" | "ifndef" | "elif" | "elifdef" | "elifndef" | "else" => return true,
            _ => {}
        }
        is_first = false;
    }
    false
}

struct Context<'a> {
    map: &'a SourceMap,
    file: FileId,
    tokens: &'a [Token],
    /// Every file that is included was read, so every macro is known.
    all_included: bool,
}

impl Context<'_> {
    fn is_certain(&self, mistake: &Diagnostic) -> bool {
        let span = mistake.primary.span;
        // What stands at the top level may be meant to be included in a block.
        if span.file != self.file || mistake.code == syntax::MISPLACED_DECLARATION {
            return false;
        }
        !self.around(span.start).iter().any(|token| self.may_be_macro(token))
    }

    /// Returns the tokens of the statement or declaration around a place, as far as it has no
    /// braces.
    fn around(&self, place: u32) -> &[Token] {
        let ends = |token: &Token| {
            matches!(
                token.kind,
                TokenKind::Semicolon | TokenKind::OpenBrace | TokenKind::CloseBrace
            )
        };
        let at = self
            .tokens
            .iter()
            .position(|token| token.span.file == self.file && token.span.start >= place)
            .unwrap_or(self.tokens.len());
        let first = self.tokens[..at].iter().rposition(ends).map_or(0, |end| end + 1);
        // The end before the place may be the one that should not be there.
        let first = match first {
            first if first == at && at > 0 => {
                self.tokens[..at - 1].iter().rposition(ends).map_or(0, |end| end + 1)
            }
            first => first,
        };
        let end = self.tokens[at..].iter().position(ends).map_or(self.tokens.len(), |end| at + end);
        &self.tokens[first..end]
    }

    /// Whether a token comes from a macro, or may be one that is defined in a file not at hand.
    fn may_be_macro(&self, token: &Token) -> bool {
        if token.span.file != self.file || self.map.macro_use(token.span).is_some() {
            return true;
        }
        let constant_like = |text: &str| {
            text.len() > 1 && text.bytes().all(|b| matches!(b, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
        };
        !self.all_included && token.kind == TokenKind::Identifier && constant_like(&token.text)
    }
}
