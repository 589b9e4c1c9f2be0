// SPDX-License-Identifier: Apache-2.0
//! Printing: results to standard output, everything else to standard error; a closed pipe ends the
//! command quietly; colours only for a terminal, and never with `NO_COLOR`.

use source::{Diagnostics, RenderOptions, SourceMap};
use std::io::{IsTerminal, Write};

/// Prints to standard output. When nobody reads any more, the command is over.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        self::error(&format!("cannot write to standard output: {error}"));
        std::process::exit(1);
    }
}

/// Prints a message to standard error.
pub fn note(text: &str) {
    // Nothing can be done when standard error is closed.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A number of things: `1 file`, `2 files`.
pub fn count(number: impl TryInto<u64>, one: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {one}"),
        number => format!("{number} {one}s"),
    }
}

/// Prints an error that has no place in a file.
pub fn error(text: &str) {
    if text.starts_with("error[") {
        note(text);
    } else {
        note(&format!("error: {text}"));
    }
}

/// An error message with its code, for [`error`].
pub fn coded(code: &str, message: &str) -> String {
    format!("error[{code}]: {message}")
}

/// Reports a mistake of ours.
pub fn internal_error(text: &str) {
    note(&format!(
        "internal error: {text}\nThis is a mistake in plane, not in your input. Please report it with \
         the command and the files that lead to it."
    ));
}

/// Whether standard error takes colours.
pub fn colors() -> bool {
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !forbidden
}

/// Most diagnostics that are printed of one run of the command's inputs; the rest is counted.
const MOST_DIAGNOSTICS: usize = 100;

/// Prints diagnostics to standard error.
pub fn diagnostics(map: &SourceMap, diagnostics: &Diagnostics) {
    if diagnostics.is_empty() {
        return;
    }
    let text = diagnostics_text(map, diagnostics, RenderOptions { color: colors() });
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Diagnostics as text, not more than a person can read.
pub fn diagnostics_text(
    map: &SourceMap,
    diagnostics: &Diagnostics,
    options: RenderOptions,
) -> String {
    if diagnostics.len() <= MOST_DIAGNOSTICS {
        return source::render_text(map, diagnostics, options);
    }
    // Where so much is wrong, warnings are left out.
    let is_error = |each: &&source::Diagnostic| each.severity == source::Severity::Error;
    let mut first = Diagnostics::new();
    for diagnostic in diagnostics.iter().filter(is_error).take(MOST_DIAGNOSTICS) {
        first.push(diagnostic.clone());
    }
    if first.is_empty() {
        diagnostics.iter().take(MOST_DIAGNOSTICS).for_each(|each| first.push(each.clone()));
    }
    let more = diagnostics.len() - first.len();
    format!("{}and {more} more\n\n", source::render_text(map, &first, options))
}
