// SPDX-License-Identifier: Apache-2.0
//! Names of the targets of Lucid programs and of the reference interpreter.

use frontend::Failure;
use lucid_compiler::Target;

/// The name of the reference interpreter in reports.
pub(super) const ENGINE: &str = "Lucid reference interpreter";

/// Returns the target of a name; the default one for no name.
pub(super) fn target_of(name: Option<&str>) -> Result<Target, Failure> {
    let Some(name) = name else { return Ok(Target::default()) };
    Target::named(name).ok_or_else(|| {
        let names = Target::ALL.map(Target::name).join(" and ");
        Failure::Usage(format!("there is no target `{name}` for Lucid programs: they are {names}"))
    })
}
