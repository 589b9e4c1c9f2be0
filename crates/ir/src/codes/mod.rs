// SPDX-License-Identifier: Apache-2.0
//! The stable diagnostic codes of this crate with their explanations, a module a subject. Where a
//! diagnostic is found and worded is the business of the code that finds it.

pub mod lints;
pub mod lowering;
pub mod stages;

use source::Explanation;

/// Returns all explanations of this crate.
pub fn explanations() -> impl Iterator<Item = &'static Explanation> {
    lints::EXPLANATIONS.iter().chain(lowering::EXPLANATIONS).chain(stages::EXPLANATIONS)
}
