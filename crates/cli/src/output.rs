// SPDX-License-Identifier: Apache-2.0
//! [`Terminal`]: prints results to standard output and everything else to standard error. A closed pipe ends the command
//! without a message. Colours are only for terminals, and not with `NO_COLOR`.

use frontend::{Console, Spinner, Work, diagnostics_text};
use indicatif::{ProgressBar, ProgressStyle};
use source::{Diagnostics, RenderOptions, SourceMap};
use std::io::{IsTerminal, Write};

/// Standard output and standard error.
pub struct Terminal {
    /// Print only results and errors.
    pub is_quiet: bool,
}

impl Console for Terminal {
    fn is_quiet(&self) -> bool {
        self.is_quiet
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
        if found.is_empty() {
            return;
        }
        let text = diagnostics_text(map, found, RenderOptions { color: colors() });
        let _ = std::io::stderr().write_all(text.as_bytes());
    }

    fn spinner(&self, work: Work, is_hidden: bool) -> Box<dyn Spinner> {
        if is_hidden {
            return Box::new(Bar(ProgressBar::hidden()));
        }
        let bar = ProgressBar::new_spinner();
        let template = match work {
            Work::Packets => "{spinner} {human_pos} packets, {per_sec}",
            Work::Search => "{spinner} {msg}, {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Box::new(Bar(bar))
    }
}

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

/// Whether standard error shows colours.
fn colors() -> bool {
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !forbidden
}
