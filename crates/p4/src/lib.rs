// SPDX-License-Identifier: Apache-2.0
//! P4_16: preprocessor, lexer, parser, types, constants, printer, formatter, and the architectures'
//! interfaces. It turns source text into a checked tree with side tables; execution and hardware
//! are elsewhere.

#[macro_use]
mod walker;

pub mod ast;
pub mod build;
pub mod check;
pub mod codes;
pub mod compile;
pub mod dialect;
pub mod format;
pub mod inline;
pub mod interface_declarations;
pub mod interfaces;
pub mod lexer;
pub mod parser;
pub mod preprocessor;
pub mod printer;
pub mod random_sites;
pub mod rewrite;
pub mod token;
pub mod typed;
pub mod visit;
pub mod visit_mut;
