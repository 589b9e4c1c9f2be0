// SPDX-License-Identifier: Apache-2.0
//! Branches become conditional values: each condition is kept in a variable, and an assignment under conditions is
//! `x = condition ? value : x`, and so is a condition under conditions. A cell that is not to be written is written with its old value.

use super::names::CONDITION;
use crate::core::{Core, Expression, Statement, StatementKind, Variable};
use crate::syntax::ast::{LogicalOperator, UnaryOperator};
use source::Span;
use std::sync::Arc;

/// Runs the pass.
pub(super) fn run(core: Core) -> Core {
    let Core { fields, globals, variables, body, program } = core;
    let mut total = vec![0; variables.len()];
    count(&body, &mut total);
    let mut pass = Branches { fields: fields.len(), variables, total, out: Vec::new() };
    pass.statements(body, None);
    Core { fields, globals, variables: pass.variables, body: pass.out, program }
}

struct Branches {
    fields: usize,
    variables: Vec<Arc<str>>,
    /// Occurrences of each variable.
    total: Vec<u32>,
    out: Vec<Statement>,
}

impl Branches {
    fn variable(&mut self, name: &str) -> Variable {
        self.variables.push(name.into());
        Variable(self.variables.len() as u32 - 1)
    }

    fn statements(&mut self, statements: Vec<Statement>, guard: Option<&Expression>) {
        let mut here = Vec::new();
        if guard.is_some() {
            here = vec![0; self.total.len()];
            count(&statements, &mut here);
        }
        for Statement { kind, span } in statements {
            match kind {
                StatementKind::If(condition, then, otherwise) => {
                    let name = self.variable(CONDITION);
                    let condition = match guard {
                        None => condition,
                        Some(guard) => {
                            let (guard, old) =
                                (Box::new(guard.clone()), Box::new(Expression::Variable(name)));
                            Expression::Conditional(guard, Box::new(condition), old)
                        }
                    };
                    self.out.push(Statement { kind: StatementKind::Assign(name, condition), span });
                    let held = Expression::Variable(name);
                    let failed = Expression::Unary(UnaryOperator::Not, Box::new(held.clone()));
                    self.statements(then, Some(&both(guard, held)));
                    self.statements(otherwise, Some(&both(guard, failed)));
                }
                kind => self.guarded(kind, span, guard, &here),
            }
        }
    }

    /// Writes a statement that has an effect only if the guard holds. `here` counts the occurrences of variables in the
    /// guarded list.
    fn guarded(
        &mut self,
        kind: StatementKind,
        span: Span,
        guard: Option<&Expression>,
        here: &[u32],
    ) {
        let Some(guard) = guard else {
            self.out.push(Statement { kind, span });
            return;
        };
        let fields = self.fields;
        let is_local = |total: &[u32], target: Variable| {
            let at = target.index();
            at >= fields && (at >= here.len() || here[at] == total[at])
        };
        let chosen = |value: Expression, old: Expression| {
            Expression::Conditional(Box::new(guard.clone()), Box::new(value), Box::new(old))
        };
        match kind {
            StatementKind::Assign(target, value) if !is_local(&self.total, target) => {
                let value = chosen(value, Expression::Variable(target));
                self.out.push(Statement { kind: StatementKind::Assign(target, value), span });
            }
            StatementKind::Write(global, index, value) => {
                let old = self.variable("old_value");
                let read = StatementKind::Read(old, global, index.clone());
                self.out.push(Statement { kind: read, span });
                let value = chosen(value, Expression::Variable(old));
                self.out.push(Statement { kind: StatementKind::Write(global, index, value), span });
            }
            StatementKind::Read(target, global, index) if !is_local(&self.total, target) => {
                let read = self.variable("read");
                self.out.push(Statement { kind: StatementKind::Read(read, global, index), span });
                let value = chosen(Expression::Variable(read), Expression::Variable(target));
                self.out.push(Statement { kind: StatementKind::Assign(target, value), span });
            }
            StatementKind::Call(target, callee, arguments) if !is_local(&self.total, target) => {
                let result = self.variable("result");
                self.out
                    .push(Statement { kind: StatementKind::Call(result, callee, arguments), span });
                let value = chosen(Expression::Variable(result), Expression::Variable(target));
                self.out.push(Statement { kind: StatementKind::Assign(target, value), span });
            }
            kind => self.out.push(Statement { kind, span }),
        }
    }
}

fn both(guard: Option<&Expression>, condition: Expression) -> Expression {
    match guard {
        None => condition,
        Some(guard) => {
            Expression::Logical(LogicalOperator::And, Box::new(guard.clone()), Box::new(condition))
        }
    }
}

/// Counts the occurrences of variables in statements.
fn count(statements: &[Statement], counts: &mut [u32]) {
    for statement in statements {
        if let Some(target) = statement.kind.target() {
            counts[target.index()] += 1;
        }
        statement.kind.each_operand(&mut |operand| {
            operand.each_variable(&mut |variable| counts[variable.index()] += 1);
        });
        if let StatementKind::If(_, then, otherwise) = &statement.kind {
            count(then, counts);
            count(otherwise, counts);
        }
    }
}
