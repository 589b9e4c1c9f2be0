// SPDX-License-Identifier: Apache-2.0
//! The text form of the IR: what reads prints to something that reads to the same, and the verifier
//! takes whatever reads.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(program) = ir::text::parse(text) {
        let printed = ir::text::print(&program);
        match ir::text::parse(&printed) {
            Ok(again) => assert_eq!(ir::text::print(&again), printed),
            Err(errors) => panic!("what was printed does not read: {}", errors[0]),
        }
        let _ = ir::verify::verify(&program);
    }
});
