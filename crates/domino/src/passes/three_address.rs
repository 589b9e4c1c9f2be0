// SPDX-License-Identifier: Apache-2.0
//! One operator a statement: operands are variables or numbers, and so are indices and arguments.

use crate::core::{Core, Expression, Statement, StatementKind, Variable};
use source::Span;
use std::sync::Arc;

/// Runs the pass.
pub(super) fn run(core: Core) -> Core {
    let Core { fields, globals, variables, body, program } = core;
    let mut pass = ThreeAddress { variables, out: Vec::new() };
    for Statement { mut kind, span } in body {
        match &mut kind {
            StatementKind::Assign(_, value) => pass.operands(value, span),
            StatementKind::Write(_, index, value) => {
                pass.simple(index, span);
                pass.operands(value, span);
            }
            other => other.each_operand_mut(&mut |operand| pass.simple(operand, span)),
        }
        pass.out.push(Statement { kind, span });
    }
    Core { fields, globals, variables: pass.variables, body: pass.out, program }
}

struct ThreeAddress {
    variables: Vec<Arc<str>>,
    out: Vec<Statement>,
}

impl ThreeAddress {
    /// Makes the operands of an expression simple.
    fn operands(&mut self, expression: &mut Expression, span: Span) {
        expression.each_child_mut(&mut |child| self.simple(child, span));
    }

    /// Keeps an expression in a variable, unless it is simple.
    fn simple(&mut self, expression: &mut Expression, span: Span) {
        if expression.is_simple() {
            return;
        }
        self.operands(expression, span);
        let variable = Variable(self.variables.len() as u32);
        self.variables.push("part".into());
        let value = std::mem::replace(expression, Expression::Variable(variable));
        self.out.push(Statement { kind: StatementKind::Assign(variable, value), span });
    }
}
