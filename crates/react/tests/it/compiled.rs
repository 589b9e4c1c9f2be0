// SPDX-License-Identifier: Apache-2.0
//! What the compilers make of programs.

use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use react::c::{Compiler, compile as compile_c};
use react::compiler::{BinLimits, CompiledProgram, Limits, compile};
use react::language::read;
use react::module::Code;
use source::{RenderOptions, SourceMap, render_text};

/// Compiles with the limits of the architecture, or of another target.
pub fn compiled_with(text: &str, limits: Option<Limits>) -> CompiledProgram {
    compiled_program(text, limits).0
}

/// Compiles a program and its C.
pub fn compiled_with_code(text: &str) -> (CompiledProgram, Code) {
    let (compiled, map) = compiled_program(text, None);
    let (code, found) = compile_c(&compiled.interface, &map, &Compiler::from_environment());
    let code =
        code.unwrap_or_else(|| panic!("{}", render_text(&map, &found, RenderOptions::default())));
    (compiled, code)
}

fn compiled_program(text: &str, limits: Option<Limits>) -> (CompiledProgram, SourceMap) {
    let options = PreprocessorOptions::default();
    let program = match read("test.p4r", text.to_string(), &InterfacesOnly, &options) {
        Ok((program, _)) => program,
        Err((map, found)) => panic!("{}", render_text(&map, &found, RenderOptions::default())),
    };
    match compile(&program, limits.unwrap_or(Limits::of(program.architecture))) {
        Ok(compiled) => (compiled, program.map),
        Err((found, map)) => panic!("{}", render_text(&map, &found, RenderOptions::default())),
    }
}

/// Limits of generated programs: every other one has several init tables in each pipeline, and each third one loads fields
/// in front of most tables.
pub fn limits(seed: u64) -> Option<Limits> {
    let init = match seed % 2 {
        0 => BinLimits { bits: u32::MAX, items: usize::MAX },
        _ => BinLimits { bits: 18, items: 3 },
    };
    let combinations = if seed % 3 == 1 { 2 } else { 64 };
    Some(Limits { init, combinations })
}

/// Macros of the text and of the command line reach the C; the text's own default gives way.
#[test]
fn macros_of_the_program_are_visible_in_c() {
    let text = include_str!("../../../../examples/react/gray_failure/gray_failure.p4r");
    let defines = vec![("NEIGHBOURS".to_string(), Some("8".to_string()))];
    let options = PreprocessorOptions { include_dirs: Vec::new(), defines };
    let (program, _) = read("test.p4r", text.to_string(), &InterfacesOnly, &options)
        .map_err(|(map, found)| render_text(&map, &found, RenderOptions::default()))
        .expect("no mistakes");
    let own = ["NEIGHBOURS", "INTERVAL_US", "ETA_PERCENT"];
    let found = program.interface.defines.iter().filter(|(name, _)| own.contains(&name.as_str()));
    let found: Vec<(&str, &str)> =
        found.map(|(name, body)| (name.as_str(), body.as_str())).collect();
    assert_eq!(found, [("INTERVAL_US", "5"), ("ETA_PERCENT", "50"), ("NEIGHBOURS", "8")]);
}
