// SPDX-License-Identifier: Apache-2.0
//! The architectures that a device runs, one file each, and the choice of the one that fits a program.

mod described_program;
mod pass_boundaries;
mod tna;
mod v1model;

use crate::architecture::Architecture;
use crate::options::DeviceOptions;
use crate::output::LoadError;
use described_program::DescribedProgram;
use ir::Program;
use std::sync::Arc;

/// Prepares an architecture to run a program.
type Prepare = fn(DescribedProgram<'_>, &DeviceOptions) -> Result<Arc<dyn Architecture>, LoadError>;

/// Architectures that a device runs, by the names of their descriptions.
const ARCHITECTURES: &[(&str, Prepare)] = &[("v1model", v1model::prepare), ("tna", tna::prepare)];

/// The architecture at work for a program.
pub(crate) fn for_program(
    program: &Program,
    options: &DeviceOptions,
) -> Result<Arc<dyn Architecture>, LoadError> {
    let prepare = ARCHITECTURES.iter().find(|(name, _)| *name == &*program.architecture);
    match (prepare, ir::architecture::of(program)) {
        (Some((_, prepare)), Some(description)) => {
            prepare(DescribedProgram { program, description }, options)
        }
        _ => Err(LoadError::UnsupportedArchitecture {
            architecture: program.architecture.clone(),
            supported: ARCHITECTURES.iter().map(|(name, _)| *name).collect(),
        }),
    }
}
