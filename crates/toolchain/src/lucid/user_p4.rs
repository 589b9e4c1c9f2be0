// SPDX-License-Identifier: Apache-2.0
//! The user's P4_16 around the event dispatcher: `--p4-before` and `--p4-after` of `plane emit` and
//! `plane run`. What is wrong in it the compiler says.

use super::includes::Includes;
use frontend::{ProgramFile, UserP4Files};
use lucid_compiler::{Options, UserP4, v1model};
use source::SourceMap;
use std::path::Path;

/// Options with the files; the error says which cannot be read.
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

/// With the user's P4 among the sources, to show what is wrong.
pub fn with_sources(mut map: SourceMap, options: &Options) -> SourceMap {
    v1model::add_files(&mut map, options);
    map
}
