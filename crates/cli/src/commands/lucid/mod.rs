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

/// What runs Lucid programs, for people.
pub const ENGINE: &str = "Lucid reference interpreter";

/// What `plane explain` says about codes of Lucid.
pub fn explanations() -> impl Iterator<Item = &'static Explanation> {
    lucid::explanations()
}
