// SPDX-License-Identifier: Apache-2.0
//! Interned spellings, so that tokens are cheap to copy and compare, and the current macro of each
//! name.

use super::Symbol;
use super::definitions::Macro;
use crate::token::TokenKind;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

struct Entry {
    text: Arc<str>,
    kind: TokenKind,
    definition: Option<Rc<Macro>>,
}

/// All spellings of one run.
#[derive(Default)]
pub(super) struct Names {
    entries: Vec<Entry>,
    symbols: FxHashMap<Arc<str>, Symbol>,
}

impl Names {
    pub fn new() -> Names {
        Names::default()
    }

    /// Returns the symbol of a spelling.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(symbol) = self.symbols.get(text) {
            return *symbol;
        }
        let text: Arc<str> = Arc::from(text);
        let symbol = Symbol(self.entries.len() as u32);
        let kind = TokenKind::keyword(&text).unwrap_or(TokenKind::Identifier);
        self.entries.push(Entry { text: text.clone(), kind, definition: None });
        self.symbols.insert(text, symbol);
        symbol
    }

    /// Returns all definitions.
    pub fn definitions(&self) -> impl Iterator<Item = &Macro> {
        self.entries.iter().filter_map(|entry| entry.definition.as_deref())
    }

    /// Returns the spelling of a symbol.
    pub fn text(&self, symbol: Symbol) -> &Arc<str> {
        &self.entries[symbol.0 as usize].text
    }

    /// Returns the kind of token that a word with this spelling is.
    pub fn kind(&self, symbol: Symbol) -> TokenKind {
        self.entries[symbol.0 as usize].kind
    }

    /// Returns the macro of this name.
    pub fn definition(&self, symbol: Symbol) -> Option<&Rc<Macro>> {
        self.entries[symbol.0 as usize].definition.as_ref()
    }

    /// Sets or removes the macro of this name; returns the earlier one.
    pub fn define(&mut self, symbol: Symbol, definition: Option<Rc<Macro>>) -> Option<Rc<Macro>> {
        std::mem::replace(&mut self.entries[symbol.0 as usize].definition, definition)
    }
}

/// Names with a meaning to the preprocessor.
pub(super) struct KnownNames {
    pub defined: Symbol,
    pub variadic: Symbol,
    pub file: Symbol,
    pub line: Symbol,
    pub empty: Symbol,
    pub zero: Symbol,
    pub one: Symbol,
}

impl KnownNames {
    pub fn new(names: &mut Names) -> KnownNames {
        KnownNames {
            defined: names.intern("defined"),
            variadic: names.intern("__VA_ARGS__"),
            file: names.intern("__FILE__"),
            line: names.intern("__LINE__"),
            empty: names.intern(""),
            zero: names.intern("0"),
            one: names.intern("1"),
        }
    }
}
