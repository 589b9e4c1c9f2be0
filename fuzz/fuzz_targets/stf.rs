// SPDX-License-Identifier: Apache-2.0
//! STF files.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (_, errors) = conformance::stf::reader::read("fuzz.stf", text);
    for error in errors {
        let _ = error.to_string();
    }
});
