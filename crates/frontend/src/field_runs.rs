// SPDX-License-Identifier: Apache-2.0
//! [`FieldRuns`]: the capability of a language whose packets are records of named fields to run tables of packets.

use crate::console::{Console, ExitStatus, Failure};
use crate::program_file::ProgramFile;
use device::EngineChoice;
use std::path::Path;

/// Runs of tables of packets.
pub trait FieldRuns: Sync {
    /// Runs the packets of a CSV file through a program, and writes them and the state.
    ///
    /// # Errors
    ///
    /// Why there is no run.
    fn run(
        &self,
        program: &ProgramFile<'_>,
        run: &FieldRun<'_>,
        console: &dyn Console,
    ) -> Result<ExitStatus, Failure>;
}

/// A run of a table of packets, as its user describes it.
#[derive(Clone, Copy, Debug)]
pub struct FieldRun<'r> {
    /// The packets that enter: CSV with the fields' names in its first line.
    pub packets: &'r Path,
    /// The file for the packets that leave, in the order of those that enter.
    pub packets_out: Option<&'r Path>,
    /// The file for the state at the end, as JSON.
    pub state_out: Option<&'r Path>,
    /// What runs the program.
    pub execution: FieldExecution,
    /// Seed of everything random.
    pub seed: u64,
}

/// What runs a program on a table of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldExecution {
    /// A device with this engine executes the compiled program.
    Device(EngineChoice),
    /// The reference interpreter of the language executes the source.
    Reference,
    /// A device executes the compiled program, and its packets and state are compared with those of the reference
    /// interpreter.
    Verified,
}
