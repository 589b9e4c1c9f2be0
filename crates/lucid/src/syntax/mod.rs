// SPDX-License-Identifier: Apache-2.0
//! Text to tree: lexer, parser, includes, formatter. Parsing never fails: it gives a tree and
//! diagnostics. No names are looked up here.

pub mod ast;
