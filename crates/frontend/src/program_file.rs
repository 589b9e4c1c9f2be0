// SPDX-License-Identifier: Apache-2.0
//! [`ProgramFile`]: the file of a program, with the files and options to read it.

use crate::console::Failure;
use crate::files::Files;
use p4::preprocessor::{IncludeLoader, PreprocessorOptions};
use std::path::Path;

/// The file of a program.
#[derive(Clone, Copy)]
pub struct ProgramFile<'f> {
    /// Its path; `-` is standard input.
    pub path: &'f Path,
    /// Files to read from.
    pub files: &'f dyn Files,
    /// Folders of included files, and macros.
    pub preprocessing: &'f PreprocessorOptions,
}

impl ProgramFile<'_> {
    /// Returns the name for messages.
    pub fn name(&self) -> String {
        match self.path == Path::new("-") {
            true => "standard input".to_string(),
            false => self.path.display().to_string(),
        }
    }

    /// Returns the name for sentences: a path stands in backquotes.
    pub fn quoted_name(&self) -> String {
        match self.path == Path::new("-") {
            true => self.name(),
            false => format!("`{}`", self.name()),
        }
    }

    /// Reads the text.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    pub fn text(&self) -> Result<String, Failure> {
        self.files.text(self.path).map_err(Failure::Message)
    }

    /// Returns the name of the program for reports.
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
