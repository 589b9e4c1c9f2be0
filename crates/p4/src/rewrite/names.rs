// SPDX-License-Identifier: Apache-2.0
//! Fresh names: which names are taken in a scope, and the first free variant of a name.

use super::Rewriter;
use super::errors::{EditError, Problem};
use super::scopes::TakenNames;
use crate::ast::{Declaration, DeclarationKind, Name, NodeId, TypedefTarget};
use crate::token::TokenKind;
use crate::visit::{Visit, walk_program};
use rustc_hash::FxHashSet;
use source::Span;
use std::sync::Arc;

/// Built-in names without a declaration.
const BUILT_IN: &[&str] = &["accept", "reject", "start", "main"];

impl Rewriter {
    /// A name like `wanted` that nothing in scope has, that nothing inside of the scope uses, and that was
    /// not given out before: `wanted` itself, or with a number behind it. Characters that cannot be in a
    /// name become `_`. `scope` is any node inside a top-level declaration, or `None` for a name of
    /// the top level. For the fields of a struct, header or union and the members of an enum only each other
    /// count; their scope is the declaration.
    ///
    /// # Errors
    ///
    /// There is no such node.
    pub fn fresh_name(&mut self, scope: Option<NodeId>, wanted: &str) -> Result<Name, EditError> {
        let taken = self.taken(scope)?;
        let text = self.free(&taken, wanted);
        self.given.insert(text.clone());
        Ok(Name { text, span: Span::NONE })
    }

    /// Returns the names that are taken in a scope.
    pub(super) fn taken(&self, scope: Option<NodeId>) -> Result<FxHashSet<Arc<str>>, EditError> {
        let mut occupied = TakenNames::default();
        match scope {
            None => walk_program(&mut occupied, &self.tree),
            Some(at) => {
                let home = &self.tree.declarations[self.home(at)?];
                if let Some(members) = members(home) {
                    return Ok(members);
                }
                for declaration in &self.tree.declarations {
                    occupied.declaration(declaration);
                }
                occupied.enter(home);
                Visit::declaration(&mut occupied, home);
            }
        }
        Ok(occupied.names)
    }

    /// Returns a name like `wanted` that is free and was not returned before.
    pub(super) fn free(&self, taken: &FxHashSet<Arc<str>>, wanted: &str) -> Arc<str> {
        let stem = identifier_of(wanted);
        let is_free =
            |text: &str| is_identifier(text) && !taken.contains(text) && !self.given.contains(text);
        if is_free(&stem) {
            return stem.into();
        }
        let numbered = (1_u64..).map(|number| format!("{stem}_{number}"));
        numbered.into_iter().find(|text| is_free(text)).unwrap_or(stem).into()
    }

    /// Returns the names of all errors.
    pub(super) fn errors(&self) -> FxHashSet<Arc<str>> {
        let names =
            self.tree.declarations.iter().filter_map(|declaration| match &declaration.kind {
                DeclarationKind::Error(names) => Some(names),
                _ => None,
            });
        names.flatten().map(|error| error.name.text.clone()).collect()
    }

    /// Checks that a name is one and is free.
    pub(super) fn check_free(
        &self,
        node: NodeId,
        span: Span,
        taken: &FxHashSet<Arc<str>>,
        name: &Arc<str>,
    ) -> Result<(), EditError> {
        let name = name.clone();
        if !is_identifier(&name) {
            return Err(EditError::new(node, span, Problem::NotAName { name }));
        }
        if taken.contains(&name) {
            return Err(EditError::new(node, span, Problem::NameTaken { name }));
        }
        Ok(())
    }
}

/// Returns the names of the members of a declaration that has a scope for them.
pub(super) fn members(declaration: &Declaration) -> Option<FxHashSet<Arc<str>>> {
    Some(match &declaration.kind {
        DeclarationKind::Header(list)
        | DeclarationKind::HeaderUnion(list)
        | DeclarationKind::Struct(list) => {
            list.fields.iter().map(|field| field.name.text.clone()).collect()
        }
        DeclarationKind::Enum { members, .. } => {
            members.iter().map(|member| member.name.text.clone()).collect()
        }
        DeclarationKind::Typedef(TypedefTarget::Declaration(inner)) => return members(inner),
        _ => return None,
    })
}

/// Whether a text is a valid name.
fn is_identifier(text: &str) -> bool {
    identifier_of(text) == text && TokenKind::keyword(text).is_none() && !BUILT_IN.contains(&text)
}

fn identifier_of(text: &str) -> String {
    let is_part = |part: char| part.is_ascii_alphanumeric() || part == '_';
    let mut name: String =
        text.chars().map(|part| if is_part(part) { part } else { '_' }).collect();
    if name.starts_with(|first: char| first.is_ascii_digit()) || name.is_empty() {
        name.insert(0, '_');
    }
    name
}
