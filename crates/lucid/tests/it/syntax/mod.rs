// SPDX-License-Identifier: Apache-2.0
//! The syntax from outside: trees, spellings, messages, includes and limits. Inputs are data; what
//! comes out is compared as text.

mod formatting;
mod includes;
mod limits;
mod messages;
mod mistakes;
mod show;
mod spellings;
mod trees;

use lucid::syntax::ast::Program;
use source::{Diagnostics, Severity, SourceMap};

/// Reads a text that includes nothing.
fn read(text: &str) -> (SourceMap, Program, Diagnostics) {
    let mut map = SourceMap::new();
    let file = map.add("program.dpt", text);
    let (program, diagnostics) = lucid::syntax::parse(&map, file);
    (map, program, diagnostics)
}

/// The tree of a text without mistakes.
#[track_caller]
fn tree(text: &str) -> Program {
    let (map, program, diagnostics) = read(text);
    let rendered = source::render_text(&map, &diagnostics, source::RenderOptions::default());
    assert!(!diagnostics.has_errors(), "{text}\n{rendered}");
    program
}

/// The codes that a text gets, in order.
fn codes(text: &str) -> Vec<&'static str> {
    read(text).2.iter().map(|diagnostic| diagnostic.code.0).collect()
}

/// The codes of errors that a text gets, in order, each with its line.
fn errors(text: &str) -> Vec<String> {
    let (map, _, diagnostics) = read(text);
    diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .map(|diagnostic| {
            let line = map.location(diagnostic.primary.span).map_or(0, |place| place.line);
            format!("{line}: {}", diagnostic.code)
        })
        .collect()
}
