// SPDX-License-Identifier: Apache-2.0
//! The formatter: formatting what it made changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(formatted) = p4::format::format_source(text) {
        match p4::format::format_source(&formatted) {
            Ok(again) => assert_eq!(again, formatted),
            Err(_) => panic!("what was formatted cannot be formatted again"),
        }
    }
});
