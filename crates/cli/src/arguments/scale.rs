// SPDX-License-Identifier: Apache-2.0
//! The options of `plane scale`.

use super::{Reading, number, port_and_file};
use clap::{ArgGroup, Args, ValueEnum};
use device::EngineChoice;
use std::num::NonZeroUsize;
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

/// Reads a threshold in front of which a field may stand.
fn ecn(text: &str) -> Result<(Option<String>, u64), String> {
    let (field, entries) = match text.rsplit_once('=') {
        Some((field, entries)) => (Some(field.trim().to_string()), entries.trim()),
        None => (None, text),
    };
    match entries.parse() {
        Ok(entries) => Ok((field, entries)),
        Err(_) => Err(format!("{entries:?} is not a number of entries: write 8 or hdr.ipv4.ecn=8")),
    }
}

/// A program beside the first one, with its pipelines and ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The program.
    pub program: PathBuf,
    /// How many pipelines it has.
    pub pipelines: u64,
    /// The ports whose packets are its own.
    pub ports: Vec<u32>,
    /// Its table entries.
    pub entries: Option<PathBuf>,
}

/// Reads `PROG=M:PORT,PORT[:ENTRIES]`.
fn beside(text: &str) -> Result<Beside, String> {
    const FORM: &str = "write PROG=PIPELINES:PORTS[:ENTRIES], such as router.p4=2:3,4";
    let (program, rest) = text.split_once('=').ok_or(FORM)?;
    let mut parts = rest.splitn(3, ':');
    let (pipelines, ports) = (parts.next().unwrap_or_default(), parts.next().ok_or(FORM)?);
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| FORM.to_string());
    Ok(Beside {
        program: PathBuf::from(program),
        pipelines: u64::from(number(pipelines)?),
        ports: ports.split(',').map(number).collect::<Result<_, _>>()?,
        entries: parts.next().map(PathBuf::from),
    })
}

/// An engine of the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScaleEngine {
    /// Machine code.
    Jit,
    /// The reference interpreter.
    Interpreter,
}

impl ScaleEngine {
    /// Returns the device's choice.
    pub fn choice(self) -> EngineChoice {
        match self {
            ScaleEngine::Jit => EngineChoice::Jit,
            ScaleEngine::Interpreter => EngineChoice::Interpreter,
        }
    }
}

/// Code that is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShownCode {
    /// As one pipeline runs it.
    Before,
    /// In stages, with the code that resolves addresses in front.
    After,
}

/// How Figure 6 of MP5 finds the cell that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RemapEngine {
    /// As hardware: a state machine that reads one cell a cycle; --design mp5-scan.
    Scan,
}

/// `plane scale`
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("traffic").args(["packets", "inputs"])))]
pub struct Scale {
    /// The program; the end of its name says the language.
    #[arg(value_name = "PROG")]
    pub program: PathBuf,
    /// The number of pipelines, from 1 to 64.
    #[arg(long, value_name = "K")]
    pub pipelines: u64,
    /// The program has only M of the pipelines; other programs have the rest [default: all that they leave].
    #[arg(long, value_name = "M")]
    pub on: Option<u64>,
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
    /// Run packets that enter by a port on the machine, and compare with one pipeline: a pcap or pcapng file, or `-` for
    /// standard input; may be repeated.
    #[arg(long = "in", value_name = "PORT=FILE", value_parser = port_and_file)]
    pub inputs: Vec<(u32, PathBuf)>,
    /// Options of runs of captures.
    #[command(flatten)]
    pub captures: ScaleCaptures,
    /// Run the packets of this CSV file of a Domino program, K a cycle in the order of lines.
    #[arg(long, value_name = "IN.csv")]
    pub packets: Option<PathBuf>,
    /// Write the packets that leave, in the order of those that enter.
    #[arg(long, value_name = "OUT.csv", requires = "packets")]
    pub packets_out: Option<PathBuf>,
    /// Write the state at the end as JSON.
    #[arg(long, value_name = "STATE.json", requires = "packets")]
    pub state_out: Option<PathBuf>,
    /// The machine's design; an unknown name lists all.
    #[arg(long, value_name = "NAME", default_value = "mp5", requires = "traffic")]
    pub design: String,
    /// Entries of a ring; without this no queue is bounded.
    #[arg(long, value_name = "ENTRIES", requires = "traffic")]
    pub depth: Option<u64>,
    /// Cycles between two remaps.
    #[arg(long, value_name = "CYCLES", default_value = "100", requires = "traffic")]
    pub remap_every: u64,
    /// The seed of everything random.
    #[arg(long, default_value = "0", requires = "traffic")]
    pub seed: u64,
    /// The engine that runs the stages.
    #[arg(long, default_value = "jit", requires = "traffic")]
    pub engine: ScaleEngine,
    /// Mark packets that come to a queue of more entries: in the congestion bits of IPv4, or in this field.
    #[arg(long, value_name = "[FIELD=]ENTRIES", value_parser = ecn, requires = "traffic")]
    pub ecn: Option<(Option<String>, u64)>,
    /// Let packets with equal values of these fields leave in the order of arrival: by an access in a stage behind the
    /// last one [default without fields: addresses, protocol and ports of IPv4, TCP and UDP].
    #[arg(
        long,
        value_name = "FIELD,FIELD",
        value_delimiter = ',',
        num_args = 0..=1,
        requires = "traffic"
    )]
    pub keep_order: Option<Vec<String>>,
    /// Print the code of the program instead of the report: as it is, or as stages behind the resolution of addresses.
    #[arg(long, value_name = "WHEN", conflicts_with_all = ["traffic", "format"])]
    pub show: Option<ShownCode>,
    /// The form of the report.
    #[arg(long, default_value = "text")]
    pub format: ScaleFormat,
    /// How the paper's machine finds the cells that move [default: at once].
    #[arg(long, value_name = "ENGINE", conflicts_with = "design", requires = "traffic")]
    pub remap_engine: Option<RemapEngine>,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How to read the program.
    #[command(flatten)]
    pub reading: Reading,
}

/// Options of runs of captures.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Only with --in")]
pub struct ScaleCaptures {
    /// Write the packets that leave into this folder, as PORT.pcap; create it if it does not exist.
    #[arg(long, value_name = "DIR", requires = "inputs")]
    pub out: Option<PathBuf>,
    /// The frequency of the pipelines, each of which takes a packet a cycle [default: 1GHz].
    #[arg(
        long = "clock",
        value_name = "FREQUENCY",
        value_parser = source::quantity::frequency_hz,
        requires = "inputs"
    )]
    pub clock_hz: Option<u64>,
    /// Table entries, as `plane run` takes them; may be repeated.
    #[arg(long, value_name = "FILE", requires = "inputs")]
    pub entries: Vec<PathBuf>,
    /// Write entries in batches of at most N items [default: one batch a file].
    #[arg(long, value_name = "N", requires = "entries")]
    pub batch_size: Option<NonZeroUsize>,
    /// Apply the commands of this file at their times (`# at 5 us` before a command), while packets are in flight: a register
    /// write reaches the cell's owner in the order of arrivals.
    #[arg(long, value_name = "FILE", requires = "inputs")]
    pub replay_commands: Option<PathBuf>,
    /// Run another program on M pipelines of its own, with packets that enter by these ports and its own table entries; may
    /// be repeated. --out then has a folder for each program.
    #[arg(
        long,
        value_name = "PROG=M:PORT,PORT[:ENTRIES]",
        value_parser = beside,
        requires = "inputs",
        conflicts_with = "device"
    )]
    pub beside: Vec<Beside>,
    /// The device file (TOML).
    #[arg(long, value_name = "FILE.toml", requires = "inputs")]
    pub device: Option<PathBuf>,
    /// The CPU port; replaces that of the device file.
    #[arg(long, value_name = "PORT", value_parser = number::<u32>, requires = "inputs")]
    pub cpu_port: Option<u32>,
    /// Fill packets that their capture has cut (snap length) with zeros, up to their length on the wire.
    #[arg(long, requires = "inputs")]
    pub pad_snapped: bool,
    /// Stop the run at this device time, such as 10000 (ns) or 5us, after the first packet.
    #[arg(
        long = "until",
        value_name = "TIME",
        value_parser = source::quantity::duration_ps,
        requires = "inputs"
    )]
    pub until_ps: Option<u64>,
}
