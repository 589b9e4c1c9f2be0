// SPDX-License-Identifier: Apache-2.0
//! Each construct that compiles, and the controls of its handlers: `constructs.txt` has them.
//! `PLANEWRIGHT_BLESS=1` writes it anew.

use super::compiled;
use crate::constructs::{CONSTRUCTS, On};
use lucid::syntax::Loader;
use lucid_compiler::Options;
use lucid_testing::programs::core;
use source::SourceMap;
use std::path::Path;

struct Memops;

impl Loader for Memops {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        let text = "memop plus(int stored, int x) { return stored + x; }\n";
        Ok((path == "memops.dpt").then(|| text.to_owned()))
    }
}

/// Declarations of the program between the parser and the dispatcher, and the parser if there is one of
/// the user's.
fn own_part(printed: &str, with_parser: bool) -> String {
    let from = match with_parser {
        true => "// Frames of events",
        false => "\n// handle ",
    };
    let from_egress = || printed.find("\n// @egress handle ");
    let begin = printed.find(from).or_else(from_egress).unwrap_or(printed.len());
    let end = printed.find("\n// The dispatcher").expect("a dispatcher");
    printed.get(begin..end).unwrap_or_default().trim().to_string()
}

#[test]
fn constructs_become_what_the_file_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/v1model/constructs.txt");
    let mut found = String::new();
    let mut count = 0;
    for construct in CONSTRUCTS.iter().flat_map(|(_, list)| *list) {
        if !matches!(construct.v1model, On::Compiles | On::As(_)) {
            continue;
        }
        let mut map = SourceMap::new();
        let program = core(&mut map, "construct.dpt", construct.source, &Memops);
        let compiled = compiled(&map, &program, &Options::default())
            .unwrap_or_else(|said| panic!("{}:\n{said}", construct.name));
        assert!(compiled.built.warnings.is_empty(), "{}", construct.name);
        let with_parser = program.main_parser.is_some();
        let text = own_part(&compiled.built.print(), with_parser);
        found.push_str(&format!(
            "=== {}\n{}\n---\n{text}\n\n",
            construct.name,
            construct.source.trim()
        ));
        count += 1;
    }
    assert!(count > 60, "only {count} constructs");
    if testing::golden::is_blessing() {
        std::fs::write(&path, &found).expect("writing");
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let parts = |text: &str| text.split("=== ").map(str::to_string).collect::<Vec<_>>();
    for (expected, found) in parts(&expected).iter().zip(parts(&found)) {
        assert_eq!(*expected, found);
    }
    assert_eq!(expected.len(), found.len());
}
