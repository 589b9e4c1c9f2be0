// SPDX-License-Identifier: Apache-2.0
//! `plane run` for Lucid programs: a specification through the reference interpreter or compiled, with the
//! reports that were asked for. Recorded schedules are run by `replay`.

use super::captures::Leaving;
use super::inputs::{Ready, Wanted, ready};
use super::machine::Machine;
use super::results::{Printer, links, still_to_happen, verdicts_text, write_results};
use super::targets::target_of;
use super::{replay, user_p4};
use device::EngineChoice;
use frontend::{Console, ExitStatus, Failure, NetworkRun, ProgramFile};
use lucid_compiler::Options;
use lucid_reference::report::{
    Detail, JsonLines, Observers, PendingEvents, TextLog, TimeLine, Verdicts, counters_table,
    state_json, state_text,
};
use lucid_reference::simulation::schedule::Recorder;
use lucid_reference::simulation::{Observation, ObservationKind, Observer, Outcome};
use source::Diagnostics;
use std::path::{Path, PathBuf};

/// Runs it.
pub(super) fn run(
    program: &ProgramFile<'_>,
    arguments: &NetworkRun<'_>,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    usage(arguments).map_err(Failure::Usage)?;
    let wanted = Wanted {
        program: Some(program.path),
        specification: arguments.specification,
        symbolics: arguments.symbolics,
        until_ps: arguments.until_ps,
        seed: arguments.seed,
        captures: arguments.captures,
        ..Wanted::from(program.files)
    };
    let ready = ready(&wanted, Some(console))?;
    match arguments.replay {
        Some(path) => replay::run(program, arguments, &ready, path, console),
        None => run_ready(program, arguments, &ready, console),
    }
}

/// What does not go together.
fn usage(arguments: &NetworkRun<'_>) -> Result<(), String> {
    let has_p4 = arguments.user_p4.files().next().is_some();
    let is_compiled = !arguments.is_reference && arguments.replay.is_none();
    if has_p4 && !is_compiled {
        return Err("--p4-before and --p4-after are for compiled programs: leave out --engine \
                    reference and --replay"
            .to_string());
    }
    if has_p4 && arguments.record.is_some() {
        return Err("a schedule has what handlers do and nothing of what P4 of yours does: leave \
                    out --record, or --p4-before and --p4-after"
            .to_string());
    }
    if arguments.is_reference && arguments.target.is_some() {
        return Err(
            "--target says what to compile for, and the reference interpreter compiles nothing"
                .to_string(),
        );
    }
    if arguments.replay.is_some()
        && (arguments.is_reference
            || arguments.engine.is_some()
            || arguments.verify
            || arguments.target.is_some())
    {
        return Err("--replay runs a schedule by the reference interpreter: leave out --engine, --target and --verify".to_string());
    }
    if arguments.captures.is_empty() != arguments.out.is_none() {
        return Err(
            "captures come in with --in PORT=FILE and go out with --out DIR: name both".to_string()
        );
    }
    if !arguments.captures.is_empty() && arguments.replay.is_some() {
        return Err("--replay takes its inputs from the specification, not from --in".to_string());
    }
    let named =
        [arguments.state_out, arguments.timeline, arguments.record, arguments.replay].into_iter();
    let mut written: Vec<&Path> = named.flatten().chain(arguments.user_p4.files()).collect();
    written.sort();
    if let Some(pair) = written.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("two options name the file `{}`", pair[0].display()));
    }
    Ok(())
}

/// A log without what leaves, where that is written to captures.
struct Quieter<'o> {
    log: &'o mut dyn Observer,
    leaves_out: bool,
}

impl Observer for Quieter<'_> {
    fn wants_accesses(&self) -> bool {
        self.log.wants_accesses()
    }

    fn observe(&mut self, observation: Observation) {
        if !(self.leaves_out && matches!(observation.kind, ObservationKind::Left { .. })) {
            self.log.observe(observation);
        }
    }
}

fn run_ready(
    file: &ProgramFile<'_>,
    arguments: &NetworkRun<'_>,
    ready: &Ready,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let quiet = console.is_quiet();
    let program = ready.setup.program().clone();
    let options = Options { target: target_of(arguments.target)?, ..Options::default() };
    let options = user_p4::with_files(options, &arguments.user_p4, file)?;
    let mut machine = match arguments.is_reference {
        true => Machine::reference(ready),
        false => {
            let engine = arguments.engine.unwrap_or(EngineChoice::Jit);
            Machine::compiled(engine, options, arguments.verify, ready, Some(console))?
        }
    };
    // A run that is compared goes through in one piece, without a look at cells on the way.
    let expectations: &[_] = if arguments.verify { &[] } else { &ready.run.expectations };
    let mut verdicts = match Verdicts::new(&program, expectations) {
        Ok(verdicts) => verdicts,
        Err(problems) => {
            console.diagnostics(&ready.map, &problems);
            return Ok(ExitStatus::WrongInput);
        }
    };
    let title = ready.title();
    let mut line = TimeLine::new(&program, title.as_str(), ready.setup.switches(), links(ready));
    let mut printer = Printer::new(console);
    let mut recorder = Recorder::new();
    let mut waiting = PendingEvents::new();
    let mut leaving = match arguments.out {
        Some(folder) => {
            let inputs: Vec<PathBuf> = ready.files().collect();
            Some(Leaving::new(ready.setup.clone(), folder, &inputs, ready.capture_times)?)
        }
        None => None,
    };
    let detail = if arguments.trace { Detail::Everything } else { Detail::Results };
    if !quiet && !arguments.json {
        printer.add(&format!("{title} ({})\n\n", machine.name()));
    }
    let outcome = {
        let mut write = |text: &str| printer.add(text);
        let mut text;
        let mut json;
        let mut quieter;
        let mut observers = Observers::new();
        if arguments.json {
            json = JsonLines::new(&program, arguments.trace, &mut write);
            observers.push(&mut json);
        } else if !quiet || arguments.trace {
            text = TextLog::new(&program, detail, &mut write)
                .with_recirculation_ports(ready.setup.recirculation_ports());
            quieter = Quieter { log: &mut text, leaves_out: leaving.is_some() && !arguments.trace };
            observers.push(&mut quieter);
        }
        // What becomes of generated events is P4's of the user, if there is some.
        if !quiet && arguments.user_p4.files().next().is_none() {
            observers.push(&mut waiting);
        }
        if arguments.timeline.is_some() {
            observers.push(&mut line);
        }
        if arguments.record.is_some() {
            observers.push(&mut recorder);
        }
        if let Some(leaving) = &mut leaving {
            observers.push(leaving);
        }
        machine.observe(&mut verdicts, &mut observers)
    };
    printer.flush();
    let captured = leaving.map(Leaving::finish).transpose()?;
    let counts = machine.counts();
    let verdicts =
        verdicts.finish(&counts, &|switch, global, index| machine.cell(switch, global, index));
    let mut failed = verdicts.iter().any(|verdict| !verdict.passed);
    let mut summary = String::new();
    if !quiet {
        summary.push_str(&format!("\n{}", counters_table(&counts)));
        let state = state_text(&program, machine.states().iter());
        if !state.is_empty() {
            summary.push_str(&format!("\nstate at the end, where it is not zero:\n{state}"));
        }
        if let Some(told) = still_to_happen(ready, &outcome, &waiting, &machine) {
            summary.push_str(&format!("\n{told}\n"));
        }
    }
    if !verdicts.is_empty() {
        summary.push_str(&verdicts_text(&verdicts, quiet));
    }
    // Readers of observations as JSON get nothing else on standard output.
    if arguments.json {
        if !summary.is_empty() {
            console.note(summary.trim_end());
        }
    } else {
        console.print(&summary);
    }
    if !quiet {
        console.diagnostics(&ready.map, &machine.warnings());
    }
    if let Some(said) = machine.judgement() {
        failed |= said.is_err();
        match said {
            Ok(said) if quiet => drop(said),
            Ok(said) => console.note(&said),
            Err(said) => console.error(&said),
        }
    }
    if let Outcome::Stopped(fault) = outcome {
        let mut list = Diagnostics::new();
        list.push(*fault);
        console.diagnostics(&ready.map, &list);
        failed = true;
    }
    let mut results = Vec::new();
    if let Some(path) = arguments.state_out {
        let states = machine.states();
        results.push((path, format!("{:#}\n", state_json(&program, states.iter()))));
    }
    if let Some(path) = arguments.timeline {
        results.push((path, line.html(&counts)));
    }
    if let Some(path) = arguments.record {
        results.push((path, recorder.schedule().to_json_lines(&program)));
    }
    if let Some(captured) = captured.filter(|_| !quiet) {
        console.note(crate::port_captures::written_text(&captured).trim_end());
    }
    write_results(&results, ready, console)?;
    Ok(if failed { ExitStatus::WrongInput } else { ExitStatus::Fine })
}
