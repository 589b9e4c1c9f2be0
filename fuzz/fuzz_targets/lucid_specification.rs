// SPDX-License-Identifier: Apache-2.0
//! Specifications of Lucid runs in their three notations, and files of symbolics: no text makes the
//! reader panic, and a run comes with no error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lucid_reference::specification::{Format, read, read_symbolics};

fuzz_target!(|text: &str| {
    for format in [Format::Json, Format::Yaml, Format::Toml] {
        let mut map = source::SourceMap::new();
        let file = map.add("run", text);
        let (run, diagnostics) = read(&map, file, format);
        assert_eq!(run.is_none(), diagnostics.has_errors());
        source::render_text(&map, &diagnostics, source::RenderOptions::default());
        read_symbolics(&map, file, format);
    }
});
