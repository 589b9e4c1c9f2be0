// SPDX-License-Identifier: Apache-2.0
//! `plane test`: runs STF tests, and specifications of Lucid runs with their expectations.

use super::lucid;
use crate::arguments::{Engine, Test};
use crate::file_kind::{self, FileKind};
use crate::{Ending, files, output};
use conformance::stf::reader::{self, LocatedStep};
use conformance::stf::runner::{self, Report};
use device::DeviceOptions;
use source::SourceMap;
use std::path::Path;
use std::sync::Arc;

/// Runs it.
pub fn run(arguments: &Test, quiet: bool) -> Ending {
    let mut passed = 0;
    let mut failed = 0;
    let mut engines: Vec<&str> = Vec::new();
    for path in &arguments.files {
        let (report, traces) = one(path, arguments);
        let engine = match FileKind::of(path) == FileKind::Specification {
            true => match arguments.engine {
                None | Some(Engine::Reference) => lucid::ENGINE,
                Some(Engine::Jit) => "compiled, jit",
                Some(Engine::Interp) => "compiled, interpreter",
            },
            false => options(arguments).effective_engine().name(),
        };
        if !engines.contains(&engine) {
            engines.push(engine);
        }
        let failures = report.failures;
        if failures.is_empty() {
            passed += 1;
            if !quiet {
                output::print(&format!("ok      {}\n", path.display()));
                for note in report.notes {
                    output::print(&format!("  note: {note}\n"));
                }
            }
        } else {
            failed += 1;
            output::print(&format!("FAILED  {}\n", path.display()));
            output::print(&traces);
            for failure in failures {
                for line in failure.lines() {
                    output::print(&format!("  {line}\n"));
                }
            }
        }
    }
    let engines = engines.join(", ");
    output::print(&format!("{passed} passed, {failed} failed ({engines})\n"));
    if failed == 0 { Ending::Fine } else { Ending::WrongInput }
}

fn options(arguments: &Test) -> DeviceOptions {
    let engine = arguments.engine.unwrap_or(Engine::Jit).choice();
    DeviceOptions { engine, trace: arguments.trace, ..DeviceOptions::default() }
}

/// Runs one test; what keeps it from running is a failure too. The text is what happened to the packets,
/// when asked for.
fn one(path: &Path, arguments: &Test) -> (Report, String) {
    match FileKind::of_readable(path) {
        None | Some(FileKind::Stf | FileKind::Specification | FileKind::StandardInput) => {}
        Some(kind) => {
            let is_not = "is not a test (.stf for P4; .json, .yaml or .toml for Lucid)";
            let failures = vec![file_kind::wrong(path, is_not, kind)];
            return (Report { failures, ..Report::default() }, String::new());
        }
    }
    if FileKind::of(path) == FileKind::Specification {
        let tested = {
            let engine = arguments.engine.unwrap_or(Engine::Reference);
            lucid::test::one(path, arguments.program.as_deref(), engine, arguments.trace)
        };
        let report = Report { failures: tested.failures, notes: tested.notes, ..Report::default() };
        return (report, tested.trace);
    }
    match prepared(path, arguments) {
        Ok((map, program, steps)) => {
            let options = options(arguments);
            let report = runner::run_with(program.clone(), &steps, options);
            let places = |origin| super::place(&program, &map, origin);
            let traces = report.traces.iter();
            let text =
                traces.map(|trace| device::trace::text_with_places(trace, &places)).collect();
            (report, text)
        }
        Err(failures) => (Report { failures, ..Report::default() }, String::new()),
    }
}

type Prepared = (SourceMap, Arc<ir::Program>, Vec<LocatedStep>);

/// The program and the steps, or why there are none.
fn prepared(path: &Path, arguments: &Test) -> Result<Prepared, Vec<String>> {
    let text = match files::read_text(path) {
        Ok(text) => text,
        Err(message) => return Err(vec![message]),
    };
    let (steps, errors) = reader::read(&path.display().to_string(), &text);
    if !errors.is_empty() {
        return Err(errors.iter().map(|error| error.to_string()).collect());
    }
    let program = match &arguments.program {
        Some(program) => program.clone(),
        None => path.with_extension("p4"),
    };
    let (compiled, ready) = match super::compile(&program, &arguments.reading) {
        Ok(compiled) => compiled,
        Err(message) => {
            let advice = "name the program with --program PROG.p4";
            return Err(vec![match arguments.program {
                None => format!("{message}; {advice}"),
                Some(_) => message,
            }]);
        }
    };
    if compiled.diagnostics.has_errors() {
        let options = source::RenderOptions { color: false };
        return Err(vec![source::render_text(&compiled.map, &compiled.diagnostics, options)]);
    }
    match ready {
        Some(ready) => Ok((compiled.map, ready.program().clone(), steps)),
        None => {
            let program = program.display();
            Err(vec![format!("`{program}` has no `main`, so there is nothing to run")])
        }
    }
}
