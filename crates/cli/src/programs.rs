// SPDX-License-Identifier: Apache-2.0
//! Program files of commands on disk, their languages, and the end of a command with an error.

use frontend::{Console, ExitStatus, Failure, Frontend, ProgramFile};
use p4::preprocessor::PreprocessorOptions;
use std::path::Path;
use toolchain::files::Disk;
use toolchain::selection;

/// Returns a program file on disk.
pub fn on_disk<'f>(path: &'f Path, preprocessing: &'f PreprocessorOptions) -> ProgramFile<'f> {
    ProgramFile { path, files: &Disk, preprocessing }
}

/// Returns the language of a program.
pub fn language(path: &Path) -> Result<&'static dyn Frontend, Failure> {
    selection::of(path).map_err(Failure::Message)
}

/// Returns the status of a command and prints its error.
pub fn ended(ended: Result<ExitStatus, Failure>, console: &dyn Console) -> ExitStatus {
    ended.unwrap_or_else(|failure| failure.print(console))
}
