// SPDX-License-Identifier: Apache-2.0
//! The parser and the printer: what parses without error prints to something that parses to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::{PreprocessorOptions, preprocess};

fn parse(text: &str) -> (p4::ast::Program, bool) {
    let mut map = source::SourceMap::new();
    let file = map.add("fuzz.p4", text);
    let mut diagnostics = source::Diagnostics::new();
    let options = PreprocessorOptions::default();
    let tokens = preprocess(&mut map, &InterfacesOnly, file, &options, &mut diagnostics);
    let program = p4::parser::parse(tokens, &mut diagnostics);
    source::render_text(&map, &diagnostics, source::RenderOptions::default());
    (program, !diagnostics.has_errors())
}

fuzz_target!(|text: &str| {
    let (program, fine) = parse(text);
    if fine {
        let printed = p4::printer::print(&program);
        let (again, fine) = parse(&printed);
        assert!(fine, "the printed program does not parse:\n{printed}");
        assert_eq!(p4::printer::print(&again), printed);
    }
});
