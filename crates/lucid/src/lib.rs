// SPDX-License-Identifier: Apache-2.0
//! Lucid (SIGCOMM 2021): events, handlers and ordered persistent state in the data plane.
//!
//! `syntax` reads text, `check` finds types, `memop` and `order` hold programs to what one pass of a
//! pipeline can do, `elaborate` makes a flat core program of a checked one, `interpreter` runs its
//! handlers, `simulation` runs networks of switches, `specification` reads what a run should be, and
//! `report` tells what happened. `front` is the way from text to a core program in one call. Nothing
//! here reads files, except through loaders handed in.

pub mod check;
pub mod compile;
pub mod compiled;
pub mod core;
pub mod elaborate;
pub mod figures;
pub mod front;
pub mod interpreter;
pub mod memop;
pub mod order;
pub mod report;
pub mod simulation;
pub mod specification;
pub mod syntax;

/// What `plane explain` says about this crate's codes.
pub fn explanations() -> impl Iterator<Item = &'static source::Explanation> {
    [
        syntax::codes::EXPLANATIONS,
        check::codes::EXPLANATIONS,
        memop::codes::EXPLANATIONS,
        order::codes::EXPLANATIONS,
        elaborate::EXPLANATIONS,
        specification::EXPLANATIONS,
        simulation::codes::EXPLANATIONS,
        compile::codes::EXPLANATIONS,
        compile::atomic::codes::EXPLANATIONS,
        compile::v1model::EXPLANATIONS,
        compile::tna::codes::EXPLANATIONS,
    ]
    .into_iter()
    .flatten()
}
