// SPDX-License-Identifier: Apache-2.0
//! [`Emitter`]: the capability of a language to be compiled to P4_16 files for a target, with what the control
//! plane sets up.

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
    /// What it is, for help texts.
    pub description: &'static str,
}

/// Compiles to P4_16.
pub trait Emitter: Sync {
    /// The targets, the usual one first.
    fn targets(&self) -> Vec<EmitTarget>;

    /// Compiles a program; prints it or writes its files.
    ///
    /// # Errors
    ///
    /// What does not go together on the command line, or what is wrong with the program.
    fn emit(
        &self,
        program: &ProgramFile<'_>,
        request: &EmitRequest<'_>,
        console: &dyn Console,
    ) -> Result<(), Failure>;
}

/// What is asked of an emitter. Choices are given by the names that the command line has for them.
#[derive(Clone, Copy, Debug)]
pub struct EmitRequest<'r> {
    /// What to compile for.
    pub target: &'r str,
    /// How delayed events wait, if said: `queue` or `recirculation`.
    pub delay: Option<&'r str>,
    /// The unit of time stamps: `ns` or `us`.
    pub clock: &'r str,
    /// How packets come back to ingress: `port` or `primitive`.
    pub recirculation: &'r str,
    /// How stages are found, if said: `greedy` or `exact`.
    pub layout: Option<&'r str>,
    /// How long to search for an exact layout, if said.
    pub time_limit: Option<Duration>,
    /// A program for BMv2 as it is.
    pub bmv2: bool,
    /// Print the program after this pass instead.
    pub after: Option<&'r str>,
    /// P4_16 of the user's around the compiled program.
    pub user_p4: UserP4Files<'r>,
    /// The run whose switches and links the commands are for.
    pub specification: Option<&'r Path>,
    /// The folder to write to.
    pub output: Option<&'r Path>,
}
