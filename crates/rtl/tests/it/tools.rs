// SPDX-License-Identifier: Apache-2.0
//! Emitted files in Verilator.

use rtl::File;
use std::path::Path;

/// Compiles files to a program that simulates a test bench. Returns Verilator's warnings.
#[track_caller]
pub fn verilate(folder: &Path, files: &[File], bench: &str) -> String {
    let files = files.iter().map(|file| (&*file.name, &*file.text));
    testing::verilator::compile(folder, files, bench)
}
