// SPDX-License-Identifier: Apache-2.0
//! Common subexpressions: equal operators with one or two operands are computed once. Conditional values and calls are
//! never joined, as in the paper's compiler, nor are operators on the results of helpers.

use crate::core::{Callee, Core, Expression, Statement, StatementKind, Variable};
use std::collections::{HashMap, HashSet};

/// Runs the pass to a fixed point.
pub(super) fn run(mut core: Core) -> Core {
    loop {
        let count = core.body.len();
        core = once(core);
        if core.body.len() == count {
            return core;
        }
    }
}

fn once(mut core: Core) -> Core {
    let fields = core.fields.len();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut names: HashMap<Variable, Variable> = HashMap::new();
    let mut of_helpers: HashSet<Variable> = HashSet::new();
    let mut body: Vec<Statement> = Vec::new();
    for Statement { mut kind, span } in std::mem::take(&mut core.body) {
        kind.each_operand_mut(&mut |operand| rename(operand, &names));
        if let StatementKind::Call(target, Callee::Helper(_), _) = &kind {
            of_helpers.insert(*target);
        }
        let mut is_of_helper = false;
        kind.each_operand(&mut |operand| {
            operand.each_variable(&mut |one| is_of_helper |= of_helpers.contains(&one))
        });
        let computed = computed(&kind).filter(|_| !is_of_helper);
        if let (Some(target), Some(computed)) = (kind.target(), computed) {
            if let Some(first) = known.get(&computed).copied()
                && let Some(kept) = body[first].kind.target()
            {
                if target.index() >= fields {
                    names.insert(target, kept);
                    continue;
                }
                if kept.index() >= fields {
                    // The field is the name that both get.
                    names.insert(kept, target);
                    if let Some(of_first) = body[first].kind.target_mut() {
                        *of_first = target;
                    }
                    for statement in &mut body[first..] {
                        statement.kind.each_operand_mut(&mut |operand| rename(operand, &names));
                    }
                    continue;
                }
            } else {
                known.insert(computed, body.len());
            }
        }
        body.push(Statement { kind, span });
    }
    core.body = body;
    core
}

fn rename(expression: &mut Expression, names: &HashMap<Variable, Variable>) {
    expression.each_child_mut(&mut |child| rename(child, names));
    while let Expression::Variable(variable) = expression
        && let Some(name) = names.get(variable)
    {
        *variable = *name;
    }
}

/// Returns what a statement computes.
fn computed(kind: &StatementKind) -> Option<String> {
    let StatementKind::Assign(_, value) = kind else { return None };
    match value {
        Expression::Unary(operator, operand) => Some(format!("{operator:?} {operand:?}")),
        Expression::Binary(operation, left, right, _) => {
            Some(format!("{left:?} {operation:?} {right:?}"))
        }
        Expression::Logical(operator, left, right) => {
            Some(format!("{left:?} {operator:?} {right:?}"))
        }
        Expression::Constant(_) | Expression::Variable(_) | Expression::Conditional(..) => None,
    }
}
