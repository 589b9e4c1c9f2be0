// SPDX-License-Identifier: Apache-2.0
//! [`Files`]: reads files for frontends, with an implementation in memory for tests. `toolchain::files` reads from disk.

use std::collections::BTreeMap;
use std::path::Path;

/// Files to read from. Errors are whole messages.
pub trait Files: Sync {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    fn bytes(&self, path: &Path) -> Result<Vec<u8>, String>;

    /// Reads the text of a file; `-` is standard input.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, or that it is not UTF-8.
    fn text(&self, path: &Path) -> Result<String, String>;

    /// Reads the text of an included file; `None` if there is no such file.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    fn include(&self, path: &str) -> Result<Option<String>, String>;

    /// Whether there is a file of this name.
    fn is_file(&self, path: &Path) -> bool;
}

/// Files in memory, by their names.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles(pub BTreeMap<String, String>);

impl MemoryFiles {
    /// Creates these files.
    pub fn new<const N: usize>(files: [(&str, &str); N]) -> MemoryFiles {
        MemoryFiles(files.map(|(name, text)| (name.to_string(), text.to_string())).into())
    }
}

impl Files for MemoryFiles {
    fn bytes(&self, path: &Path) -> Result<Vec<u8>, String> {
        self.text(path).map(String::into_bytes)
    }

    fn text(&self, path: &Path) -> Result<String, String> {
        let found = path.to_str().and_then(|name| self.0.get(name));
        found.cloned().ok_or_else(|| format!("cannot read `{}`: no such file", path.display()))
    }

    fn include(&self, path: &str) -> Result<Option<String>, String> {
        Ok(self.0.get(path).cloned())
    }

    fn is_file(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|name| self.0.contains_key(name))
    }
}
