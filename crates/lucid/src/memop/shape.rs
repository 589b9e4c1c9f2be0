// SPDX-License-Identifier: Apache-2.0
//! The parts of a memop whose body has the right form: what elaboration turns into a core memop. The
//! messages for bodies of another form are in `declaration`.

use crate::check::CheckedProgram;
use crate::syntax::ast::{
    Binder, Block, Declaration, DeclarationKind, Expression, NodeId, Parameter,
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
pub(crate) struct Declared<'p> {
    pub name: &'p Binder,
    pub parameters: &'p [Parameter],
    pub body: &'p Block,
}

/// The shape of a memop (by its binder), or `None` if its body breaks a rule of memops or there is
/// no such memop.
pub fn shape(program: &CheckedProgram, memop: NodeId) -> Option<Shape<'_>> {
    let mut found = None;
    each_memop(&program.tree.declarations, &mut |declared| {
        if declared.name.id == memop {
            found = Some(declared);
        }
    });
    super::declaration::analyze(program, found?).ok()
}

/// Hands over each memop that is declared, those of modules too.
pub(crate) fn each_memop<'p>(declarations: &'p [Declaration], visit: &mut dyn FnMut(Declared<'p>)) {
    for declaration in declarations {
        match &declaration.kind {
            DeclarationKind::Memop { name, parameters, body } => {
                visit(Declared { name, parameters, body });
            }
            DeclarationKind::Module { declarations, .. } => each_memop(declarations, visit),
            _ => {}
        }
    }
}
