// SPDX-License-Identifier: Apache-2.0
//! [`FieldRuns`]: the capability of a language whose packets are records of named fields to run tables of packets, and to
//! prepare them for other machines than a device.

use crate::compiled::Compiled;
use crate::console::{Console, ExitStatus, Failure};
use crate::program_file::ProgramFile;
use device::EngineChoice;
use ir::Program;
use state::Cells;
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

    /// Compiles a program and reads the packets of a CSV file as frames. Prints warnings.
    ///
    /// # Errors
    ///
    /// Errors of the program or of the file.
    fn prepare(
        &self,
        program: &ProgramFile<'_>,
        packets: &Path,
        console: &dyn Console,
    ) -> Result<FieldProgram, Failure>;
}

/// A compiled program with its packets.
pub struct FieldProgram {
    /// The program.
    pub compiled: Compiled,
    /// Control commands that write first values.
    pub commands: String,
    /// The packets in their order.
    pub frames: Vec<Vec<u8>>,
    /// What writes packets and state in the terms of the language.
    pub writer: Box<dyn FieldWriter>,
}

/// Writes the results of a run of a [`FieldProgram`].
pub trait FieldWriter {
    /// Returns the packets that left as CSV, in the order of those that entered; a dropped packet is `None`.
    fn packets(&self, frames: &[Option<Vec<u8>>]) -> String;

    /// Returns the state as JSON.
    fn state(&self, program: &Program, cells: &Cells) -> String;
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
    /// The number of pipelines of the device, each on a thread, if the user wants several (MP5).
    pub pipelines: Option<u64>,
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
