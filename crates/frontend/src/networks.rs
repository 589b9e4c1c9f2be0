// SPDX-License-Identifier: Apache-2.0
//! [`NetworkRuns`]: the capability of a language to run programs in networks that a specification describes,
//! with recorded schedules, time lines and expectations.

use crate::console::{Console, ExitStatus, Failure};
use crate::program_file::ProgramFile;
use device::EngineChoice;
use std::path::{Path, PathBuf};

/// The extensions of specifications, in the order in which a run searches for them beside a program.
pub const SPECIFICATIONS: &[&str] = &["json", "yaml", "yml", "toml"];

/// Runs of whole networks.
pub trait NetworkRuns: Sync {
    /// Runs a program by a specification, or one switch on captures, and writes the results.
    ///
    /// # Errors
    ///
    /// Why there is no run. Errors in the run are printed.
    fn run(
        &self,
        program: &ProgramFile<'_>,
        run: &NetworkRun<'_>,
        console: &dyn Console,
    ) -> Result<ExitStatus, Failure>;

    /// Runs a specification as a test of its expectations.
    fn test(&self, test: &NetworkTest<'_>) -> Tested;

    /// Whether a file is a specification with expectations, and so a test of its folder.
    fn is_test(&self, file: &ProgramFile<'_>) -> bool;
}

/// P4_16 of the user around a compiled program.
#[derive(Clone, Copy, Debug, Default)]
pub struct UserP4Files<'r> {
    /// Runs in front of it.
    pub before: Option<&'r Path>,
    /// Runs behind it.
    pub after: Option<&'r Path>,
}

impl<'r> UserP4Files<'r> {
    /// Returns the files that are given.
    pub fn files(&self) -> impl Iterator<Item = &'r Path> {
        [self.before, self.after].into_iter().flatten()
    }
}

/// Captures that a run reads and writes.
#[derive(Clone, Copy, Debug)]
pub struct RunCaptures<'r> {
    /// Captures by the port that their packets enter by.
    pub inputs: &'r [(u32, PathBuf)],
    /// The folder for a capture of each port that packets leave by.
    pub out: &'r Path,
}

/// A run in a network, as its user describes it.
#[derive(Clone, Copy, Debug)]
pub struct NetworkRun<'r> {
    /// The specification; `None` is the one beside the program, or no specification if there are captures.
    pub specification: Option<&'r Path>,
    /// Captures of the only switch.
    pub captures: Option<RunCaptures<'r>>,
    /// Further events that the run gets while it goes on, an entry a line; `-` is standard input.
    pub events: Option<&'r Path>,
    /// What executes the program.
    pub execution: Execution<'r>,
    /// Values of symbolic sizes and constants; they replace those of the specification.
    pub symbolics: Option<&'r Path>,
    /// The seed; it replaces that of the specification.
    pub seed: Option<u64>,
    /// The end of the run; it replaces that of the specification.
    pub until_ps: Option<u64>,
    /// Print what happens to each packet.
    pub trace: bool,
    /// Print what happens as JSON, an object a line.
    pub json: bool,
    /// Print only what happens to the events of these names; empty for all.
    pub only: &'r [String],
    /// Print all bytes of packets and payloads; otherwise their length and the first ones.
    pub all_bytes: bool,
    /// Write the state at the end to this file, as JSON.
    pub state_out: Option<&'r Path>,
    /// Write a page with a time line to this file.
    pub timeline: Option<&'r Path>,
    /// Write the schedule to this file.
    pub record: Option<&'r Path>,
}

/// What executes a program in a network.
#[derive(Clone, Copy, Debug)]
pub enum Execution<'r> {
    /// Devices execute the compiled program.
    Compiled(CompiledRun<'r>),
    /// The reference interpreter of the language executes the source; nothing is compiled.
    Reference,
    /// The reference interpreter executes the schedule of this file.
    Replay(&'r Path),
}

/// How a program is compiled for a run, and what executes it then.
#[derive(Clone, Copy, Debug)]
pub struct CompiledRun<'r> {
    /// The target; `None` is the first one of the language.
    pub target: Option<&'r str>,
    /// The engine of the devices.
    pub engine: EngineChoice,
    /// Whether the reference interpreter executes each handler beside the devices.
    pub is_verified: bool,
    /// P4_16 of the user around the compiled program.
    pub user_p4: UserP4Files<'r>,
}

/// A specification to run as a test.
#[derive(Clone, Copy)]
pub struct NetworkTest<'t> {
    /// The specification, and how files are read.
    pub specification: ProgramFile<'t>,
    /// The program; `None` is the one that the specification names.
    pub program: Option<&'t Path>,
    /// What executes the program: devices or the reference interpreter.
    pub execution: Execution<'t>,
    /// Collect what happens, to print it if the test fails.
    pub trace: bool,
}

/// The result of one test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tested {
    /// The failures; empty if the test passed.
    pub failures: Vec<String>,
    /// The trace of a failed test, if the user wants it.
    pub trace: String,
    /// Remarks on a test that passed.
    pub notes: Vec<String>,
    /// The name of the engine, for reports.
    pub engine: String,
}
