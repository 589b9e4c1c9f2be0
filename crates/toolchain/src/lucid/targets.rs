// SPDX-License-Identifier: Apache-2.0
//! Names of the targets of Lucid programs and of the reference interpreter.

use frontend::Failure;
use lucid_compiler::Backend;

/// The name of the reference interpreter in reports.
pub(super) const ENGINE: &str = "Lucid reference interpreter";

/// Returns the target of a name; the default one for no name.
pub(super) fn target_of(name: Option<&str>) -> Result<Backend, Failure> {
    let Some(name) = name else { return Ok(Backend::default()) };
    Backend::named(name).ok_or_else(|| {
        let names = Backend::ALL.map(Backend::name).join(" and ");
        Failure::Usage(format!("there is no target `{name}` for Lucid programs: they are {names}"))
    })
}
