// SPDX-License-Identifier: Apache-2.0
//! Messages about wrong files: those of `files/wrong`, and the examples of explanations. `PLANEWRIGHT_BLESS=1` writes the
//! messages anew.

use crate::reading::{folder, messages, read_text};
use std::collections::BTreeSet;
use std::fmt::Write;

#[test]
fn messages_about_wrong_files() {
    let bless = testing::golden::is_blessing();
    let mut names: Vec<String> = std::fs::read_dir(folder("wrong"))
        .expect("cases")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !name.ends_with(".expected"))
        .collect();
    names.sort();
    assert!(names.len() >= 25, "only {} cases were found", names.len());
    let mut failures = String::new();
    let mut seen = BTreeSet::new();
    for name in names {
        let text = std::fs::read_to_string(folder("wrong").join(&name)).expect("a case");
        let (kind, diagnostics, map) = read_text(&name, &text);
        assert!(!diagnostics.is_empty(), "{name}: nothing is said");
        assert_eq!(kind.is_none(), diagnostics.has_errors(), "{name}");
        seen.extend(diagnostics.iter().map(|diagnostic| diagnostic.code));
        let found = messages(&map, &diagnostics);
        let path = folder("wrong").join(format!("{name}.expected"));
        if bless {
            std::fs::write(&path, &found).expect("writable");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if expected != found {
            writeln!(failures, "== {name}: expected\n{expected}\n-- found\n{found}")
                .expect("a string takes text");
        }
    }
    assert!(failures.is_empty(), "{failures}");
    for explanation in network_file::EXPLANATIONS {
        assert!(seen.contains(&explanation.code), "no file has a {}", explanation.code);
    }
}

#[test]
fn every_code_has_examples_that_are_true() {
    for explanation in network_file::EXPLANATIONS {
        let codes = |text: &str| {
            let (_, diagnostics, _) = read_text("x.yaml", text);
            diagnostics.iter().map(|each| each.code).collect::<Vec<_>>()
        };
        let code = explanation.code;
        assert_eq!(codes(explanation.wrong), [code], "{}", explanation.wrong);
        assert_eq!(codes(explanation.right), [], "{}", explanation.right);
    }
}
