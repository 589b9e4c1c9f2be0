// SPDX-License-Identifier: Apache-2.0
//! Names of what runs Lucid programs: the targets that they are compiled for, and the reference interpreter.

use frontend::Failure;
use lucid_compiler::Target;

/// What runs Lucid programs that are not compiled, for people.
pub(super) const ENGINE: &str = "Lucid reference interpreter";

/// The target of a name; the default one for no name.
pub(super) fn target_of(name: Option<&str>) -> Result<Target, Failure> {
    let Some(name) = name else { return Ok(Target::default()) };
    Target::named(name).ok_or_else(|| {
        let names = Target::ALL.map(Target::name).join(" and ");
        Failure::Usage(format!("there is no target `{name}` for Lucid programs: they are {names}"))
    })
}
