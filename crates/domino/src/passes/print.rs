// SPDX-License-Identifier: Apache-2.0
//! Core programs as text in the manner of C, for `plane emit --after`.

use crate::core::{Callee, Core, Expression, Statement, StatementKind, Variable};
use crate::syntax::ast::{LogicalOperator, UnaryOperator};
use std::fmt::Write;

/// Prints the statements of a program. Variables that are no fields have their number behind their name.
pub fn print(core: &Core) -> String {
    let mut printer = Printer { core, text: String::new() };
    printer.statements(&core.body, 0);
    printer.text
}

/// Prints one of the statements.
pub fn print_statement(core: &Core, statement: &Statement) -> String {
    let mut printer = Printer { core, text: String::new() };
    printer.statements(std::slice::from_ref(statement), 0);
    printer.text.trim_end().to_string()
}

struct Printer<'p> {
    core: &'p Core,
    text: String,
}

impl Printer<'_> {
    fn statements(&mut self, statements: &[Statement], depth: usize) {
        let indent = "    ".repeat(depth);
        for statement in statements {
            let line = match &statement.kind {
                StatementKind::Assign(target, value) => {
                    format!("{} = {};", self.variable(*target), self.expression(value))
                }
                StatementKind::Read(target, global, index) => {
                    format!("{} = {};", self.variable(*target), self.cell(*global, index))
                }
                StatementKind::Write(global, index, value) => {
                    format!("{} = {};", self.cell(*global, index), self.expression(value))
                }
                StatementKind::Call(target, callee, arguments) => {
                    let name = match callee {
                        Callee::Hash if arguments.len() == 3 => "hash3",
                        Callee::Hash => "hash2",
                        Callee::Helper(helper) => &*self.core.program.functions[*helper].name,
                    };
                    let arguments: Vec<String> =
                        arguments.iter().map(|one| self.expression(one)).collect();
                    format!("{} = {name}({});", self.variable(*target), arguments.join(", "))
                }
                StatementKind::If(condition, then, otherwise) => {
                    let _ = writeln!(self.text, "{indent}if ({}) {{", self.expression(condition));
                    self.statements(then, depth + 1);
                    if !otherwise.is_empty() {
                        let _ = writeln!(self.text, "{indent}}} else {{");
                        self.statements(otherwise, depth + 1);
                    }
                    "}".to_string()
                }
            };
            let _ = writeln!(self.text, "{indent}{line}");
        }
    }

    fn variable(&self, variable: Variable) -> String {
        let name = &self.core.variables[variable.index()];
        match variable.index() < self.core.fields.len() {
            true => format!("p.{name}"),
            false => format!("{name}_{}", variable.0),
        }
    }

    fn cell(&self, global: usize, index: &Expression) -> String {
        let global = &self.core.globals[global];
        match global.size {
            None => global.name.to_string(),
            Some(_) => format!("{}[{}]", global.name, self.expression(index)),
        }
    }

    fn expression(&self, expression: &Expression) -> String {
        match expression {
            Expression::Constant(value) => (*value as i32).to_string(),
            Expression::Variable(variable) => self.variable(*variable),
            Expression::Unary(operator, operand) => {
                let operator = match operator {
                    UnaryOperator::Plus => "+",
                    UnaryOperator::Negate => "-",
                    UnaryOperator::Complement => "~",
                    UnaryOperator::Not => "!",
                };
                format!("{operator}{}", self.operand(operand))
            }
            Expression::Binary(operation, left, right, _) => {
                format!(
                    "{} {} {}",
                    self.operand(left),
                    operation.operator.spelling(),
                    self.operand(right)
                )
            }
            Expression::Logical(operator, left, right) => {
                let operator = match operator {
                    LogicalOperator::And => "&&",
                    LogicalOperator::Or => "||",
                };
                format!("{} {operator} {}", self.operand(left), self.operand(right))
            }
            Expression::Conditional(condition, then, otherwise) => {
                format!(
                    "{} ? {} : {}",
                    self.operand(condition),
                    self.operand(then),
                    self.operand(otherwise)
                )
            }
        }
    }

    fn operand(&self, expression: &Expression) -> String {
        let text = self.expression(expression);
        if expression.is_simple() { text } else { format!("({text})") }
    }
}
