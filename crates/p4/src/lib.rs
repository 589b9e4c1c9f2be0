// SPDX-License-Identifier: Apache-2.0
//! P4_16: preprocessor, lexer, parser, types, constants, printer.

pub mod ast;
pub mod check;
pub mod codes;
pub mod compile;
pub mod format;
pub mod interfaces;
pub mod lexer;
pub mod parser;
pub mod preprocessor;
pub mod printer;
pub mod token;
pub mod typed;
