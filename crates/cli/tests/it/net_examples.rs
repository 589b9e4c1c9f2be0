// SPDX-License-Identifier: Apache-2.0
//! `plane net` on the examples: every network file and every run of a Lucid application meets its expectations.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Files of this name in the folder and in those below it.
fn files(folder: &Path, name: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, name, found);
        } else if path.file_name().is_some_and(|file| file == name) {
            found.push(path);
        }
    }
}

fn all_run(folder: &str, name: &str, least: usize) {
    let mut found = Vec::new();
    files(&root().join(folder), name, &mut found);
    assert!(found.len() >= least, "{} files of {folder} are called {name}", found.len());
    let out = tempfile::tempdir().expect("a temporary folder");
    for file in found {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
        command.arg("net").arg(&file).arg("-q").arg("--out").arg(out.path());
        let ran = command.output().expect("plane starts");
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(0), "{}: {errors}", file.display());
        // Programs of controllers may print lines of their own.
        let has_warning = errors.lines().any(|line| line.starts_with("warning"));
        assert!(!has_warning, "{}: {errors}", file.display());
    }
}

#[test]
fn every_network_of_the_examples_meets_its_expectations() {
    all_run("examples", "network.yaml", 16);
}

#[test]
fn every_lucid_application_runs_as_a_network() {
    all_run("examples/lucid", "run.yaml", 10);
}
