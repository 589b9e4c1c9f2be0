// SPDX-License-Identifier: Apache-2.0
//! What the subcommands do with Lucid programs: reads them and their symbolics, runs specifications,
//! writes reports. The language, the runs and the reports themselves are in the `lucid` crate.

pub mod bench;
mod captures;
pub mod check;
pub mod emit;
mod emitted;
mod inputs;
pub mod ir;
pub mod layout;
mod machine;
mod measured;
mod replay;
pub mod run;
pub mod test;
mod user_p4;

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

/// What a file is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A Lucid program.
    Lucid,
    /// A P4 program.
    P4,
    /// A specification of a run.
    Specification,
    /// `-`.
    StandardInput,
    /// Something else.
    Other,
}

impl FileKind {
    /// Of a file of this name.
    pub fn of(path: &Path) -> FileKind {
        let ends_in_p4 = |path: &Path| path.extension().is_some_and(|end| end == "p4");
        match path {
            path if path == Path::new("-") => FileKind::StandardInput,
            path if is_program(path) => FileKind::Lucid,
            path if ends_in_p4(path) => FileKind::P4,
            path if is_specification(path) => FileKind::Specification,
            _ => FileKind::Other,
        }
    }
}

/// Whether there is a file that can be judged by its name; what is not there is told by who reads it.
pub fn is_readable(path: &Path) -> bool {
    path.is_file() || path == Path::new("-")
}

/// What `plane explain` says about codes of Lucid.
pub fn explanations() -> impl Iterator<Item = &'static Explanation> {
    lucid::explanations()
}
