// SPDX-License-Identifier: Apache-2.0
//! Limits that keep the time of the check linear: the size to which inference may grow a type, and facts
//! about user types that are computed once, at their declaration, because repeated expansion would take
//! time exponential in their depth.

use super::Checker;
use super::checked::{SizeTerm, Type, Variable};
use super::codes;
use crate::syntax::ast::NodeId;
use source::{Diagnostic, Span};

/// Limit of a type's parts; a user type counts as one.
const LARGEST_TYPE: usize = 4096;

/// Limit of a type's depth; a user type counts as one.
const DEEPEST_TYPE: usize = 64;

/// Facts about a user type besides its definition.
#[derive(Clone, Debug)]
pub(super) struct UserTypeFacts {
    /// Made of integers, booleans and groups alone: can be compared and hashed.
    pub plain: bool,
    /// Has a payload in it.
    pub payload: bool,
    /// Of each parameter, whether what the type is made of depends on it.
    pub depends: Vec<bool>,
}

impl Checker {
    /// Finds out the facts about a user type that is declared now.
    pub(super) fn note_facts(&mut self, definition: NodeId, parameters: &[Variable], body: &Type) {
        let facts = UserTypeFacts {
            plain: self.is_plain(body),
            payload: self.has_payload(body),
            depends: parameters.iter().map(|parameter| self.mentions(body, *parameter)).collect(),
        };
        self.facts.insert(definition, facts);
    }

    /// Integers, booleans, groups and what is made of them; variables may become that.
    pub(super) fn is_plain(&self, ty: &Type) -> bool {
        match ty {
            Type::Int(_) | Type::Bool | Type::Group | Type::Variable(_) | Type::Error => true,
            Type::Record(fields) => fields.iter().all(|(_, ty)| self.is_plain(ty)),
            Type::Vector(element, _) => self.is_plain(element),
            Type::Tuple(types) => types.iter().all(|ty| self.is_plain(ty)),
            Type::User { definition, .. } => {
                self.facts.get(definition).is_some_and(|facts| facts.plain)
            }
            _ => false,
        }
    }

    /// Whether there is a payload in a type.
    pub(super) fn has_payload(&self, ty: &Type) -> bool {
        match ty {
            Type::Payload => true,
            Type::Record(fields) => fields.iter().any(|(_, ty)| self.has_payload(ty)),
            Type::Vector(element, _) => self.has_payload(element),
            Type::Tuple(types) => types.iter().any(|ty| self.has_payload(ty)),
            Type::User { definition, .. } => {
                self.facts.get(definition).is_some_and(|facts| facts.payload)
            }
            _ => false,
        }
    }

    /// Whether what is visible here of a user type depends on its size parameter of that number.
    pub(super) fn depends_on(&self, definition: NodeId, parameter: usize) -> bool {
        if !self.is_transparent(definition) {
            return true;
        }
        let facts = self.facts.get(&definition);
        facts.and_then(|facts| facts.depends.get(parameter).copied()).unwrap_or(true)
    }

    /// Whether a type depends on a size variable.
    fn mentions(&self, ty: &Type, variable: Variable) -> bool {
        let term = SizeTerm::Variable(variable);
        if let Type::User { definition, sizes, .. } = ty {
            let mut given = sizes.iter().enumerate();
            return given
                .any(|(at, size)| size.terms.contains(&term) && self.depends_on(*definition, at));
        }
        let found = std::cell::Cell::new(false);
        let _ = ty.map(
            &mut |inner| {
                found.set(found.get() || self.mentions(inner, variable));
                Type::Error
            },
            &mut |size| {
                found.set(found.get() || size.terms.contains(&term));
                size.clone()
            },
        );
        found.get()
    }

    /// The type, or an error if inference made it larger than any program needs.
    pub(super) fn of_bounded_size(&mut self, ty: Type, span: Span) -> Type {
        let mut parts = LARGEST_TYPE;
        if self.variables.is_within(&ty, &mut parts, DEEPEST_TYPE) {
            return ty;
        }
        self.diagnostics.push(
            Diagnostic::error(codes::TYPE_TOO_LARGE, span, "the type of this grows too large")
                .note(format!(
                    "a type has at most {LARGEST_TYPE} parts and is at most {DEEPEST_TYPE} deep"
                ))
                .help("declare record types: a user type counts as one part"),
        );
        Type::Error
    }
}
