// SPDX-License-Identifier: Apache-2.0
//! `#if`, `#ifdef`, `#elif`, `#else` and `#endif`: which groups of lines are read. The preprocessor skips
//! excluded text without tokenizing it, so that it may hold any text; it recognizes only comments and
//! strings there. `expression` evaluates conditions.

use super::{PreprocessingToken, PreprocessingTokenKind, Preprocessor};
use crate::codes::lexical;
use crate::lexer::excluded::{directive_name, next_directive};
use source::{Diagnostic, Span};

/// An open `#if`.
pub(super) struct Condition {
    /// The directive that opened it.
    start: Span,
    /// One of its groups has been read; all others are excluded.
    taken: bool,
    /// The place of its `#else`.
    otherwise: Option<Span>,
}

/// How a condition starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConditionStart {
    If,
    Defined,
    NotDefined,
}

impl Preprocessor<'_> {
    /// Applies `#if`, `#ifdef` or `#ifndef`.
    pub(super) fn open_condition(
        &mut self,
        span: Span,
        start: ConditionStart,
        rest: &[PreprocessingToken],
    ) {
        let taken = self.holds(span, start, rest);
        if let Some(reader) = self.readers.last_mut() {
            reader.conditions.push(Condition { start: span, taken, otherwise: None });
        }
        if !taken {
            self.skip_excluded();
        }
    }

    fn holds(&mut self, span: Span, start: ConditionStart, rest: &[PreprocessingToken]) -> bool {
        if start == ConditionStart::If {
            return self.evaluate_condition(span, rest);
        }
        let Some(name) = self.macro_name(span, rest.first()) else {
            return false;
        };
        let (wanted, directive) = match start {
            ConditionStart::NotDefined => (false, "#ifndef NAME"),
            _ => (true, "#ifdef NAME"),
        };
        self.nothing_more(directive, &rest[1..]);
        self.names.definition(name.symbol).is_some() == wanted
    }

    /// Applies `#elif`, `#elifdef` or `#elifndef` behind a group that was read: excludes the rest.
    pub(super) fn elif_after_taken(&mut self, span: Span, directive: &str) {
        let Some(condition) = self.readers.last_mut().and_then(|r| r.conditions.last()) else {
            self.stray(span, &format!("#{directive}"));
            return;
        };
        if let Some(otherwise) = condition.otherwise {
            self.after_else(span, &format!("#{directive}"), otherwise);
        }
        self.skip_excluded();
    }

    /// Applies `#else` behind a group that was read.
    pub(super) fn else_after_taken(&mut self, span: Span, rest: &[PreprocessingToken]) {
        let Some(condition) = self.readers.last_mut().and_then(|r| r.conditions.last_mut()) else {
            self.stray(span, "#else");
            return;
        };
        let earlier = condition.otherwise.replace(span);
        if let Some(earlier) = earlier {
            self.after_else(span, "#else", earlier);
        }
        self.nothing_more("#else", rest);
        self.skip_excluded();
    }

    /// Applies `#endif`.
    pub(super) fn close_condition(&mut self, span: Span, rest: &[PreprocessingToken]) {
        if self.readers.last_mut().and_then(|reader| reader.conditions.pop()).is_none() {
            self.stray(span, "#endif");
            return;
        }
        self.nothing_more("#endif", rest);
    }

    /// Reports the conditions still open at the end of a file.
    pub(super) fn report_open_conditions(&mut self, conditions: &[Condition]) {
        for condition in conditions {
            self.report(
                Diagnostic::error(
                    lexical::UNTERMINATED_CONDITION,
                    condition.start,
                    "this condition is never closed",
                )
                .help("add `#endif` where it ends"),
            );
        }
    }

    fn stray(&mut self, span: Span, directive: &str) {
        self.report(Diagnostic::error(
            lexical::STRAY_CONDITION,
            span,
            format!("`{directive}` belongs to no `#if`"),
        ));
    }

    fn after_else(&mut self, span: Span, directive: &str, earlier: Span) {
        self.report(
            Diagnostic::error(
                lexical::STRAY_CONDITION,
                span,
                format!("`{directive}` after the `#else` of its `#if`"),
            )
            .label(earlier, "the `#else`"),
        );
    }

    /// Skips lines up to the next group that is read, or past the `#endif`.
    fn skip_excluded(&mut self) {
        let mut nested = 0u64;
        loop {
            let Some(reader) = self.readers.last_mut() else {
                return;
            };
            let text = reader.cursor.text().clone();
            let file = reader.cursor.file();
            let Some(hash) = next_directive(&text, reader.cursor.offset()) else {
                reader.cursor.jump_to_line_start(text.len());
                return;
            };
            let name = directive_name(&text, hash);
            let word = &text[name.clone()];
            let relevant = match word {
                "if" | "ifdef" | "ifndef" => {
                    nested += 1;
                    false
                }
                "endif" if nested > 0 => {
                    nested -= 1;
                    false
                }
                "endif" | "else" | "elif" | "elifdef" | "elifndef" => nested == 0,
                _ => false,
            };
            reader.cursor.jump_to_line_start(if relevant { hash } else { name.end });
            if !relevant {
                continue;
            }
            reader.cursor.next(); // `#`
            let span = Span::new(file, hash as u32, name.end as u32);
            let tokens = self.rest_of_line();
            let rest = tokens.get(1..).unwrap_or(&[]);
            if self.enters_group(span, word, rest) {
                return;
            }
        }
    }

    /// Applies a directive that ends an excluded group; returns whether the text behind it is read.
    fn enters_group(&mut self, span: Span, word: &str, rest: &[PreprocessingToken]) -> bool {
        if word == "endif" {
            self.close_condition(span, rest);
            return true;
        }
        let Some(condition) = self.readers.last_mut().and_then(|r| r.conditions.last_mut()) else {
            return true;
        };
        if let Some(earlier) = condition.otherwise {
            self.after_else(span, &format!("#{word}"), earlier);
            return false;
        }
        let taken = condition.taken;
        if word == "else" {
            condition.otherwise = Some(span);
            condition.taken = true;
            self.nothing_more("#else", rest);
            return !taken;
        }
        if taken {
            return false;
        }
        let start = match word {
            "elif" => ConditionStart::If,
            "elifdef" => ConditionStart::Defined,
            _ => ConditionStart::NotDefined,
        };
        let holds = self.holds(span, start, rest);
        if let Some(condition) = self.readers.last_mut().and_then(|r| r.conditions.last_mut()) {
            condition.taken = holds;
        }
        holds
    }

    /// Whether the word after `defined` names a macro.
    pub(super) fn is_defined(&self, name: &PreprocessingToken) -> bool {
        name.kind == PreprocessingTokenKind::Word && self.names.definition(name.symbol).is_some()
    }
}
