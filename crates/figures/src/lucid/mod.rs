// SPDX-License-Identifier: Apache-2.0
//! The figures of the Lucid paper's evaluation (Lucid §7): each table has the published numbers beside the numbers
//! measured here. Times of hardware are the paper's. A program cannot measure figure 11 (how long people took).

mod compilation;
mod delay;
mod flow_table;
mod installation;
mod published;
mod recirculation;
mod recirculation_uses;
mod stages;
mod tofino;
mod tofino_compiler;

pub use compilation::{
    Outcome, Outcomes, Refusal, Source, Step, TargetChoice, compile_measured, compile_table,
    corpus_table,
};
pub use delay::figure_14;
pub use installation::figure_17;
pub use published::place_in_paper;
pub use recirculation::figure_16;
pub use recirculation_uses::figure_15;
pub use stages::{Application, figure_9, figure_10, figure_12, figure_13};
