// SPDX-License-Identifier: Apache-2.0
//! Mantis: programs that change themselves in microseconds (Yu, Sonchack, Liu, SIGCOMM 2020). P4R extends P4_16 by
//! malleable values, fields and tables and by reactions in C. Opens no files of programs.
//!
//! `language` reads P4R, `compiler` makes the programs as written and as run, `map` carries out writes of the one on the
//! other, `agent` is the loop that measures, calls reactions and commits. `interface` is between them and the C side: `c`
//! compiles reactions, `module` runs them.

pub mod agent;
pub mod c;
pub mod compiler;
mod handles;
pub mod interface;
pub mod language;
pub mod map;
pub mod module;

/// Returns the explanations of this crate's codes.
pub fn explanations() -> impl Iterator<Item = &'static source::Explanation> {
    language::codes::EXPLANATIONS.iter().chain(c::codes::EXPLANATIONS)
}
