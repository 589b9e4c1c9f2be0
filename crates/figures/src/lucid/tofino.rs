// SPDX-License-Identifier: Apache-2.0
//! Compilation for Tofino as all figures do it, and how they count lines of P4.

use lucid_compiler::{Backend, Options};

/// The recirculation port of a Tofino.
const RECIRCULATION_PORT: u32 = 68;

/// Returns the options of the compiler.
pub(super) fn options() -> Options {
    Options { target: Backend::Tna, recirculation_port: RECIRCULATION_PORT, ..Options::default() }
}

/// Returns the lines of P4 that are neither blank nor comments.
pub(super) fn p4_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"))
}
