// SPDX-License-Identifier: Apache-2.0
//! The architectures that a device runs, one file each, and the choice of the one that fits a program.

mod pass_boundaries;
mod tna;
mod v1model;

use crate::architecture::Architecture;
use crate::output::LoadError;
use std::sync::Arc;

/// Architectures that a device runs, by the names in [`ir::Program::architecture`].
pub const SUPPORTED_ARCHITECTURES: &[&str] = &["v1model", "tna"];

/// The architecture at work for a program.
pub(crate) fn describe(
    program: &Arc<ir::Program>,
    drop_port: Option<u32>,
) -> Result<Arc<dyn Architecture>, LoadError> {
    match &*program.architecture {
        "v1model" => Ok(Arc::new(v1model::V1Model::new(program, drop_port)?)),
        "tna" => Ok(Arc::new(tna::Tna::new(program)?)),
        other => Err(LoadError::UnsupportedArchitecture {
            architecture: other.into(),
            supported: SUPPORTED_ARCHITECTURES,
        }),
    }
}
