// SPDX-License-Identifier: Apache-2.0
//! The options of `plane net`.

use super::{Engine, Reading};
use clap::Args;
use std::path::PathBuf;

/// Arguments of `plane net`.
#[derive(Debug, Args)]
pub struct Net {
    /// The network: a file of docs/networks.md, a topology.json of the P4 tutorials, or the specification of a Lucid run.
    #[arg(value_name = "FILE", required_unless_present = "schema")]
    pub file: Option<PathBuf>,
    /// The program of switches for which the file has none.
    #[arg(long, value_name = "PROG")]
    pub program: Option<PathBuf>,
    /// The engine of switches for which the file has none.
    #[arg(long, value_enum, value_name = "ENGINE")]
    pub engine: Option<Engine>,
    /// The end of the run, such as 500us or 10s; it replaces that of the file.
    #[arg(long, value_name = "TIME", value_parser = source::quantity::duration_ps)]
    pub until: Option<u64>,
    /// The seed of everything random; it replaces that of the file.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Let every host ping every other host once, one after the other, as Mininet's pingall does.
    #[arg(long)]
    pub pingall: bool,
    /// Print the results as one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Write each table as a CSV file into this folder.
    #[arg(long, value_name = "DIR")]
    pub csv: Option<PathBuf>,
    /// The folder of captures that the file names.
    #[arg(long, short, value_name = "DIR", default_value = "out")]
    pub out: PathBuf,
    /// The most rows of each table.
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub rows: usize,
    /// Write the run as a time line: an HTML file that loads nothing else.
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// The first time of which the time line has single frames; its sums are of the whole run.
    #[arg(long, value_name = "TIME", value_parser = source::quantity::duration_ps, requires = "timeline")]
    pub timeline_from: Option<u64>,
    /// The last time of which the time line has single frames.
    #[arg(long, value_name = "TIME", value_parser = source::quantity::duration_ps, requires = "timeline")]
    pub timeline_to: Option<u64>,
    /// Print the JSON schema of network files, for editors.
    #[arg(long, conflicts_with = "file")]
    pub schema: bool,
    #[command(flatten)]
    pub reading: Reading,
}
