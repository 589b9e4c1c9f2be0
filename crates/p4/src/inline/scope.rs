// SPDX-License-Identifier: Apache-2.0
//! The names that inlined code must not take or hide: those of the declaration it goes into, and those
//! of the top level.

use super::substitute::{Declared, Replacement};
use crate::ast::{Block, Declaration, NodeId, Statement};
use crate::rewrite::Rewriter;
use crate::token::TokenKind;
use crate::visit::{Visit, walk_declaration};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Names around the place of a call.
pub(super) struct Scope {
    /// Names that have a meaning there, or were given out.
    taken: FxHashSet<Arc<str>>,
    /// Names that something inside of the declaration has: they may hide those of the top level.
    pub(super) hidden: FxHashSet<Arc<str>>,
}

impl Scope {
    /// Returns the names in and around a top-level declaration.
    pub(super) fn of(rewriter: &Rewriter, home: &Declaration) -> Scope {
        let mut inside = Declared::default();
        walk_declaration(&mut inside, home);
        let mut taken: FxHashSet<Arc<str>> =
            rewriter.program().declarations.iter().map(|each| each.name.text.clone()).collect();
        taken.extend(inside.names.iter().cloned());
        Scope { taken, hidden: inside.declared }
    }

    /// Marks the names that inlined code keeps as taken.
    pub(super) fn take(&mut self, names: impl IntoIterator<Item = Arc<str>>) {
        for name in names {
            self.hidden.insert(name.clone());
            self.taken.insert(name);
        }
    }

    /// Returns an unused name: `wanted`, or `wanted` with a number.
    pub(super) fn fresh(&mut self, wanted: &str) -> Arc<str> {
        let is_free = |taken: &FxHashSet<Arc<str>>, name: &str| {
            !taken.contains(name) && TokenKind::keyword(name).is_none()
        };
        let mut name: Arc<str> = wanted.into();
        let mut number = 0u64;
        while !is_free(&self.taken, &name) {
            number += 1;
            name = format!("{wanted}_{number}").into();
        }
        self.taken.insert(name.clone());
        self.hidden.insert(name.clone());
        name
    }

    /// New names for what a block declares, where its names have a meaning.
    pub(super) fn rename_block(
        &mut self,
        block: &Block,
        replacements: &mut FxHashMap<NodeId, Replacement>,
    ) {
        let mut declared = Declared::default();
        declared.block(block);
        self.rename(declared, replacements);
    }

    /// The same for statements.
    pub(super) fn rename_statements(
        &mut self,
        statements: &[Statement],
        replacements: &mut FxHashMap<NodeId, Replacement>,
    ) {
        let mut declared = Declared::default();
        for statement in statements {
            declared.statement(statement);
        }
        self.rename(declared, replacements);
    }

    fn rename(&mut self, declared: Declared, replacements: &mut FxHashMap<NodeId, Replacement>) {
        for (node, name) in declared.nodes {
            replacements.insert(node, Replacement::Name(self.fresh(&name)));
        }
    }
}
