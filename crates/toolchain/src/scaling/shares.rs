// SPDX-License-Identifier: Apache-2.0
//! Programs that share the pipelines of a switch: each has pipelines and ports of its own, so each is a machine of its own
//! (MP5 §3.1, D1). Pipelines go to the programs one after the other.

use super::capture_run::{CaptureRun, run_captures};
use super::machine_run::MachineRun;
use super::{ScaleRequest, check_pipelines};
use frontend::{Console, ExitStatus, Failure, Frontend, ProgramFile};
use scale::codes;
use scale::report::{MachineReport, SharedReport};
use source::{Diagnostic, Diagnostics, SourceMap, Span};
use std::collections::BTreeMap;

/// A program with its share of a switch.
pub struct Share<'r> {
    /// The language.
    pub language: &'r dyn Frontend,
    /// The program.
    pub file: ProgramFile<'r>,
    /// How it is spread; the pipelines are those of its share.
    pub request: ScaleRequest<'r>,
    /// Its captures.
    pub run: CaptureRun<'r>,
}

/// Returns how many pipelines the first program of a switch has: `on`, or all that `others` leave.
///
/// # Errors
///
/// There are too few pipelines, or a program has none.
pub fn first_share(pipelines: u64, on: Option<u64>, others: &[u64]) -> Result<u64, Failure> {
    let mut found = check_pipelines(pipelines);
    let taken: u64 = others.iter().fold(0, |sum, one| sum.saturating_add(*one));
    let first = on.unwrap_or(pipelines.saturating_sub(taken));
    if found.is_empty() && (first == 0 || others.contains(&0)) {
        let message = "a program has no pipeline";
        let help = "--on M and --beside PROG=M:PORTS take numbers from 1; without --on the program has what others leave";
        found.push(Diagnostic::error(codes::PIPELINES, Span::NONE, message).help(help));
    } else if found.is_empty() && first.saturating_add(taken) > pipelines {
        let counts: Vec<String> = [first].iter().chain(others).map(u64::to_string).collect();
        let message =
            format!("--pipelines {pipelines}: the programs take {}", counts.join(" and "));
        let help = "each pipeline runs one program: write more pipelines, or smaller shares";
        found.push(Diagnostic::error(codes::PIPELINES, Span::NONE, message).help(help));
    }
    match found.has_errors() {
        true => Err(Failure::Found(SourceMap::new(), found)),
        false => Ok(first),
    }
}

/// Checks that each port belongs to one program. `named` has the ports of each program beside the first.
///
/// # Errors
///
/// A port with two programs.
pub fn one_program_a_port(named: &[&[u32]]) -> Result<(), Failure> {
    let mut owner: BTreeMap<u32, usize> = BTreeMap::new();
    let mut found = Diagnostics::new();
    for (program, ports) in named.iter().enumerate() {
        for port in *ports {
            if owner.insert(*port, program).is_some_and(|other| other != program) {
                let message = format!("--beside: port {port} has two programs");
                let help = "packets of a port enter the pipelines of one program";
                found.push(Diagnostic::error(codes::PIPELINES, Span::NONE, message).help(help));
            }
        }
    }
    match found.has_errors() {
        true => Err(Failure::Found(SourceMap::new(), found)),
        false => Ok(()),
    }
}

/// Runs all programs. The status is the worst.
///
/// # Errors
///
/// That of the first program that does not run.
pub fn run_shares(
    pipelines: u64,
    shares: &[Share<'_>],
    machine: &MachineRun<'_>,
    console: &dyn Console,
) -> Result<(SharedReport, ExitStatus), Failure> {
    let mut report = SharedReport { pipelines: pipelines as usize, programs: Vec::new() };
    let mut status = ExitStatus::Fine;
    for share in shares {
        let (language, run) = (share.language, (&share.run, machine));
        let (ran, ended): (MachineReport, ExitStatus) =
            run_captures(language, &share.file, &share.request, run, console)?;
        report.programs.push((share.file.title(), ran));
        if ended != ExitStatus::Fine {
            status = ended;
        }
    }
    Ok((report, status))
}
