// SPDX-License-Identifier: Apache-2.0
//! The syntax of Domino: a subset of C with one struct, globals and functions.

pub mod ast;
pub(crate) mod format;
pub(crate) mod parser;
mod read;
pub(crate) mod token;

pub use read::{HASHES, ReadFile, read};
