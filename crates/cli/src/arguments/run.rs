// SPDX-License-Identifier: Apache-2.0
//! The options of `plane run`, in groups: of all runs, of runs on one device, of runs in networks.

use super::reactions::{ReactionOptions, timed_reload};
use super::{
    Arguments, Engine, PROGRAM_NAMES, Reading, UserP4Files, number, port_and_file, targets,
};
use clap::{ArgMatches, Args, CommandFactory, Id};
use frontend::Frontend;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::LazyLock;
use toolchain::reactions::TimedReload;
use toolchain::registry;

static DEVICE_HEADING: LazyLock<String> = LazyLock::new(|| heading(registry::with_devices()));
static NETWORK_HEADING: LazyLock<String> =
    LazyLock::new(|| heading(registry::with_networks().map(|(each, _)| each)));
static FIELD_HEADING: LazyLock<String> =
    LazyLock::new(|| heading(registry::with_field_runs().map(|(each, _)| each)));

/// Returns the heading of options that only these languages have, such as `Only for P4 programs`.
fn heading(languages: impl Iterator<Item = &'static dyn Frontend>) -> String {
    let names: Vec<&str> = languages.map(|each| each.name()).collect();
    format!("Only for {} programs", registry::enumerated(&names, "and"))
}

/// `plane run`. `run_description` checks which options go with which.
#[derive(Debug, Args)]
pub struct Run {
    /// The program; the end of its name says the language.
    #[arg(value_name = PROGRAM_NAMES.as_str())]
    pub program: PathBuf,
    /// Packets that enter by a port: a pcap or pcapng file, or `-` for standard input (P4 programs); may be
    /// repeated.
    #[arg(long = "in", value_name = "PORT=FILE", value_parser = port_and_file)]
    pub inputs: Vec<(u32, PathBuf)>,
    /// Write the packets that leave into this folder, as PORT.pcap; create it if it does not exist.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The engine that runs the program [default: jit]. Traces of P4 programs come from the interpreter. Lucid
    /// programs are compiled, except for the reference interpreter.
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<Engine>,
    /// Run both engines side by side and stop at the first packet on which they differ. A Lucid program runs
    /// compiled beside the reference interpreter, handler by handler.
    #[arg(long, conflicts_with_all = ["trace", "trace_json", "engine"])]
    pub verify: bool,
    /// Print what happens to each packet. A P4 program needs --in and --out as well.
    #[arg(long, conflicts_with = "trace_json")]
    pub trace: bool,
    /// Print results as JSON. P4: one object with ports, drops, counters, registers and digests
    /// (docs/run-json.md). Lucid: what happens, an object a line.
    #[arg(long)]
    pub json: bool,
    /// Seed of all random numbers [default: 0, or that of the specification].
    #[arg(long, value_parser = number::<u64>)]
    pub seed: Option<u64>,
    /// Stop the run at this device time, such as 10000 (ns) or 5us, after the first packet. A Lucid program
    /// stops at this time instead of the specification's `max time`.
    #[arg(long = "until", value_name = "TIME", value_parser = source::quantity::duration_ps)]
    pub until_ps: Option<u64>,
    /// Give the switch the reactions of another P4R program at this device time; `,init` runs its `init`, `,fresh`
    /// gives `state` variables their initial values; may be repeated.
    #[arg(
        long,
        value_name = "TIME=FILE.p4r",
        value_parser = timed_reload,
        help_heading = "Only for P4R programs"
    )]
    pub reload: Vec<TimedReload>,
    /// How to read the program.
    #[command(flatten)]
    pub reading: Reading,
    /// Options of runs on one device.
    #[command(flatten)]
    pub device: DeviceOptions,
    /// Options of runs with reactions.
    #[command(flatten)]
    pub reactions: ReactionOptions,
    /// Options of runs in networks.
    #[command(flatten)]
    pub network: NetworkOptions,
    /// Options of runs of tables of packets.
    #[command(flatten)]
    pub fields: FieldOptions,
    /// P4 of the user around the dispatcher, also only for runs in networks: a struct with a flattened field is no group.
    #[command(flatten)]
    pub user_p4: UserP4Files,
    /// The options of the command line that only one kind of run has.
    #[arg(skip)]
    pub given: GivenOptions,
}

/// Options that only runs on one device have.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = DEVICE_HEADING.as_str())]
pub struct DeviceOptions {
    /// Table entries: BMv2 commands, the P4 tutorials' runtime JSON, or P4Runtime text; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub entries: Vec<PathBuf>,
    /// Write entries in batches of at most N items [default: one batch a file]. All wrong lines are reported in
    /// both cases.
    #[arg(long, value_name = "N", requires = "entries")]
    pub batch_size: Option<NonZeroUsize>,
    /// Control commands to run after the last packet, such as `counter_read` and `register_read`; their answers
    /// are printed; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub after: Vec<PathBuf>,
    /// Write all updates of the control plane, those of reactions too, as commands with times: the program as run
    /// (`plane emit`) and this file make the same run, also on BMv2.
    #[arg(long, value_name = "FILE")]
    pub record_commands: Option<PathBuf>,
    /// Apply the commands of this file at their times (`# at 5 us` before a command).
    #[arg(long, value_name = "FILE")]
    pub replay_commands: Option<PathBuf>,
    /// Run ingress on N pipelines, a thread each, with the results of one thread (MP5). What depends on the order of packets
    /// runs on one thread, and the summary says why. With --verify, compare with a run on one thread.
    #[arg(long, value_name = "N", value_parser = number::<u64>, conflicts_with_all = ["trace", "trace_json"])]
    pub pipelines: Option<u64>,
    /// Fill packets that their capture has cut (snap length) with zeros, up to their length on the wire.
    #[arg(long)]
    pub pad_snapped: bool,
    /// Print the digests that the program sends to its control plane.
    #[arg(long)]
    pub digests: bool,
    /// Print what happens to each packet as JSON, an object a line; needs --in and --out.
    #[arg(long)]
    pub trace_json: bool,
    /// The device file (TOML): ports, rates, queues, loopback, flow control, clock.
    #[arg(long, value_name = "FILE.toml")]
    pub device: Option<PathBuf>,
    /// The CPU port, for programs that use one; replaces that of the device file.
    #[arg(long, value_name = "PORT", value_parser = number::<u32>)]
    pub cpu_port: Option<u32>,
}

/// Options that only runs of tables of packets have.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = FIELD_HEADING.as_str())]
pub struct FieldOptions {
    /// Run the packets of this table instead of captures: CSV, a line of fields' names, then a packet a line; `-` is
    /// standard input. With --state-out, write the globals at the end.
    #[arg(long, value_name = "IN.csv")]
    pub packets: Option<PathBuf>,
    /// Write the packets that leave into this table, in the order of those that enter.
    #[arg(long, value_name = "OUT.csv", requires = "packets")]
    pub packets_out: Option<PathBuf>,
}

/// Options that only runs in networks have.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = NETWORK_HEADING.as_str())]
pub struct NetworkOptions {
    /// The specification of the run: switches, links, events (JSON, YAML or TOML) [default: the file of the
    /// program's name].
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// Further entries of `events`, a JSON object a line, that the run waits for; `-` is standard input. The run goes
    /// on until just before the time of each entry, and until TIME at a line `{"until": TIME}`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["verify", "record"])]
    pub events: Option<PathBuf>,
    /// The target that the program is compiled for [default: v1model].
    #[arg(long, value_name = "TARGET", value_parser = targets())]
    pub target: Option<String>,
    /// Values of symbolic sizes and constants; they replace those of the specification.
    #[arg(long, value_name = "FILE")]
    pub symbolics: Option<PathBuf>,
    /// Print only what happens to events of this name, and what their handlers do; may be repeated.
    #[arg(long, value_name = "EVENT")]
    pub only: Vec<String>,
    /// Print packets and payloads with all their bytes [default: their length and the first 16 bytes].
    #[arg(long)]
    pub all_bytes: bool,
    /// Write the contents of all arrays, counters and tables at the end, as JSON.
    #[arg(long, value_name = "FILE")]
    pub state_out: Option<PathBuf>,
    /// Write a page with a time line of the run (HTML).
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// Record the schedule of the run: inputs, random numbers, order of events.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["p4_before", "p4_after"])]
    pub record: Option<PathBuf>,
    /// Run a recorded schedule again, by the reference interpreter.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["record", "engine", "verify", "target", "inputs", "events", "p4_before", "p4_after"]
    )]
    pub replay: Option<PathBuf>,
}

/// The options of a command line that only one kind of run has, as the user writes them (`--spec`).
#[derive(Clone, Debug, Default)]
pub struct GivenOptions {
    /// Options of [`DeviceOptions`].
    pub of_devices: Vec<String>,
    /// Options of [`NetworkOptions`].
    pub of_networks: Vec<String>,
    /// Options of [`FieldOptions`].
    pub of_fields: Vec<String>,
}

impl GivenOptions {
    pub(super) fn of(matches: &ArgMatches) -> GivenOptions {
        let command = Arguments::command();
        let arguments =
            || command.find_subcommand("run").into_iter().flat_map(|run| run.get_arguments());
        let in_groups = |groups: &[&str]| {
            let given = groups.iter().filter_map(|group| matches.get_many::<Id>(group)).flatten();
            let longs = given
                .filter_map(|id| arguments().find(|argument| argument.get_id() == id)?.get_long());
            longs.map(|long| format!("--{long}")).collect()
        };
        GivenOptions {
            of_devices: in_groups(&["DeviceOptions"]),
            of_networks: in_groups(&["NetworkOptions", "UserP4Files"]),
            of_fields: in_groups(&["FieldOptions"]),
        }
    }
}
