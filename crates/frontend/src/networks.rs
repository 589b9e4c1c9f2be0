// SPDX-License-Identifier: Apache-2.0
//! [`NetworkRuns`]: the capability of a language to run programs in networks that a specification describes,
//! with recorded schedules, time lines and expectations.

use crate::console::{Console, ExitStatus, Failure};
use crate::program_file::ProgramFile;
use device::EngineChoice;
use std::path::{Path, PathBuf};

/// Ends of names of specifications, in the order in which they are looked for beside a program.
pub const SPECIFICATIONS: &[&str] = &["json", "yaml", "yml", "toml"];

/// Runs of whole networks.
pub trait NetworkRuns: Sync {
    /// Runs a program by a specification, or one switch on captures, and writes the results.
    ///
    /// # Errors
    ///
    /// Why there is no run. What goes wrong in the run is printed.
    fn run(
        &self,
        program: &ProgramFile<'_>,
        run: &NetworkRun<'_>,
        console: &dyn Console,
    ) -> Result<ExitStatus, Failure>;

    /// Runs a specification as a test of its expectations.
    fn test(&self, test: &NetworkTest<'_>) -> Tested;
}

/// P4_16 of the user's around a compiled program.
#[derive(Clone, Copy, Debug, Default)]
pub struct UserP4Files<'r> {
    /// To run in front of it.
    pub before: Option<&'r Path>,
    /// To run behind it.
    pub after: Option<&'r Path>,
}

impl<'r> UserP4Files<'r> {
    /// Those that are named.
    pub fn files(&self) -> impl Iterator<Item = &'r Path> {
        [self.before, self.after].into_iter().flatten()
    }
}

/// What is asked of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetworkRun<'r> {
    /// The specification; that beside the program if none is named.
    pub specification: Option<&'r Path>,
    /// Captures of packets that come in at ports of the only switch. With some and no specification named, no
    /// specification is looked for.
    pub captures: &'r [(u32, PathBuf)],
    /// The folder for captures of what leaves.
    pub out: Option<&'r Path>,
    /// What runs compiled programs, if said.
    pub engine: Option<EngineChoice>,
    /// The reference interpreter of the language runs the program, and nothing is compiled.
    pub is_reference: bool,
    /// The program runs compiled beside the reference interpreter.
    pub verify: bool,
    /// What to compile for, if said.
    pub target: Option<&'r str>,
    /// P4_16 of the user's around the compiled program.
    pub user_p4: UserP4Files<'r>,
    /// Values of symbolic sizes and constants, over those of the specification.
    pub symbolics: Option<&'r Path>,
    /// Seed, over that of the specification.
    pub seed: Option<u64>,
    /// The end of the run, over that of the specification.
    pub until_ps: Option<u64>,
    /// Tell what happened to each packet.
    pub trace: bool,
    /// Tell what happens as JSON, an object a line.
    pub json: bool,
    /// Write what all state is at the end, as JSON.
    pub state_out: Option<&'r Path>,
    /// Write a page with a time line.
    pub timeline: Option<&'r Path>,
    /// Record the schedule.
    pub record: Option<&'r Path>,
    /// Run a recorded schedule.
    pub replay: Option<&'r Path>,
}

/// What is asked of a test.
#[derive(Clone, Copy)]
pub struct NetworkTest<'t> {
    /// The specification, and how files are read.
    pub specification: ProgramFile<'t>,
    /// The program, if the specification does not say.
    pub program: Option<&'t Path>,
    /// The engine of the compiled program; the reference interpreter if not said.
    pub engine: Option<EngineChoice>,
    /// Tell what happened, should the test fail.
    pub trace: bool,
}

/// How one test ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tested {
    /// What is wrong, line by line; nothing if it passed.
    pub failures: Vec<String>,
    /// What happened, if asked for and the test failed.
    pub trace: String,
    /// Remarks on a test that passed.
    pub notes: Vec<String>,
    /// What ran the program, for people.
    pub engine: String,
}
