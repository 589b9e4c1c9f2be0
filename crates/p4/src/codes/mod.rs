// SPDX-License-Identifier: Apache-2.0
//! The stable diagnostic codes of this crate with their explanations, a module a subject. Where a
//! diagnostic is found and worded is the business of the code that finds it.

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

/// Every explanation of this crate.
pub fn explanations() -> impl Iterator<Item = &'static Explanation> {
    REGISTRY.iter().flat_map(|subject| subject.iter())
}

/// The explanation of a code as it is written, such as `P4-E0101`; case does not matter.
pub fn explanation(code: &str) -> Option<&'static Explanation> {
    explanations().find(|explanation| explanation.code.0.eq_ignore_ascii_case(code))
}

#[cfg(test)]
pub(crate) mod tests;
