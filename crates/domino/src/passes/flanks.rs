// SPDX-License-Identifier: Apache-2.0
//! One read and one write of each global: the read stands where the first access was, the write at the end, and variables
//! hold the value between them. A stage reads and writes one cell of an array, so the indices of all accesses of an array have
//! equal values.

use super::names::{INDEX, NEW};
use super::propagate::substitute_generated;
use crate::codes::check::SECOND_INDEX;
use crate::core::{Core, EqualValues, Expression, Statement, StatementKind, Variable};
use source::{Diagnostic, Span};

/// What is known of a global.
struct Access {
    /// The index as the program has it.
    index: Expression,
    /// The number of the index's value.
    index_value: usize,
    /// A variable of the global's own with the index; a number for a scalar.
    own_index: Expression,
    span: Span,
    value: Variable,
    is_written: bool,
}

/// Runs the pass.
pub(super) fn run(core: Core) -> Result<Core, Box<Diagnostic>> {
    let Core { fields, globals, mut variables, body, program } = core;
    let mut accesses: Vec<Option<Access>> = globals.iter().map(|_| None).collect();
    let mut out: Vec<Statement> = Vec::new();
    let mut values = EqualValues::default();
    for statement in body {
        values.define(&statement);
        let Statement { kind, span } = statement;
        let (global, index_value) = match &kind {
            StatementKind::Read(_, global, index) | StatementKind::Write(global, index, _)
                if globals[*global].is_written =>
            {
                let index_value = values.number(index);
                if let Some(access) = &accesses[*global]
                    && access.index_value != index_value
                {
                    let name = &globals[*global].name;
                    let message = format!("`{name}` is accessed by two indices");
                    let found = Diagnostic::error(SECOND_INDEX, span, message)
                        .label(access.span, "the first access")
                        .help(
                            "a stage accesses one cell of an array for each packet; use one index",
                        );
                    return Err(Box::new(found));
                }
                (*global, index_value)
            }
            _ => {
                out.push(Statement { kind, span });
                continue;
            }
        };
        let mut variable = |name: &str| {
            variables.push(name.into());
            Variable(variables.len() as u32 - 1)
        };
        let own_index = match (&kind, &accesses[global]) {
            (_, Some(access)) => access.own_index.clone(),
            (StatementKind::Read(_, _, index) | StatementKind::Write(_, index, _), None)
                if is_copied(index, &accesses, &out) =>
            {
                let own = variable(&format!("{}{INDEX}", globals[global].name));
                let kind = StatementKind::Assign(own, index.clone());
                out.push(Statement { kind, span });
                Expression::Variable(own)
            }
            (StatementKind::Read(_, _, index) | StatementKind::Write(_, index, _), None) => {
                index.clone()
            }
            _ => Expression::Constant(0),
        };
        match (kind, &mut accesses[global]) {
            (StatementKind::Read(target, global, index), access @ None) => {
                let kind = StatementKind::Read(target, global, own_index.clone());
                *access = Some(Access {
                    index,
                    index_value,
                    own_index,
                    span,
                    value: target,
                    is_written: false,
                });
                out.push(Statement { kind, span });
            }
            (StatementKind::Read(target, ..), Some(access)) => {
                let kind = StatementKind::Assign(target, Expression::Variable(access.value));
                out.push(Statement { kind, span });
            }
            (StatementKind::Write(_, index, value), access) => {
                let target = variable(&format!("{}{NEW}", globals[global].name));
                out.push(Statement { kind: StatementKind::Assign(target, value), span });
                *access = Some(Access {
                    index,
                    index_value,
                    own_index,
                    span,
                    value: target,
                    is_written: true,
                });
            }
            (kind, _) => out.push(Statement { kind, span }),
        }
    }
    for (global, access) in accesses.into_iter().enumerate() {
        if let Some(Access { own_index, span, value, is_written: true, .. }) = access {
            let kind = StatementKind::Write(global, own_index, Expression::Variable(value));
            out.push(Statement { kind, span });
        }
    }
    let core = Core { fields, globals, variables, body: out, program };
    Ok(substitute_generated(core))
}

/// Whether a global gets an index of its own: another one has the same, and it is a copy or a conditional value, which the
/// paper's compiler computes once for each global. Other equal expressions are joined.
fn is_copied(index: &Expression, accesses: &[Option<Access>], out: &[Statement]) -> bool {
    let Expression::Variable(variable) = index else { return false };
    if !accesses.iter().flatten().any(|access| access.index == *index) {
        return false;
    }
    let definition =
        |variable: &Variable| out.iter().find(|one| one.kind.target() == Some(*variable));
    match definition(variable).map(|one| &one.kind) {
        Some(StatementKind::Assign(_, Expression::Conditional(..))) => true,
        Some(StatementKind::Assign(_, Expression::Variable(copied))) => {
            !matches!(definition(copied).map(|one| &one.kind), Some(StatementKind::Call(..)))
        }
        _ => false,
    }
}
