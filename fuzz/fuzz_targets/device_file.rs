// SPDX-License-Identifier: Apache-2.0
//! Device files: options or messages with places inside the file, and never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use source::{RenderOptions, SourceMap, render_text};

fuzz_target!(|text: &str| {
    let mut map = SourceMap::new();
    let file = map.add("device.toml", text);
    if let Err(diagnostics) = device::configuration::read(file, text) {
        assert!(diagnostics.has_errors());
        let _ = render_text(&map, &diagnostics, RenderOptions { color: false });
    }
});
