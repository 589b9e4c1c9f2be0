// SPDX-License-Identifier: Apache-2.0
//! `plane run --replay`: runs a recorded schedule again. The schedule must be legal and is run dispatch by dispatch;
//! the state at the end is the schedule's.

use super::inputs::LucidRun;
use super::report::{LogContent, Report, final_state_text};
use super::targets::ENGINE;
use frontend::{Console, ExitStatus, Failure, Files, NetworkRun, coded};
use lucid_compiler::{Delay, Options};
use lucid_network::options::delay_options;
use lucid_network::tolerance;
use lucid_reference::report::{Detail, counters_table};
use lucid_reference::simulation::schedule::{Schedule, Tolerance, Violation, check_legal, replay};
use lucid_reference::simulation::{Counts, Observation, ObservationKind, Observer, Occurrence};
use source::{Diagnostics, Severity};
use std::path::Path;

/// Runs a schedule.
pub(super) fn run(
    files: &dyn Files,
    arguments: &NetworkRun<'_>,
    run: &LucidRun,
    path: &Path,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let (setup, program) = (&run.setup, run.setup.program());
    let text = files.text(path)?;
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
            print_violation(run, &violation, console);
            return Ok(ExitStatus::WrongInput);
        }
    };
    let counts = counts(&schedule, &ran.generated, setup.switches());
    let title = format!("{} as in {}", run.title(), path.display());
    let mut report = Report::new(arguments, run, &title, ENGINE, console)?;
    let detail = arguments.trace.then_some(Detail::Everything);
    let content = LogContent { detail, accesses: false, departures: true };
    report.log(content, |log| observe(&schedule, log));
    if !console.is_quiet() {
        let mut summary = format!(
            "{} dispatches, a legal schedule\n\n{}{}",
            schedule.dispatches.len(),
            counters_table(&counts),
            final_state_text(run, &ran.states)
        );
        if !run.specification.expectations.is_empty() {
            summary.push_str("\na replay does not judge expectations\n");
        }
        report.summary(&summary);
    }
    report.write(&counts, &ran.states, String::new)?;
    Ok(ExitStatus::Fine)
}

fn print_violation(run: &LucidRun, violation: &Violation, console: &dyn Console) {
    let diagnostic = violation.diagnostic();
    debug_assert_eq!(diagnostic.severity, Severity::Error);
    let mut list = Diagnostics::new();
    list.push(diagnostic);
    console.diagnostics(&run.map, &list);
}

/// Reports the dispatches of a schedule as observations: which handlers ran, and which dispatch generated their events.
fn observe(schedule: &Schedule, observer: &mut dyn Observer) {
    for (number, dispatch) in schedule.dispatches.iter().enumerate() {
        observer.observe(Observation {
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
