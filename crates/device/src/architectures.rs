// SPDX-License-Identifier: Apache-2.0
//! The architectures that a device runs, a file each, and the choice by the program's architecture name.

mod pass_boundaries;
mod storage_field;
mod tna;
mod v1model;

use crate::architecture::Architecture;
use crate::output::LoadError;
use std::sync::Arc;

/// Architectures that a device runs, by the names in [`ir::Program::architecture`].
pub const SUPPORTED_ARCHITECTURES: &[&str] = &["v1model", "tna"];

/// Binds the program's architecture to the program.
pub(crate) fn instantiate(
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
