// SPDX-License-Identifier: Apache-2.0
//! `Shape`: the parts of a valid memop body, which elaboration turns into a core memop. `declaration`
//! recognizes the shape and reports other bodies.

use crate::check::{Builtin, CheckedProgram, Definition};
use crate::syntax::ast::{
    Binder, Block, Declaration, DeclarationKind, Expression, Parameter, Path,
};

/// A memop's body taken apart. Names in its expressions are the tree's: parameters and the booleans
/// of `conditions` are `Definition::Local`, the cells are `Builtin::Cell1` and `Builtin::Cell2`.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape<'p> {
    /// Two arguments, `return e;`
    Return(&'p Expression),
    /// Two arguments, `if (c) { return a; } else { return b; }`: condition, then, otherwise.
    If(&'p Expression, &'p Expression, &'p Expression),
    /// Three or four arguments.
    Complex(Complex<'p>),
}

/// The parts of a memop of three or four arguments, in the order the hardware has them.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Complex<'p> {
    /// The booleans, if declared: the binder that guards name, and its value.
    pub conditions: [Option<(&'p Binder, &'p Expression)>; 2],
    /// Guarded new values of the first cell, at most two; the first whose guard holds counts.
    pub cell1: Vec<(&'p Expression, &'p Expression)>,
    /// The same of the second cell; with three arguments a scratch value that only `returned` sees.
    pub cell2: Vec<(&'p Expression, &'p Expression)>,
    /// Guard and returned value (a cell after the update, or a cell's old value).
    pub returned: Option<(&'p Expression, &'p Expression)>,
}

/// A memop as declared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemopDeclaration<'p> {
    pub name: &'p Binder,
    pub parameters: &'p [Parameter],
    pub body: &'p Block,
}

/// Visits each declared memop, those of modules too.
pub(crate) fn each_memop<'p>(
    declarations: &'p [Declaration],
    visit: &mut dyn FnMut(MemopDeclaration<'p>),
) {
    for declaration in declarations {
        match &declaration.kind {
            DeclarationKind::Memop { name, parameters, body } => {
                visit(MemopDeclaration { name, parameters, body });
            }
            DeclarationKind::Module { declarations, .. } => each_memop(declarations, visit),
            _ => {}
        }
    }
}

/// Whether a path is `cell1` (`Some(false)`) or `cell2` (`Some(true)`).
pub(crate) fn cell_of(program: &CheckedProgram, path: &Path) -> Option<bool> {
    match program.definitions.get(&path.id) {
        Some(Definition::Builtin(Builtin::Cell1)) => Some(false),
        Some(Definition::Builtin(Builtin::Cell2)) => Some(true),
        _ => None,
    }
}
