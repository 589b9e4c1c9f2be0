// SPDX-License-Identifier: Apache-2.0
//! `plane check` for Lucid programs.

use crate::arguments::Check;
use crate::files;
use source::{Diagnostics, SourceMap};
use std::path::Path;

/// Checks one program. The error is a message about the file or the command line.
pub fn check(path: &Path, arguments: &Check) -> Result<(SourceMap, Diagnostics), String> {
    if arguments.arch.is_some() {
        return Err(format!("--arch is for P4 programs, and `{}` is none", path.display()));
    }
    let text = files::read_text(path)?;
    let mut map = SourceMap::new();
    let name = path.display().to_string();
    let analysis = lucid::front::analyse(&mut map, &name, text, &files::DiskLoader);
    Ok((map, analysis.all_diagnostics()))
}
