// SPDX-License-Identifier: Apache-2.0
//! From a file to a checked program in both forms, with all errors and warnings.

use crate::core::{self, Core};
use crate::program::Program;
use crate::syntax;
use p4::preprocessor::{IncludeLoader, PreprocessorOptions};
use source::{Diagnostics, SourceMap};
use std::sync::Arc;

/// A checked program.
#[derive(Debug)]
pub struct Checked {
    /// The files that spans point into.
    pub map: SourceMap,
    /// The program as written.
    pub program: Program,
    /// The program in evaluation order.
    pub core: Core,
    /// Warnings.
    pub warnings: Diagnostics,
}

/// Reads and checks a program.
///
/// # Errors
///
/// What is wrong with it.
#[allow(clippy::result_large_err, reason = "once a program")]
pub fn front(
    name: &str,
    text: impl Into<Arc<str>>,
    loader: &dyn IncludeLoader,
    options: &PreprocessorOptions,
) -> Result<Checked, (SourceMap, Diagnostics)> {
    let read = syntax::read(name, text, loader, options);
    let syntax::ReadFile { map, file, has_hashes, mut diagnostics } = read;
    if diagnostics.has_errors() {
        return Err((map, diagnostics));
    }
    let Some(program) = crate::check(&file, has_hashes, &mut diagnostics) else {
        return Err((map, diagnostics));
    };
    match core::flatten(&program) {
        Ok(core) => {
            diagnostics.append(core::warnings(&core));
            Ok(Checked { map, program, core, warnings: diagnostics })
        }
        Err(error) => {
            diagnostics.push(error);
            Err((map, diagnostics))
        }
    }
}

/// Formats a program's text.
///
/// # Errors
///
/// Why it cannot be formatted, with spans in the first file of a map.
pub fn format(text: &str) -> Result<String, Diagnostics> {
    syntax::format::format(text)
}
