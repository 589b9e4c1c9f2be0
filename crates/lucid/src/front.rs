// SPDX-License-Identifier: Apache-2.0
//! The entry points of the crate: text to a checked program and to a core program, in one call each. A check
//! runs only if the checks before it found no errors.

use crate::check::{self, CheckedProgram};
use crate::core;
use crate::elaborate::{self, Root, Symbolics};
use crate::syntax::{self, Loader};
use crate::{memop, order};
use source::{Diagnostics, SourceMap};
use std::sync::Arc;

/// What is known of a program without the values of its symbolics.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// Names and types; whole if there are no errors.
    pub checked: CheckedProgram,
    /// Everything found: of the text, of names and types, of memops, of the order of accesses.
    pub diagnostics: Diagnostics,
}

impl Analysis {
    /// What is found, elaboration included as far as it goes without the values of symbolics: widths,
    /// lengths and depths that no run could have, and constant indexes. A program with symbolics is judged when
    /// it gets them. The core program is there if nothing is missing or wrong.
    pub fn all_diagnostics(&self) -> (Diagnostics, Option<core::Program>) {
        match self.elaborate(&Symbolics::default(), &[]) {
            Err(found) if !found.iter().any(|one| one.code == elaborate::MISSING_SYMBOLIC) => {
                (found, None)
            }
            Err(_) => (self.diagnostics.clone(), None),
            Ok(program) => {
                let mut found = self.diagnostics.clone();
                found.append(elaborate::lint(&program));
                (found, Some(program))
            }
        }
    }

    /// The core program, with copies of events for these choices of globals too.
    ///
    /// # Errors
    ///
    /// All diagnostics, if the analysis or elaboration found an error. Warnings are in
    /// [`Analysis::diagnostics`].
    pub fn elaborate(
        &self,
        symbolics: &Symbolics,
        roots: &[Root],
    ) -> Result<core::Program, Diagnostics> {
        if self.diagnostics.has_errors() {
            return Err(self.diagnostics.clone());
        }
        elaborate::elaborate_with(&self.checked, symbolics, roots).map_err(|errors| {
            let mut all = self.diagnostics.clone();
            all.append(errors);
            all
        })
    }
}

/// Reads and checks the program in `text`, which the user calls `name`. Included files come through
/// the loader, by paths relative to where `name` is.
pub fn analyse(map: &mut SourceMap, name: &str, text: String, loader: &dyn Loader) -> Analysis {
    let (tree, mut diagnostics) = syntax::load(map, name, text, loader);
    let unread = diagnostics.has_errors();
    let (checked, found) = check::check(Arc::new(tree));
    // Where text was left out, names that it would have declared are missing everywhere.
    if !unread {
        diagnostics.append(found);
    }
    if !diagnostics.has_errors() {
        diagnostics.append(memop::check(&checked));
        diagnostics.append(order::check(&checked));
    }
    Analysis { checked, diagnostics }
}

/// A program, and the diagnostics of its compilation.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The core program.
    pub program: core::Program,
    /// What it was made of, with warnings.
    pub analysis: Analysis,
}

/// Reads, checks and elaborates a program.
///
/// # Errors
///
/// All diagnostics, if one of them is an error.
pub fn compile(
    map: &mut SourceMap,
    name: &str,
    text: String,
    loader: &dyn Loader,
    symbolics: &Symbolics,
    roots: &[Root],
) -> Result<Compiled, Diagnostics> {
    let analysis = analyse(map, name, text, loader);
    let program = analysis.elaborate(symbolics, roots)?;
    Ok(Compiled { program, analysis })
}
