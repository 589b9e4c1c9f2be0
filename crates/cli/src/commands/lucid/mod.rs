// SPDX-License-Identifier: Apache-2.0
//! What the subcommands do with Lucid programs: reads them and their symbolics, runs specifications,
//! writes reports. The language, the runs and the reports themselves are in the `lucid` crate.

pub mod bench;
mod captures;
pub mod check;
pub mod emit;
mod inputs;
pub mod ir;
pub mod layout;
mod machine;
mod replay;
pub mod run;
pub mod test;

use source::Explanation;
use std::path::Path;

/// What runs Lucid programs, for people.
pub const ENGINE: &str = "Lucid reference interpreter";

/// Whether a file is a Lucid program, by its name.
pub fn is_program(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "dpt")
}

/// Whether a file is a specification of a run, by its name.
pub fn is_specification(path: &Path) -> bool {
    path.extension()
        .is_some_and(|end| ["json", "yaml", "yml", "toml"].iter().any(|one| end == *one))
}

/// What `plane explain` says about codes of Lucid.
pub fn explanations() -> impl Iterator<Item = &'static Explanation> {
    lucid::explanations()
}
