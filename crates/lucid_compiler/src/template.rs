// SPDX-License-Identifier: Apache-2.0
//! P4 files of the compiler: their macros are choices of the compiler, and names in them stand for pieces of text that
//! are written for the program at hand and keep their places in the source.

use p4::preprocessor::{IncludeLoader, PreprocessorOptions, preprocess};
use p4::token::{Token, TokenKind};
use source::{Diagnostics, SourceMap, Span};
use std::collections::BTreeMap;

/// A piece of a program and what it stands for.
pub(crate) type Piece = (Span, String);

/// A P4 file with values for its macros and pieces for its names.
pub(crate) struct Template {
    text: &'static str,
    options: PreprocessorOptions,
    parts: BTreeMap<&'static str, Vec<Piece>>,
}

struct NoIncludes;

impl IncludeLoader for NoIncludes {
    fn load(&self, _: &str) -> Result<Option<String>, String> {
        Ok(None)
    }
}

impl Template {
    /// A file without macros and parts.
    pub(crate) fn new(text: &'static str) -> Template {
        Template { text, options: PreprocessorOptions::default(), parts: BTreeMap::new() }
    }

    /// Defines a macro.
    pub(crate) fn define(&mut self, name: &str, body: impl ToString) {
        self.options.defines.push((name.to_string(), Some(body.to_string())));
    }

    /// Defines a macro for `#if`.
    pub(crate) fn choose(&mut self, name: &str, choice: bool) {
        self.define(name, u32::from(choice));
    }

    /// Says what a name stands for.
    pub(crate) fn part(&mut self, name: &'static str, pieces: Vec<Piece>) {
        self.parts.insert(name, pieces);
    }

    /// The same for text that no line of the source stands for.
    pub(crate) fn text(&mut self, name: &'static str, text: impl Into<String>) {
        self.part(name, vec![(Span::NONE, text.into())]);
    }

    /// The pieces of the file.
    ///
    /// # Panics
    ///
    /// If the file is not read without mistakes, which is a mistake of the compiler.
    pub(crate) fn pieces(mut self) -> Vec<Piece> {
        let (mut map, mut found) = (SourceMap::new(), Diagnostics::new());
        let file = map.add("template", self.text);
        let tokens = preprocess(&mut map, &NoIncludes, file, &self.options, &mut found);
        assert!(found.is_empty(), "a wrong P4 file of the compiler: {found:?}");
        let mut pieces = Vec::new();
        let mut text = String::new();
        for token in tokens.iter().filter(|token| token.kind != TokenKind::End) {
            match self.parts.remove(&*token.text) {
                Some(part) => {
                    pieces.push((Span::NONE, std::mem::take(&mut text)));
                    pieces.extend(part);
                }
                None => {
                    text.push_str(&spelling(token));
                    text.push(' ');
                }
            }
        }
        pieces.push((Span::NONE, text));
        pieces
    }
}

/// A token as it is written in a P4 file.
pub(crate) fn spelling(token: &Token) -> String {
    match token.kind {
        TokenKind::String => format!("\"{}\"", token.text),
        _ => token.text.to_string(),
    }
}
