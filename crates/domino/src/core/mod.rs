// SPDX-License-Identifier: Apache-2.0
//! [`Core`]: a program as statements in evaluation order. Helpers are in the place of their calls, loops are unrolled, and
//! expressions have no effects: each access of a global is a statement of its own. Analyses and the compiler read it.

mod effects;
mod equal_values;
mod flatten;
mod flow;
mod ranges;
mod run;
mod statements;
mod warnings;

pub(crate) use equal_values::EqualValues;
pub use flatten::{STATEMENT_LIMIT, flatten, flatten_helper, flatten_with_calls};
pub use ranges::{Range, Ranges};
pub use run::{run, run_values};
pub use warnings::warnings;

use crate::program::{Field, Global, Operation, Program};
use crate::syntax::ast::{LogicalOperator, UnaryOperator};
use source::Span;
use std::sync::Arc;

/// A program in evaluation order.
#[derive(Clone, Debug)]
pub struct Core {
    /// The packet's fields, the first variables.
    pub fields: Vec<Field>,
    /// The globals.
    pub globals: Vec<Global>,
    /// All variables, with names that need not differ. Only fields have a value at the beginning.
    pub variables: Vec<Arc<str>>,
    /// The statements.
    pub body: Vec<Statement>,
    /// The program as written, with the helpers that calls name.
    pub program: Arc<Program>,
}

/// A variable: a field, or a value of 32 bits that lives while a packet is processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable(pub u32);

impl Variable {
    /// Returns the index in [`Core::variables`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// The part of the program that it stands for.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// Sets a variable.
    Assign(Variable, Expression),
    /// Reads a cell; one outside of the array gives 0.
    Read(Variable, usize, Expression),
    /// Writes a cell; nothing if it is outside of the array.
    Write(usize, Expression, Expression),
    /// Computes a function of values.
    Call(Variable, Callee, Vec<Expression>),
    /// Executes one of two lists.
    If(Expression, Vec<Statement>, Vec<Statement>),
}

/// A function of values alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// The hash of two or three values.
    Hash,
    /// The helper with this index, which accesses no global.
    Helper(usize),
}

/// An expression without effects. Its value is of 32 bits.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number.
    Constant(u32),
    /// A variable.
    Variable(Variable),
    /// An operator with one operand.
    Unary(UnaryOperator, Box<Expression>),
    /// An operator with two operands.
    Binary(Operation, Box<Expression>, Box<Expression>, Span),
    /// `&&` or `||`.
    Logical(LogicalOperator, Box<Expression>, Box<Expression>),
    /// `a ? b : c`
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
}

impl Expression {
    /// Calls a function with each variable of the expression.
    pub fn each_variable(&self, visit: &mut dyn FnMut(Variable)) {
        match self {
            Expression::Constant(_) => {}
            Expression::Variable(variable) => visit(*variable),
            Expression::Unary(_, one) => one.each_variable(visit),
            Expression::Binary(_, one, two, _) | Expression::Logical(_, one, two) => {
                one.each_variable(visit);
                two.each_variable(visit);
            }
            Expression::Conditional(one, two, three) => {
                one.each_variable(visit);
                two.each_variable(visit);
                three.each_variable(visit);
            }
        }
    }

    /// Calls a function with each operand.
    pub fn each_child_mut(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        match self {
            Expression::Constant(_) | Expression::Variable(_) => {}
            Expression::Unary(_, one) => visit(one),
            Expression::Binary(_, one, two, _) | Expression::Logical(_, one, two) => {
                visit(one);
                visit(two);
            }
            Expression::Conditional(one, two, three) => {
                visit(one);
                visit(two);
                visit(three);
            }
        }
    }

    /// Whether the expression is a constant or a variable.
    pub fn is_simple(&self) -> bool {
        matches!(self, Expression::Constant(_) | Expression::Variable(_))
    }
}

impl StatementKind {
    /// Returns the variable that the statement itself sets, for writing.
    pub fn target_mut(&mut self) -> Option<&mut Variable> {
        match self {
            StatementKind::Assign(variable, _)
            | StatementKind::Read(variable, ..)
            | StatementKind::Call(variable, ..) => Some(variable),
            StatementKind::Write(..) | StatementKind::If(..) => None,
        }
    }

    /// Calls a function with each expression of the statement itself.
    pub fn each_operand(&self, visit: &mut dyn FnMut(&Expression)) {
        match self {
            StatementKind::Assign(_, one)
            | StatementKind::Read(_, _, one)
            | StatementKind::If(one, ..) => visit(one),
            StatementKind::Write(_, one, two) => {
                visit(one);
                visit(two);
            }
            StatementKind::Call(_, _, all) => all.iter().for_each(visit),
        }
    }

    /// Calls a function with each expression of the statement itself, for writing.
    pub fn each_operand_mut(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        match self {
            StatementKind::Assign(_, one)
            | StatementKind::Read(_, _, one)
            | StatementKind::If(one, ..) => visit(one),
            StatementKind::Write(_, one, two) => {
                visit(one);
                visit(two);
            }
            StatementKind::Call(_, _, all) => all.iter_mut().for_each(visit),
        }
    }
    /// Returns the variable that the statement itself sets.
    pub fn target(&self) -> Option<Variable> {
        match self {
            StatementKind::Assign(variable, _)
            | StatementKind::Read(variable, ..)
            | StatementKind::Call(variable, ..) => Some(*variable),
            StatementKind::Write(..) | StatementKind::If(..) => None,
        }
    }
}

/// Calls a function with each variable that statements set.
pub fn each_target(statements: &[Statement], visit: &mut dyn FnMut(Variable)) {
    for statement in statements {
        match &statement.kind {
            StatementKind::If(_, then, otherwise) => {
                each_target(then, visit);
                each_target(otherwise, visit);
            }
            other => other.target().into_iter().for_each(&mut *visit),
        }
    }
}
