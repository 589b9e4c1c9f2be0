// SPDX-License-Identifier: Apache-2.0
//! [`Terminal`]: prints results to standard output and everything else to standard error. A closed pipe ends the command
//! without a message. Without `--color`, colours are only for terminals, and not with `NO_COLOR`.

use clap::ColorChoice;
use frontend::{Console, Spinner, Work, diagnostics_text};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use source::{Diagnostic, Diagnostics, RenderOptions, Severity, SourceMap};
use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::sync::LazyLock;

/// Standard output and standard error.
pub struct Terminal {
    /// Print only results and errors.
    pub is_quiet: bool,
    /// Print warnings.
    pub shows_warnings: bool,
    /// When diagnostics have colours.
    pub color: ColorChoice,
}

impl Console for Terminal {
    fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    fn shows_warnings(&self) -> bool {
        self.shows_warnings
    }

    fn print(&self, text: &str) {
        print(text);
    }

    fn note(&self, text: &str) {
        note(text);
    }

    fn error(&self, text: &str) {
        error(text);
    }

    fn diagnostics(&self, map: &SourceMap, found: &Diagnostics) {
        let shown = shown(found, self.shows_warnings);
        if shown.is_empty() {
            return;
        }
        let text = diagnostics_text(map, &shown, RenderOptions { color: self.has_colors() });
        let _ = std::io::stderr().write_all(text.as_bytes());
    }

    fn spinner(&self, work: Work, is_hidden: bool) -> Box<dyn Spinner> {
        if is_hidden {
            return Box::new(Bar(ProgressBar::hidden()));
        }
        let bar = BARS.add(ProgressBar::new_spinner());
        let template = match work {
            Work::Packets => "{spinner} {human_pos} packets, {per_sec}",
            Work::Search | Work::Simulation => "{spinner} {msg}, {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Box::new(Bar(bar))
    }
}

/// The progress bars on the terminal. What is printed meanwhile stands above them.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// A progress bar that is cleared when it is dropped.
struct Bar(ProgressBar);

impl Spinner for Bar {
    fn set_position(&self, position: u64) {
        self.0.set_position(position);
    }

    fn set_message(&self, message: String) {
        self.0.set_message(message);
        self.0.tick();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Prints to standard output; a closed pipe ends the command.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let written = BARS.suspend(|| out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    if let Err(error) = written {
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
    let _ = BARS.suspend(|| writeln!(std::io::stderr(), "{text}"));
}

/// Prints an error that has no place in a file.
pub fn error(text: &str) {
    if text.starts_with("error[") {
        note(text);
    } else {
        note(&format!("error: {text}"));
    }
}

/// Reports a mistake in Planewright.
pub fn internal_error(text: &str) {
    note(&format!(
        "internal error: {text}\nThis is a mistake in plane, not in your input. Please report it with \
         the command and the files that lead to it."
    ));
}

/// Returns the diagnostics without warnings, unless these are shown.
pub fn shown(found: &Diagnostics, shows_warnings: bool) -> Cow<'_, Diagnostics> {
    if shows_warnings {
        return Cow::Borrowed(found);
    }
    let mut errors = Diagnostics::new();
    let is_error = |each: &&Diagnostic| each.severity == Severity::Error;
    found.iter().filter(is_error).for_each(|each| errors.push(each.clone()));
    Cow::Owned(errors)
}

impl Terminal {
    /// Whether diagnostics on standard error have colours.
    fn has_colors(&self) -> bool {
        let forbidden = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => std::io::stderr().is_terminal() && !forbidden(),
        }
    }
}
