// SPDX-License-Identifier: Apache-2.0
//! Program files of commands on disk, their languages, and the end of a command with an error.

use frontend::{Console, ExitStatus, Failure, Frontend, ProgramFile};
use p4::preprocessor::PreprocessorOptions;
use std::path::Path;
use toolchain::files::{self, Disk};
use toolchain::{scaling, selection};

/// Returns a program file on disk.
pub fn on_disk<'f>(path: &'f Path, preprocessing: &'f PreprocessorOptions) -> ProgramFile<'f> {
    ProgramFile { path, files: &Disk, preprocessing }
}

/// Returns the language of a program.
pub fn language(path: &Path) -> Result<&'static dyn Frontend, Failure> {
    selection::of(path).map_err(Failure::Message)
}

/// Prints a text, or writes it to a file and says what it has, such as `3 stages`.
pub fn deliver(
    text: &str,
    path: Option<&Path>,
    contents: impl FnOnce() -> String,
    console: &dyn Console,
) -> Result<(), Failure> {
    let Some(path) = path else {
        console.print(text);
        return Ok(());
    };
    files::write_text(path, text)?;
    if !console.is_quiet() {
        console.note(&format!("{}; written to `{}`", contents(), path.display()));
    }
    Ok(())
}

/// Returns the status of a command and prints its error.
pub fn ended(ended: Result<ExitStatus, Failure>, console: &dyn Console) -> ExitStatus {
    ended.unwrap_or_else(|failure| {
        let status = failure.print(console);
        match failure {
            Failure::Found(_, found) if found.iter().any(scaling::is_of_the_request) => {
                ExitStatus::WrongUsage
            }
            _ => status,
        }
    })
}
