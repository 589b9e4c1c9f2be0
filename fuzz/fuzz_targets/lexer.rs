// SPDX-License-Identifier: Apache-2.0
//! The lexer: any text becomes tokens that lie inside it.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut map = source::SourceMap::new();
    let file = map.add("fuzz.p4", text);
    let mut diagnostics = source::Diagnostics::new();
    let tokens = p4::lexer::lex(&map, file, &mut diagnostics);
    assert!(tokens.iter().all(|token| token.span.end as usize <= text.len()));
    source::render_text(&map, &diagnostics, source::RenderOptions::default());
});
