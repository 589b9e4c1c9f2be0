// SPDX-License-Identifier: Apache-2.0
//! Core programs of texts.

use lucid::core::Program;
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid::syntax::Loader;
use lucid_reference::specification::{Format, read_symbolics};
use source::{RenderOptions, SourceMap, render_text};

/// Reads included files by their paths.
pub struct Disk;

impl Loader for Disk {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        Ok(std::fs::read_to_string(path).ok())
    }
}

/// The core program of a text. The symbolic size `w` is 8 and the symbolic `n` is 4, if it has symbolics.
///
/// # Panics
///
/// If the program is wrong, with the messages.
pub fn core(map: &mut SourceMap, name: &str, text: &str, files: &dyn Loader) -> Program {
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
