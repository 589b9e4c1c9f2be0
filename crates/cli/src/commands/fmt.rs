// SPDX-License-Identifier: Apache-2.0
//! `plane fmt`: formats source files in place, each by its language.

use crate::arguments::Fmt;
use frontend::{Console, ExitStatus, Failure};
use std::path::Path;
use toolchain::files;

/// Runs it.
pub fn run(arguments: &Fmt, console: &dyn Console) -> ExitStatus {
    let mut status = ExitStatus::Fine;
    for path in &arguments.files {
        match one(path, arguments.check, console) {
            Ok(true) => {}
            Ok(false) => status = ExitStatus::WrongInput,
            Err(failure) => status = failure.print(console),
        }
    }
    status
}

fn one(path: &Path, check: bool, console: &dyn Console) -> Result<bool, Failure> {
    let language = crate::programs::language(path)?;
    let text = files::read_text(path)?;
    let formatted = match language.format(&text) {
        Ok(formatted) => formatted,
        Err(problems) => {
            let mut map = source::SourceMap::new();
            map.add(path.display().to_string(), text);
            console.diagnostics(&map, &problems);
            return Ok(false);
        }
    };
    if path == Path::new("-") && !check {
        console.print(&formatted);
        return Ok(true);
    }
    if formatted == text {
        return Ok(true);
    }
    if check {
        console.note(&format!("{}: not formatted", path.display()));
        return Ok(false);
    }
    files::write_text(path, &formatted)?;
    if !console.is_quiet() {
        console.note(&format!("{}: formatted", path.display()));
    }
    Ok(true)
}
