// SPDX-License-Identifier: Apache-2.0
//! Lucid source text: parsing never fails and tells places inside the text, what is free of errors can
//! be formatted, and formatting twice changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lucid::syntax::{Loader, format::format_source, load};
use source::SourceMap;

/// Every file has the same text, so that it may include itself under other names.
struct Same(String);

impl Loader for Same {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        Ok((path.len() < 4).then(|| self.0.clone()))
    }
}

fuzz_target!(|text: &str| {
    let mut map = SourceMap::new();
    let loader = Same(text.to_owned());
    let (_, diagnostics) = load(&mut map, "m", text.to_owned(), &loader);
    for diagnostic in diagnostics.iter() {
        let spans = diagnostic.labels.iter().map(|label| label.span);
        for span in spans.chain([diagnostic.primary.span]) {
            let text = map.text(span.file);
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{diagnostic:?}");
        }
    }
    let _ = source::render_text(&map, &diagnostics, source::RenderOptions::default());

    let mut map = SourceMap::new();
    let file = map.add("m", text);
    let (program, diagnostics) = lucid::syntax::parse(&map, file);
    match format_source(text) {
        Ok(formatted) => {
            assert!(!diagnostics.has_errors());
            let mut map = SourceMap::new();
            let file = map.add("m", formatted.as_str());
            let (again, diagnostics) = lucid::syntax::parse(&map, file);
            assert!(!diagnostics.has_errors(), "formatting broke it: {formatted}");
            assert_eq!(again.node_count, program.node_count);
            assert_eq!(format_source(&formatted).as_deref(), Ok(formatted.as_str()));
        }
        Err(errors) => {
            let changed = lucid::syntax::codes::FORMATTER_CHANGED_TOKENS;
            assert!(errors.iter().all(|error| error.code != changed), "{errors:?}");
            assert!(diagnostics.has_errors());
        }
    }
});
