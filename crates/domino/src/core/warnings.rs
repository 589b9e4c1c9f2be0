// SPDX-License-Identifier: Apache-2.0
//! Warnings about what is undefined in C and certain to happen: cells outside of their array, divisions by 0, shifts by 32
//! bits or more.

use super::{Core, Expression, Range, Ranges, Statement, StatementKind};
use crate::codes::check as codes;
use crate::syntax::ast::BinaryOperator;
use source::{Diagnostic, Diagnostics, Span};

/// Returns the warnings about a program.
pub fn warnings(core: &Core) -> Diagnostics {
    let mut finder =
        Finder { core, ranges: Ranges::new(core.variables.len()), found: Diagnostics::new() };
    finder.statements(&core.body);
    finder.found
}

struct Finder<'f> {
    core: &'f Core,
    ranges: Ranges,
    found: Diagnostics,
}

impl Finder<'_> {
    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign(variable, value) => {
                self.expression(value);
                let range = self.ranges.of(value);
                self.ranges.set(*variable, range);
            }
            StatementKind::Read(variable, global, index) => {
                self.index(*global, index, statement.span);
                self.ranges.set(*variable, Range::ALL);
            }
            StatementKind::Write(global, index, value) => {
                self.expression(value);
                self.index(*global, index, statement.span);
            }
            StatementKind::Call(variable, callee, arguments) => {
                arguments.iter().for_each(|argument| self.expression(argument));
                self.ranges.set(*variable, Range::of_call(*callee));
            }
            StatementKind::If(condition, then, otherwise) => {
                self.expression(condition);
                let mut changes = Vec::new();
                for (list, holds) in [(then, true), (otherwise, false)] {
                    let begin = self.ranges.begin();
                    self.ranges.assume(condition, holds);
                    self.statements(list);
                    changes.push(self.ranges.end(begin));
                }
                self.ranges.join(&changes[0], &changes[1]);
            }
        }
    }

    fn index(&mut self, global: usize, index: &Expression, span: Span) {
        self.expression(index);
        let global = &self.core.globals[global];
        let Some(size) = global.size else { return };
        if !self.ranges.of(index).is_never_below(size) {
            return;
        }
        let message =
            format!("this index of `{}` is always outside of its {size} cells", global.name);
        let found = Diagnostic::warning(codes::OUTSIDE_ARRAY, span, message)
            .label(global.span, "declared here")
            .note("a cell outside of the array reads 0 and keeps nothing");
        self.found.push(found.help(format!("use an index from 0 to {}", size - 1)));
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Constant(_) | Expression::Variable(_) => {}
            Expression::Unary(_, one) => self.expression(one),
            Expression::Logical(_, one, two) => {
                self.expression(one);
                self.expression(two);
            }
            Expression::Conditional(one, two, three) => {
                self.expression(one);
                self.expression(two);
                self.expression(three);
            }
            Expression::Binary(operation, left, right, span) => {
                self.expression(left);
                self.expression(right);
                let range = self.ranges.of(right);
                let found = match operation.operator {
                    BinaryOperator::Divide | BinaryOperator::Remainder if range == Range::of(0) => {
                        Diagnostic::warning(
                            codes::DIVISION_BY_ZERO,
                            *span,
                            "this always divides by 0",
                        )
                        .note("`x / 0` and `x % 0` give 0")
                        .help("divide by another number")
                    }
                    BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight
                        if range.is_never_below(32) =>
                    {
                        Diagnostic::warning(
                            codes::SHIFT_COUNT,
                            *span,
                            "this always shifts by 32 bits or more",
                        )
                        .note("the result is 0, or the sign for `>>` of an `int`")
                        .help("shift by 0 to 31 bits")
                    }
                    _ => return,
                };
                self.found.push(found);
            }
        }
    }
}
