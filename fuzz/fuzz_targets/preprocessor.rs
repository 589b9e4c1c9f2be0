// SPDX-License-Identifier: Apache-2.0
//! The preprocessor: macros, conditions and includes end in bounded time, whatever they say.
#![no_main]

use libfuzzer_sys::fuzz_target;
use p4::preprocessor::{IncludeLoader, PreprocessorOptions, preprocess};

/// Every file is the text itself, so that cycles are easy to find.
struct Itself(String);

impl IncludeLoader for Itself {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        Ok(if path.contains('x') { Some(self.0.clone()) } else { None })
    }
}

fuzz_target!(|text: &str| {
    let mut map = source::SourceMap::new();
    let file = map.add("fuzz.p4", text);
    let mut diagnostics = source::Diagnostics::new();
    let loader = Itself(text.to_string());
    preprocess(&mut map, &loader, file, &PreprocessorOptions::default(), &mut diagnostics);
    source::render_text(&map, &diagnostics, source::RenderOptions::default());
    source::render_json(&map, &diagnostics);
});
