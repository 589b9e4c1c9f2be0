// SPDX-License-Identifier: Apache-2.0
//! Domino: packet transactions in C (Sivaraman et al., SIGCOMM 2016). A program is a struct of packet fields, globals, and
//! one function that runs for each packet as if no other packet were on its way. Values have 32 bits; what C leaves
//! undefined is defined ([`arithmetic32`], [`interpreter`]).
//!
//! [`syntax`] parses, [`check`](check()) resolves names and types, [`core`] puts statements in evaluation order, [`compiler`]
//! compiles to P4_16, [`interpreter`] is the reference. No code here opens a file.

pub mod arithmetic32;
pub mod binding;
mod check;
pub mod codes;
pub mod compiler;
pub mod core;
pub mod csv;
mod front;
pub mod interpreter;
pub mod passes;
pub mod program;
pub mod state_json;
pub mod syntax;

pub use check::check;
pub use front::{Checked, format, front};
