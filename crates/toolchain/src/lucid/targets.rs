// SPDX-License-Identifier: Apache-2.0
//! Names of what runs Lucid programs: the targets that they are compiled for, and the reference interpreter.

use frontend::Failure;
use lucid_compiler::Backend;

/// What runs Lucid programs that are not compiled, for people.
pub(super) const ENGINE: &str = "Lucid reference interpreter";

pub(super) const V1MODEL: &str = "v1model";
pub(super) const TNA: &str = "tna";

/// The target of a name; the usual one if none is named.
pub(super) fn target_of(name: Option<&str>) -> Result<Backend, Failure> {
    match name {
        None | Some(V1MODEL) => Ok(Backend::V1Model),
        Some(TNA) => Ok(Backend::Tna),
        Some(other) => Err(Failure::Usage(format!(
            "there is no target `{other}` for Lucid programs: they are {V1MODEL} and {TNA}"
        ))),
    }
}

pub(super) fn target_name(target: Backend) -> &'static str {
    match target {
        Backend::V1Model => V1MODEL,
        Backend::Tna => TNA,
    }
}
