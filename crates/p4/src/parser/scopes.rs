// SPDX-License-Identifier: Apache-2.0
//! The names that are types at the current place, which the grammar depends on (P4_16 v1.2.5 §6.1.1):
//! `(a) - b` is a cast only if `a` is a type. Duplicates and unknown names are reported by the checker.

use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The classes of names that the grammar distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameClass {
    /// A type, an extern, a parser, a control, a package or a type parameter.
    Type,
    /// A function with type parameters: `<` after it opens type arguments.
    GenericFunction,
    /// Anything else.
    Value,
}

/// Nested scopes of declared names, innermost last.
#[derive(Clone, Debug)]
pub(crate) struct Scopes {
    levels: Vec<FxHashMap<Arc<str>, NameClass>>,
}

impl Scopes {
    pub(crate) fn new() -> Scopes {
        Scopes { levels: vec![FxHashMap::default()] }
    }

    pub(crate) fn open(&mut self) {
        self.levels.push(FxHashMap::default());
    }

    pub(crate) fn close(&mut self) {
        if self.levels.len() > 1 {
            self.levels.pop();
        }
    }

    pub(crate) fn declare(&mut self, name: &Arc<str>, class: NameClass) {
        if let Some(level) = self.levels.last_mut() {
            level.insert(name.clone(), class);
        }
    }

    /// Returns the class of a name written without a dot in front.
    pub(crate) fn class(&self, name: &str) -> Option<NameClass> {
        self.levels.iter().rev().find_map(|level| level.get(name).copied())
    }

    /// Returns the class of `.name` (§6.9).
    pub(crate) fn class_at_top(&self, name: &str) -> Option<NameClass> {
        self.levels.first().and_then(|level| level.get(name).copied())
    }
}
