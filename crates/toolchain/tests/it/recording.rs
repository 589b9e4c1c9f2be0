// SPDX-License-Identifier: Apache-2.0
//! A console that keeps what is printed.

use frontend::{Console, Spinner, Work, diagnostics_text};
use source::{Diagnostics, RenderOptions, SourceMap};
use std::sync::Mutex;

/// What was printed, in order; errors begin with `error: `.
#[derive(Default)]
pub struct Recording(Mutex<String>);

impl Recording {
    /// All of it.
    pub fn text(&self) -> String {
        self.0.lock().expect("no test panics while it prints").clone()
    }

    fn add(&self, text: &str) {
        self.0.lock().expect("no test panics while it prints").push_str(text);
    }
}

struct Hidden;

impl Spinner for Hidden {
    fn set_position(&self, _position: u64) {}

    fn set_message(&self, _message: String) {}
}

impl Console for Recording {
    fn is_quiet(&self) -> bool {
        false
    }

    fn print(&self, text: &str) {
        self.add(text);
    }

    fn note(&self, text: &str) {
        self.add(&format!("{text}\n"));
    }

    fn error(&self, text: &str) {
        self.add(&format!("error: {text}\n"));
    }

    fn diagnostics(&self, map: &SourceMap, diagnostics: &Diagnostics) {
        self.add(&diagnostics_text(map, diagnostics, RenderOptions::default()));
    }

    fn spinner(&self, _work: Work, _is_hidden: bool) -> Box<dyn Spinner> {
        Box::new(Hidden)
    }
}
