// SPDX-License-Identifier: Apache-2.0
//! `plane check`: reports what is wrong with programs.

use crate::arguments::{Check, Format};
use crate::file_kind::{Language, language};
use crate::{Ending, output};
use source::{Diagnostics, Severity, SourceMap};
use std::path::Path;

/// Runs it.
pub fn run(arguments: &Check, quiet: bool) -> Ending {
    let mut ending = Ending::Fine;
    let mut json = Vec::new();
    for path in &arguments.files {
        let language = match language(path) {
            Ok(language) => language,
            Err(message) => {
                output::error(&message);
                ending = Ending::WrongInput;
                continue;
            }
        };
        if language == Language::Lucid {
            match super::lucid::check::check(path, arguments) {
                Ok((map, diagnostics)) => {
                    if diagnostics.has_errors() {
                        ending = Ending::WrongInput;
                    }
                    report(path, &map, &diagnostics, arguments.format, quiet, &mut json);
                }
                Err(message) => {
                    output::error(&message);
                    ending = Ending::WrongInput;
                }
            }
            continue;
        }
        let (compiled, ready) = match super::compile(path, &arguments.reading) {
            Ok(compiled) => compiled,
            Err(message) => {
                output::error(&message);
                ending = Ending::WrongInput;
                continue;
            }
        };
        let mut failed = compiled.diagnostics.has_errors();
        match arguments.format {
            Format::Json => json.push(source::render_json(&compiled.map, &compiled.diagnostics)),
            Format::Text if failed || !quiet => {
                output::diagnostics(&compiled.map, &compiled.diagnostics);
            }
            Format::Text => {}
        }
        if let (false, Some(wanted)) = (failed, arguments.arch) {
            let found = ready.as_ref().map(|ready| ready.lowered().architecture.to_string());
            if found.as_deref() != Some(wanted.name()) {
                let is = found.map_or("has no `main`".to_string(), |name| format!("is for {name}"));
                output::error(&format!("`{}` {is}, not for {}", path.display(), wanted.name()));
                failed = true;
            }
        }
        if failed {
            ending = Ending::WrongInput;
        }
        let told = failed == compiled.diagnostics.has_errors();
        if !quiet && told && arguments.format == Format::Text {
            output::note(&summary(path, &compiled.diagnostics));
        }
    }
    if arguments.format == Format::Json {
        output::print(&joined(&json));
    }
    ending
}

/// Prints what is wrong with one program and how many mistakes it has, or keeps it for the end.
fn report(
    path: &Path,
    map: &SourceMap,
    diagnostics: &Diagnostics,
    format: Format,
    quiet: bool,
    json: &mut Vec<String>,
) {
    match format {
        Format::Json => json.push(source::render_json(map, diagnostics)),
        Format::Text if diagnostics.has_errors() || !quiet => {
            output::diagnostics(map, diagnostics);
        }
        Format::Text => {}
    }
    if !quiet && format == Format::Text {
        output::note(&summary(path, diagnostics));
    }
}

fn summary(path: &Path, diagnostics: &Diagnostics) -> String {
    let count = |severity| diagnostics.iter().filter(|each| each.severity == severity).count();
    match (count(Severity::Error), count(Severity::Warning)) {
        (0, 0) => format!("{}: ok", path.display()),
        (0, warnings) => format!("{}: ok, {}", path.display(), output::count(warnings, "warning")),
        (errors, 0) => format!("{}: {}", path.display(), output::count(errors, "error")),
        (errors, warnings) => format!(
            "{}: {}, {}",
            path.display(),
            output::count(errors, "error"),
            output::count(warnings, "warning")
        ),
    }
}

/// One JSON array out of the arrays of several files.
fn joined(arrays: &[String]) -> String {
    let inner: Vec<&str> = arrays
        .iter()
        .map(|array| array.trim().trim_start_matches('[').trim_end_matches(']').trim())
        .filter(|inner| !inner.is_empty())
        .collect();
    format!("[{}]\n", inner.join(",\n"))
}
