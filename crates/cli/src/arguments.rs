// SPDX-License-Identifier: Apache-2.0
//! The command line.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use frontend::EmitTarget;
use ir::architecture::{ARCHITECTURES, Description};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use toolchain::registry;

/// One toolchain for programmable data planes.
#[derive(Debug, Parser)]
#[command(name = "plane", version, max_term_width = 100, disable_help_subcommand = false)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Print only results and errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check programs and report what is wrong with them.
    #[command(
        after_help = "Example:\n  plane check examples/router/router.p4 examples/lucid/nat/nat.dpt"
    )]
    Check(Check),
    /// Run a program: P4 on captured packets, Lucid by a specification.
    #[command(after_help = "Example:\n  plane run examples/router/router.p4 \\\n    \
        --in 1=examples/router/captures/host1.pcap \\\n    \
        --entries examples/router/commands.txt --out out/router\n\nWith --verify the same \
        runs on compiled code and on the interpreter at once.\n\nExample for Lucid:\n  \
        plane run examples/lucid/nat/nat.dpt \\\n    \
        --spec examples/lucid/nat/run.yaml --timeline out/nat.html\n\n\
        Its specification is the .json, .yaml or .toml file of the same name, unless --spec names \
        another; docs/lucid-runs.md describes specifications.")]
    Run(Box<Run>),
    /// Run tests: STF for P4, specifications with expectations for Lucid.
    #[command(
        after_help = "Example:\n  plane test examples/calculator/calculator.stf\n\nThe program is \
        the .p4 file of the same name, unless --program names another.\n\nExample for Lucid:\n  \
        plane test examples/lucid/nat/run.yaml\n\nThe program is named in the specification, or is \
        the .dpt file of the same name."
    )]
    Test(Test),
    /// Format source files.
    #[command(after_help = "Example:\n  plane fmt --check examples/router/router.p4")]
    Fmt(Fmt),
    /// Print a checked program as P4_16 in one file.
    #[command(
        after_help = "The text is complete by itself: macros are expanded, and the program's own included \
        files are taken in. core.p4 and the architecture stay includes, so that other compilers take \
        their own.\n\nExample:\n  plane print examples/router/router.p4"
    )]
    Print(Print),
    /// Print a program's pipeline IR, or a Lucid program's core program.
    #[command(after_help = "Example:\n  plane ir examples/router/router.p4 --effects")]
    Ir(Ir),
    /// Lay a program out on the stages of a pipeline, and show what sits where and why.
    #[command(
        after_help = "Example:\n  plane layout examples/router/router.p4 --target tofino\n\n\
        Shipped targets are tofino, rmt and banzai; any other is a file (TOML). `optimal` of the \
        JSON is true where no layout has fewer stages, a number where at least that many are \
        needed, and false where nothing is known."
    )]
    Layout(Layout),
    /// Compile a Lucid program to P4_16 for a target, with what the control plane sets up.
    #[command(after_help = "Example:\n  plane emit examples/lucid/nat/nat.dpt -o out/nat\n\n\
        With --spec the commands are for each switch of that run. Without -o the program is printed.")]
    Emit(Emit),
    /// Check all programs of a folder and count verdicts.
    #[command(after_help = "Example:\n  plane corpus examples")]
    Corpus(Corpus),
    /// Measure the figures of a system's paper again, and print them beside what was published.
    #[command(after_help = "Examples:\n  plane bench lucid --figure 16 --figure 17\n  \
        plane bench lucid --compile\n  plane bench lucid --corpus examples/lucid")]
    Bench(Bench),
    /// Explain a diagnostic code.
    #[command(after_help = "Example:\n  plane explain P4-E0001\n  plane explain --list")]
    Explain(Explain),
}

/// A whole number of a type, from 0; the error says which there are.
fn number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let largest = u64::MAX >> (64 - 8 * size_of::<T>());
    let read = text.parse::<u64>().ok().and_then(|number| T::try_from(number).ok());
    read.ok_or_else(|| format!("write a whole number from 0 to {largest}"))
}

/// A time in seconds.
fn seconds(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "write a number of seconds, such as 60 or 0.5".to_string())
}

/// How to read programs.
#[derive(Clone, Debug, Args)]
pub struct Reading {
    /// Search this folder for included files; may be repeated.
    #[arg(short = 'I', value_name = "DIR")]
    pub include_dirs: Vec<String>,
    /// Define a macro; may be repeated.
    #[arg(short = 'D', value_name = "NAME[=BODY]")]
    pub defines: Vec<String>,
}

impl Reading {
    /// For the preprocessor.
    pub fn options(&self) -> p4::preprocessor::PreprocessorOptions {
        let define = |text: &String| match text.split_once('=') {
            Some((name, body)) => (name.to_string(), Some(body.to_string())),
            None => (text.clone(), None),
        };
        p4::preprocessor::PreprocessorOptions {
            include_dirs: self.include_dirs.clone(),
            defines: self.defines.iter().map(define).collect(),
        }
    }
}

/// The described architectures.
fn architectures() -> PossibleValuesParser {
    let value = |it: &&Description| PossibleValue::new(it.name).help(it.title);
    PossibleValuesParser::new(ARCHITECTURES.iter().map(value))
}

/// What runs the blocks of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Machine code, compiled when the program is loaded.
    Jit,
    /// The interpreter of the pipeline IR.
    Interp,
    /// Lucid programs only: the reference interpreter of the language, nothing compiled.
    Reference,
}

/// The targets that programs are compiled for.
fn targets() -> PossibleValuesParser {
    let value = |target: EmitTarget| PossibleValue::new(target.name).help(target.description);
    PossibleValuesParser::new(registry::targets().into_iter().map(value))
}

/// The name that the command line has for a choice.
pub fn name_of(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or(String::new(), |value| value.get_name().to_string())
}

impl Engine {
    /// For the device; `None` for what needs none.
    pub fn choice(self) -> Option<device::EngineChoice> {
        match self {
            Engine::Jit => Some(device::EngineChoice::Jit),
            Engine::Interp => Some(device::EngineChoice::Interpreter),
            Engine::Reference => None,
        }
    }
}

/// Text or JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For tools.
    Json,
}

/// `plane check`
#[derive(Debug, Args)]
pub struct Check {
    /// Programs; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The architecture that the programs must be for.
    #[arg(long, value_parser = architectures())]
    pub arch: Option<String>,
    /// How to print diagnostics: text to standard error, or JSON to standard output.
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// How to read the programs.
    #[command(flatten)]
    pub reading: Reading,
}

/// One program to read.
#[derive(Debug, Args)]
pub struct OneProgram {
    /// The program; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How to read it.
    #[command(flatten)]
    pub reading: Reading,
}

/// `plane print`.
#[derive(Debug, Args)]
pub struct Print {
    /// The program and how it is read.
    #[command(flatten)]
    pub program: OneProgram,
    /// Print the text of core.p4 and of the architecture too, instead of their `#include`.
    #[arg(long)]
    pub expand_includes: bool,
    /// Inline functions, directly called actions, nested controls and sub-parsers; what the control
    /// plane sees keeps its names. Calls that cannot be inlined stay, with a note that says why.
    #[arg(long)]
    pub inline: bool,
}

/// `plane ir`.
#[derive(Debug, Args)]
pub struct Ir {
    /// The program.
    #[command(flatten)]
    pub program: OneProgram,
    /// Print a report of the program's statements instead: what each reads and writes, what guards it,
    /// which state it accesses, and what is live after it.
    #[arg(long)]
    pub effects: bool,
}

/// `plane run`. What is only for one language is refused for the other (`commands::run`).
#[derive(Debug, Args)]
pub struct Run {
    /// The program; the end of its name says the language.
    #[arg(value_name = "PROG.p4|PROG.dpt")]
    pub program: PathBuf,
    /// Packets that arrive at a port: pcap or pcapng; may be repeated.
    #[arg(long = "in", value_name = "PORT=FILE")]
    pub inputs: Vec<String>,
    /// Where to write PORT.pcap for each port that sends; made if it is not there.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Table entries: BMv2 commands, the P4 tutorials' runtime JSON, or P4Runtime text; may be
    /// repeated.
    #[arg(long, value_name = "FILE")]
    pub entries: Vec<PathBuf>,
    /// Write entries in batches of at most so many; without it a file is one batch. Every wrong line is
    /// reported either way.
    #[arg(long, value_name = "N", requires = "entries")]
    pub batch_size: Option<NonZeroUsize>,
    /// Control commands for after the run, such as `counter_read` and `register_read`; their answers
    /// are printed; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub after: Vec<PathBuf>,
    /// Print the messages that the program sends to its control plane.
    #[arg(long)]
    pub digests: bool,
    /// What runs the program, jit if not said. Traces of P4 programs come from the interpreter. Lucid
    /// programs are compiled first, unless the reference interpreter is to run them.
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<Engine>,
    /// Run both engines side by side and stop at the first packet for which they differ. A Lucid
    /// program runs compiled beside its reference interpreter, handler by handler.
    #[arg(long, conflicts_with_all = ["trace", "trace_json", "engine"])]
    pub verify: bool,
    /// Print what happened to each packet. A P4 program needs --in and --out for it all the same.
    #[arg(long, conflicts_with = "trace_json")]
    pub trace: bool,
    /// Print what happened to each packet as JSON, an object a line; needs --in and --out.
    #[arg(long)]
    pub trace_json: bool,
    /// Seed of everything random; 0, or what a specification says.
    #[arg(long, value_parser = number::<u64>)]
    pub seed: Option<u64>,
    /// When the run ends, such as 10000 (ns) or 5us. P4: after the first packet; without it, when nothing is
    /// left to do. Lucid: instead of the specification's `max time`.
    #[arg(long = "until", value_name = "TIME", value_parser = source::quantity::duration_ps)]
    pub until_ps: Option<u64>,
    /// How the device is built: ports, rates, queues, loopback, flow control, clock (TOML).
    #[arg(long, value_name = "FILE.toml")]
    pub device: Option<PathBuf>,
    /// The port of the control plane's CPU, for programs that use one; over that of the device file.
    #[arg(long, value_name = "PORT", value_parser = number::<u32>)]
    pub cpu_port: Option<u32>,
    /// How to read the program.
    #[command(flatten)]
    pub reading: Reading,
    /// Only for Lucid programs; last, because its heading is for all that follows.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// P4_16 of the user's around the event dispatcher of a compiled Lucid program.
#[derive(Clone, Debug, Default, Args)]
pub struct UserP4Files {
    /// P4_16 with a `control before`, to run in front of the event dispatcher.
    #[arg(long, value_name = "FILE.p4")]
    pub p4_before: Option<PathBuf>,
    /// P4_16 with a `control after`, to run behind it.
    #[arg(long, value_name = "FILE.p4")]
    pub p4_after: Option<PathBuf>,
}

impl UserP4Files {
    /// For the compiler.
    pub fn files(&self) -> frontend::UserP4Files<'_> {
        frontend::UserP4Files { before: self.p4_before.as_deref(), after: self.p4_after.as_deref() }
    }
}

/// What only runs in networks have.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Only for Lucid programs")]
pub struct NetworkOptions {
    /// What should happen: switches, links, events (JSON, YAML or TOML).
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// What to compile the program for.
    #[arg(long, value_name = "TARGET", value_parser = targets())]
    pub target: Option<String>,
    /// P4 of the user's around the dispatcher; -I and -D are for it.
    #[command(flatten)]
    pub user_p4: UserP4Files,
    /// Values of symbolic sizes and constants, over those of the specification.
    #[arg(long, value_name = "FILE")]
    pub symbolics: Option<PathBuf>,
    /// Print what happens as JSON, an object a line.
    #[arg(long)]
    pub json: bool,
    /// Write what is in all arrays, counters and tables at the end, as JSON.
    #[arg(long, value_name = "FILE")]
    pub state_out: Option<PathBuf>,
    /// Write a page with a time line of the run (HTML).
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// Record the schedule of the run: inputs, random numbers, order of events.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub record: Option<PathBuf>,
    /// Run a recorded schedule again.
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
}

/// What a layout is printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LayoutFormat {
    /// A table for people, with reasons.
    Text,
    /// For tools.
    Json,
    /// A picture.
    Svg,
}

/// `plane layout`
#[derive(Debug, Args)]
pub struct Layout {
    /// The program; the end of its name says the language.
    #[arg(value_name = "PROG")]
    pub program: PathBuf,
    /// The hardware: a shipped target, or a target file.
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "tofino")]
    pub target: String,
    /// Look for the fewest stages, and prove that there are none fewer.
    #[arg(long)]
    pub exact: bool,
    /// With --exact: how long to look, in seconds; then the best so far is taken. The greedy layout that the
    /// search begins with is not bounded.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "60",
        requires = "exact",
        value_parser = seconds,
        allow_negative_numbers = true
    )]
    pub time_limit: f64,
    /// What to print.
    #[arg(long, default_value = "text")]
    pub format: LayoutFormat,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How to read the program.
    #[command(flatten)]
    pub reading: Reading,
}

/// How delayed events wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EmitDelay {
    /// In a queue that is paused most of the time.
    Queue,
    /// Going round through the recirculation port.
    Recirculation,
}

/// Units of v1model's time stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EmitClock {
    /// Nanoseconds: a device of ours.
    Ns,
    /// Microseconds: BMv2.
    Us,
}

/// How packets come back to ingress on v1model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EmitRecirculation {
    /// By a port whose packets come back.
    Port,
    /// By v1model's `recirculate_preserving_field_list`, as BMv2 needs it.
    Primitive,
}

/// How tables are given their stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EmitLayout {
    /// One after the other, each as early as it fits.
    Greedy,
    /// In as few stages as there can be.
    Exact,
}

/// `plane emit`
#[derive(Debug, Args)]
pub struct Emit {
    /// The Lucid program.
    #[arg(value_name = "PROG.dpt")]
    pub program: PathBuf,
    /// What to compile for.
    #[arg(long, default_value = registry::default_target(), value_parser = targets())]
    pub target: String,
    /// How delayed events wait; if not said, in a queue, or with --spec as in that run.
    #[arg(long)]
    pub delay: Option<EmitDelay>,
    /// The unit of v1model's time stamps.
    #[arg(long, default_value = "ns")]
    pub clock: EmitClock,
    /// How packets come back to ingress on v1model.
    #[arg(long, default_value = "port")]
    pub recirculation: EmitRecirculation,
    /// How the stages of a program for Tofino are found; greedy if not said.
    #[arg(long, value_name = "WAY")]
    pub layout: Option<EmitLayout>,
    /// With --layout exact: how long to look for fewer stages, in seconds, 60 if not said; then the
    /// best so far is taken. The greedy layout that the search begins with is not bounded.
    #[arg(long, value_name = "SECONDS", requires = "layout", value_parser = seconds, allow_negative_numbers = true)]
    pub time_limit: Option<f64>,
    /// A program for BMv2 as it is: --clock us --delay recirculation --recirculation primitive.
    #[arg(long, conflicts_with_all = ["delay", "clock", "recirculation"])]
    pub bmv2: bool,
    /// Print the program after this pass of the compiler instead; `list` names them.
    #[arg(long, value_name = "PASS")]
    pub after: Option<String>,
    /// P4 of the user's around the dispatcher.
    #[command(flatten)]
    pub user_p4: UserP4Files,
    /// How those two are read.
    #[command(flatten)]
    pub reading: Reading,
    /// The run whose switches and links the commands are for.
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// Write program, commands and device files into this folder.
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// `plane test`
#[derive(Debug, Args)]
pub struct Test {
    /// STF files, and specifications of Lucid runs (JSON, YAML or TOML).
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The program, when it is not the .p4 or .dpt file of the same name.
    #[arg(long, value_name = "PROG")]
    pub program: Option<PathBuf>,
    /// What runs the program: if not said, compiled code for P4, the reference interpreter for Lucid.
    /// Traces of P4 programs come from the interpreter.
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<Engine>,
    /// Print what happened to each packet of a test that fails.
    #[arg(long)]
    pub trace: bool,
    /// How to read the programs.
    #[command(flatten)]
    pub reading: Reading,
}

/// `plane bench`
#[derive(Debug, Args)]
pub struct Bench {
    /// Which system.
    #[arg(value_name = "SYSTEM")]
    pub system: System,
    /// Only this figure of its paper; may be repeated.
    #[arg(long, value_name = "NUMBER", value_parser = number::<u32>)]
    pub figure: Vec<u32>,
    /// The folder of the applications that are measured, a folder each with a program and its run.
    #[arg(long, value_name = "DIR", default_value = "examples/lucid")]
    pub applications: PathBuf,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1, value_parser = number::<u64>)]
    pub seed: u64,
    /// Time and memory of compiling each application, in a process of its own, instead of figures.
    #[arg(long, conflicts_with_all = ["figure", "seed"])]
    pub compile: bool,
    /// What becomes of all Lucid programs of a folder, instead of figures: which compile, which are
    /// refused and why, with time and memory; may be repeated.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["figure", "seed", "applications", "compile"])]
    pub corpus: Vec<PathBuf>,
    /// How long to look for one exact layout, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds, allow_negative_numbers = true)]
    pub time_limit: f64,
    /// Compile one program one way, and print what came of it as JSON: what --compile and --corpus
    /// start.
    #[arg(long, hide = true, num_args = 2, value_names = ["WAY", "FILE"])]
    pub one: Option<Vec<std::ffi::OsString>>,
}

/// Systems whose papers have figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum System {
    /// Lucid (SIGCOMM 2021).
    Lucid,
}

/// `plane fmt`
#[derive(Debug, Args)]
pub struct Fmt {
    /// Files to format in place; `-` formats standard input to standard output.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Change nothing; fail when a file is not formatted.
    #[arg(long)]
    pub check: bool,
}

/// `plane corpus`
#[derive(Debug, Args)]
pub struct Corpus {
    /// The folder.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The programs are wrong: list those that are accepted.
    #[arg(long)]
    pub expect_errors: bool,
    /// Compare with a baseline of names, hashes and verdicts; fail when something changed.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write a baseline.
    #[arg(long, value_name = "FILE")]
    pub write_baseline: Option<PathBuf>,
    /// Print a line for every program, not only for those that are not as expected.
    #[arg(long)]
    pub all: bool,
    /// How to read the programs.
    #[command(flatten)]
    pub reading: Reading,
}

/// `plane explain`
#[derive(Debug, Args)]
pub struct Explain {
    /// The code, such as P4-E0001.
    #[arg(required_unless_present = "list")]
    pub code: Option<String>,
    /// List all codes.
    #[arg(long)]
    pub list: bool,
}
