// SPDX-License-Identifier: Apache-2.0
//! Rewrites that change nothing, on every accepted P4 program of this repository: the examples, the
//! tests' programs, and the cases of the specification's documents. `PLANEWRIGHT_P4_PROGRAMS` names a folder of
//! more programs, such as p4c's samples.

use crate::specification::coverage::{DOCUMENTS, files};
use crate::specification::document;
use conformance::rewrites;
use ir::ready::ReadyProgram;
use p4::compile::compile;
use p4::preprocessor::PreprocessorOptions;
use std::path::{Path, PathBuf};
use testing::Disk;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What came of programs: how many were accepted, and what is wrong with those.
#[derive(Default)]
struct Outcome {
    accepted: usize,
    rejected: usize,
    failures: Vec<String>,
}

impl Outcome {
    fn run(&mut self, name: &str, text: String) {
        let options = PreprocessorOptions::default();
        let mut compiled = compile(name, text, &Disk, &options);
        let ready = ReadyProgram::of(&mut compiled);
        let Some(typed) = compiled.program.filter(|_| !compiled.diagnostics.has_errors()) else {
            self.rejected += 1;
            return;
        };
        self.accepted += 1;
        let lowered = ready.as_ref().map(|ready| &**ready.lowered());
        if let Err(why) = rewrites::check(&typed, &compiled.map, lowered) {
            self.failures.push(format!("{name}: {why}"));
        }
    }

    fn expect(&self, least: usize) {
        let Outcome { accepted, rejected, failures } = self;
        println!("{accepted} accepted programs, {rejected} others");
        assert!(failures.is_empty(), "{} of {accepted}:\n{}", failures.len(), failures.join("\n"));
        assert!(*accepted >= least, "only {accepted} programs were accepted");
    }
}

#[test]
fn files_of_this_repository() {
    let mut outcome = Outcome::default();
    for folder in ["examples", "crates", "tests", "benches"] {
        for path in files(&root().join(folder), "p4").expect("the folder can be read") {
            let text = std::fs::read_to_string(&path).expect("the program can be read");
            outcome.run(&path.to_string_lossy(), text);
        }
    }
    outcome.expect(50);
}

#[test]
fn cases_of_the_specification() {
    let mut outcome = Outcome::default();
    for path in files(&root().join(DOCUMENTS), "md").expect("the documents can be read") {
        let text = std::fs::read_to_string(&path).expect("the document can be read");
        for case in document::read(&text).cases {
            outcome.run(&format!("{}:{}", path.display(), case.line), case.text());
        }
    }
    outcome.expect(300);
}

#[test]
fn programs_of_the_folder_that_is_named() {
    let Some(folder) = std::env::var_os("PLANEWRIGHT_P4_PROGRAMS") else { return };
    let mut outcome = Outcome::default();
    for path in files(Path::new(&folder), "p4").expect("the folder can be read") {
        let name = path.to_string_lossy();
        match std::fs::read(&path) {
            Ok(bytes) => outcome.run(&name, String::from_utf8_lossy(&bytes).into_owned()),
            // A checkout may have links that lead nowhere.
            Err(error) => {
                println!("{name}: {error}");
                outcome.rejected += 1;
            }
        }
    }
    outcome.expect(1);
}
