// SPDX-License-Identifier: Apache-2.0
//! Scopes of names.

use crate::syntax::ast::Name;
use source::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    /// A global, by its index.
    Global(usize),
    /// A function, by its index.
    Function(usize),
    /// The function that is being checked.
    CurrentFunction,
    /// A hash with this number of arguments.
    Hash(usize),
    /// The packet.
    Packet,
    /// A local, by its index.
    Local(usize),
}

/// Names in nested scopes.
#[derive(Debug)]
pub(super) struct Names {
    /// The innermost scope last.
    scopes: Vec<HashMap<Arc<str>, (Span, Declared)>>,
}

impl Default for Names {
    fn default() -> Names {
        Names { scopes: vec![HashMap::new()] }
    }
}

impl Names {
    pub(super) fn declare_built_in(&mut self, name: &str, declared: Declared) {
        self.scopes[0].insert(name.into(), (Span::NONE, declared));
    }

    /// Declares a name in the innermost scope.
    pub(super) fn declare(&mut self, name: &Name, declared: Declared) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.text.clone(), (name.span, declared));
        }
    }

    /// Returns the declaration of a name in the innermost scope.
    pub(super) fn in_scope(&self, name: &str) -> Option<(Span, Declared)> {
        self.scopes.last()?.get(name).copied()
    }

    /// Returns the innermost declaration of a name.
    pub(super) fn find(&self, name: &str) -> Option<(Span, Declared)> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    pub(super) fn open(&mut self) {
        self.scopes.push(HashMap::new());
    }

    pub(super) fn close(&mut self) {
        if self.scopes.len() > 1 {
            self.scopes.pop();
        }
    }

    /// Returns all names for suggestions.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, Declared)> {
        self.scopes.iter().flatten().map(|(name, (_, declared))| (&**name, *declared))
    }
}
