// SPDX-License-Identifier: Apache-2.0
//! Copies: an assignment of one variable becomes one of that variable's expression, as it was before the pass.

use super::names::{CONDITION, INDEX, NEW};
use crate::core::{Core, Expression, Statement, StatementKind, Variable};
use crate::program::Global;
use std::collections::HashMap;

/// Runs the pass.
pub(super) fn run(mut core: Core) -> Core {
    let mut known: HashMap<Variable, Expression> = HashMap::new();
    let fields = core.fields.len();
    let mut assigned = vec![false; fields];
    for target in core.body.iter().filter_map(|statement| statement.kind.target()) {
        if let Some(is_assigned) = assigned.get_mut(target.index()) {
            *is_assigned = true;
        }
    }
    let of = |value: &mut Expression, known: &HashMap<Variable, Expression>| {
        if let Expression::Variable(variable) = value
            && let Some(expression) = known.get(variable)
        {
            *value = expression.clone();
        }
    };
    for statement in &mut core.body {
        match &mut statement.kind {
            StatementKind::Assign(target, value) => {
                // The first value of a field has its own name until the field is assigned to.
                let is_first = target.index() >= fields
                    && matches!(value, Expression::Variable(field) if assigned.get(field.index()) == Some(&true));
                let before = (!is_first).then(|| value.clone());
                of(value, &known);
                known.extend(before.map(|before| (*target, before)));
            }
            StatementKind::Write(_, _, value) => of(value, &known),
            _ => {}
        }
    }
    core
}

/// Replaces variables of the compiler that copy another one or a number; fields, conditions, and new values and indices of
/// globals stay, because the paper's compiler holds them in fields.
pub(super) fn substitute_generated(mut core: Core) -> Core {
    let mut copies: HashMap<Variable, Expression> = HashMap::new();
    let of_global = |global: &Global| [NEW, INDEX].map(|end| format!("{}{end}", global.name));
    let names: Vec<String> = core.globals.iter().flat_map(of_global).collect();
    let is_kept = |variable: Variable, name: &str| {
        variable.index() < core.fields.len()
            || core.fields.iter().any(|field| *field.name == *name)
            || name == CONDITION
            || names.iter().any(|new| new == name)
    };
    let mut body = Vec::new();
    for Statement { mut kind, span } in std::mem::take(&mut core.body) {
        kind.each_operand_mut(&mut |operand| replace(operand, &copies));
        match &kind {
            StatementKind::Assign(target, value)
                if value.is_simple() && !is_kept(*target, &core.variables[target.index()]) =>
            {
                copies.insert(*target, value.clone());
            }
            _ => body.push(Statement { kind, span }),
        }
    }
    core.body = body;
    core
}

fn replace(expression: &mut Expression, copies: &HashMap<Variable, Expression>) {
    expression.each_child_mut(&mut |child| replace(child, copies));
    if let Expression::Variable(variable) = expression
        && let Some(value) = copies.get(variable)
    {
        *expression = value.clone();
    }
}
