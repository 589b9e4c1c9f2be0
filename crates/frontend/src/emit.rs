// SPDX-License-Identifier: Apache-2.0
//! [`Emitter`]: the capability of a language to compile to P4_16 files for a target, with control commands and device
//! files.

use crate::console::{Console, Failure};
use crate::networks::UserP4Files;
use crate::program_file::ProgramFile;
use std::path::Path;
use std::time::Duration;

/// A target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmitTarget {
    /// Its name on the command line.
    pub name: &'static str,
    /// The description in help texts.
    pub description: &'static str,
}

/// Compiles to P4_16.
pub trait Emitter: Sync {
    /// Returns the targets, the default one first.
    fn targets(&self) -> Vec<EmitTarget>;

    /// Compiles a program, and prints it or writes its files.
    ///
    /// # Errors
    ///
    /// Options that exclude each other, or errors of the program.
    fn emit(
        &self,
        program: &ProgramFile<'_>,
        request: &EmitRequest<'_>,
        console: &dyn Console,
    ) -> Result<(), Failure>;
}

/// The options of an emission. Choices have their names on the command line.
#[derive(Clone, Copy, Debug)]
pub struct EmitRequest<'r> {
    /// The target.
    pub target: &'r str,
    /// How delayed events wait: `queue` or `recirculation`; `None` is as in the run, else `queue`.
    pub delay: Option<&'r str>,
    /// The unit of time stamps: `ns` or `us`.
    pub clock: &'r str,
    /// How packets return to ingress: `port` or `primitive`.
    pub recirculation: &'r str,
    /// How tables are assigned to stages: `greedy` or `exact`; `None` is the default.
    pub layout: Option<&'r str>,
    /// The time limit of the search for an exact layout; `None` is the default.
    pub time_limit: Option<Duration>,
    /// Compile for an unmodified BMv2.
    pub bmv2: bool,
    /// Print the program after this pass instead.
    pub after: Option<&'r str>,
    /// P4_16 of the user around the compiled program.
    pub user_p4: UserP4Files<'r>,
    /// The run whose switches and links get the commands.
    pub specification: Option<&'r Path>,
    /// The folder for the files; `None` prints the program.
    pub output: Option<&'r Path>,
}
