// SPDX-License-Identifier: Apache-2.0
//! `plane test`: runs STF tests, and specifications of runs in networks with their expectations.

use crate::arguments::{Engine, Test};
use crate::output;
use crate::programs::{ended, on_disk};
use device::{DeviceOptions, EngineChoice};
use frontend::{
    CompiledRun, Console, Execution, ExitStatus, Failure, NetworkTest, Tested, UserP4Files,
};
use std::path::Path;
use toolchain::file_kind::{self, FileKind};
use toolchain::test_files::{TestKinds, tests_of};
use toolchain::{selection, stf_test};

/// Runs it.
pub fn run(arguments: &Test, console: &dyn Console) -> ExitStatus {
    ended(run_all(arguments, console), console)
}

fn run_all(arguments: &Test, console: &dyn Console) -> Result<ExitStatus, Failure> {
    let execution = execution(arguments).map_err(Failure::Usage)?;
    let kinds = match needs_network(arguments) {
        Some(_) => TestKinds::Specifications,
        None => TestKinds::All,
    };
    let files = tests_of(&arguments.files, kinds)?;
    let mut passed = 0;
    let mut failed = 0;
    let mut engines: Vec<String> = Vec::new();
    for path in &files {
        let tested = one(path, arguments, &execution);
        if !engines.contains(&tested.engine) {
            engines.push(tested.engine);
        }
        if tested.failures.is_empty() {
            passed += 1;
            if !console.is_quiet() {
                output::print(&format!("ok      {}\n", path.display()));
                for note in tested.notes {
                    output::print(&format!("  note: {note}\n"));
                }
            }
        } else {
            failed += 1;
            output::print(&format!("FAILED  {}\n", path.display()));
            output::print(&tested.trace);
            for failure in tested.failures {
                for line in failure.lines() {
                    output::print(&format!("  {line}\n"));
                }
            }
        }
    }
    let engines = engines.join(", ");
    output::print(&format!("{passed} passed, {failed} failed ({engines})\n"));
    Ok(if failed == 0 { ExitStatus::Fine } else { ExitStatus::WrongInput })
}

/// The first option that only runs in networks have.
fn needs_network(arguments: &Test) -> Option<&'static str> {
    match (&arguments.target, arguments.verify, arguments.engine) {
        (Some(_), _, _) => Some("--target"),
        (None, true, _) => Some("--verify"),
        (None, false, _) => None,
    }
}

/// What executes the programs of specifications: the reference interpreter, unless the options ask for devices.
fn execution(arguments: &Test) -> Result<Execution<'_>, String> {
    let option = needs_network(arguments);
    let engine = match (arguments.engine, option) {
        (Some(Engine::Reference), Some(option)) => {
            return Err(format!(
                "{option} cannot be combined with --engine reference, which does not compile the program"
            ));
        }
        (None, None) | (Some(Engine::Reference), None) => return Ok(Execution::Reference),
        (engine, _) => engine.and_then(Engine::choice).unwrap_or(EngineChoice::Jit),
    };
    Ok(Execution::Compiled(CompiledRun {
        target: arguments.target.as_deref(),
        engine,
        is_verified: arguments.verify,
        user_p4: UserP4Files::default(),
    }))
}

/// Runs one test; what keeps it from running is a failure too.
fn one(path: &Path, arguments: &Test, execution: &Execution<'_>) -> Tested {
    let preprocessing = arguments.reading.options();
    let test = on_disk(path, &preprocessing);
    let program = arguments.program.as_deref();
    let engine = arguments.engine.and_then(Engine::choice);
    // The reference interpreter is not an engine of devices.
    let on_device = match arguments.engine {
        Some(Engine::Reference) => EngineChoice::Interpreter,
        _ => engine.unwrap_or(EngineChoice::Jit),
    };
    let options =
        DeviceOptions { engine: on_device, trace: arguments.trace, ..DeviceOptions::default() };
    match FileKind::of_readable(path) {
        None | Some(FileKind::Stf | FileKind::Specification | FileKind::StandardInput) => {}
        Some(kind) => {
            let failures = vec![file_kind::wrong(path, &selection::is_no_test(), kind)];
            let engine = options.effective_engine().name().to_string();
            return Tested { failures, engine, ..Tested::default() };
        }
    }
    match FileKind::of(path) {
        FileKind::Specification if let Some(networks) = selection::networks_of(path, program) => {
            networks.test(&NetworkTest {
                specification: test,
                program,
                execution: *execution,
                trace: arguments.trace,
            })
        }
        _ if let Some(option) = needs_network(arguments) => {
            let failures = vec![selection::only_for_network_tests(option, path)];
            let engine = options.effective_engine().name().to_string();
            Tested { failures, engine, ..Tested::default() }
        }
        _ => stf_test::run(&test, program, &options),
    }
}
