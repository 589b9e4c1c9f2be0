// SPDX-License-Identifier: Apache-2.0
//! Included files of Lucid programs, read by [`Files`].

use frontend::Files;

/// Included files, of Lucid and of P4_16 around it.
pub struct Includes<'f>(pub &'f dyn Files);

impl lucid::syntax::Loader for Includes<'_> {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        self.0.include(path)
    }
}

impl p4::preprocessor::IncludeLoader for Includes<'_> {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        self.0.include(path)
    }
}
