// SPDX-License-Identifier: Apache-2.0
//! The stable diagnostic codes of this crate with their explanations, a module a subject. The
//! code that finds a fault words the diagnostic.

pub mod lexical;
pub mod syntax;
pub mod typing;

use source::Explanation;

/// The explanations of all subjects, in the order of their codes.
static REGISTRY: &[&[Explanation]] = &[
    lexical::EXPLANATIONS,
    syntax::EXPLANATIONS,
    typing::names::EXPLANATIONS,
    typing::types::EXPLANATIONS,
    typing::expressions::EXPLANATIONS,
    typing::calls::EXPLANATIONS,
    typing::statements::EXPLANATIONS,
    typing::tables::EXPLANATIONS,
];

/// Returns all explanations of this crate.
pub fn explanations() -> impl Iterator<Item = &'static Explanation> {
    REGISTRY.iter().flat_map(|subject| subject.iter())
}

/// Returns the explanation of a code such as `P4-E0101`, in upper or lower case.
pub fn explanation(code: &str) -> Option<&'static Explanation> {
    explanations().find(|explanation| explanation.code.0.eq_ignore_ascii_case(code))
}

#[cfg(test)]
pub(crate) mod tests;
