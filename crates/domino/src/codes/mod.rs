// SPDX-License-Identifier: Apache-2.0
//! The diagnostic codes of Domino with their explanations.

pub mod binding;
pub mod check;
pub mod data;
pub mod syntax;

use source::Explanation;

/// Returns the explanations of all codes.
pub fn explanations() -> impl Iterator<Item = &'static Explanation> {
    [syntax::EXPLANATIONS, check::EXPLANATIONS, data::EXPLANATIONS, binding::EXPLANATIONS]
        .into_iter()
        .flatten()
}
