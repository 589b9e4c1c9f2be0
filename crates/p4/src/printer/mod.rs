// SPDX-License-Identifier: Apache-2.0
//! From the syntax tree back to text: valid P4_16 in the layout of [`format`](mod@crate::format), with
//! parentheses only where precedence needs them. Reading the text again gives the same tree;
//! [`normal_form`] says what "same" means. [`print_with_includes`] writes libraries (`core.p4`,
//! the architectures) as `#include`; the other functions write their text.

mod declarations;
mod emitter;
mod expressions;
mod extensions;
mod libraries;
mod normal;
mod statements;
mod types;

pub use libraries::print_with_includes;
pub use normal::{normal_form, same_tree};

use crate::ast::{Declaration, Expression, Program, Statement, TypeRef};
use crate::format;
use emitter::Emitter;

/// Prints a whole program.
pub fn print(program: &Program) -> String {
    print_declarations(&program.declarations)
}

/// Prints top-level declarations.
pub fn print_declarations<'d>(declarations: impl IntoIterator<Item = &'d Declaration>) -> String {
    let mut emitter = Emitter::new();
    emitter.declarations(declarations);
    format::lay_out(emitter.pieces)
}

/// Prints a statement.
pub fn print_statement(statement: &Statement) -> String {
    let mut emitter = Emitter::new();
    emitter.statement(statement);
    format::lay_out(emitter.pieces)
}

/// Prints an expression on one line.
pub fn print_expression(expression: &Expression) -> String {
    let mut emitter = Emitter::new();
    emitter.expression(expression);
    format::single_line(emitter.pieces)
}

/// Prints a type on one line.
pub fn print_type_ref(ty: &TypeRef) -> String {
    let mut emitter = Emitter::new();
    emitter.type_ref(ty);
    format::single_line(emitter.pieces)
}

#[cfg(test)]
pub(crate) mod tests;
