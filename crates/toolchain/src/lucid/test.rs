// SPDX-License-Identifier: Apache-2.0
//! `plane test` for specifications of Lucid runs: runs one and judges its expectations. With verification the devices
//! are compared with the reference interpreter too.

use super::executor::{Executor, Verification};
use super::inputs::{LucidRun, RunRequest, is_network, read_run};
use super::report::{still_to_happen, verdicts_text};
use super::targets::{ENGINE, target_of};
use frontend::{CompiledRun, Execution, Failure, NetworkTest, Tested};
use lucid_compiler::Options;
use lucid_reference::report::{Detail, Observers, PendingEvents, TextLog, Verdicts};
use lucid_reference::simulation::{NullObserver, Outcome};
use source::{Diagnostics, RenderOptions, SourceMap};

/// Runs one specification.
pub(super) fn test(test: &NetworkTest<'_>) -> Tested {
    let mut tested = Tested { engine: ENGINE.to_string(), ..Tested::default() };
    if let Err(failure) = observed(test, &mut tested) {
        tested.failures.push(match failure {
            Failure::Found(map, found) => rendered(&map, &found),
            Failure::Usage(message) | Failure::Message(message) => message,
        });
    }
    tested
}

fn observed(test: &NetworkTest<'_>, tested: &mut Tested) -> Result<(), Failure> {
    let specification = &test.specification;
    if is_network(specification) {
        let file = specification.path.display();
        let message =
            format!("`{file}` describes a network: `plane net {file}` judges its expectations");
        return Err(Failure::Message(message));
    }
    let request = RunRequest {
        program: test.program,
        specification: Some(specification.path),
        ..RunRequest::from(specification.files)
    };
    let compiled = match &test.execution {
        Execution::Compiled(compiled) => {
            tested.engine = format!("compiled, {}", compiled.engine.name());
            Some(compiled)
        }
        Execution::Reference => None,
        Execution::Replay(path) => {
            let message = format!("a test does not replay a schedule (`{}`)", path.display());
            return Err(Failure::Usage(message));
        }
    };
    let run = read_run(&request, None)?;
    let program = run.setup.program().clone();
    let mut executor = match compiled {
        None => Executor::reference(&run),
        Some(compiled) => executor(compiled, Verification::Off, &run)?,
    };
    tested.engine = executor.name();
    let expectations = executor.expectations(&run.specification);
    let mut verdicts = Verdicts::new(&program, &expectations)
        .map_err(|problems| Failure::Found(run.map.clone(), problems))?;
    let is_verified = compiled.is_some_and(|compiled| compiled.is_verified);
    if expectations.is_empty() && !is_verified {
        tested.notes.push(match run.specification.expectations.is_empty() {
            true => "it expects nothing: add `expect`".to_string(),
            false => "none of its expectations is for this execution".to_string(),
        });
    }
    let mut happened = String::new();
    let mut waiting = PendingEvents::new();
    let outcome = {
        let mut log = TextLog::new(&program, Detail::Everything, |line| happened.push_str(line))
            .with_recirculation_ports(run.setup.recirculation_ports());
        let mut observers = Observers::new();
        if test.trace {
            observers.push(&mut log);
        }
        observers.push(&mut waiting);
        executor.observe(&mut verdicts, &mut observers)
    };
    let counts = executor.counts();
    let verdicts =
        verdicts.finish(&counts, &|switch, global, index| executor.cell(switch, global, index));
    if verdicts.iter().any(|verdict| !verdict.passed) {
        tested.failures.push(verdicts_text(&verdicts, true).trim().to_string());
        tested.failures.extend(still_to_happen(&run, &outcome, &waiting, &executor));
    }
    stopped(outcome, &run, tested);
    if let Some(compiled) = compiled.filter(|_| is_verified) {
        compare(compiled, &run, tested)?;
    }
    if !tested.failures.is_empty() {
        tested.trace = happened;
    }
    Ok(())
}

/// A fault that ended a run is a failure.
fn stopped(outcome: Outcome, run: &LucidRun, tested: &mut Tested) {
    if let Outcome::Stopped(fault) = outcome {
        let mut list = Diagnostics::new();
        list.push(*fault);
        let text = rendered(&run.map, &list);
        if !tested.failures.contains(&text) {
            tested.failures.push(text);
        }
    }
}

fn executor(
    compiled: &CompiledRun<'_>,
    verification: Verification,
    run: &LucidRun,
) -> Result<Executor, Failure> {
    let options = Options { target: target_of(compiled.target)?, ..Options::default() };
    Executor::compiled(compiled.engine, options, verification, run, None)
}

/// Runs the devices again, beside the reference interpreter: a run that stops at the times of expectations is not
/// compared.
fn compare(compiled: &CompiledRun<'_>, run: &LucidRun, tested: &mut Tested) -> Result<(), Failure> {
    let mut executor = executor(compiled, Verification::Pending, run)?;
    tested.engine = executor.name();
    let mut no_verdicts = Verdicts::new(run.setup.program(), &[])
        .map_err(|problems| Failure::Found(run.map.clone(), problems))?;
    let mut nothing = NullObserver;
    let mut observers = Observers::new();
    observers.push(&mut nothing);
    let outcome = executor.observe(&mut no_verdicts, &mut observers);
    stopped(outcome, run, tested);
    if let Some(Err(difference)) = executor.comparison() {
        tested.failures.push(difference);
    }
    Ok(())
}

fn rendered(map: &SourceMap, diagnostics: &Diagnostics) -> String {
    let text = frontend::diagnostics_text(map, diagnostics, RenderOptions { color: false });
    text.trim_end().to_string()
}
