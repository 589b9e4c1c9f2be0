// SPDX-License-Identifier: Apache-2.0
//! What targets cannot do: the one place where a program meets the limits of a target before a back
//! end sees it, with diagnostics that say why not there and what to do. The list of constructs that
//! the documentation shows is in `constructs`. Limits of resources (stages, memory) are the layout's.

mod bodies;
mod ports;
mod values;

pub use ports::known_ports;

use super::normal::normalize;
use crate::options::Backend;
use lucid::core::Program;
use source::Diagnostics;

/// A program that a back end can compile.
#[derive(Clone, Debug)]
pub struct Supported {
    /// In normal form.
    pub program: Program,
    /// What the compiled program leaves out.
    pub warnings: Diagnostics,
}

/// The normal form of a program that a target can do.
///
/// # Errors
///
/// Reports all that the back end cannot compile and that shows without a layout.
pub fn normal_form(program: &Program, target: Backend) -> Result<Supported, Diagnostics> {
    let found = values::check(program);
    if found.has_errors() {
        // Such a program has no normal form.
        return Err(found);
    }
    let program = normalize(program);
    debug_assert!(
        bodies::has_open_comparisons(&program) || super::normal::verify(&program).is_ok(),
        "{:?}",
        super::normal::verify(&program)
    );
    let found = bodies::check(&program, target);
    if found.has_errors() { Err(found) } else { Ok(Supported { program, warnings: found }) }
}

/// What a target is called.
pub fn name(target: Backend) -> &'static str {
    match target {
        Backend::V1Model => target.name(),
        Backend::Tna => "Tofino",
    }
}
