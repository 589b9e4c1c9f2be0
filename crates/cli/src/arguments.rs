// SPDX-License-Identifier: Apache-2.0
//! The command line: its options, their types and help texts; `run` has those of `plane run`.

mod atoms;
mod emit;
mod gencap;
mod net;
mod reactions;
mod run;
mod scale;
mod sweep;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use frontend::{EmitTarget, Frontend};
use std::path::PathBuf;
use std::sync::LazyLock;
use toolchain::registry;
use toolchain::scaling::hardware;

pub use atoms::{Atoms, AtomsFormat, ValueRange};
pub use emit::{Emit, EmitClock, EmitRecirculation};
pub use gencap::Gencap;
pub use net::{EmittedNetwork, Net, NetCommand};
pub use reactions::{DriverName, React, ReactCommand, Reload};
pub use run::{GivenOptions, Run};
pub use scale::{RemapEngine, Scale, ScaleFormat, ShownCode};
pub use sweep::{Merge, Seeds, ShardChoice, SweepOptions};

static PROGRAM_NAMES: LazyLock<String> =
    LazyLock::new(|| value_name(registry::frontends().iter().copied()));
static EMITTER_PROGRAM_NAMES: LazyLock<String> =
    LazyLock::new(|| value_name(registry::with_emitters().map(|(each, _)| each)));

/// Returns the value name of a program of these languages, such as `PROG.p4|PROG.dpt`.
fn value_name(languages: impl Iterator<Item = &'static dyn Frontend>) -> String {
    let names: Vec<String> = languages.map(|each| format!("PROG{}", registry::end(each))).collect();
    names.join("|")
}

/// One toolchain for programmable data planes.
#[derive(Debug, Parser)]
#[command(name = "plane", version, max_term_width = 100, disable_help_subcommand = false)]
pub struct Arguments {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// Print only results and errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Print no warnings.
    #[arg(long, global = true)]
    pub no_warnings: bool,
    /// When diagnostics have colours.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

impl Arguments {
    /// Reads the command line. Exits with a message if it is wrong.
    pub fn read() -> Arguments {
        let matches = Arguments::command().get_matches();
        let mut arguments =
            Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        if let (Command::Run(run), Some((_, matches))) =
            (&mut arguments.command, matches.subcommand())
        {
            run.given = GivenOptions::of(matches);
        }
        arguments
    }
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check programs and report errors and warnings.
    #[command(
        after_help = "Example:\n  plane check examples/router/router.p4 examples/lucid/nat/nat.dpt"
    )]
    Check(Check),
    /// Run a P4 program on captured packets, or a Lucid program in a simulated network.
    #[command(after_help = "Example:\n  plane run examples/router/router.p4 \\\n    \
        --in 1=examples/router/captures/host1.pcap \\\n    \
        --entries examples/router/commands.txt --out out/router\n\nWith --verify, compiled \
        code and interpreter run side by side.\n\nExample for Lucid:\n  \
        plane run examples/lucid/nat/nat.dpt \\\n    \
        --spec examples/lucid/nat/run.yaml --timeline out/nat.html\n\n\
        The default specification is the .json, .yaml or .toml file with the program's name; \
        docs/lucid-runs.md describes specifications. With --spec and --in, events come from the \
        specification and packets from the captures.")]
    Run(Box<Run>),
    /// Run a network of switches, hosts and links from one file.
    #[command(after_help = "Example:\n  plane net examples/networks/fat_tree.yaml\n\n\
        docs/networks.md describes the file. Topologies of the P4 tutorials (topology.json) and \
        specifications of Lucid runs are read too.")]
    Net(Box<Net>),
    /// Exchange the reactions of running P4R programs.
    React(React),
    /// Write a generated packet trace with the shape of CAIDA's traces as a capture.
    #[command(after_help = "Example, the trace of Mantis's evaluation:\n  \
        plane gencap trace.pcap --packets 8.9M --flows 370k --duration 20s --snaplen 64\n\n\
        docs/packet-traces.md describes the packets.")]
    Gencap(Gencap),
    /// Run STF tests of P4 programs, and Lucid specifications with expectations.
    #[command(
        after_help = "Example:\n  plane test examples/calculator/calculator.stf\n\nThe default \
        program is the .p4 file with the name of the test.\n\nExample for Lucid:\n  \
        plane test examples/lucid/nat/run.yaml\n  plane test examples/lucid --verify\n\n\
        The specification names the program; the default is the .dpt file with the name of the \
        specification."
    )]
    Test(Test),
    /// Format source files.
    #[command(after_help = "Example:\n  plane fmt --check examples/router/router.p4")]
    Fmt(Fmt),
    /// Print a checked program as P4_16 in one file.
    #[command(
        after_help = "The output is one file: macros are expanded, and the program's own included files are \
        inserted. core.p4 and the architecture stay includes, so that other compilers use their \
        own.\n\nExample:\n  plane print examples/router/router.p4"
    )]
    Print(Print),
    /// Print a program's pipeline IR, or a Lucid program's core program.
    #[command(after_help = "Example:\n  plane ir examples/router/router.p4 --effects")]
    Ir(Ir),
    /// Print a P4 program's P4Info: the ids, names and types that P4Runtime clients need.
    #[command(
        after_help = "Ids are those that p4c gives. The text is the protobuf text format (.txtpb).\n\n\
        Example:\n  plane p4info examples/router/router.p4"
    )]
    P4info(P4info),
    /// Assign a program's tables and registers to the stages of a pipeline, with reasons.
    #[command(
        after_help = "Example:\n  plane layout examples/router/router.p4 --target tofino\n\n\
        Shipped targets are tofino, rmt and banzai; any other target is a TOML file \
        (docs/targets.md). In the JSON, `optimal` is true if no layout has fewer stages, a number if \
        at least that many stages are needed, and false if neither is known."
    )]
    Layout(Layout),
    /// Find the least atom that does what each stateful codelet of a program does.
    #[command(after_help = "Example:\n  plane atoms examples/domino/flowlets.domino")]
    Atoms(Atoms),
    /// Spread a program over several pipelines with the meaning that it has on one (MP5).
    #[command(
        after_help = "Example:\n  plane scale examples/domino/flowlets.domino --pipelines 4\n\n\
        The report says for each register array whether its cells are spread over the pipelines, by which \
        rule, and which lines of the program prevent it. docs/scale.md has the rules."
    )]
    Scale(Box<Scale>),
    /// Compile a program of another language to P4_16 for a target with control commands, or any program to hardware.
    #[command(after_help = "Example:\n  plane emit examples/lucid/nat/nat.dpt -o out/nat\n\n\
        With --spec there are commands for each switch of that run. Without -o the program is printed. --target rtl \
        writes SystemVerilog of a machine of several pipelines.")]
    Emit(Emit),
    /// Check all programs of a folder, count verdicts, and compare them with a baseline.
    #[command(after_help = "Example:\n  plane corpus examples")]
    Corpus(Corpus),
    /// Measure the figures of a paper again, and print them beside the published numbers.
    #[command(after_help = "Examples:\n  plane bench lucid --figure 16 --figure 17\n  \
        plane bench lucid --compile\n  plane bench lucid --corpus examples/lucid\n  \
        plane bench mantis --figure 10a --figure table1 --json\n  \
        plane bench mp5 --figure 7a")]
    Bench(Bench),
    /// Explain a diagnostic code.
    #[command(after_help = "Example:\n  plane explain P4-E0001\n  plane explain --list")]
    Explain(Explain),
    /// Print the completion script of a shell.
    #[command(after_help = "Example, for the bash of this user:\n  \
        plane completions bash > ~/.local/share/bash-completion/completions/plane")]
    Completions(Completions),
    /// Write the manual pages of all commands into a folder.
    #[command(after_help = "Example:\n  plane man ~/.local/share/man/man1")]
    Man(Man),
}

/// Parses a whole number; the error names the range of the type.
fn number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let largest = u64::MAX >> (64 - 8 * size_of::<T>());
    let read = text.parse::<u64>().ok().and_then(|number| T::try_from(number).ok());
    read.ok_or_else(|| format!("write a whole number from 0 to {largest}"))
}

/// Parses `PORT=FILE`.
fn port_and_file(text: &str) -> Result<(u32, PathBuf), String> {
    let (port, file) = text.split_once('=').ok_or("write PORT=FILE, such as 1=capture.pcap")?;
    let port = port.trim();
    let number = port.parse().map_err(|_| format!("`{port}` is not a port number"))?;
    match file.is_empty() {
        true => Err("the file is missing".to_string()),
        false => Ok((number, PathBuf::from(file))),
    }
}

/// Parses a number of seconds.
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
    /// Returns the options for the preprocessor.
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

/// An engine that runs programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Machine code, compiled when the program is loaded.
    Jit,
    /// The interpreter of the pipeline IR.
    Interp,
    /// The reference interpreter of Lucid, which does not compile the program.
    Reference,
}

/// Parses the name of a target of some language.
fn targets() -> PossibleValuesParser {
    let value = |target: EmitTarget| PossibleValue::new(target.name).help(target.description);
    let hardware = PossibleValue::new(hardware::TARGET)
        .help("SystemVerilog of MP5's machine, of programs of any language");
    PossibleValuesParser::new(registry::targets().into_iter().map(value).chain([hardware]))
}

/// Returns the name that the command line has for a choice.
pub fn name_of(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or(String::new(), |value| value.get_name().to_string())
}

impl Engine {
    /// Returns the engine of devices; `None` for the reference interpreter.
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
    /// Report an error for programs that are not written for this architecture.
    #[arg(long, value_parser = PossibleValuesParser::new(registry::architectures()))]
    pub arch: Option<String>,
    /// The form of diagnostics: text on standard error, or JSON on standard output.
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
    /// Inline functions, directly called actions, nested controls and sub-parsers. Tables, actions and objects keep
    /// their control-plane names. A note names each call that cannot be inlined, with the reason.
    #[arg(long)]
    pub inline: bool,
}

/// `plane ir`.
#[derive(Debug, Args)]
pub struct Ir {
    /// The program.
    #[command(flatten)]
    pub program: OneProgram,
    /// Print the effects of statements instead: what each reads and writes, its guards, the state that it accesses,
    /// and the variables that are live after it.
    #[arg(long)]
    pub effects: bool,
}

/// `plane p4info`.
#[derive(Debug, Args)]
pub struct P4info {
    /// The program.
    #[command(flatten)]
    pub program: OneProgram,
    /// The form: protobuf text or JSON.
    #[arg(long, default_value = "text")]
    pub format: Format,
}

/// P4_16 of the user around the event dispatcher of a compiled Lucid program.
#[derive(Clone, Debug, Default, Args)]
pub struct UserP4Files {
    /// P4_16 with a `control before`, which runs before the event dispatcher; -I and -D apply to it.
    #[arg(long, value_name = "FILE.p4")]
    pub p4_before: Option<PathBuf>,
    /// P4_16 with a `control after`, which runs after it; -I and -D apply to it.
    #[arg(long, value_name = "FILE.p4")]
    pub p4_after: Option<PathBuf>,
}

impl UserP4Files {
    /// For the compiler.
    pub fn files(&self) -> frontend::UserP4Files<'_> {
        frontend::UserP4Files { before: self.p4_before.as_deref(), after: self.p4_after.as_deref() }
    }
}

/// The form of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LayoutFormat {
    /// A table with reasons.
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
    /// The hardware model: a shipped target, or a target file.
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "tofino")]
    pub target: String,
    /// Search for the layout with the fewest stages, and prove that none has fewer.
    #[arg(long)]
    pub exact: bool,
    /// With --exact: stop the search after this time, in seconds, and take the best layout so far. The limit does
    /// not apply to the greedy layout that is computed first.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "60",
        requires = "exact",
        value_parser = seconds,
        allow_negative_numbers = true
    )]
    pub time_limit: f64,
    /// The form of the layout.
    #[arg(long, default_value = "text")]
    pub format: LayoutFormat,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How to read the program.
    #[command(flatten)]
    pub reading: Reading,
}

/// `plane test`
#[derive(Debug, Args)]
pub struct Test {
    /// STF files, specifications of Lucid runs (JSON, YAML or TOML), and folders of both: of a folder, STF files and
    /// specifications with `expect`.
    #[arg(required = true, value_name = "FILE|DIR")]
    pub files: Vec<PathBuf>,
    /// The program [default: the .p4 or .dpt file with the name of the test].
    #[arg(long, value_name = "PROG")]
    pub program: Option<PathBuf>,
    /// The engine that runs the program [default: jit for P4, reference for Lucid]. Traces of P4 programs come
    /// from the interpreter.
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<Engine>,
    /// Compile the Lucid program for this target and run it on devices; of a folder, only specifications are run.
    #[arg(long, value_name = "TARGET", value_parser = targets())]
    pub target: Option<String>,
    /// Also compare the devices of the compiled Lucid program with the reference interpreter, handler by handler, and
    /// the bytes of the packets that leave.
    #[arg(long)]
    pub verify: bool,
    /// Print what happened to each packet of a failed test.
    #[arg(long)]
    pub trace: bool,
    /// How to read the programs.
    #[command(flatten)]
    pub reading: Reading,
}

/// `plane bench`
#[derive(Debug, Args)]
pub struct Bench {
    /// The system.
    #[arg(value_name = "SYSTEM")]
    pub system: System,
    /// Measure only this figure of its paper, such as 14 or 10a; may be repeated.
    #[arg(long, value_name = "FIGURE")]
    pub figure: Vec<String>,
    /// Print the figures as JSON, a list of objects.
    #[arg(long, conflicts_with_all = ["compile", "corpus"])]
    pub json: bool,
    /// Mantis: traces of the paper's size instead of a twentieth (figure 14).
    #[arg(long)]
    pub full: bool,
    /// Mantis: the costs of the driver (TOML) [default: those that fit the paper].
    #[arg(long, value_name = "FILE.toml")]
    pub driver_model: Option<PathBuf>,
    /// MP5: take the traces of a checkout of the paper's artifact, its folder `simulator`.
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
    /// MP5: the number of seeds, or of folders of traces [default: 10].
    #[arg(long, value_name = "N", value_parser = number::<u64>)]
    pub seeds: Option<u64>,
    /// Lucid: the folder of the applications to measure; each is a folder with a program and its run.
    #[arg(long, value_name = "DIR", default_value = "examples/lucid")]
    pub applications: PathBuf,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 1, value_parser = number::<u64>)]
    pub seed: u64,
    /// Measure time and memory of compiling each application instead of figures, in a process for each.
    #[arg(long, conflicts_with_all = ["figure", "seed"])]
    pub compile: bool,
    /// Report which Lucid programs of a folder compile instead of figures, with reasons of refusals, time and
    /// memory; may be repeated.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["figure", "seed", "applications", "compile"])]
    pub corpus: Vec<PathBuf>,
    /// Stop the search for one exact layout after this time, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds, allow_negative_numbers = true)]
    pub time_limit: f64,
    /// Compile one program for one target and print the outcome as JSON: --compile and --corpus start such
    /// processes.
    #[arg(long, hide = true, num_args = 2, value_names = ["TARGET", "FILE"])]
    pub one: Option<Vec<std::ffi::OsString>>,
}

/// Systems whose papers have figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum System {
    /// Lucid (SIGCOMM 2021).
    Lucid,
    /// Mantis (SIGCOMM 2020).
    Mantis,
    /// MP5 (SIGCOMM 2022).
    Mp5,
}

/// `plane fmt`
#[derive(Debug, Args)]
pub struct Fmt {
    /// Files to format in place; `-` formats standard input to standard output.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Change no file; fail if a file is not formatted.
    #[arg(long)]
    pub check: bool,
}

/// `plane corpus`
#[derive(Debug, Args)]
pub struct Corpus {
    /// The folder.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Expect errors in all programs, and list those that are accepted.
    #[arg(long)]
    pub expect_errors: bool,
    /// Compare with a baseline of names, hashes and verdicts; fail if they differ.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write a baseline.
    #[arg(long, value_name = "FILE")]
    pub write_baseline: Option<PathBuf>,
    /// Print a line for every program, not only for unexpected verdicts.
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

/// `plane completions`
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// `plane man`
#[derive(Debug, Args)]
pub struct Man {
    /// The folder; it is created if it does not exist.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
