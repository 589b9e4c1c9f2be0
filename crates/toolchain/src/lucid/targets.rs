// SPDX-License-Identifier: Apache-2.0
//! Names of the targets of Lucid programs and of the reference interpreter.

use frontend::Failure;
use lucid_compiler::Target;

/// The name of the reference interpreter in reports.
pub(super) const ENGINE: &str = "Lucid reference interpreter";

pub(super) const V1MODEL: &str = "v1model";
pub(super) const TNA: &str = "tna";

/// Returns the target of a name; v1model is the default.
pub(super) fn target_of(name: Option<&str>) -> Result<Target, Failure> {
    match name {
        None | Some(V1MODEL) => Ok(Target::V1Model),
        Some(TNA) => Ok(Target::Tna),
        Some(other) => Err(Failure::Usage(format!(
            "there is no target `{other}` for Lucid programs: they are {V1MODEL} and {TNA}"
        ))),
    }
}

pub(super) fn target_name(target: Target) -> &'static str {
    match target {
        Target::V1Model => V1MODEL,
        Target::Tna => TNA,
    }
}
