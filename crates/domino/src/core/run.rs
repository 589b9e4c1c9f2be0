// SPDX-License-Identifier: Apache-2.0
//! Executes core programs, to compare passes over them with the reference interpreter.

use super::{Callee, Core, Expression, Statement, StatementKind};
use crate::arithmetic32;
use crate::interpreter::{self, State};
use crate::program::Program;
use crate::syntax::ast::LogicalOperator;

/// Runs a packet.
pub fn run(core: &Core, state: &mut State, packet: &mut [u32]) {
    let values = run_values(core, state, packet);
    packet.copy_from_slice(&values[..packet.len()]);
}

/// Runs a packet; returns the values of all variables at the end.
pub fn run_values(core: &Core, state: &mut State, packet: &[u32]) -> Vec<u32> {
    let mut values = packet.to_vec();
    values.resize(core.variables.len(), 0);
    execute(&core.body, &core.program, state, &mut values);
    values
}

fn execute(statements: &[Statement], program: &Program, state: &mut State, values: &mut Vec<u32>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign(variable, value) => {
                values[variable.index()] = evaluate(value, values)
            }
            StatementKind::Read(variable, global, index) => {
                let index = evaluate(index, values) as usize;
                values[variable.index()] = state.cells[*global].get(index).copied().unwrap_or(0);
            }
            StatementKind::Write(global, index, value) => {
                let (index, value) = (evaluate(index, values) as usize, evaluate(value, values));
                if let Some(cell) = state.cells[*global].get_mut(index) {
                    *cell = value;
                }
            }
            StatementKind::Call(variable, callee, arguments) => {
                let arguments: Vec<u32> =
                    arguments.iter().map(|one| evaluate(one, values)).collect();
                values[variable.index()] = match callee {
                    Callee::Hash => arithmetic32::hash(&arguments),
                    Callee::Helper(helper) => interpreter::helper(program, *helper, arguments),
                };
            }
            StatementKind::If(condition, then, otherwise) => {
                let branch = if evaluate(condition, values) != 0 { then } else { otherwise };
                execute(branch, program, state, values);
            }
        }
    }
}

fn evaluate(expression: &Expression, values: &[u32]) -> u32 {
    match expression {
        Expression::Constant(value) => *value,
        Expression::Variable(variable) => values[variable.index()],
        Expression::Unary(operator, operand) => {
            arithmetic32::unary(*operator, evaluate(operand, values))
        }
        Expression::Binary(operation, left, right, _) => {
            arithmetic32::binary(*operation, evaluate(left, values), evaluate(right, values))
        }
        Expression::Logical(operator, left, right) => {
            let (left, right) = (evaluate(left, values) != 0, evaluate(right, values) != 0);
            u32::from(match operator {
                LogicalOperator::And => left && right,
                LogicalOperator::Or => left || right,
            })
        }
        Expression::Conditional(condition, then, otherwise) => {
            let taken = evaluate(condition, values) != 0;
            evaluate(if taken { then } else { otherwise }, values)
        }
    }
}
