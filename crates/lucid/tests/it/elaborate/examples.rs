// SPDX-License-Identifier: Apache-2.0
//! Explanations: the wrong example of each gets its code, the right one elaborates.

use lucid::elaborate::{EXPLANATIONS, Symbolics};
use lucid::front;
use source::{Diagnostics, RenderOptions, SourceMap, render_text};

fn said(text: &str) -> (Diagnostics, SourceMap) {
    let mut map = SourceMap::new();
    let files = lucid::syntax::NoFiles;
    let symbolics = Symbolics::default();
    let text = text.to_owned();
    let compiled = front::compile(&mut map, "example.dpt", text, &files, &symbolics, &[]);
    let found = match compiled {
        Ok(compiled) => lucid::elaborate::lint(&compiled.program),
        Err(found) => found,
    };
    (found, map)
}

#[test]
fn explanations_have_examples_that_are_what_they_say() {
    for explanation in EXPLANATIONS {
        let code = explanation.code;
        if explanation.wrong.is_empty() {
            continue;
        }
        let (wrong, map) = said(explanation.wrong);
        let shown = render_text(&map, &wrong, RenderOptions::default());
        assert!(wrong.iter().any(|one| one.code == code), "{code}, the wrong example:\n{shown}");
        let (right, map) = said(explanation.right);
        let shown = render_text(&map, &right, RenderOptions::default());
        assert!(right.is_empty(), "{code}, the right example:\n{shown}");
    }
}

#[test]
fn every_code_is_explained_once() {
    let mut codes: Vec<&str> = EXPLANATIONS.iter().map(|one| one.code.0).collect();
    let count = codes.len();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), count);
    let is_ours = |code: &&str| code.starts_with("LU-E04") || code.starts_with("LU-W04");
    assert!(codes.iter().all(is_ours), "{codes:?}");
}
