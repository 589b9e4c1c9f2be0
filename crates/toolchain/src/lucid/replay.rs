// SPDX-License-Identifier: Apache-2.0
//! `plane run --replay`: a recorded schedule again. It is checked against the rules of legal
//! schedules and run dispatch by dispatch; the state at the end is the schedule's.

use super::inputs::Ready;
use super::results::{Printer, links, write_results};
use super::targets::ENGINE;
use frontend::{Console, ExitStatus, Failure, NetworkRun, ProgramFile, coded};
use lucid_compiler::{Delay, Options};
use lucid_network::options::delay_options;
use lucid_network::tolerance;
use lucid_reference::report::{
    Detail, JsonLines, Observers, TextLog, TimeLine, counters_table, state_json, state_text,
};
use lucid_reference::simulation::schedule::{Schedule, Tolerance, Violation, check_legal, replay};
use lucid_reference::simulation::{Counts, Observation, ObservationKind, Observer, Occurrence};
use source::{Diagnostics, Severity};
use std::path::Path;

/// Runs a schedule.
pub(super) fn run(
    file: &ProgramFile<'_>,
    arguments: &NetworkRun<'_>,
    ready: &Ready,
    path: &Path,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let quiet = console.is_quiet();
    let (setup, program) = (&ready.setup, ready.setup.program());
    let text = file.files.text(path)?;
    let schedule = Schedule::from_json_lines(program, &text).map_err(|bad| {
        let message = format!(
            "`{}` is no schedule of this program: {bad}\n  help: `plane run PROG.dpt --record FILE` \
             writes schedules",
            path.display()
        );
        coded(bad.code().0, &message)
    })?;
    // A compiled program's schedule is legal within its tolerance.
    let options = delay_options(setup, Options::default());
    let period_ps = match options.delay {
        Delay::Queue => options.delay_period_ps,
        Delay::Recirculation => 0,
    };
    let legal = check_legal(setup, Tolerance::EXACT, &schedule).or_else(|violation| {
        check_legal(setup, tolerance(setup, period_ps), &schedule).map_err(|_| violation)
    });
    let ran = legal.and_then(|()| replay(setup, &schedule));
    let ran = match ran {
        Ok(ran) => ran,
        Err(violation) => {
            report(ready, &violation, console);
            return Ok(ExitStatus::WrongInput);
        }
    };
    let counts = counts(&schedule, &ran.generated, setup.switches());
    let title = format!("{} as in {}", ready.title(), path.display());
    let mut line = TimeLine::new(program, title.as_str(), setup.switches(), links(ready));
    let mut printer = Printer::new(console);
    if !quiet && !arguments.json {
        printer.add(&format!("{title} ({})\n\n", ENGINE));
    }
    {
        let mut write = |text: &str| printer.add(text);
        let (mut text, mut json);
        let mut observers = Observers::new();
        if arguments.json {
            json = JsonLines::new(program, false, &mut write);
            observers.push(&mut json);
        } else if arguments.trace {
            text = TextLog::new(program, Detail::Everything, &mut write)
                .with_recirculation_ports(setup.recirculation_ports());
            observers.push(&mut text);
        }
        if arguments.timeline.is_some() {
            observers.push(&mut line);
        }
        observe(&schedule, &mut observers);
    }
    if !quiet {
        let mut summary = format!(
            "{} dispatches, a legal schedule\n\n{}",
            schedule.dispatches.len(),
            counters_table(&counts)
        );
        let state = state_text(program, ran.states.iter());
        if !state.is_empty() {
            summary.push_str(&format!("\nstate at the end, where it is not zero:\n{state}"));
        }
        if !ready.run.expectations.is_empty() {
            summary.push_str("\nexpectations are judged in runs, not in replays\n");
        }
        match arguments.json {
            true => console.note(summary.trim_end()),
            false => printer.add(&summary),
        }
    }
    printer.flush();
    let mut results = Vec::new();
    if let Some(path) = arguments.state_out {
        results.push((path, format!("{:#}\n", state_json(program, ran.states.iter()))));
    }
    if let Some(path) = arguments.timeline {
        results.push((path, line.html(&counts)));
    }
    write_results(&results, ready, console)?;
    Ok(ExitStatus::Fine)
}

fn report(ready: &Ready, violation: &Violation, console: &dyn Console) {
    let diagnostic = violation.diagnostic();
    debug_assert_eq!(diagnostic.severity, Severity::Error);
    let mut list = Diagnostics::new();
    list.push(diagnostic);
    console.diagnostics(&ready.map, &list);
}

/// What a schedule tells: which handlers ran, and which dispatch generated what they handled.
fn observe(schedule: &Schedule, observers: &mut Observers<'_>) {
    for (number, dispatch) in schedule.dispatches.iter().enumerate() {
        observers.observe(Observation {
            time_ps: dispatch.time_ps,
            switch: dispatch.switch,
            kind: ObservationKind::Handled {
                occurrence: Occurrence(number as u64),
                cause: dispatch.cause.map(|cause| Occurrence(cause as u64)),
                event: dispatch.event.clone(),
                port: dispatch.port,
                stage: dispatch.stage,
                is_packet: false,
                draws: dispatch.draws.clone(),
                dequeue_depth: dispatch.dequeue_depth,
            },
        });
    }
}

fn counts<T>(schedule: &Schedule, generated: &[Vec<T>], switches: u32) -> Vec<Counts> {
    let mut counts = vec![Counts::default(); switches as usize];
    for (dispatch, generated) in schedule.dispatches.iter().zip(generated) {
        if let Some(counts) = counts.get_mut(dispatch.switch as usize) {
            counts.handled += 1;
            counts.generated += generated.len() as u64;
        }
    }
    counts
}
