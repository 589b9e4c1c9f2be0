// SPDX-License-Identifier: Apache-2.0
//! Stages as code: a control becomes one block a stage, in a program like any other.
//!
//! 1. [`behind_tables`] moves code of actions behind their tables.
//! 2. [`Constraints`] says which instructions of the control may be in which order of stages.
//! 3. An [`Assignment`] gives each instruction a stage: completed from a few that are given
//!    ([`Constraints::complete`]), or made from wanted stages ([`Constraints::at_least`]) that a layout or [`Hints`] of
//!    the source language have. [`Constraints::violations`] checks it.
//! 4. [`cut`] makes the blocks.
//!
//! Blocks with one role run in their order ([`crate::Program::blocks`]), on the same storage. State is not copied: a
//! register array, counter, meter or extern is in one stage, and so are the accesses of an `@atomic` block. A
//! precedence allows one stage for both instructions. Hardware that computes everything of a stage at once keeps them
//! apart; its layouts satisfy these constraints.

mod assignment;
mod carried;
mod constraints;
mod cut;
mod hints;
mod obstacles;
mod pieces;
mod tables;

pub use assignment::{Assignment, Conflict, Violation};
pub use constraints::{Constraints, Precedence, Reason};
pub use cut::{Staged, cut};
pub use hints::Hints;
pub use pieces::Carried;
pub use tables::{Moved, MovedActions, behind_tables};
