// SPDX-License-Identifier: Apache-2.0
//! The v1model back end: what each construct becomes, what all programs have in common, and runs of
//! what the examples do not have. That compiled programs do what they mean is `compiled.rs`'s.

#[path = "compile_v1model/constructs.rs"]
mod constructs;
#[path = "compile_v1model/programs.rs"]
mod programs;
#[path = "compile_v1model/recirculated.rs"]
mod recirculated;
#[path = "compile_v1model/runs.rs"]
mod runs;

use lucid::compile::{self, Compiled, Options};
use lucid::core::Program;
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid::specification::{Format, read_symbolics};
use lucid::syntax::Loader;
use source::{RenderOptions, SourceMap, render_text};

/// Reads included files by their paths.
struct Disk;

impl Loader for Disk {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        Ok(std::fs::read_to_string(path).ok())
    }
}

/// The core program; symbolics of the constructs' programs have values.
fn core(map: &mut SourceMap, name: &str, text: &str, files: &dyn Loader) -> Program {
    let file = map.add("given.symb", "{\"sizes\": {\"w\": 8}, \"symbolics\": {\"n\": 4}}");
    let (symbolics, _) = read_symbolics(map, file, Format::Json);
    let symbolics = match text.contains("symbolic ") {
        true => symbolics.expect("symbolics"),
        false => Symbolics::default(),
    };
    let compiled = front::compile(map, name, text.to_string(), files, &symbolics, &[]);
    match compiled {
        Ok(compiled) => compiled.program,
        Err(said) => panic!("{}", render_text(map, &said, RenderOptions::default())),
    }
}

/// Compiled, or the messages.
fn compiled(map: &SourceMap, program: &Program, options: &Options) -> Result<Compiled, String> {
    compile::compile(program, map, options)
        .map_err(|said| render_text(map, &said, RenderOptions::default()))
}
