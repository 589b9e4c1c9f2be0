// SPDX-License-Identifier: Apache-2.0
//! [`ProgramFile`]: a program's file, with what it takes to read it and the files that it includes.

use crate::console::Failure;
use crate::files::Files;
use p4::preprocessor::{IncludeLoader, PreprocessorOptions};
use std::path::Path;

/// A program's file, and how it is read.
#[derive(Clone, Copy)]
pub struct ProgramFile<'f> {
    /// Its path; `-` is standard input.
    pub path: &'f Path,
    /// Files to read from.
    pub files: &'f dyn Files,
    /// Where included files are searched for, and macros.
    pub preprocessing: &'f PreprocessorOptions,
}

impl ProgramFile<'_> {
    /// What messages call it.
    pub fn name(&self) -> String {
        match self.path == Path::new("-") {
            true => "standard input".to_string(),
            false => self.path.display().to_string(),
        }
    }

    /// Its text.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    pub fn text(&self) -> Result<String, Failure> {
        self.files.text(self.path).map_err(Failure::Message)
    }

    /// What reports call the program.
    pub fn title(&self) -> String {
        if self.path == Path::new("-") {
            return "program".to_string();
        }
        let stem = self.path.file_stem();
        stem.map_or("program".into(), |stem| stem.to_string_lossy()).into_owned()
    }
}

impl IncludeLoader for ProgramFile<'_> {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        self.files.include(path)
    }
}
