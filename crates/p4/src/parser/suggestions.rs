// SPDX-License-Identifier: Apache-2.0
//! Suggestions for syntax errors: misspelled keywords, words and statements of other languages,
//! programs in P4_14. They change what a message says, not what the parser reads.

use super::cursor::is_name;
use super::{Parser, RecursiveDescent, Unparsed};
use crate::codes::syntax;
use crate::token::{Token, TokenKind as T};
use source::Diagnostic;

/// Keywords without which a construct cannot be read, so that a misspelled one gives a syntax error.
const KEYWORDS: &[&str] = &[
    "abstract",
    "action",
    "actions",
    "apply",
    "bool",
    "const",
    "control",
    "default",
    "else",
    "entries",
    "enum",
    "extern",
    "header",
    "header_union",
    "inout",
    "match_kind",
    "package",
    "parser",
    "return",
    "select",
    "state",
    "struct",
    "switch",
    "table",
    "transition",
    "tuple",
    "typedef",
    "value_set",
    "varbit",
    "void",
];

/// The declarations of P4_14 that show a program to be in P4_14.
const OLDER_MARKS: usize = 2;

impl Parser<'_> {
    /// Adds a help to an error if the current token, or one of the two before it, is a misspelled keyword
    /// or a word of another language.
    pub(super) fn suggestion_for(&self, diagnostic: Diagnostic) -> Diagnostic {
        let nearest = self.cursor.position.saturating_sub(2)..=self.cursor.position;
        if let Some(help) = nearest.clone().rev().find_map(|at| self.foreign_word(at)) {
            return Diagnostic { help: vec![help.to_owned()], ..diagnostic };
        }
        if !diagnostic.help.is_empty() {
            return diagnostic;
        }
        match nearest.rev().find_map(|at| self.mistyped(at)) {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    }

    /// Returns the text of a name that is not declared.
    fn undeclared(&self, at: usize) -> Option<&str> {
        let token = self.token_at(at);
        let is_undeclared = token.kind == T::Identifier && self.scopes.class(&token.text).is_none();
        is_undeclared.then_some(&*token.text)
    }

    /// Returns what to write instead of a word of another language.
    fn foreign_word(&self, at: usize) -> Option<&'static str> {
        match self.undeclared(at)? {
            "elif" | "elseif" | "elsif" => Some("write `else if`"),
            "then" => Some("write `if (...) { ... }`, without `then`"),
            "and" => Some("write `&&`"),
            "or" => Some("write `||`"),
            "not" => Some("write `!`"),
            _ => None,
        }
    }

    /// Suggests the keyword that an undeclared name may misspell.
    fn mistyped(&self, at: usize) -> Option<String> {
        let name = self.undeclared(at)?;
        let before = at.checked_sub(1).map(|before| self.kind_at(before));
        if before == Some(T::Dot) || self.kind_at(at + 1) == T::Dot {
            return None;
        }
        let meant = mistyped_keyword(name)?;
        Some(format!("did you mean `{meant}`?"))
    }

    /// Reports `acton a() { }`, which would be read as a function.
    pub(super) fn report_mistyped_action(&mut self, start: usize) -> Option<Unparsed> {
        if !is_name(self.kind_at(start + 1))
            || mistyped_keyword(self.undeclared(start)?) != Some("action")
        {
            return None;
        }
        let token = self.token_at(start);
        let diagnostic = Diagnostic::error(
            syntax::UNEXPECTED_TOKEN,
            token.span,
            format!("expected a declaration, found `{}`", token.text),
        )
        .help("did you mean `action`?");
        Some(self.report(diagnostic))
    }

    /// Reports `transiton accept;`, which would be read as a declaration.
    pub(super) fn report_mistyped_transition(&mut self) -> Option<Unparsed> {
        let follows =
            self.ahead(1) == T::Select || (is_name(self.ahead(1)) && self.ahead(2) == T::Semicolon);
        let is_mistyped = follows
            && mistyped_keyword(self.undeclared(self.cursor.position)?) == Some("transition");
        if !is_mistyped {
            return None;
        }
        let diagnostic = Diagnostic::error(
            syntax::UNEXPECTED_TOKEN,
            self.span(),
            format!("expected a statement, found {}", self.found()),
        )
        .help("did you mean `transition`?");
        Some(self.report(diagnostic))
    }

    /// Whether a statement of another language begins here.
    pub(super) fn is_foreign_statement(&self) -> bool {
        let text = self.token().text.as_ref();
        match text {
            "while" => self.ahead(1) == T::OpenParen,
            "do" => self.ahead(1) == T::OpenBrace,
            "goto" => self.ahead(1) == T::Identifier,
            "case" => matches!(self.ahead(1), T::Identifier | T::Integer),
            "elif" | "elseif" | "elsif" => {
                self.ahead(1) == T::OpenParen && self.scopes.class(text).is_none()
            }
            _ => false,
        }
    }

    pub(super) fn report_foreign_statement(&mut self) -> Unparsed {
        let word = self.token().text.clone();
        let help = match word.as_ref() {
            "goto" => "control flow is structured in controls; in parsers, write `transition`",
            "case" => "a label of `switch` is written without `case`: `label: { ... }`",
            "elif" | "elseif" | "elsif" => "write `else if`",
            _ => "write `for (bit<8> i in 0..7) { ... }`, or loop through parser states",
        };
        let diagnostic = Diagnostic::error(
            syntax::FOREIGN_STATEMENT,
            self.span(),
            format!("P4 has no `{word}`"),
        )
        .help(help);
        self.report(diagnostic)
    }

    /// Reports `1.5`, at the `.`.
    pub(super) fn report_fraction(&mut self) -> Unparsed {
        let span = self.previous_span().to(self.token_at(self.cursor.position + 1).span);
        let diagnostic =
            Diagnostic::error(syntax::MALFORMED_NUMBER, span, "P4 has no fractions").help(
                "count in a smaller unit, such as thousandths, or shift: `x * 3 >> 1` is 1.5 times x",
            );
        self.report(diagnostic)
    }

    /// Reports a program in P4_14 once, instead of each of its declarations.
    pub(super) fn report_older_language(&mut self) -> Option<Unparsed> {
        let mut depth = 0u32;
        let mut marks = 0;
        let mut first = None;
        for at in 0..self.cursor.tokens.len() {
            match self.kind_at(at) {
                T::OpenBrace | T::OpenParen => depth = depth.saturating_add(1),
                T::CloseBrace | T::CloseParen => depth = depth.saturating_sub(1),
                _ if depth > 0 => {}
                _ => {
                    let strength = older_mark(&self.cursor.tokens[at..]);
                    if strength > 0 && first.is_none() {
                        first = Some(at);
                    }
                    marks += strength;
                    // Only a program that begins like one is one.
                    if marks == 0 && matches!(self.kind_at(at), T::Package | T::Typedef | T::Extern)
                    {
                        return None;
                    }
                }
            }
            if marks >= OLDER_MARKS {
                break;
            }
        }
        self.cursor.position = first.filter(|_| marks >= OLDER_MARKS)?;
        let diagnostic = Diagnostic::error(
            syntax::OLDER_LANGUAGE,
            self.span(),
            "this looks like P4_14; P4_16 is read here",
        )
        .help("translate the program to P4_16 first, for example with `p4test --std p4-14 --pp`");
        let unparsed = self.report(diagnostic);
        self.abandon();
        Some(unparsed)
    }
}

/// Returns how strongly the declaration that begins here speaks for P4_14.
fn older_mark(tokens: &[Token]) -> usize {
    let kind = |at: usize| tokens.get(at).map(|token| token.kind);
    let Some(first) = tokens.first() else { return 0 };
    let named_block = kind(1).is_some_and(is_name) && kind(2) == Some(T::OpenBrace);
    match (first.kind, first.text.as_ref()) {
        (T::Identifier, "header_type" | "field_list" | "field_list_calculation") if named_block => {
            OLDER_MARKS
        }
        (T::Identifier, "metadata") | (T::Header, _)
            if kind(1) == Some(T::Identifier)
                && kind(2) == Some(T::Identifier)
                && matches!(kind(3), Some(T::Semicolon | T::OpenBrace | T::OpenBracket)) =>
        {
            1
        }
        (T::Parser | T::Control | T::Table, _) if named_block => 1,
        (T::Identifier, "action_profile" | "action_selector") if named_block => 1,
        (T::Identifier, "counter" | "meter" | "register" | "calculated_field") if named_block => 1,
        _ => 0,
    }
}

/// Returns the keyword that a word probably misspells. Words of two letters misspell none.
fn mistyped_keyword(word: &str) -> Option<&'static str> {
    source::nearest(word, KEYWORDS.iter().copied()).filter(|_| word.len() >= 3)
}
