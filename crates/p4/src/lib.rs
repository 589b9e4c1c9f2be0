// SPDX-License-Identifier: Apache-2.0
//! P4_16: preprocessor, lexer, parser, types, constants, printer.

pub mod ast;
pub mod token;
pub mod typed;
