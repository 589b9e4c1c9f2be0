// SPDX-License-Identifier: Apache-2.0
//! Libraries: included files that a printed program includes again instead of repeating their text, and
//! the program's macros that they depend on. A library is a built-in interface, or the user's file that
//! `#include <name>` finds under such a name, with all files that it includes.

use super::definitions::Macro;
use super::{BUILT_IN, Preprocessor, Symbol};
use crate::interfaces::interface;
use crate::lexer::cursor::{Cursor, LexemeKind};
use source::{FileId, Library};
use std::sync::Arc;

/// The depth to which bodies of macros that name other macros are followed.
const DEPTH_LIMIT: usize = 100;

impl Preprocessor<'_> {
    /// Marks a file that has just been loaded if it is a library or part of one. `from` includes it.
    pub(super) fn note_library(&mut self, file: FileId, from: FileId, name: &str, quoted: bool) {
        if self.is_library(from) {
            let macros = self.macros_asked_for(file);
            self.map.join_library(file, from, macros);
            return;
        }
        let is_built_in = self.map.name(file).starts_with(BUILT_IN);
        if is_built_in || (!quoted && interface(name).is_some()) {
            let macros = self.macros_asked_for(file);
            self.map.mark_library(file, Library { name: name.into(), macros });
        }
    }

    fn is_library(&self, file: FileId) -> bool {
        self.map.library(source::Span::new(file, 0, 0)).is_some()
    }

    /// Returns the macros of the program that a text names, each after those that its body names.
    fn macros_asked_for(&mut self, file: FileId) -> Vec<(Arc<str>, Arc<str>)> {
        let text = self.map.text(file).clone();
        let mut cursor = Cursor::new(file, text.clone());
        let mut found: Vec<Symbol> = Vec::new();
        loop {
            let lexeme = cursor.next();
            match lexeme.kind {
                LexemeKind::End => break,
                LexemeKind::Word => {
                    let word = &text[lexeme.start as usize..lexeme.end as usize];
                    let symbol = self.names.intern(word);
                    self.collect_macros(symbol, &mut found, &mut Vec::new());
                }
                _ => {}
            }
        }
        let definition = |symbol: &Symbol| {
            let known = self.names.definition(*symbol)?;
            Some((self.names.text(*symbol).clone(), self.directive_of(known).into()))
        };
        found.iter().filter_map(definition).collect()
    }

    /// Adds a macro that the program defines, after those that its body names. A macro in `open` names
    /// itself.
    fn collect_macros(&self, symbol: Symbol, found: &mut Vec<Symbol>, open: &mut Vec<Symbol>) {
        let Some(definition) = self.names.definition(symbol) else { return };
        let is_programs =
            definition.builtin.is_none() && !self.is_library(definition.definition.file);
        if !is_programs || found.contains(&symbol) || open.contains(&symbol) {
            return;
        }
        if open.len() >= DEPTH_LIMIT {
            return;
        }
        open.push(symbol);
        for item in &definition.body {
            self.collect_macros(item.token.symbol, found, open);
        }
        open.pop();
        found.push(symbol);
    }

    /// Returns names and bodies of the object-like macros that the program or the command line defines.
    pub(super) fn object_macros(&self) -> Vec<(Arc<str>, Arc<str>)> {
        let is_programs = |definition: &&Macro| {
            definition.builtin.is_none()
                && definition.parameters.is_none()
                && !self.is_library(definition.definition.file)
        };
        let mut found: Vec<&Macro> = self.names.definitions().filter(is_programs).collect();
        found.sort_by_key(|definition| (definition.definition.file.0, definition.definition.start));
        let one = |definition: &Macro| {
            let mut body = String::new();
            for item in &definition.body {
                if !body.is_empty() && item.token.spaced {
                    body.push(' ');
                }
                body.push_str(&self.spelled(item.token));
            }
            (self.names.text(definition.name).clone(), body.into())
        };
        found.into_iter().map(one).collect()
    }

    /// Returns the directive that defines a macro.
    fn directive_of(&self, definition: &Macro) -> String {
        let mut text = format!("#define {}", self.names.text(definition.name));
        if let Some(parameters) = &definition.parameters {
            let mut names: Vec<String> =
                parameters.names.iter().map(|name| self.names.text(*name).to_string()).collect();
            if parameters.variadic
                && let Some(last) = names.last_mut()
            {
                let is_unnamed = *last == **self.names.text(self.known.variadic);
                *last = if is_unnamed { "...".to_owned() } else { format!("{last}...") };
            }
            text.push_str(&format!("({})", names.join(", ")));
        }
        for (at, item) in definition.body.iter().enumerate() {
            if at == 0 || item.token.spaced {
                text.push(' ');
            }
            text.push_str(&self.spelled(item.token));
        }
        text
    }
}
