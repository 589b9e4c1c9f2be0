// SPDX-License-Identifier: Apache-2.0
//! The tests of `plane test`: files as they are named, and those of folders.

use crate::file_kind::FileKind;
use crate::files::{Disk, reason};
use crate::registry::with_networks;
use frontend::ProgramFile;
use p4::preprocessor::PreprocessorOptions;
use std::path::{Path, PathBuf};

/// Which files of a folder are tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestKinds {
    /// STF files, and specifications with expectations.
    All,
    /// Specifications with expectations.
    Specifications,
}

/// Replaces each folder by the tests in it and in the folders below, in the order of their names.
///
/// # Errors
///
/// A folder cannot be read, or it has no test.
pub fn tests_of(paths: &[PathBuf], kinds: TestKinds) -> Result<Vec<PathBuf>, String> {
    let mut tests = Vec::new();
    for path in paths {
        if !path.is_dir() {
            tests.push(path.clone());
            continue;
        }
        let before = tests.len();
        add_folder(path, kinds, &mut tests)?;
        if tests.len() == before {
            let stf = if kinds == TestKinds::All { "STF files and " } else { "" };
            return Err(format!(
                "`{}` has no tests: they are {stf}specifications of runs with `expect`",
                path.display()
            ));
        }
    }
    Ok(tests)
}

fn add_folder(folder: &Path, kinds: TestKinds, tests: &mut Vec<PathBuf>) -> Result<(), String> {
    let unreadable =
        |error: std::io::Error| format!("cannot read `{}`: {}", folder.display(), reason(&error));
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        entries.push(entry.map_err(unreadable)?.path());
    }
    entries.sort();
    for path in entries {
        if path.is_dir() {
            // A link may lead back to a folder above.
            if !path.is_symlink() {
                add_folder(&path, kinds, tests)?;
            }
            continue;
        }
        let is_test = match FileKind::of(&path) {
            FileKind::Stf => kinds == TestKinds::All,
            FileKind::Specification => {
                let preprocessing = PreprocessorOptions::default();
                let file = ProgramFile { path: &path, files: &Disk, preprocessing: &preprocessing };
                with_networks().any(|(_, networks)| networks.is_test(&file))
            }
            _ => false,
        };
        if is_test {
            tests.push(path);
        }
    }
    Ok(())
}
