// SPDX-License-Identifier: Apache-2.0
//! The options of `plane emit`.

use super::{EMITTER_PROGRAM_NAMES, Reading, UserP4Files, seconds, targets};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use toolchain::registry;

/// How delayed events wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EmitDelay {
    /// In a queue that is paused most of the time.
    Queue,
    /// By recirculation until they are due.
    Recirculation,
}

/// Units of v1model's time stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EmitClock {
    /// Nanoseconds, for our device.
    Ns,
    /// Microseconds, for BMv2.
    Us,
}

/// How packets return to ingress on v1model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EmitRecirculation {
    /// By a port in loopback.
    Port,
    /// By v1model's `recirculate_preserving_field_list`, for BMv2.
    Primitive,
}

/// How tables are assigned to stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EmitLayout {
    /// In order, each table to the first stage that fits.
    Greedy,
    /// With the fewest stages.
    Exact,
}

/// `plane emit`
#[derive(Debug, Args)]
pub struct Emit {
    /// The program.
    #[arg(value_name = EMITTER_PROGRAM_NAMES.as_str())]
    pub program: PathBuf,
    /// The target.
    #[arg(long, default_value = registry::default_target(), value_parser = targets())]
    pub target: String,
    /// How delayed events wait [default: queue, or with --spec as in that run].
    #[arg(long)]
    pub delay: Option<EmitDelay>,
    /// The unit of v1model's time stamps [default: ns].
    #[arg(long)]
    pub clock: Option<EmitClock>,
    /// How packets return to ingress on v1model [default: port].
    #[arg(long)]
    pub recirculation: Option<EmitRecirculation>,
    /// How the tables of a program for Tofino are assigned to stages [default: greedy].
    #[arg(long, value_name = "LAYOUT")]
    pub layout: Option<EmitLayout>,
    /// With --layout exact: stop the search after this time, in seconds, and take the best layout so far
    /// [default: 60]. The limit does not apply to the greedy layout that is computed first.
    #[arg(long, value_name = "SECONDS", requires = "layout", value_parser = seconds, allow_negative_numbers = true)]
    pub time_limit: Option<f64>,
    /// Compile for an unmodified BMv2: --clock us --delay recirculation --recirculation primitive.
    #[arg(long, conflicts_with_all = ["delay", "clock", "recirculation"])]
    pub bmv2: bool,
    /// Print the program after this pass of the compiler instead; `list` lists the passes.
    #[arg(long, value_name = "PASS")]
    pub after: Option<String>,
    /// With --target rtl: the number of pipelines, from 1 to 64.
    #[arg(long, value_name = "K")]
    pub pipelines: Option<u64>,
    /// With --target rtl: the entries of a ring; a stage has a ring for each pipeline in each pipeline [default: 8].
    #[arg(long, value_name = "D")]
    pub depth: Option<u64>,
    /// With --target rtl: the cycles between two remaps; 0 leaves cells where they are [default: 100].
    #[arg(long, value_name = "T")]
    pub remap_every: Option<u64>,
    /// With --target rtl: the stages of a pipeline [default: those of the hardware model].
    #[arg(long, value_name = "S")]
    pub stages: Option<u64>,
    /// P4 of the user around the dispatcher.
    #[command(flatten)]
    pub user_p4: UserP4Files,
    /// How to read these two files.
    #[command(flatten)]
    pub reading: Reading,
    /// The run whose switches and links get the commands.
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// Write program, commands and device files into this folder.
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
}
