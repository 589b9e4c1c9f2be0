// SPDX-License-Identifier: Apache-2.0
//! The type checker and lowering: no text makes them panic, and what they accept verifies and survives
//! its text form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use p4::preprocessor::{IncludeLoader, PreprocessorOptions};

struct NoFiles;

impl IncludeLoader for NoFiles {
    fn load(&self, _path: &str) -> Result<Option<String>, String> {
        Ok(None)
    }
}

fuzz_target!(|text: &str| {
    let options = PreprocessorOptions::default();
    let mut compiled = p4::compile::compile("fuzz.p4", text.to_string(), &NoFiles, &options);
    let Some(typed) = &compiled.program else { return };
    let Some(program) = ir::lowering::lower(typed, &mut compiled.diagnostics) else { return };
    if compiled.diagnostics.has_errors() {
        return;
    }
    if let Err(errors) = ir::verify::verify(&program) {
        panic!("accepted, but: {}", errors[0]);
    }
    let printed = ir::text::print(&program);
    match ir::text::parse(&printed) {
        Ok(again) => assert_eq!(ir::text::print(&again), printed),
        Err(errors) => panic!("the text form does not read: {}", errors[0]),
    }
});
