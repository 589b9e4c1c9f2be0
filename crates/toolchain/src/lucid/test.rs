// SPDX-License-Identifier: Apache-2.0
//! `plane test` for specifications of Lucid runs: runs one and judges its expectations.

use super::executor::{Executor, Verification};
use super::inputs::{RunRequest, read_run};
use super::report::{still_to_happen, verdicts_text};
use super::targets::ENGINE;
use device::EngineChoice;
use frontend::{Failure, NetworkTest, Tested};
use lucid_compiler::Options;
use lucid_reference::report::{Detail, Observers, PendingEvents, TextLog, Verdicts};
use lucid_reference::simulation::Outcome;
use source::{Diagnostics, RenderOptions, SourceMap};

/// Runs one specification.
pub(super) fn test(test: &NetworkTest<'_>) -> Tested {
    let engine = match test.engine {
        None => ENGINE,
        Some(EngineChoice::Jit) => "compiled, jit",
        Some(EngineChoice::Interpreter) => "compiled, interpreter",
    };
    let mut tested = Tested { engine: engine.to_string(), ..Tested::default() };
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
    let request = RunRequest {
        program: test.program,
        specification: Some(specification.path),
        ..RunRequest::from(specification.files)
    };
    let run = read_run(&request, None)?;
    let program = run.setup.program().clone();
    let mut verdicts = Verdicts::new(&program, &run.specification.expectations)
        .map_err(|problems| Failure::Found(run.map.clone(), problems))?;
    if run.specification.expectations.is_empty() {
        tested.notes.push("it expects nothing: add `expect`".to_string());
    }
    let mut executor = match test.engine {
        None => Executor::reference(&run),
        Some(engine) => {
            Executor::compiled(engine, Options::default(), Verification::Off, &run, None)?
        }
    };
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
    if let Outcome::Stopped(fault) = outcome {
        let mut list = Diagnostics::new();
        list.push(*fault);
        tested.failures.push(rendered(&run.map, &list));
    }
    if !tested.failures.is_empty() {
        tested.trace = happened;
    }
    Ok(())
}

fn rendered(map: &SourceMap, diagnostics: &Diagnostics) -> String {
    let text = frontend::diagnostics_text(map, diagnostics, RenderOptions { color: false });
    text.trim_end().to_string()
}
