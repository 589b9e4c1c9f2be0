// SPDX-License-Identifier: Apache-2.0
//! The language P4R on P4_16: its grammar as a dialect, its declarations as values, and what the checker of P4_16 cannot
//! know of them (Mantis §3, Figures 1 and 3). `../compiler` translates checked programs.

pub(crate) mod arguments;
mod c_text;
pub(crate) mod check;
pub mod codes;
mod declarations;
pub(crate) mod dialect;
mod directions;
pub(crate) mod paths;
mod program;
mod read;

pub(crate) use arguments::DEFAULT_COST_PS;
pub use declarations::{
    ArgumentSource, Declarations, FieldDeclaration, ReactionArgument, ReactionDeclaration,
    ValueDeclaration,
};
pub use dialect::P4R;
pub use directions::Directions;
pub use paths::Path;
pub use program::{Gress, P4rProgram, PipelineControl, Tail};
pub use read::read;
