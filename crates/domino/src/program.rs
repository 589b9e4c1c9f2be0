// SPDX-License-Identifier: Apache-2.0
//! [`Program`]: a checked program. Names are resolved, types are known, constants are computed; evaluation order is that of
//! the source. The interpreter executes it; `core` rewrites it to statements in evaluation order.

use crate::syntax::ast::{BinaryOperator, LogicalOperator, Step, Type, UnaryOperator};
use source::Span;
use std::sync::Arc;

/// A checked program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The packet's fields in the order of their declaration.
    pub fields: Vec<Field>,
    /// The globals in source order.
    pub globals: Vec<Global>,
    /// The functions in source order. A function calls only earlier ones.
    pub functions: Vec<Function>,
    /// The packet function's index.
    pub packet_function: usize,
}

impl Program {
    /// Returns the packet function.
    pub fn packet(&self) -> &Function {
        &self.functions[self.packet_function]
    }
}

/// A field of the packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// Where it is declared.
    pub span: Span,
}

/// A global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// Its name.
    pub name: Arc<str>,
    /// The type of its cells.
    pub ty: Type,
    /// Where it is declared.
    pub span: Span,
    /// The number of cells of an array; `None` is a scalar.
    pub size: Option<u32>,
    /// The first values of its first cells; the others are 0.
    pub initial: Vec<u32>,
    /// Whether the program writes it.
    pub is_written: bool,
}

impl Global {
    /// Returns the number of cells, 1 for a scalar.
    pub fn cells(&self) -> usize {
        self.size.unwrap_or(1) as usize
    }
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Arc<str>,
    /// Where its name stands.
    pub span: Span,
    /// The number of value parameters, the first locals.
    pub parameters: usize,
    /// Parameters and locals.
    pub locals: Vec<Local>,
    /// The type of its value.
    pub returns: Option<Type>,
    /// Its statements.
    pub body: Vec<Statement>,
}

/// A parameter or local.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its name; another one may have the same in another block.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// Evaluates an expression.
    Evaluate(Expression),
    /// Evaluates a call of a function without a value.
    Call(usize, Vec<Expression>, Span),
    /// Sets a local where it is declared; 0 without a value.
    Declare(usize, Option<Expression>, Span),
    /// Executes one of two lists.
    If(Expression, Vec<Statement>, Vec<Statement>, Span),
    /// A loop with this number of turns.
    For(Box<For>),
    /// Ends the function.
    Return(Option<Expression>, Span),
}

/// A loop with a constant bound.
#[derive(Clone, Debug)]
pub struct For {
    /// What is done first.
    pub begin: Vec<Statement>,
    /// The condition.
    pub condition: Expression,
    /// What follows each turn.
    pub step: Expression,
    /// What is repeated.
    pub body: Vec<Statement>,
    /// The number of turns.
    pub turns: u32,
    /// Where it stands.
    pub span: Span,
}

/// What can be assigned to.
#[derive(Clone, Debug)]
pub enum Place {
    /// A field of the packet.
    Field(usize),
    /// A local of the function.
    Local(usize),
    /// A scalar global.
    Scalar(usize),
    /// A cell of a global array. The index is taken as a signed number if its type is `int`.
    Cell(usize, Box<Expression>),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Its type.
    pub ty: Type,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A number.
    Constant(u32),
    /// The value of a place.
    Read(Place),
    /// A call of a function with a value.
    Call(usize, Vec<Expression>),
    /// The hash of two or three values.
    Hash(Vec<Expression>),
    /// An operator with one operand.
    Unary(UnaryOperator, Box<Expression>),
    /// An operator with two operands, on the type that they have in common. Shifts are done on the type of the left one.
    Binary(Operation, Box<Expression>, Box<Expression>),
    /// `&&` or `||`.
    Logical(LogicalOperator, Box<Expression>, Box<Expression>),
    /// `a ? b : c`
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `place = value` or `place op= value`.
    Assign(Place, Option<Operation>, Box<Expression>),
    /// `place++` and the like.
    Step(Place, Step),
}

/// An operator and the type on which it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// The operator.
    pub operator: BinaryOperator,
    /// Whether division, comparison and right shifts are unsigned.
    pub is_unsigned: bool,
}
