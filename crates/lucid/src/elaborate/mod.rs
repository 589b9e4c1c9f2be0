// SPDX-License-Identifier: Apache-2.0
//! From a checked program and the values of its symbolics to a core program.

use crate::check::CheckedProgram;
use crate::core;
use source::Diagnostics;
use std::collections::HashMap;

/// Values of symbolic sizes and symbolic constants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbolics {
    /// `symbolic size`, by name.
    pub sizes: HashMap<String, u128>,
    /// `symbolic int` and `symbolic bool` (0 or 1), by name.
    pub values: HashMap<String, u128>,
}

/// Elaborates a program that checked without errors.
pub fn elaborate(
    _program: &CheckedProgram,
    _symbolics: &Symbolics,
) -> Result<core::Program, Diagnostics> {
    Ok(core::Program::default())
}
