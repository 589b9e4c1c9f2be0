// SPDX-License-Identifier: Apache-2.0
//! The reference machine of Lucid: what core programs do, against which every other machine is judged.
//!
//! `specification` reads what a run should be, `interpreter` runs handlers at one switch, `simulation` runs
//! networks of switches and defines which schedules are legal, and `report` formats what happened. Nothing
//! here reads files; captures come through functions handed in.

pub mod interpreter;
pub mod report;
pub mod simulation;
pub mod specification;

/// What `plane explain` says about this crate's codes.
pub fn explanations() -> impl Iterator<Item = &'static source::Explanation> {
    specification::EXPLANATIONS.iter().chain(simulation::codes::EXPLANATIONS)
}
