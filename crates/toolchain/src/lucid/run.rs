// SPDX-License-Identifier: Apache-2.0
//! `plane run` for Lucid programs: a run by its specification, executed by the reference interpreter or compiled.
//! `replay` runs recorded schedules, `report` prints and writes.

use super::captures::Departures;
use super::executor::{Executor, Verification};
use super::inputs::{LucidRun, RunRequest, read_run};
use super::live::LiveEvents;
use super::progress::ProgressDisplay;
use super::report::{LogContent, Report, final_state_text, still_to_happen, verdicts_text};
use super::targets::target_of;
use super::{replay, user_p4};
use crate::port_captures::written_text;
use frontend::{Console, Execution, ExitStatus, Failure, NetworkRun, ProgramFile};
use lucid_compiler::Options;
use lucid_reference::report::{
    Detail, Detours, Observers, PendingEvents, Verdicts, counters_table,
};
use lucid_reference::simulation::Outcome;
use lucid_reference::simulation::schedule::Recorder;
use source::Diagnostics;
use std::path::PathBuf;

/// Runs it.
pub(super) fn run(
    program: &ProgramFile<'_>,
    arguments: &NetworkRun<'_>,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let request = RunRequest {
        program: Some(program.path),
        specification: arguments.specification,
        symbolics: arguments.symbolics,
        until_ps: arguments.until_ps,
        seed: arguments.seed,
        captures: arguments.captures.map_or(&[], |captures| captures.inputs),
        ..RunRequest::from(program.files)
    };
    let run = read_run(&request, Some(console))?;
    let executor = match &arguments.execution {
        Execution::Replay(path) => {
            return replay::run(program.files, arguments, &run, path, console);
        }
        Execution::Reference => Executor::reference(&run),
        Execution::Compiled(compiled) => {
            let options = Options { target: target_of(compiled.target)?, ..Options::default() };
            let options = user_p4::with_files(options, &compiled.user_p4, program)?;
            let verification = match compiled.is_verified {
                true => Verification::Pending,
                false => Verification::Off,
            };
            Executor::compiled(compiled.engine, options, verification, &run, Some(console))?
        }
    };
    execute(executor, arguments, &run, console)
}

fn execute(
    mut executor: Executor,
    arguments: &NetworkRun<'_>,
    run: &LucidRun,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let quiet = console.is_quiet();
    let (is_verified, has_user_p4) = match &arguments.execution {
        Execution::Compiled(compiled) => {
            (compiled.is_verified, compiled.user_p4.files().next().is_some())
        }
        Execution::Reference | Execution::Replay(_) => (false, false),
    };
    let program = run.setup.program().clone();
    // A verified run does not stop before its end, so expectations could not read arrays.
    let expectations = match is_verified {
        true => Vec::new(),
        false => executor.expectations(&run.specification),
    };
    let mut verdicts = match Verdicts::new(&program, &expectations) {
        Ok(verdicts) => verdicts,
        Err(problems) => {
            console.diagnostics(&run.map, &problems);
            return Ok(ExitStatus::WrongInput);
        }
    };
    let mut report = Report::new(arguments, run, &run.title(), &executor.name(), console)?;
    let live = arguments.events.map(|path| LiveEvents::open(path, arguments.json, run, console));
    let mut live = live.transpose()?;
    let mut recorder = Recorder::new();
    let mut waiting = PendingEvents::new();
    let mut detours = Detours::new(&run.setup);
    let mut departing = match &arguments.captures {
        Some(captures) => {
            let inputs: Vec<PathBuf> = run.files().collect();
            Some(Departures::new(run.setup.clone(), captures.out, &inputs, run.capture_times)?)
        }
        None => None,
    };
    let content = LogContent {
        detail: match (arguments.trace, quiet) {
            (true, _) => Some(Detail::Everything),
            (false, false) => Some(Detail::Results),
            (false, true) => None,
        },
        accesses: arguments.trace,
        departures: departing.is_none() || arguments.trace,
    };
    let mut progress = ProgressDisplay::new(run, console);
    let outcome = report.log(content, |log| {
        let mut observers = Observers::new();
        observers.push(log);
        // P4 of the user may consume generated events.
        if !quiet && !has_user_p4 {
            observers.push(&mut waiting);
        }
        if !quiet {
            observers.push(&mut detours);
        }
        if arguments.record.is_some() {
            observers.push(&mut recorder);
        }
        if let Some(departing) = &mut departing {
            observers.push(departing);
        }
        observers.push(&mut progress);
        match &mut live {
            Some(live) => live.observe(&mut executor, &mut verdicts, &mut observers),
            None => executor.observe(&mut verdicts, &mut observers),
        }
    });
    let advice = progress.advice();
    drop(progress);
    let captured = departing.map(Departures::finish).transpose()?;
    let (counts, states) = (executor.counts(), executor.states());
    let verdicts =
        verdicts.finish(&counts, &|switch, global, index| executor.cell(switch, global, index));
    let mut failed = verdicts.iter().any(|verdict| !verdict.passed);
    failed |= live.is_some_and(|live| live.has_errors());
    let mut summary = String::new();
    if !quiet {
        summary.push_str(&format!("\n{}", counters_table(&counts)));
        summary.push_str(&final_state_text(run, &states));
        if let Some(still) = still_to_happen(run, &outcome, &waiting, &executor) {
            summary.push_str(&format!("\n{still}\n"));
        }
    }
    if !verdicts.is_empty() {
        summary.push_str(&verdicts_text(&verdicts, quiet));
    }
    report.summary(&summary);
    if !quiet {
        let mut warnings = executor.warnings();
        warnings.append(detours.warnings());
        console.diagnostics(&run.map, &warnings);
    }
    match executor.comparison() {
        Some(Ok(_)) if quiet => {}
        Some(Ok(agreement)) => console.note(&agreement),
        Some(Err(difference)) => {
            console.error(&difference);
            failed = true;
        }
        None => {}
    }
    if let Outcome::Stopped(fault) = outcome {
        let mut list = Diagnostics::new();
        list.push(*fault);
        console.diagnostics(&run.map, &list);
        failed = true;
    }
    if let Some(advice) = advice.filter(|_| !quiet) {
        console.note(advice);
    }
    if let Some(captured) = captured.filter(|_| !quiet) {
        console.note(written_text(&captured).trim_end());
    }
    report.write(&counts, &states, || recorder.schedule().to_json_lines(&program))?;
    Ok(if failed { ExitStatus::WrongInput } else { ExitStatus::Fine })
}
