// SPDX-License-Identifier: Apache-2.0
//! What the compiler makes of programs.

use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use react::compiler::{CompiledProgram, Limits, compile};
use react::language::read;
use source::{RenderOptions, render_text};

/// Compiles with the limits of the architecture, or of another target.
pub fn compiled_with(text: &str, limits: Option<Limits>) -> CompiledProgram {
    let options = PreprocessorOptions::default();
    let program = match read("test.p4r", text.to_string(), &InterfacesOnly, &options) {
        Ok((program, _)) => program,
        Err((map, found)) => panic!("{}", render_text(&map, &found, RenderOptions::default())),
    };
    match compile(&program, limits.unwrap_or(Limits::of(program.architecture))) {
        Ok(compiled) => compiled,
        Err((found, map)) => panic!("{}", render_text(&map, &found, RenderOptions::default())),
    }
}
