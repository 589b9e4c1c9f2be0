// SPDX-License-Identifier: Apache-2.0
//! The type checker and lowering: no text makes them panic, and what they accept verifies and survives
//! its text form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ir::ready::ReadyProgram;
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;

fuzz_target!(|text: &str| {
    let options = PreprocessorOptions::default();
    let mut compiled = p4::compile::compile("fuzz.p4", text.to_string(), &InterfacesOnly, &options);
    let Some(ready) = ReadyProgram::of(&mut compiled) else { return };
    for program in [ready.lowered(), ready.program()] {
        if let Err(errors) = ir::verify::verify(program) {
            panic!("accepted, but: {}", errors[0]);
        }
    }
    let printed = ir::text::print(ready.lowered());
    match ir::text::parse(&printed) {
        Ok(again) => assert_eq!(ir::text::print(&again), printed),
        Err(errors) => panic!("the text form does not read: {}", errors[0]),
    }
});
