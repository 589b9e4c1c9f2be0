// SPDX-License-Identifier: Apache-2.0
//! From the tree to the checked program: names, types, constants, calls, bounds of loops. Reports all mistakes at once.

mod constants;
mod declarations;
mod expressions;
mod loops;
mod names;
mod places;
mod statements;

use crate::codes::check as codes;
use crate::program::{Field, Function, Global, Local, Program};
use crate::syntax::ast::{self, Type};
use names::{Declared, Names};
use source::{Diagnostic, Diagnostics, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// The hashes of `hashes.h` with the number of their arguments.
pub(crate) const HASHES: &[(&str, usize)] =
    &[("hash2", 2), ("hash2a", 2), ("hash2b", 2), ("hash2c", 2), ("hash3", 3)];

/// Checks a program. `None` if there is an error.
pub fn check(file: &ast::File, has_hashes: bool, diagnostics: &mut Diagnostics) -> Option<Program> {
    let mut checker = Checker::new(file, has_hashes, diagnostics);
    checker.structs(file);
    for item in &file.items {
        match item {
            ast::Item::Struct(_) => {}
            ast::Item::Global(global) => checker.global(global),
            ast::Item::Function(function) => checker.function(function),
        }
    }
    checker.packet_function(file);
    let Checker { fields, globals, functions, packet_function, diagnostics, .. } = checker;
    if diagnostics.has_errors() {
        return None;
    }
    Some(Program { fields, globals, functions, packet_function: packet_function? })
}

/// The state of checking one program.
struct Checker<'c> {
    diagnostics: &'c mut Diagnostics,
    names: Names,
    /// The packet struct's name.
    structure: Option<ast::Name>,
    fields: Vec<Field>,
    globals: Vec<Global>,
    functions: Vec<Function>,
    /// The cells of all arrays so far.
    cells: u64,
    packet_function: Option<usize>,
    /// Where all functions of the file are declared, for advice about calls of later ones.
    declared_functions: HashMap<Arc<str>, Span>,
    /// The names of functions that have a packet.
    packet_names: Vec<Arc<str>>,
    has_hashes: bool,
    /// The function being checked.
    current: Current,
}

/// The function being checked.
#[derive(Default)]
struct Current {
    name: Arc<str>,
    /// It has a packet.
    is_packet: bool,
    returns: Option<Type>,
    locals: Vec<Local>,
}

impl<'c> Checker<'c> {
    fn new(file: &ast::File, has_hashes: bool, diagnostics: &'c mut Diagnostics) -> Checker<'c> {
        let functions = file.items.iter().filter_map(|item| match item {
            ast::Item::Function(function) => Some((function.name.text.clone(), function.name.span)),
            _ => None,
        });
        let packets = file.items.iter().filter_map(|item| match item {
            ast::Item::Function(function) if function.is_for_packets() => {
                Some(function.name.text.clone())
            }
            _ => None,
        });
        let mut names = Names::default();
        if has_hashes {
            for (name, arguments) in HASHES {
                names.declare_built_in(name, Declared::Hash(*arguments));
            }
        }
        Checker {
            diagnostics,
            names,
            structure: None,
            fields: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            cells: 0,
            packet_function: None,
            declared_functions: functions.collect(),
            packet_names: packets.collect(),
            has_hashes,
            current: Current::default(),
        }
    }

    /// Declares a name; reports one that is declared in the same scope.
    fn declare(&mut self, name: &ast::Name, declared: Declared) {
        let Some((first, _)) = self.names.in_scope(&name.text) else {
            self.names.declare(name, declared);
            return;
        };
        let message = format!("`{}` is declared twice", name.text);
        let mut found = Diagnostic::error(codes::DUPLICATE, name.span, message);
        found = match first.is_none() {
            true => found.note(format!("`hashes.h` declares `{}`", name.text)),
            false => found.here("declared again").label(first, "first declared here"),
        };
        self.diagnostics.push(found.help("choose another name for one of them"));
        // The name keeps its first meaning, unless a function's body refers to the second.
        if matches!(declared, Declared::Local(_)) {
            self.names.declare(name, declared);
        }
    }
}
