// SPDX-License-Identifier: Apache-2.0
//! The options of `plane scale`.

use super::Reading;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The form of a report on sharding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScaleFormat {
    /// A table with reasons.
    Text,
    /// For tools.
    Json,
    /// A picture.
    Svg,
}

/// `plane scale`
#[derive(Debug, Args)]
pub struct Scale {
    /// The program; the end of its name says the language.
    #[arg(value_name = "PROG")]
    pub program: PathBuf,
    /// The number of pipelines, from 1 to 64.
    #[arg(long, value_name = "K")]
    pub pipelines: u64,
    /// The stages of each half of a pipeline [default: those of the target].
    #[arg(long, value_name = "S")]
    pub stages: Option<u64>,
    /// The hardware model that gives the stages on one pipeline: a shipped target, or a target file [default: banzai
    /// for Domino, else tofino].
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub target: Option<String>,
    /// Shard arrays that no packet writes, as the paper does; without this each pipeline has a copy of them.
    #[arg(long)]
    pub read_only_is_state: bool,
    /// Run the packets of this CSV file on the machine, K a cycle in the order of lines, and compare with one pipeline.
    #[arg(long, value_name = "IN.csv")]
    pub packets: Option<PathBuf>,
    /// Write the packets that leave, in the order of those that enter.
    #[arg(long, value_name = "OUT.csv", requires = "packets")]
    pub packets_out: Option<PathBuf>,
    /// Write the state at the end as JSON.
    #[arg(long, value_name = "STATE.json", requires = "packets")]
    pub state_out: Option<PathBuf>,
    /// The machine's design; an unknown name lists all.
    #[arg(long, value_name = "NAME", default_value = "mp5", requires = "packets")]
    pub design: String,
    /// Entries of a ring; without this no queue is bounded.
    #[arg(long, value_name = "ENTRIES", requires = "packets")]
    pub depth: Option<u64>,
    /// Cycles between two remaps.
    #[arg(long, value_name = "CYCLES", default_value = "100", requires = "packets")]
    pub remap_every: u64,
    /// The seed of everything random.
    #[arg(long, default_value = "0", requires = "packets")]
    pub seed: u64,
    /// The form of the report.
    #[arg(long, default_value = "text")]
    pub format: ScaleFormat,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How to read the program.
    #[command(flatten)]
    pub reading: Reading,
}
