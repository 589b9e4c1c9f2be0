// SPDX-License-Identifier: Apache-2.0
//! [`KeptConsole`]: keeps what a run on another thread prints, until it is that run's turn.

use frontend::{Console, Spinner, Work, diagnostics_text};
use source::{Diagnostics, RenderOptions, SourceMap};
use std::sync::{Mutex, PoisonError};

/// Keeps lines.
#[derive(Debug, Default)]
pub(super) struct KeptConsole(Mutex<Vec<String>>);

impl KeptConsole {
    fn keep(&self, text: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.extend(text.lines().map(str::to_string));
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

struct NoSpinner;

impl Spinner for NoSpinner {
    fn set_position(&self, _: u64) {}
    fn set_message(&self, _: String) {}
}

impl Console for KeptConsole {
    fn is_quiet(&self) -> bool {
        true
    }

    fn print(&self, text: &str) {
        self.keep(text);
    }

    fn note(&self, text: &str) {
        self.keep(text);
    }

    fn error(&self, text: &str) {
        self.keep(text);
    }

    fn diagnostics(&self, map: &SourceMap, diagnostics: &Diagnostics) {
        self.keep(&diagnostics_text(map, diagnostics, RenderOptions { color: false }));
    }

    fn spinner(&self, _: Work, _: bool) -> Box<dyn Spinner> {
        Box::new(NoSpinner)
    }
}
