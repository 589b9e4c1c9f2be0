// SPDX-License-Identifier: Apache-2.0
//! Algebra without effects on values: `1 * x`, `x * 1`, `0 + x`, `x + 0`, `0 | x`, `1 && x` and `x && 1` where only their
//! truth counts, `?:` with a number as its condition.

use crate::core::{Core, Expression};
use crate::syntax::ast::{BinaryOperator, LogicalOperator, UnaryOperator};

/// Runs the pass.
pub(super) fn run(mut core: Core) -> Core {
    for statement in &mut core.body {
        statement.kind.each_operand_mut(&mut simplify);
    }
    core
}

fn constant(expression: &Expression) -> Option<u32> {
    match expression {
        Expression::Constant(value) => Some(*value),
        _ => None,
    }
}

/// Whether the value is 0 or 1.
fn is_truth(expression: &Expression) -> bool {
    match expression {
        Expression::Constant(value) => *value <= 1,
        Expression::Logical(..) | Expression::Unary(UnaryOperator::Not, _) => true,
        Expression::Binary(operation, ..) => operation.operator.is_comparison(),
        _ => false,
    }
}

fn simplify(expression: &mut Expression) {
    expression.each_child_mut(&mut simplify);
    let simpler = match expression {
        Expression::Binary(operation, left, right, _) => {
            match (operation.operator, constant(left), constant(right)) {
                (BinaryOperator::Multiply, Some(1), _)
                | (BinaryOperator::Add | BinaryOperator::Or, Some(0), _) => Some((**right).clone()),
                (BinaryOperator::Multiply, _, Some(1)) | (BinaryOperator::Add, _, Some(0)) => {
                    Some((**left).clone())
                }
                _ => None,
            }
        }
        Expression::Logical(LogicalOperator::And, left, right) => {
            match (constant(left), constant(right)) {
                (Some(one), _) if one != 0 && is_truth(right) => Some((**right).clone()),
                (_, Some(one)) if one != 0 && is_truth(left) => Some((**left).clone()),
                _ => None,
            }
        }
        Expression::Conditional(condition, then, otherwise) => {
            constant(condition).map(|value| match value {
                0 => (**otherwise).clone(),
                _ => (**then).clone(),
            })
        }
        _ => None,
    };
    if let Some(simpler) = simpler {
        *expression = simpler;
    }
}
