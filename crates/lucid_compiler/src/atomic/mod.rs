// SPDX-License-Identifier: Apache-2.0
//! From the normal form to statements of one ALU each, and to a layout problem (Lucid §6).
//!
//! ```text
//! atomic     handlers as trees of atomic statements and branch tables (Lucid Figure 6(1), §6.1)
//! branches   branches become static match rules of each statement (Lucid Figure 6(2))
//! dataflow   values instead of variables: false dependencies, copies, repeated computations and
//!            detours of conditions are gone (Lucid Figure 6(3))
//! problem    units, demands and dependencies for `pisa` (Figure 8 is its layout)
//! ```
//!
//! [`program::AtomicProgram`] is what `branches` and `dataflow` give; layouts speak of its statements.
//! Merging of tables is `pisa`'s, P4_16 is [`super`]'s back ends'.

mod aligned;
mod branches;
mod checksums;
pub mod codes;
mod containers;
mod dataflow;
mod dependencies;
mod formula;
pub mod groups;
mod memory;
mod print;
mod problem;
pub mod program;
mod rules;
mod share;
pub mod stateful;
mod translate;
pub mod tree;
mod uses;

pub use branches::branches;
pub use dataflow::dataflow;
pub use dependencies::dependencies;
pub(super) use dependencies::draws_before;
pub use groups::Groups;
pub use print::{operation_text, print, print_graph};
pub use problem::problem;
pub use program::AtomicProgram;
pub use translate::translate;
pub use tree::AtomicGraph;

use crate::normal::AfterPass;
use lucid::core::Program;
use source::Diagnostics;

/// A program in normal form after each pass of this module, as text.
///
/// # Errors
///
/// What no ALU can do.
pub fn after_passes(normal: &Program) -> Result<Vec<AfterPass>, Diagnostics> {
    let graph = translate(normal)?;
    let after = |name, description, text| AfterPass { name, description, text };
    Ok(vec![
        after(
            "atomic",
            "statements of one ALU each, and branch tables",
            print_graph(normal, &graph),
        ),
        after(
            "branches",
            "branches become static match rules of each statement",
            print(normal, &branches(&graph)),
        ),
        after(
            "dataflow",
            "statements are left with the order that their data ask for",
            print(normal, &dataflow(normal, &graph)),
        ),
    ])
}
