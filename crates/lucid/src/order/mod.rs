// SPDX-License-Identifier: Apache-2.0
//! Whether every handler touches globals in the order of their declarations (Lucid §5, appendix A).

use crate::check::CheckedProgram;
use source::Diagnostics;

/// Checks a whole program.
pub fn check(_program: &CheckedProgram) -> Diagnostics {
    Diagnostics::new()
}
