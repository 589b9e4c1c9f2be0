// SPDX-License-Identifier: Apache-2.0
//! The reference machine of Lucid: it defines what core programs do, and every other machine is compared with
//! it.
//!
//! `specification` reads the specification of a run, `interpreter` runs handlers at one switch, `simulation`
//! runs networks of switches and defines which schedules are legal, and `report` formats what happened. The
//! crate reads no files; its callers pass functions that read captures.

pub mod interpreter;
pub mod report;
pub mod simulation;
pub mod specification;

/// What `plane explain` says about this crate's codes.
pub fn explanations() -> impl Iterator<Item = &'static source::Explanation> {
    specification::EXPLANATIONS.iter().chain(simulation::codes::EXPLANATIONS)
}
