// SPDX-License-Identifier: Apache-2.0
//! One directive line: what it is, and the directives that are done at once (`#error`,
//! `#warning`, `#pragma`, `#line`). Definitions, conditions and inclusion have modules of their own.

use super::conditions::ConditionStart;
use super::{Local, LocalKind, Preprocessor};
use crate::codes::lexical;
use crate::token::{Token, TokenKind};
use source::{Diagnostic, Span};
use std::sync::Arc;

/// The names of all directives, for suggestions.
const DIRECTIVES: &[&str] = &[
    "include", "define", "undef", "if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else",
    "endif", "error", "warning", "pragma", "line",
];

impl Preprocessor<'_> {
    /// Does the directive whose `#` has just been read.
    pub(super) fn directive(&mut self, hash: Span) {
        let line_start = self.readers.last().map_or(0, |reader| reader.cursor.offset());
        let tokens = self.rest_of_line();
        let Some(name) = tokens.first() else {
            return; // `#` alone is the null directive.
        };
        let span = hash.to(name.span);
        let rest = &tokens[1..];
        if name.kind != LocalKind::Word {
            // `# 12 "file.p4"`, as other preprocessors leave it behind.
            if name.kind != LocalKind::Number {
                self.unknown_directive(*name);
            }
            return;
        }
        let text = self.names.text(name.symbol).clone();
        match &*text {
            "define" => self.define(span, rest),
            "undef" => self.undefine(span, rest),
            "include" => {
                let text_start = (name.span.end as usize).max(line_start);
                self.include(span, text_start, rest);
            }
            "if" => self.open_condition(span, ConditionStart::If, rest),
            "ifdef" => self.open_condition(span, ConditionStart::Defined, rest),
            "ifndef" => self.open_condition(span, ConditionStart::NotDefined, rest),
            "elif" | "elifdef" | "elifndef" => self.elif_after_taken(span, &text),
            "else" => self.else_after_taken(span, rest),
            "endif" => self.close_condition(span, rest),
            "error" => {
                let message = self.text_of(rest);
                let message = if message.is_empty() { "#error".to_owned() } else { message };
                self.report(Diagnostic::error(
                    lexical::ERROR_DIRECTIVE,
                    line_span(span, rest),
                    message,
                ));
            }
            "warning" => {
                let message = self.text_of(rest);
                let message = if message.is_empty() { "#warning".to_owned() } else { message };
                self.report(Diagnostic::warning(
                    lexical::WARNING_DIRECTIVE,
                    line_span(span, rest),
                    message,
                ));
            }
            "pragma" => self.pragma(span, rest),
            "line" => {}
            _ => self.unknown_directive(*name),
        }
    }

    fn pragma(&mut self, span: Span, rest: &[Local]) {
        let text = self.text_of(rest);
        if text == "once" {
            self.once.push(span.file);
            return;
        }
        let span = line_span(span, rest);
        self.output.push(Token { kind: TokenKind::Pragma, span, text: Arc::from(text) });
    }

    fn unknown_directive(&mut self, name: Local) {
        let text = self.names.text(name.symbol).clone();
        let warning = Diagnostic::warning(
            lexical::UNKNOWN_DIRECTIVE,
            name.span,
            format!("there is no directive `#{text}`; the line is ignored"),
        );
        let near = nearest(&text, DIRECTIVES.iter().copied());
        self.report(match near {
            Some(near) => warning.help(format!("did you mean `#{near}`?")),
            None => warning,
        });
    }

    /// The text of a line from its first to its last token, lines joined.
    fn text_of(&self, tokens: &[Local]) -> String {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return String::new();
        };
        self.map.slice(first.span.to(last.span)).replace("\\\r\n", " ").replace("\\\n", " ")
    }

    /// Warns of text where a directive has ended.
    pub(super) fn nothing_more(&mut self, directive: &str, rest: &[Local]) {
        if let (Some(first), Some(last)) = (rest.first(), rest.last()) {
            self.report(
                Diagnostic::warning(
                    lexical::TEXT_AFTER_DIRECTIVE,
                    first.span.to(last.span),
                    format!("text after `{directive}` is ignored"),
                )
                .help("if it is a remark, put `//` before it"),
            );
        }
    }
}

fn line_span(span: Span, rest: &[Local]) -> Span {
    rest.last().map_or(span, |last| span.to(last.span))
}

/// The candidate that is spelled most like `name`, if any is near enough to have been meant.
pub(super) fn nearest<'name>(
    name: &str,
    candidates: impl Iterator<Item = &'name str>,
) -> Option<&'name str> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    candidates
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many characters must be put in, taken out or replaced.
fn edit_distance(one: &str, two: &str) -> usize {
    let two: Vec<char> = two.chars().collect();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (line, character) in one.chars().take(200).enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, other) in two.iter().enumerate() {
            let replaced = diagonal + usize::from(character != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[two.len()]
}
