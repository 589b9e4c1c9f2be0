// SPDX-License-Identifier: Apache-2.0
//! `plane test`: runs STF tests, and specifications of runs in networks with their expectations.

use crate::arguments::{Engine, Test};
use crate::output;
use crate::programs::on_disk;
use device::{DeviceOptions, EngineChoice};
use frontend::{Console, ExitStatus, NetworkTest, Tested};
use std::path::Path;
use toolchain::file_kind::{self, FileKind};
use toolchain::{selection, stf_test};

/// Runs it.
pub fn run(arguments: &Test, console: &dyn Console) -> ExitStatus {
    let mut passed = 0;
    let mut failed = 0;
    let mut engines: Vec<String> = Vec::new();
    for path in &arguments.files {
        let tested = one(path, arguments);
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
    if failed == 0 { ExitStatus::Fine } else { ExitStatus::WrongInput }
}

/// Runs one test; what keeps it from running is a failure too.
fn one(path: &Path, arguments: &Test) -> Tested {
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
                engine,
                trace: arguments.trace,
            })
        }
        _ => stf_test::run(&test, program, &options),
    }
}
