// SPDX-License-Identifier: Apache-2.0
//! Each definition gets a variable of its own. The last definition of a field keeps the field; a field that is assigned to
//! is copied first, so that its first value has a name. Behind `p.x = p.x` only indices use the new variable.

use crate::core::{Core, Expression, Statement, StatementKind, Variable};
use source::Span;

/// Runs the pass.
pub(super) fn run(core: Core) -> Core {
    let Core { fields, globals, mut variables, mut body, program } = core;
    let mut definitions = vec![0u32; variables.len()];
    for target in body.iter().filter_map(|statement| statement.kind.target()) {
        definitions[target.index()] += 1;
    }
    let mut current: Vec<Variable> = (0..variables.len() as u32).map(Variable).collect();
    let mut first = Vec::new();
    for (field, name) in fields.iter().enumerate() {
        if definitions[field] > 0 {
            let copy = Variable(variables.len() as u32);
            variables.push(name.name.clone());
            let kind = StatementKind::Assign(copy, Expression::Variable(Variable(field as u32)));
            first.push(Statement { kind, span: Span::NONE });
            current[field] = copy;
        }
    }
    // The variables of indices, which differ behind `p.x = p.x`.
    let mut of_indices = current.clone();
    for statement in &mut body {
        let is_copy_of_itself = matches!(&statement.kind, StatementKind::Assign(target, Expression::Variable(value))
            if target == value);
        match &mut statement.kind {
            StatementKind::Read(_, _, index) => rename(index, &of_indices),
            StatementKind::Write(_, index, value) => {
                rename(index, &of_indices);
                rename(value, &current);
            }
            kind => kind.each_operand_mut(&mut |operand| rename(operand, &current)),
        }
        if let Some(target) = statement.kind.target_mut() {
            let at = target.index();
            definitions[at] -= 1;
            if definitions[at] > 0 || of_indices[at] != *target && at >= fields.len() {
                let version = Variable(variables.len() as u32);
                variables.push(variables[at].clone());
                *target = version;
            }
            of_indices[at] = *target;
            if !is_copy_of_itself {
                current[at] = *target;
            }
        }
    }
    first.extend(body);
    Core { fields, globals, variables, body: first, program }
}

fn rename(expression: &mut Expression, current: &[Variable]) {
    expression.each_child_mut(&mut |child| rename(child, current));
    if let Expression::Variable(variable) = expression
        && let Some(version) = current.get(variable.index())
    {
        *variable = *version;
    }
}
