// SPDX-License-Identifier: Apache-2.0
//! `plane test`: runs STF tests.

use crate::arguments::Test;
use crate::{Ending, files, output};
use conformance::stf::{reader, runner};
use std::path::Path;
use std::sync::Arc;

/// Runs it.
pub fn run(arguments: &Test, quiet: bool) -> Ending {
    let mut passed = 0;
    let mut failed = 0;
    for path in &arguments.files {
        let failures = one(path, arguments);
        if failures.is_empty() {
            passed += 1;
            if !quiet {
                output::print(&format!("ok      {}\n", path.display()));
            }
        } else {
            failed += 1;
            output::print(&format!("FAILED  {}\n", path.display()));
            for failure in failures {
                for line in failure.lines() {
                    output::print(&format!("  {line}\n"));
                }
            }
        }
    }
    output::print(&format!("{passed} passed, {failed} failed (interpreter)\n"));
    if failed == 0 { Ending::Fine } else { Ending::WrongInput }
}

/// What is wrong; nothing when the test passed.
fn one(path: &Path, arguments: &Test) -> Vec<String> {
    let text = match files::read_text(path) {
        Ok(text) => text,
        Err(message) => return vec![message],
    };
    let (steps, errors) = reader::read(&path.display().to_string(), &text);
    if !errors.is_empty() {
        return errors.iter().map(|error| error.to_string()).collect();
    }
    let program = match &arguments.program {
        Some(program) => program.clone(),
        None => path.with_extension("p4"),
    };
    let (compiled, lowered) = match super::compile(&program, &arguments.reading) {
        Ok(compiled) => compiled,
        Err(message) => {
            let advice = "name the program with --program PROG.p4";
            return vec![if arguments.program.is_none() {
                format!("{message}; {advice}")
            } else {
                message
            }];
        }
    };
    if compiled.diagnostics.has_errors() {
        let options = source::RenderOptions { color: false };
        return vec![source::render_text(&compiled.map, &compiled.diagnostics, options)];
    }
    let Some(lowered) = lowered else {
        return vec![format!("`{}` has no `main`, so there is nothing to run", program.display())];
    };
    let report = runner::run(Arc::new(lowered), &steps, arguments.trace);
    if !report.passed() {
        for trace in &report.traces {
            output::print(&device::trace::text(trace));
        }
    }
    report.failures
}
