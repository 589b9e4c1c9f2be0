// SPDX-License-Identifier: Apache-2.0
//! Domino programs, binding files and tables of packets: results or messages with places, and never a panic. A program that
//! is accepted compiles, and its two forms give the same packets.
#![no_main]

use domino::interpreter::{State, run};
use domino::compiler::{Layout, compile};
use libfuzzer_sys::fuzz_target;
use p4::preprocessor::{IncludeLoader, PreprocessorOptions};
use source::{Diagnostics, RenderOptions, SourceMap, render_text};

/// No files beside the program.
struct NoFiles;

impl IncludeLoader for NoFiles {
    fn load(&self, _: &str) -> Result<Option<String>, String> {
        Ok(None)
    }
}

/// The separator of a program, a binding file and a table.
const SEPARATOR: &str = "\u{1}";

fn report(map: &SourceMap, diagnostics: &Diagnostics) {
    assert!(diagnostics.has_errors());
    let _ = render_text(map, diagnostics, RenderOptions { color: false });
}

fuzz_target!(|text: &str| {
    let mut parts = text.split(SEPARATOR);
    let program = parts.next().unwrap_or("");
    let _ = domino::format(program);
    let checked = match domino::front("fuzz.domino", program, &NoFiles, &PreprocessorOptions::default()) {
        Ok(checked) => checked,
        Err((map, diagnostics)) => return report(&map, &diagnostics),
    };
    let mut map = SourceMap::new();
    let mut layout = Layout::default();
    if let Some(text) = parts.next() {
        let file = map.add("fuzz.bind.toml", text);
        match domino::binding::read(file, text, &checked.program) {
            Ok(binding) => layout = Layout::Bound(binding),
            Err(diagnostics) => report(&map, &diagnostics),
        }
    }
    if let Err((diagnostics, map)) = compile(&checked.core, checked.map.clone(), &layout) {
        panic!("{}", render_text(&map, &diagnostics, RenderOptions { color: false }));
    }
    let table = parts.next().unwrap_or("");
    let file = map.add("fuzz.csv", table);
    let packets = match domino::csv::read(file, table, &checked.program.fields) {
        Ok(packets) => packets,
        Err(diagnostics) => return report(&map, &diagnostics),
    };
    let cells: usize = checked.program.globals.iter().map(|global| global.cells()).sum();
    if cells > 1 << 16 {
        return;
    }
    let (mut state, mut core_state) = (State::initial(&checked.program), State::initial(&checked.program));
    for packet in packets.iter().take(50) {
        let (mut one, mut other) = (packet.clone(), packet.clone());
        run(&checked.program, &mut state, &mut one);
        domino::core::run(&checked.core, &mut core_state, &mut other);
        assert_eq!(one, other);
    }
    assert_eq!(state, core_state);
});
