// SPDX-License-Identifier: Apache-2.0
//! The syntax tree of files of atoms and codelets.

use crate::words::{Binary, Unary};
use source::Span;

/// A name and its place.
#[derive(Clone, Debug)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// An `atom` or a `codelet`.
#[derive(Clone, Debug)]
pub struct Item {
    pub is_atom: bool,
    pub name: Name,
    pub states: Vec<Name>,
    pub inputs: Vec<Name>,
    pub members: Vec<Member>,
}

/// What stands in an item beside state variables and inputs.
#[derive(Clone, Debug)]
pub enum Member {
    Define { name: Name, parameters: Vec<Name>, value: Expression },
    Statement(Statement),
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    Assign { target: Name, value: Expression },
    If { test: Expression, then: Vec<Statement>, otherwise: Vec<Statement> },
}

/// An expression and its place.
#[derive(Clone, Debug)]
pub struct Expression {
    pub form: Form,
    pub span: Span,
}

/// The form of an expression.
#[derive(Clone, Debug)]
pub enum Form {
    Number(u32),
    /// A name, with the arguments in parentheses if there are any.
    Use(Name, Option<Vec<Expression>>),
    Unary(Unary, Box<Expression>),
    /// One operator, or alternatives.
    Binary(Vec<Binary>, Box<Expression>, Box<Expression>),
    Select(Box<Expression>, Box<Expression>, Box<Expression>),
    Constant(Option<(i64, i64)>),
    Choice(Vec<Expression>),
}
