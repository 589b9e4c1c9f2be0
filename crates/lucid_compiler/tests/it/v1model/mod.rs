// SPDX-License-Identifier: Apache-2.0
//! The v1model back end: what each construct becomes, what all programs have in common, and runs of
//! what the examples do not have. That compiled programs do what they mean is `compiled.rs`'s.

mod constructs;
mod programs;

use lucid::core::Program;
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid::syntax::Loader;
use lucid_compiler::{Compiled, Options};
use lucid_reference::specification::{Format, read_symbolics};
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
    lucid_compiler::compile(program, map, options)
        .map_err(|said| render_text(map, &said, RenderOptions::default()))
}
