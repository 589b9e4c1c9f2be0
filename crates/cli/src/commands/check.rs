// SPDX-License-Identifier: Apache-2.0
//! `plane check`: reports what is wrong with programs.

use crate::arguments::{Check, Format};
use crate::output;
use crate::programs::{language, on_disk};
use frontend::{Architecture, Checked, Console, ExitStatus, Failure, count};
use source::{Diagnostics, Severity};
use std::path::Path;
use toolchain::selection;

/// Runs it.
pub fn run(arguments: &Check, console: &dyn Console) -> ExitStatus {
    let mut status = ExitStatus::Fine;
    let mut json = Vec::new();
    for path in &arguments.files {
        match one(path, arguments, console, &mut json) {
            Ok(true) => {}
            Ok(false) => status = ExitStatus::WrongInput,
            Err(failure) => {
                failure.print(console);
                status = ExitStatus::WrongInput;
            }
        }
    }
    if arguments.format == Format::Json {
        output::print(&joined(&json));
    }
    status
}

/// Whether a program is right.
fn one(
    path: &Path,
    arguments: &Check,
    console: &dyn Console,
    json: &mut Vec<String>,
) -> Result<bool, Failure> {
    let language = language(path)?;
    if arguments.arch.is_some() && language.architectures().is_empty() {
        return Err(Failure::Message(selection::only_for_architectures("--arch", path, language)));
    }
    let options = arguments.reading.options();
    let checked = language.check(&on_disk(path, &options))?;
    let is_right = !checked.diagnostics.has_errors();
    match arguments.format {
        Format::Json => {
            let shown = output::shown(&checked.diagnostics, console.shows_warnings());
            json.push(source::render_json(&checked.map, &shown));
        }
        Format::Text if is_right => console.warnings(&checked.map, &checked.diagnostics),
        Format::Text => console.diagnostics(&checked.map, &checked.diagnostics),
    }
    if let (true, Some(required)) = (is_right, &arguments.arch)
        && let Some(is) = other_architecture(&checked, required)
    {
        return Err(Failure::Message(format!("`{}` {is}, not for {required}", path.display())));
    }
    if !console.is_quiet() && arguments.format == Format::Text {
        console.note(&summary(path, &checked.diagnostics));
    }
    Ok(is_right)
}

/// Returns what a program is written for, if not for the required architecture.
fn other_architecture(checked: &Checked, required: &str) -> Option<String> {
    match &checked.architecture {
        Architecture::Named(name) if name == required => None,
        Architecture::Named(name) => Some(format!("is for {name}")),
        Architecture::Unknown | Architecture::Independent => Some("has no `main`".to_string()),
    }
}

fn summary(path: &Path, diagnostics: &Diagnostics) -> String {
    let number = |severity| diagnostics.iter().filter(|each| each.severity == severity).count();
    match (number(Severity::Error), number(Severity::Warning)) {
        (0, 0) => format!("{}: ok", path.display()),
        (0, warnings) => format!("{}: ok, {}", path.display(), count(warnings, "warning")),
        (errors, 0) => format!("{}: {}", path.display(), count(errors, "error")),
        (errors, warnings) => format!(
            "{}: {}, {}",
            path.display(),
            count(errors, "error"),
            count(warnings, "warning")
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
