// SPDX-License-Identifier: Apache-2.0
//! The options of `plane net`.

use super::reactions::{ReactionOptions, share};
use super::sweep::{Merge, SweepOptions};
use super::{Engine, Reading};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Arguments of `plane net`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Net {
    #[command(subcommand)]
    pub command: Option<NetCommand>,
    /// The network: a file of docs/networks.md, a topology.json of the P4 tutorials, or the specification of a Lucid run.
    #[arg(value_name = "FILE", required_unless_present_any = ["schema", "clean"])]
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
    /// The folder of captures that the file names, and of what --emit writes.
    #[arg(long, short, value_name = "DIR", default_value = "out")]
    pub out: PathBuf,
    /// The most rows of each table.
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub rows: usize,
    /// Write the run as a time line: an HTML file that loads nothing else.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["live", "seeds", "emit"])]
    pub timeline: Option<PathBuf>,
    /// The first time of which the time line has single frames; its sums are of the whole run.
    #[arg(long, value_name = "TIME", value_parser = source::quantity::duration_ps, requires = "timeline")]
    pub timeline_from: Option<u64>,
    /// The last time of which the time line has single frames.
    #[arg(long, value_name = "TIME", value_parser = source::quantity::duration_ps, requires = "timeline")]
    pub timeline_to: Option<u64>,
    /// Write a picture of the topology with the use of links as colours: an SVG file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["live", "seeds", "emit"])]
    pub picture: Option<PathBuf>,
    /// Tie simulated time to the clock: 1 is real time, 0.1 a tenth of it. A slow machine may be later.
    #[arg(long, value_name = "FACTOR", value_parser = factor, conflicts_with = "live")]
    pub pace: Option<f64>,
    /// Make the network live: hosts are network namespaces in which programs run, switches forward in real time.
    #[arg(long)]
    pub live: bool,
    /// The name of the live network; without it that of the file, with the number of the process.
    #[arg(long, value_name = "NAME", requires = "live", value_parser = live_name)]
    pub name: Option<String>,
    /// Run none of the file's applications.
    #[arg(long, requires = "live")]
    pub no_applications: bool,
    /// Run only this switch, on interfaces that exist: its part of a network over several machines or containers.
    #[arg(long, value_name = "SWITCH", requires = "live", conflicts_with_all = ["name", "pingall"])]
    pub only: Option<String>,
    /// The interfaces of the switch's ports; eth1 for port 1 without it.
    #[arg(long, value_name = "PORT=INTERFACE", requires = "only", value_delimiter = ',', value_parser = interface)]
    pub interfaces: Vec<(u32, String)>,
    /// Write the network for another tool into the folder of --out.
    #[arg(long, value_enum, value_name = "TOOL", conflicts_with_all = ["live", "json", "csv", "pingall", "pace"])]
    pub emit: Option<EmittedNetwork>,
    /// Remove what crashed live networks left: programs, namespaces, interfaces.
    #[arg(long, conflicts_with = "file")]
    pub clean: bool,
    /// Print the JSON schema of network files, for editors.
    #[arg(long, conflicts_with = "file")]
    pub schema: bool,
    /// The share of a processor that an agent takes at most beside its live switch.
    #[arg(
        long,
        value_name = "PERCENT",
        requires = "live",
        default_value = "20%",
        value_parser = share,
        help_heading = "Only for P4R programs"
    )]
    pub agent_pace: f64,
    /// Run the switches with real-time priority (SCHED_FIFO) on a processor of their own.
    #[arg(long, requires = "live")]
    pub realtime: bool,
    #[command(flatten)]
    pub reactions: ReactionOptions,
    #[command(flatten)]
    pub sweep: SweepOptions,
    #[command(flatten)]
    pub reading: Reading,
}

/// Tools that run networks.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum EmittedNetwork {
    /// A topology of containerlab, with an image, the files of the switches and a script for the links.
    Containerlab,
    /// With --seeds an indexed Job of Kubernetes (job.yaml) and an array of Slurm (job.slurm), a task for each seed or for
    /// each shard of --shard auto/N.
    Job,
}

/// What `plane net` does beside running a file.
#[derive(Debug, Subcommand)]
pub enum NetCommand {
    /// Run a program on a host of a live network.
    #[command(
        after_help = "Example:\n  plane net exec h1 ping h2\n\nArguments that are names of hosts become addresses."
    )]
    Exec(Exec),
    /// Let every host of a live network ping every other one.
    Pingall(Pingall),
    /// Join the results of a sweep's shards and print what the whole sweep prints.
    #[command(after_help = "Example:\n  plane net merge results/*.json")]
    Merge(Merge),
}

/// Arguments of `plane net exec`.
#[derive(Debug, Args)]
pub struct Exec {
    /// The live network, if several are running.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The host.
    #[arg(value_name = "HOST")]
    pub host: String,
    /// The program and its arguments.
    #[arg(
        value_name = "CMD",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub words: Vec<String>,
}

/// Arguments of `plane net pingall`.
#[derive(Debug, Args)]
pub struct Pingall {
    /// The live network, if several are running.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

/// The interface of a port, such as `1=eth1`.
fn interface(text: &str) -> Result<(u32, String), String> {
    let (port, name) = text.split_once('=').ok_or("write PORT=INTERFACE, such as 1=eth1")?;
    let port = port.parse().map_err(|_| format!("`{port}` is not a port number"))?;
    match name.is_empty() {
        true => Err("the name of the interface is missing".to_string()),
        false => Ok((port, name.to_string())),
    }
}

/// A factor of time.
fn factor(text: &str) -> Result<f64, String> {
    let factor: Option<f64> = text.parse().ok();
    let is_possible = |factor: &f64| (1e-6..=1e6).contains(factor);
    factor
        .filter(is_possible)
        .ok_or_else(|| "a factor is a number from 0.000001 to 1000000".to_string())
}

/// A name of a live network: part of names of files and namespaces.
fn live_name(text: &str) -> Result<String, String> {
    let is_plain = |each: char| each.is_ascii_alphanumeric() || matches!(each, '-' | '_');
    match !text.is_empty() && text.len() <= 64 && text.chars().all(is_plain) {
        true => Ok(text.to_string()),
        false => Err("a name has up to 64 letters, digits, `-` and `_`".to_string()),
    }
}
