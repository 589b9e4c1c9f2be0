// SPDX-License-Identifier: Apache-2.0
//! Names of the targets of Lucid programs and of the reference interpreter.

use frontend::Failure;
use lucid_compiler::Backend;
use lucid_reference::specification::{Expectation, codes};
use source::{Diagnostic, Diagnostics};

/// The name of the reference interpreter in reports.
pub(super) const ENGINE: &str = "Lucid reference interpreter";

/// The name of the reference interpreter in `for` of expectations; devices have the names of their targets.
pub(super) const REFERENCE: &str = "reference";

/// Returns errors for names in `for` of expectations that no execution has.
pub(super) fn unknown_executions(expectations: &[Expectation]) -> Diagnostics {
    let known: Vec<&str> = [REFERENCE].into_iter().chain(Backend::ALL.map(Backend::name)).collect();
    let mut found = Diagnostics::new();
    for (name, place) in expectations.iter().flat_map(|expectation| &expectation.executions) {
        if !known.contains(&name.as_str()) {
            let message = format!("nothing executes a program by the name {name:?}");
            let error = Diagnostic::error(codes::UNKNOWN_KIND, *place, message);
            found.push(error.help(format!("`for` takes {}", known.join(", "))));
        }
    }
    found
}

/// Returns the target of a name; the default one for no name.
pub(super) fn target_of(name: Option<&str>) -> Result<Backend, Failure> {
    let Some(name) = name else { return Ok(Backend::default()) };
    Backend::named(name).ok_or_else(|| {
        let names = Backend::ALL.map(Backend::name).join(" and ");
        Failure::Usage(format!("there is no target `{name}` for Lucid programs: they are {names}"))
    })
}
