// SPDX-License-Identifier: Apache-2.0
//! [`Disk`]: the loader of P4 includes that reads files. Product code opens files in `toolchain` only; tests below it
//! use this one.

use p4::preprocessor::IncludeLoader;

/// Loads includes from files on disk; bytes that are not UTF-8 are replaced.
pub struct Disk;

impl IncludeLoader for Disk {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }
}
