// SPDX-License-Identifier: Apache-2.0
//! Compiled reactions as a value: a shared object in memory. Each load writes it to a temporary file of its own, because two
//! loads of one file share their variables.

use super::shape::Shape;
use std::fmt;
use std::io::Write;
use std::sync::Arc;
use tempfile::NamedTempFile;

/// The version of the calls between loader and code.
pub const ABI_VERSION: u64 = 1;

/// Compiled reactions.
#[derive(Clone)]
pub struct Code {
    object: Arc<[u8]>,
    shape: Arc<Shape>,
}

impl Code {
    /// Code from a shared object.
    pub fn new(object: Vec<u8>, shape: Shape) -> Code {
        Code { object: object.into(), shape: Arc::new(shape) }
    }

    /// Returns its shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Writes the shared object to a temporary file, which lives as long as the result.
    pub(super) fn file(&self) -> Result<NamedTempFile, LoadError> {
        let file = tempfile::Builder::new().prefix("plane-react-").suffix(".so").tempfile();
        let written = file.and_then(|mut file| {
            file.write_all(&self.object)?;
            Ok(file)
        });
        written.map_err(|error| {
            LoadError(format!(
                "cannot write the code to a temporary file: {}",
                source::reason(&error)
            ))
        })
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Code({} bytes)", self.object.len())
    }
}

/// Why code was not loaded. What was loaded before still runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError(pub String);

impl fmt::Display for LoadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}

/// What a reload does with the variables of `state` blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateAfterReload {
    /// Variables whose names and types are equal keep their values.
    Carried,
    /// All variables have the values of their initializers.
    Fresh,
}
