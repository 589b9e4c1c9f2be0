// SPDX-License-Identifier: Apache-2.0
//! P4_16 of the user around the event dispatcher: reads the files of `--p4-before` and `--p4-after`. The compiler reports
//! errors in them.

use super::includes::Includes;
use frontend::{ProgramFile, UserP4Files};
use lucid_compiler::{Options, UserP4, v1model};
use source::SourceMap;
use std::path::Path;

/// Adds the files to the options. The error names a file that cannot be read.
pub fn with_files(
    options: Options,
    named: &UserP4Files<'_>,
    around: &ProgramFile<'_>,
) -> Result<Options, String> {
    let read = |path: Option<&Path>| -> Result<Option<UserP4>, String> {
        let Some(path) = path else { return Ok(None) };
        let (name, text) = (path.display().to_string(), around.files.text(path)?);
        Ok(Some(UserP4::read(&name, &text, around.preprocessing, &Includes(around.files))))
    };
    let (before, after) = (read(named.before)?, read(named.after)?);
    Ok(Options { before, after, ..options })
}

/// Adds the user's P4 to the sources, for diagnostics.
pub fn with_sources(mut map: SourceMap, options: &Options) -> SourceMap {
    v1model::add_files(&mut map, options);
    map
}
