// SPDX-License-Identifier: Apache-2.0
//! The architectures that a device runs, a file each, and the choice by the program's architecture name.

mod described_program;
mod pass_boundaries;
mod storage_field;
mod tna;
mod v1model;

use crate::architecture::Architecture;
use crate::options::DeviceOptions;
use crate::output::LoadError;
use described_program::DescribedProgram;
use ir::Program;
use std::sync::Arc;

/// Binds an architecture to a program.
type Instantiate =
    fn(DescribedProgram<'_>, &DeviceOptions) -> Result<Arc<dyn Architecture>, LoadError>;

/// Architectures that a device runs, by the names of their descriptions.
const ARCHITECTURES: &[(&str, Instantiate)] =
    &[("v1model", v1model::instantiate), ("tna", tna::instantiate)];

/// Binds the program's architecture to the program.
pub(crate) fn instantiate(
    program: &Program,
    options: &DeviceOptions,
) -> Result<Arc<dyn Architecture>, LoadError> {
    let known = ARCHITECTURES.iter().find(|(name, _)| *name == &*program.architecture);
    match (known, ir::architecture::of(program)) {
        (Some((_, instantiate)), Some(description)) => {
            instantiate(DescribedProgram { program, description }, options)
        }
        _ => Err(LoadError::UnsupportedArchitecture {
            architecture: program.architecture.clone(),
            supported: ARCHITECTURES.iter().map(|(name, _)| *name).collect(),
        }),
    }
}
