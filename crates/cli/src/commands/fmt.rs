// SPDX-License-Identifier: Apache-2.0
//! `plane fmt`: formats source files in place, P4 or Lucid by the end of their names.

use crate::arguments::Fmt;
use crate::file_kind::{Language, language};
use crate::{Ending, files, output};
use std::path::Path;

/// Runs it.
pub fn run(arguments: &Fmt, quiet: bool) -> Ending {
    let mut ending = Ending::Fine;
    for path in &arguments.files {
        match one(path, arguments.check, quiet) {
            Ok(true) => {}
            Ok(false) => ending = Ending::WrongInput,
            Err(message) => {
                output::error(&message);
                ending = Ending::WrongInput;
            }
        }
    }
    ending
}

fn one(path: &Path, check: bool, quiet: bool) -> Result<bool, String> {
    let language = language(path)?;
    let text = files::read_text(path)?;
    let formatted = match language {
        Language::Lucid => lucid::syntax::format::format_source(&text),
        Language::P4 => p4::format::format_source(&text),
    };
    let formatted = match formatted {
        Ok(formatted) => formatted,
        Err(problems) => {
            let mut map = source::SourceMap::new();
            map.add(path.display().to_string(), text);
            output::diagnostics(&map, &problems);
            return Ok(false);
        }
    };
    if path == Path::new("-") && !check {
        output::print(&formatted);
        return Ok(true);
    }
    if formatted == text {
        return Ok(true);
    }
    if check {
        output::note(&format!("{}: not formatted", path.display()));
        return Ok(false);
    }
    files::write_text(path, &formatted)?;
    if !quiet {
        output::note(&format!("{}: formatted", path.display()));
    }
    Ok(true)
}
