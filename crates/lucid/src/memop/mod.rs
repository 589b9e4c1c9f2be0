// SPDX-License-Identifier: Apache-2.0
//! Whether memops fit one stateful ALU (Lucid §4.2, appendix C), and whether the methods they are
//! handed to can carry them. Types and widths are `check`'s, the order of accesses is `order`'s.

pub mod codes;
mod declaration;
mod expression;
mod rewrite;
mod shape;
mod uses;

pub use shape::{Complex, Shape, shape};

use crate::check::CheckedProgram;
use source::Diagnostics;

/// Checks all memops and their uses.
pub fn check(program: &CheckedProgram) -> Diagnostics {
    let mut found = Diagnostics::new();
    shape::each_memop(&program.tree.declarations, &mut |declared| {
        if let Err(wrong) = declaration::analyze(program, declared) {
            found.append(wrong);
        }
    });
    found.append(uses::check(program));
    found
}
