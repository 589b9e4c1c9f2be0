// SPDX-License-Identifier: Apache-2.0
//! Conformance with the P4_16 specification: runs the documents of `tests/specification`, a test for each folder, and
//! compares the committed report (for each clause the code that cites it and the tests that cover it).
//! `PLANEWRIGHT_BLESS=1` writes the report anew.

mod citations;
mod clauses;
pub mod coverage;
pub mod document;
mod runner;

use coverage::{DOCUMENTS, REPORT, coverage, files};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs all documents of a folder and reports all failing cases together.
fn run_folder(folder: &str) {
    let directory = root().join(DOCUMENTS).join(folder);
    let documents = files(&directory, "md").expect("the folder can be read");
    let mut cases = 0;
    let mut failures = Vec::new();
    for path in documents {
        let text = std::fs::read_to_string(&path).expect("the document can be read");
        let document = document::read(&text);
        cases += document.cases.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for failure in runner::run(&document) {
            let place = format!("{DOCUMENTS}/{folder}/{name}:{}", failure.line);
            failures.push(format!("{place}: {}", failure.message));
        }
    }
    assert!(cases > 0, "{} has no cases", directory.display());
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

macro_rules! folders {
    ($($name:ident = $folder:literal,)*) => {
        const FOLDERS: &[&str] = &[$($folder,)*];
        $(
            #[test]
            fn $name() {
                run_folder($folder);
            }
        )*
    };
}

folders! {
    language = "06-language",
    types = "07-types",
    expressions = "08-expressions",
    declarations = "09-declarations",
    statements = "12-statements",
    parsers = "13-parsers",
    controls = "14-controls",
    evaluation = "15-evaluation",
    annotations = "20-annotations",
}

#[test]
fn every_folder_is_run() {
    let listed: BTreeSet<String> = FOLDERS.iter().map(|folder| folder.to_string()).collect();
    let found: BTreeSet<String> = std::fs::read_dir(root().join(DOCUMENTS))
        .expect("the documents can be read")
        .map(|entry| entry.expect("the entry can be read"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(listed, found);
}

#[test]
fn the_committed_coverage_is_current() {
    let report = coverage(&root()).expect("the checkout can be read");
    assert!(report.unknown.is_empty(), "there is no such clause: {:?}", report.unknown);
    testing::golden::check(root().join(REPORT), &report.markdown());
}
