// SPDX-License-Identifier: Apache-2.0
//! The figures of papers' evaluations, measured again: a folder a paper. Each figure is a [`Table`]; `plane bench`
//! prints them.

mod distribution;
pub mod lucid;
pub mod mantis;
pub mod mp5;
mod table;

pub use table::Table;

/// What a figure needs while it is measured.
pub struct Measuring<'p> {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Shows the step that is measured and the share that is done, from 0 to 1.
    pub progress: &'p mut dyn FnMut(&str, f64),
}
