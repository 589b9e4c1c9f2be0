// SPDX-License-Identifier: Apache-2.0
//! Which expressions of a program with one definition a variable have equal values, by value numbers: copies, equal operators
//! on equal values, and equal calls. What statements do with equal values is not decided here.

use super::{Callee, Expression, Statement, StatementKind, Variable};
use crate::program::Operation;
use crate::syntax::ast::{LogicalOperator, UnaryOperator};
use std::collections::{BTreeSet, HashMap};

/// What a value number stands for.
#[derive(PartialEq, Eq, Hash)]
enum Value {
    Constant(u32),
    /// A variable without a definition in front, or one that is read from state.
    Variable(Variable),
    Unary(UnaryOperator, usize),
    Binary(Operation, usize, usize),
    Logical(LogicalOperator, usize, usize),
    Conditional(usize, usize, usize),
    Call(Callee, Vec<usize>),
}

/// The value numbers of what stands in front of a statement.
#[derive(Default)]
pub(crate) struct EqualValues {
    numbers: HashMap<Value, usize>,
    of_variables: HashMap<Variable, usize>,
}

impl EqualValues {
    /// Takes note of what a statement defines.
    pub(crate) fn define(&mut self, statement: &Statement) {
        let (target, number) = match &statement.kind {
            StatementKind::Assign(target, value) => (*target, self.number(value)),
            StatementKind::Call(target, callee, arguments) => {
                let arguments = arguments.iter().map(|one| self.number(one)).collect();
                (*target, self.number_of(Value::Call(*callee, arguments)))
            }
            _ => return,
        };
        self.of_variables.insert(target, number);
    }

    /// Returns the cells that statements read: of which global, and the number of the index's value.
    pub(crate) fn cells_read(&mut self, statements: &[Statement]) -> BTreeSet<(usize, usize)> {
        let mut cells = BTreeSet::new();
        for statement in statements {
            self.define(statement);
            match &statement.kind {
                StatementKind::Read(_, global, index) => {
                    cells.insert((*global, self.number(index)));
                }
                StatementKind::If(_, then, otherwise) => {
                    cells.extend(self.cells_read(then));
                    cells.extend(self.cells_read(otherwise));
                }
                _ => {}
            }
        }
        cells
    }

    /// Returns the number of an expression's value. Expressions with one number have equal values.
    pub(crate) fn number(&mut self, expression: &Expression) -> usize {
        let value = match expression {
            Expression::Constant(number) => Value::Constant(*number),
            Expression::Variable(variable) => match self.of_variables.get(variable) {
                Some(number) => return *number,
                None => Value::Variable(*variable),
            },
            Expression::Unary(operator, one) => Value::Unary(*operator, self.number(one)),
            Expression::Binary(operation, one, two, _) => {
                Value::Binary(*operation, self.number(one), self.number(two))
            }
            Expression::Logical(operator, one, two) => {
                Value::Logical(*operator, self.number(one), self.number(two))
            }
            Expression::Conditional(condition, then, otherwise) => Value::Conditional(
                self.number(condition),
                self.number(then),
                self.number(otherwise),
            ),
        };
        self.number_of(value)
    }

    fn number_of(&mut self, value: Value) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(value).or_insert(next)
    }
}
