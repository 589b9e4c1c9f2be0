// SPDX-License-Identifier: Apache-2.0
//! The figures of the Lucid paper's evaluation (Lucid §7), measured again: each prints what was
//! published and what was measured side by side. Programs are measured by what they do here; times
//! of hardware are the paper's. Figure 11 (how long people took) cannot be measured by a program.

mod compilation;
mod delay;
mod distribution;
mod flow_table;
mod installation;
mod recirculation;
mod recirculation_uses;
mod stages;
mod table;

pub use compilation::{
    Outcome, Outcomes, Refusal, Source, Step, Way, compile_measured, compile_table, corpus_table,
};
pub use delay::figure_14;
pub use installation::figure_17;
pub use recirculation::figure_16;
pub use recirculation_uses::figure_15;
pub use stages::{Application, figure_9, figure_10, figure_12, figure_13, place_in_paper};
pub use table::Table;

/// What a figure needs while it is measured.
pub struct Measuring<'p> {
    /// Seed of everything random.
    pub seed: u64,
    /// Told what goes on, from 0 to 1.
    pub progress: &'p mut dyn FnMut(&str, f64),
}
