// SPDX-License-Identifier: Apache-2.0
//! Reads programs for tests.

use domino::Checked;
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use source::{Diagnostics, RenderOptions, SourceMap, render_text};

/// Reads a program.
#[allow(clippy::result_large_err, reason = "in tests")]
pub fn read_diagnostics(text: &str) -> Result<Checked, (SourceMap, Diagnostics)> {
    domino::front("test.domino", text, &InterfacesOnly, &PreprocessorOptions::default())
}

/// Reads a program; its errors as text.
pub fn try_read(text: &str) -> Result<Checked, String> {
    read_diagnostics(text)
        .map_err(|(map, found)| render_text(&map, &found, RenderOptions { color: false }))
}

/// Reads a program without errors.
pub fn read(text: &str) -> Checked {
    try_read(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}
