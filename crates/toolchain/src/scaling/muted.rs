// SPDX-License-Identifier: Apache-2.0
//! [`Muted`]: a console that prints nothing, for a program that is compiled a second time.

use frontend::{Console, Spinner, Work};
use source::{Diagnostics, SourceMap};

pub(super) struct Muted;

struct NoSpinner;

impl Spinner for NoSpinner {
    fn set_position(&self, _: u64) {}
    fn set_message(&self, _: String) {}
}

impl Console for Muted {
    fn is_quiet(&self) -> bool {
        true
    }

    fn print(&self, _: &str) {}

    fn note(&self, _: &str) {}

    fn error(&self, _: &str) {}

    fn diagnostics(&self, _: &SourceMap, _: &Diagnostics) {}

    fn spinner(&self, _: Work, _: bool) -> Box<dyn Spinner> {
        Box::new(NoSpinner)
    }
}
