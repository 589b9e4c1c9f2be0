// SPDX-License-Identifier: Apache-2.0
//! `plane completions`: prints the completion script of a shell.

use crate::arguments::{Arguments, Completions};
use crate::output;
use clap::CommandFactory;
use frontend::ExitStatus;

/// Runs it.
pub fn run(arguments: &Completions) -> ExitStatus {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "plane", &mut script);
    output::print(&String::from_utf8_lossy(&script));
    ExitStatus::Fine
}
