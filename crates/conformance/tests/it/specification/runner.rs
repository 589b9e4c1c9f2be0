// SPDX-License-Identifier: Apache-2.0
//! Runs the cases of a test document: through the front end and the lowering, and on a device where
//! packets are given. Every failure has the document's line. What a document looks like is not known
//! here.

use super::document::{Case, Document, Expectation, StfBlock};
use conformance::stf;
use control::map::{Composed, Identity, Mapped};
use control::target::Target;
use device::{DeviceOptions, EngineChoice, PassTiming};
use ir::ready::ReadyProgram;
use p4::compile::{Compilation, compile};
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use source::{Diagnostic, Severity};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// Something that is not as the document says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Line of the document, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Runs all cases. No failures: the document is right about everything.
pub fn run(document: &Document) -> Vec<Failure> {
    let mut failures: Vec<Failure> = document
        .problems
        .iter()
        .map(|(line, message)| Failure { line: *line, message: message.clone() })
        .collect();
    for case in &document.cases {
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| run_case(case)));
        failures.extend(
            outcome.unwrap_or_else(|_| {
                vec![Failure { line: case.line, message: "panics".to_string() }]
            }),
        );
    }
    failures
}

/// Runs one case.
pub fn run_case(case: &Case) -> Vec<Failure> {
    let options = PreprocessorOptions::default();
    let mut compilation = compile("case.p4", case.text(), &InterfacesOnly, &options);
    let ready = ReadyProgram::of(&mut compilation);
    let mut failures = compare(case, &compilation);
    if let Some(ready) = &ready
        && let Err(errors) = ir::verify::verify(ready.lowered())
    {
        let first = errors.first().map(|error| error.to_string()).unwrap_or_default();
        let message = format!("the IR does not verify: {first}");
        failures.push(Failure { line: case.line, message });
        return failures;
    }
    if let Expectation::Runs(tests) = &case.expectation
        && failures.is_empty()
    {
        match ready {
            Some(ready) => {
                failures.extend(tests.iter().flat_map(|test| run_stf(ready.lowered(), test)));
            }
            None => {
                let message = "there is no `main` to run".to_string();
                failures.push(Failure { line: case.line, message });
            }
        }
    }
    failures
}

fn run_stf(program: &Arc<ir::Program>, test: &StfBlock) -> Vec<Failure> {
    let failure = |message: String| Failure { line: test.line, message };
    let (steps, errors) = stf::reader::read("stf", &test.text);
    if !errors.is_empty() {
        return errors.iter().map(|error| failure(error.to_string())).collect();
    }
    let report = stf::runner::run(program.clone(), &steps, false);
    let mapped = stf::runner::run_through(program.clone(), &steps, Default::default(), identity);
    if mapped != report {
        let message = format!("the report is another one through a map: {mapped:?}");
        return vec![failure(message)];
    }
    if !report.passed() {
        return report.failures.into_iter().map(failure).collect();
    }
    // Each packet is alone, so it makes no difference that its pass takes time.
    let timing = PassTiming { first_stage_ps: 7, stage_ps: 3, ..PassTiming::default() };
    let options = DeviceOptions {
        engine: EngineChoice::Interpreter,
        pass_timing: Some(timing),
        ..DeviceOptions::default()
    };
    let report = stf::runner::run_with(program.clone(), &steps, options);
    let timed = report.failures.into_iter();
    timed.map(|message| failure(format!("with passes that take time: {message}"))).collect()
}

/// Two maps that change nothing in front of a target, and their composition before those.
fn identity(target: Box<dyn Target>) -> Box<dyn Target> {
    let same = || Identity::new(target.program());
    let (one, composed) = (same(), Composed::new(same(), same()));
    Box::new(Mapped::new(composed, vec![Box::new(Mapped::new(one, vec![target]))]))
}

/// An `// error: TEXT` or `// warning: TEXT` comment.
struct Wanted {
    line: usize,
    severity: Severity,
    text: String,
    found: bool,
}

fn wanted(case: &Case) -> Vec<Wanted> {
    let marks = [("// error:", Severity::Error), ("// warning:", Severity::Warning)];
    let mut list = Vec::new();
    for (index, line) in case.program.lines().enumerate() {
        for (mark, severity) in marks {
            if let Some((_, text)) = line.split_once(mark) {
                let (line, text) = (case.line + index, text.trim().to_string());
                list.push(Wanted { line, severity, text, found: false });
            }
        }
    }
    list
}

/// Compares the diagnostics with what the case expects.
fn compare(case: &Case, compilation: &Compilation) -> Vec<Failure> {
    let mut failures = Vec::new();
    let mut wanted = wanted(case);
    let lines_say = wanted.iter().any(|wanted| wanted.severity == Severity::Error);
    let mut errors = Vec::new();
    for diagnostic in compilation.diagnostics.iter() {
        let line = document_line(case, compilation, diagnostic);
        let text = format!("{}: {}", diagnostic.code, diagnostic.message);
        let mut expected = false;
        for wanted in &mut wanted {
            let fits = wanted.severity == diagnostic.severity && text.contains(&wanted.text);
            if fits && Some(wanted.line) == line {
                wanted.found = true;
                expected = true;
            }
        }
        if diagnostic.severity == Severity::Error {
            let whole = matches!(&case.expectation, Expectation::Rejected(_)) && !lines_say;
            if !expected && !whole {
                let message = format!("unexpected error: {text}");
                failures.push(Failure { line: line.unwrap_or(case.line), message });
            }
            errors.push(text);
        }
    }
    for wanted in wanted.iter().filter(|wanted| !wanted.found) {
        let kind = if wanted.severity == Severity::Error { "error" } else { "warning" };
        let message = format!("expected {kind}: {}", wanted.text);
        failures.push(Failure { line: wanted.line, message });
    }
    if let Expectation::Rejected(text) = &case.expectation
        && !lines_say
        && !errors.iter().any(|error| error.contains(text.as_str()))
    {
        let message = match errors.first() {
            None => "accepted, expected to be rejected".to_string(),
            Some(first) => format!("expected an error with `{text}`, found: {first}"),
        };
        failures.push(Failure { line: case.line, message });
    }
    failures
}

/// The document's line that a diagnostic is about; `None` outside of the case's program.
fn document_line(case: &Case, compilation: &Compilation, diagnostic: &Diagnostic) -> Option<usize> {
    let location = compilation.map.location(diagnostic.primary.span)?;
    if &*location.file != "case.p4" {
        return None;
    }
    case.document_line(usize::try_from(location.line).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::specification::document;

    #[track_caller]
    fn check(program: &str, kind: &str, expected: &[(usize, &str)]) {
        let text = format!("Clauses: 11.1\n```p4 {kind}\n{program}\n```\n");
        let failures = run(&document::read(&text));
        let found: Vec<_> =
            failures.iter().map(|failure| (failure.line, failure.message.as_str())).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((line, message), (expected_line, part)) in found.iter().zip(expected) {
            assert!(line == expected_line && message.contains(part), "{found:?}");
        }
    }

    #[test]
    fn what_is_as_expected_has_no_failures() {
        check("const bit<8> a = 1;", "accepted", &[]);
        check("const bit<8> a = b; // error: P4-E0201", "rejected", &[]);
        check("const bit<8> a = b;", "rejected P4-E0201", &[]);
    }

    #[test]
    fn what_is_not_as_expected_fails_at_its_line() {
        check("\nconst bit<8> a = b;", "accepted", &[(4, "unexpected error: P4-E0201")]);
        check("const bit<8> a = 1;", "rejected", &[(3, "accepted, expected to be rejected")]);
        check("const bit<8> a = b;", "rejected P4-E9999", &[(3, "found: P4-E0201")]);
        let two = "const bit<8> a = 1; // error: P4-E0201\nconst bit<8> c = b;";
        check(two, "rejected", &[(4, "unexpected"), (3, "expected error: P4-E0201")]);
    }
}
