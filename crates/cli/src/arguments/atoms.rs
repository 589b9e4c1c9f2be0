// SPDX-License-Identifier: Apache-2.0
//! The options of `plane atoms`.

use super::{Reading, seconds};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The values for which an atom has to do what a codelet does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ValueRange {
    /// State, fields and constants from 0 to 31, as in Domino's compiler.
    Small,
    /// All words of 32 bits, wrapping.
    Exact,
    /// One after the other.
    Both,
}

/// The form of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AtomsFormat {
    /// For readers.
    Text,
    /// For tools.
    Json,
}

/// `plane atoms`
#[derive(Debug, Args)]
pub struct Atoms {
    /// The program, or a file of codelets.
    #[arg(value_name = "PROG.domino|FILE.atoms")]
    pub program: PathBuf,
    /// Try the atoms of this file, from the least to the greatest, instead of Banzai's.
    #[arg(long, value_name = "FILE.atoms")]
    pub atom: Option<PathBuf>,
    /// The values for which an atom has to do what the codelet does.
    #[arg(long, default_value = "both")]
    pub range: ValueRange,
    /// Try all atoms, also those behind the least one.
    #[arg(long)]
    pub all: bool,
    /// Stop the search for one codelet and one atom after this time, in seconds; its verdict is then unknown.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "60",
        value_parser = seconds,
        allow_negative_numbers = true
    )]
    pub time_limit: f64,
    /// The form of the results.
    #[arg(long, default_value = "text")]
    pub format: AtomsFormat,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How to read the program.
    #[command(flatten)]
    pub reading: Reading,
}
