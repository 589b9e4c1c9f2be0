// SPDX-License-Identifier: Apache-2.0
//! Dispatch of a directive line, and the simple directives `#error`, `#warning`, `#pragma` and `#line`.
//! Definitions, conditions and inclusion have modules of their own.

use super::conditions::ConditionStart;
use super::{PreprocessingToken, PreprocessingTokenKind, Preprocessor};
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
    /// Applies the directive whose `#` has just been read.
    pub(super) fn directive(&mut self, hash: Span) {
        let line_start = self.readers.last().map_or(0, |reader| reader.cursor.offset());
        let tokens = self.rest_of_line();
        let Some(name) = tokens.first() else {
            return; // `#` alone is the null directive.
        };
        let span = hash.to(name.span);
        let rest = &tokens[1..];
        if name.kind != PreprocessingTokenKind::Word {
            // `# 12 "file.p4"`, as other preprocessors leave it behind.
            if name.kind != PreprocessingTokenKind::Number {
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

    fn pragma(&mut self, span: Span, rest: &[PreprocessingToken]) {
        let text = self.text_of(rest);
        if text == "once" {
            self.once.push(span.file);
            return;
        }
        let span = line_span(span, rest);
        self.output.push(Token { kind: TokenKind::Pragma, span, text: Arc::from(text) });
    }

    fn unknown_directive(&mut self, name: PreprocessingToken) {
        let text = self.names.text(name.symbol).clone();
        let warning = Diagnostic::warning(
            lexical::UNKNOWN_DIRECTIVE,
            name.span,
            format!("there is no directive `#{text}`; the line is ignored"),
        );
        let near = source::nearest(&text, DIRECTIVES.iter().copied());
        self.report(match near {
            Some(near) => warning.help(format!("did you mean `#{near}`?")),
            None => warning,
        });
    }

    /// Returns the text of a line from its first to its last token, lines joined.
    fn text_of(&self, tokens: &[PreprocessingToken]) -> String {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return String::new();
        };
        self.map.slice(first.span.to(last.span)).replace("\\\r\n", " ").replace("\\\n", " ")
    }

    /// Warns about text behind the end of a directive.
    pub(super) fn nothing_more(&mut self, directive: &str, rest: &[PreprocessingToken]) {
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

fn line_span(span: Span, rest: &[PreprocessingToken]) -> Span {
    rest.last().map_or(span, |last| span.to(last.span))
}
