// SPDX-License-Identifier: Apache-2.0
//! Messages about wrong files: those of `files/wrong`, and the examples of explanations. `PLANEWRIGHT_BLESS=1` writes the
//! messages anew.

use crate::reading::{folder, messages, read_text};
use std::collections::BTreeSet;

#[test]
fn messages_about_wrong_files() {
    let mut seen = BTreeSet::new();
    testing::golden::check_folder(&folder("wrong"), 25, |name, text| {
        let (kind, diagnostics, map) = read_text(name, text);
        assert!(!diagnostics.is_empty(), "{name}: nothing is reported");
        assert_eq!(kind.is_none(), diagnostics.has_errors(), "{name}");
        seen.extend(diagnostics.iter().map(|diagnostic| diagnostic.code));
        messages(&map, &diagnostics)
    });
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
