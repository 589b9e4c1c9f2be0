// SPDX-License-Identifier: Apache-2.0
//! The programs that commands are given: their files on disk, their languages, and how commands end with them.

use frontend::{Console, ExitStatus, Failure, Frontend, ProgramFile};
use p4::preprocessor::PreprocessorOptions;
use std::path::Path;
use toolchain::files::Disk;
use toolchain::selection;

/// A file on disk.
pub fn on_disk<'f>(path: &'f Path, preprocessing: &'f PreprocessorOptions) -> ProgramFile<'f> {
    ProgramFile { path, files: &Disk, preprocessing }
}

/// The language of a program.
pub fn language(path: &Path) -> Result<&'static dyn Frontend, Failure> {
    selection::of(path).map_err(Failure::Message)
}

/// How a command ended; why it failed is printed.
pub fn ended(ended: Result<ExitStatus, Failure>, console: &dyn Console) -> ExitStatus {
    ended.unwrap_or_else(|failure| failure.print(console))
}
