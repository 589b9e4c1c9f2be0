// SPDX-License-Identifier: Apache-2.0
//! Lucid (SIGCOMM 2021): events, handlers and ordered persistent state in the data plane. This crate is the
//! language; what runs or compiles its programs stands on it.
//!
//! `syntax` reads text, `check` finds types, `memop` and `order` hold programs to what one pass of a
//! pipeline can do, `elaborate` makes a flat core program of a checked one; `core` says what that means, down
//! to the bits of hashes. `front` compiles text to a core program in one call. Nothing here reads
//! files, except through loaders handed in.

pub mod check;
pub mod core;
pub mod elaborate;
pub mod front;
pub mod memop;
pub mod order;
pub mod syntax;

/// What `plane explain` says about this crate's codes.
pub fn explanations() -> impl Iterator<Item = &'static source::Explanation> {
    [
        syntax::codes::EXPLANATIONS,
        check::codes::EXPLANATIONS,
        memop::codes::EXPLANATIONS,
        order::codes::EXPLANATIONS,
        elaborate::EXPLANATIONS,
    ]
    .into_iter()
    .flatten()
}
