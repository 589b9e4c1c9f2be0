// SPDX-License-Identifier: Apache-2.0
//! Checks that memops fit one stateful ALU (Lucid §4.2, appendix C), and that the methods they are passed to
//! can run them. `check` has checked types and widths; `order` checks the order of accesses.

pub mod codes;
mod declaration;
mod expression;
mod rewrite;
mod shape;
mod uses;

pub use declaration::shape;
pub use shape::{Complex, Shape};

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
