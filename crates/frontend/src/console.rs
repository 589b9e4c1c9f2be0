// SPDX-License-Identifier: Apache-2.0
//! The output of a command: the trait [`Console`], [`ExitStatus`] and [`Failure`], and wordings that all commands share.
//! The implementation decides where text goes and whether it has colours.

use source::{Code, Diagnostics, RenderOptions, SourceMap, Span};
use std::collections::HashMap;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Success.
    Fine,
    /// The user's input is wrong; the reasons have been printed.
    WrongInput,
    /// The command line is wrong; the reasons have been printed.
    WrongUsage,
}

/// Why a command stops.
#[derive(Clone, Debug)]
pub enum Failure {
    /// A message about the command line.
    Usage(String),
    /// A message about a file.
    Message(String),
    /// Diagnostics of sources.
    Found(SourceMap, Diagnostics),
}

impl Failure {
    /// Prints the failure and returns the status with which the command ends.
    pub fn print(&self, console: &dyn Console) -> ExitStatus {
        match self {
            Failure::Usage(message) => {
                console.error(message);
                return ExitStatus::WrongUsage;
            }
            Failure::Message(message) => console.error(message),
            Failure::Found(map, diagnostics) => console.diagnostics(map, diagnostics),
        }
        ExitStatus::WrongInput
    }

    /// Returns the failure as text without colours.
    pub fn text(&self) -> String {
        match self {
            Failure::Usage(message) | Failure::Message(message) => message.clone(),
            Failure::Found(map, diagnostics) => {
                let options = RenderOptions { color: false };
                diagnostics_text(map, diagnostics, options).trim_end().to_string()
            }
        }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Message(message)
    }
}

/// Long work, as a spinner shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Packets are run; the position is their count.
    Packets,
    /// A search; the message shows its progress.
    Search,
    /// A simulation; the message shows its progress.
    Simulation,
}

/// Shows the progress of work until it is dropped.
pub trait Spinner {
    /// Sets the number of items that are done.
    fn set_position(&self, position: u64);
    /// Sets the message.
    fn set_message(&self, message: String);
}

/// Prints for a command.
pub trait Console: Sync {
    /// Whether to print only results and errors.
    fn is_quiet(&self) -> bool;
    /// Prints results.
    fn print(&self, text: &str);
    /// Prints a remark, a line or several.
    fn note(&self, text: &str);
    /// Prints an error that has no place in a file.
    fn error(&self, text: &str);
    /// Prints diagnostics.
    fn diagnostics(&self, map: &SourceMap, diagnostics: &Diagnostics);
    /// Shows a spinner, unless it is hidden.
    fn spinner(&self, work: Work, is_hidden: bool) -> Box<dyn Spinner>;

    /// Whether warnings are printed.
    fn shows_warnings(&self) -> bool {
        true
    }

    /// Prints a warning that has no place in a source, also if the console is quiet: the results depend on it.
    fn warning(&self, text: &str) {
        if self.shows_warnings() {
            self.note(text);
        }
    }

    /// Prints diagnostics, unless the console is quiet.
    fn warnings(&self, map: &SourceMap, diagnostics: &Diagnostics) {
        if !self.is_quiet() && self.shows_warnings() {
            self.diagnostics(map, diagnostics);
        }
    }
}

/// Formats a count: `1 file`, `2 files`.
pub fn count(number: impl TryInto<u64>, one: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {one}"),
        number => format!("{number} {one}s"),
    }
}

/// Formats an error message with its code, for [`Console::error`].
pub fn coded(code: &str, message: &str) -> String {
    format!("error[{code}]: {message}")
}

/// The maximum number of diagnostics that one command prints for its input; it counts the rest.
const MAX_DIAGNOSTICS: usize = 100;
/// The maximum number of diagnostics with one code at one place, as an entry for all hosts of a network causes them.
const MAX_AT_PLACE: usize = 10;

/// Formats diagnostics; of more than 100 the first errors and the number of the others, and of more than 10 with one code at
/// one place the first ones.
pub fn diagnostics_text(
    map: &SourceMap,
    diagnostics: &Diagnostics,
    options: RenderOptions,
) -> String {
    let mut counts: HashMap<(Code, Span), usize> = HashMap::new();
    let mut shown = Diagnostics::new();
    for diagnostic in diagnostics.iter() {
        let (code, span) = (diagnostic.code, diagnostic.primary.span);
        let count = counts.entry((code, span)).or_default();
        *count += usize::from(span != Span::NONE);
        if *count <= MAX_AT_PLACE {
            shown.push(diagnostic.clone());
        }
    }
    let mut repeated: Vec<(Code, Span, usize)> = counts
        .into_iter()
        .filter(|(_, count)| *count > MAX_AT_PLACE)
        .map(|((code, span), count)| (code, span, count - MAX_AT_PLACE))
        .collect();
    repeated.sort_by_key(|(code, span, _)| (*span, *code));
    let mut text = limited_text(map, &shown, options);
    for (code, span, more) in repeated {
        let place = map.location(span).map(|at| format!(" at {at}:{}", at.column));
        text.push_str(&format!("and {more} more {code}{}\n\n", place.unwrap_or_default()));
    }
    text
}

/// Formats diagnostics; of more than 100 the first errors and the number of the others.
fn limited_text(map: &SourceMap, diagnostics: &Diagnostics, options: RenderOptions) -> String {
    if diagnostics.len() <= MAX_DIAGNOSTICS {
        return source::render_text(map, diagnostics, options);
    }
    // Errors come before warnings if there are too many.
    let is_error = |each: &&source::Diagnostic| each.severity == source::Severity::Error;
    let mut first = Diagnostics::new();
    for diagnostic in diagnostics.iter().filter(is_error).take(MAX_DIAGNOSTICS) {
        first.push(diagnostic.clone());
    }
    if first.is_empty() {
        diagnostics.iter().take(MAX_DIAGNOSTICS).for_each(|each| first.push(each.clone()));
    }
    let more = diagnostics.len() - first.len();
    format!("{}and {more} more\n\n", source::render_text(map, &first, options))
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::Diagnostic;

    #[test]
    fn diagnostics_with_one_code_at_one_place_are_counted() {
        let mut map = SourceMap::new();
        let file = map.add("n.yaml", "from: all\nto: all\n");
        let (from, to) = (Span { file, start: 6, end: 9 }, Span { file, start: 14, end: 17 });
        let mut found = Diagnostics::new();
        for number in 0..14 {
            found.push(Diagnostic::error(Code("X-E0001"), from, format!("host {number}")));
        }
        for number in 0..10 {
            found.push(Diagnostic::error(Code("X-E0001"), to, format!("host {number}")));
            found.push(Diagnostic::error(Code("X-E0002"), from, format!("link {number}")));
        }
        let text = diagnostics_text(&map, &found, RenderOptions { color: false });
        assert_eq!(text.matches("error[").count(), 30);
        assert!(text.ends_with("and 4 more X-E0001 at n.yaml:1:7\n\n"), "{text}");
    }

    #[test]
    fn diagnostics_beyond_the_limit_are_counted() {
        for (errors, warnings, more) in [(3, 2, None), (90, 20, Some(20)), (0, 130, Some(30))] {
            let mut found = Diagnostics::new();
            // Equal diagnostics would be joined.
            for number in 0..errors {
                let message = format!("wrong {number}");
                found.push(Diagnostic::error(Code("X-E0001"), Span::NONE, message));
            }
            for number in 0..warnings {
                let message = format!("odd {number}");
                found.push(Diagnostic::warning(Code("X-W0001"), Span::NONE, message));
            }
            let options = RenderOptions { color: false };
            let text = diagnostics_text(&SourceMap::new(), &found, options);
            let end = more.map(|more| format!("and {more} more\n\n"));
            assert_eq!(end.is_some_and(|end| text.ends_with(&end)), more.is_some(), "{text}");
        }
    }

    #[test]
    fn numbers_of_things() {
        assert_eq!([count(1, "file"), count(0, "file")], ["1 file", "0 files"]);
    }
}
