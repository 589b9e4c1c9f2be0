// SPDX-License-Identifier: Apache-2.0
//! The user's P4_16 around the event dispatcher: `--p4-before` and `--p4-after` of `plane emit` and
//! `plane run`. What is wrong in it the compiler says.

use crate::arguments::{Reading, UserP4Files};
use crate::files;
use lucid::compile::{Options, UserP4, v1model};
use source::SourceMap;
use std::path::PathBuf;

/// Options with the files; the error says which cannot be read.
pub fn with_files(
    options: Options,
    named: &UserP4Files,
    reading: &Reading,
) -> Result<Options, String> {
    let read = |path: &Option<PathBuf>| -> Result<Option<UserP4>, String> {
        let Some(path) = path else { return Ok(None) };
        let (name, text) = (path.display().to_string(), files::read_text(path)?);
        Ok(Some(UserP4::read(&name, &text, &reading.options(), &files::DiskLoader)))
    };
    let (before, after) = (read(&named.p4_before)?, read(&named.p4_after)?);
    Ok(Options { before, after, ..options })
}

/// With the user's P4 among the sources, to show what is wrong.
pub fn with_sources(mut map: SourceMap, options: &Options) -> SourceMap {
    v1model::add_files(&mut map, options);
    map
}
