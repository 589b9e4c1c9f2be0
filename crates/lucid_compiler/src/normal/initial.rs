// SPDX-License-Identifier: Apache-2.0
//! Locals that some path reads before it assigned them begin as zero or false, by an assignment in
//! the beginning of the body.

use super::slots::may_pass_by;
use lucid::core::walk::{blocks, bodies_mut, deep, each_read, expressions, written};
use lucid::core::{
    Body, Constant, ExpressionKind, LocalId, Program, Statement, StatementKind, Type,
};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Adds the assignments to all handlers.
pub(super) fn run(program: &mut Program) {
    for body in bodies_mut(program) {
        let assignments: Vec<Statement> = read_early(body)
            .into_iter()
            .filter_map(|local| {
                let declared = body.locals.get(local.0 as usize)?;
                let value = match declared.ty {
                    Type::Int(width) => Constant::Int(0, width),
                    Type::Bool => Constant::Bool(false),
                    _ => return None,
                };
                let value = lucid::core::Expression {
                    kind: ExpressionKind::Constant(value),
                    ty: declared.ty,
                    span: declared.span,
                };
                let kind = StatementKind::Assign { local, value, no_inline: false };
                Some(Statement { kind, span: declared.span, inlined_at: Arc::from([]) })
            })
            .collect();
        body.statements.splice(0..0, assignments);
    }
}

/// The locals that some path reads before it assigned them.
pub(super) fn read_early(body: &Body) -> BTreeSet<LocalId> {
    let mut found = BTreeSet::new();
    let mut assigned = (0..body.parameter_count).map(LocalId).collect();
    block(&body.statements, &mut assigned, &mut found);
    found
}

fn block(statements: &[Statement], assigned: &mut HashSet<LocalId>, found: &mut BTreeSet<LocalId>) {
    for statement in statements {
        for expression in expressions(statement) {
            each_read(expression, &mut |local| {
                if !assigned.contains(&local) {
                    found.insert(local);
                }
            });
        }
        assigned.extend(written(statement));
        let inner = blocks(statement);
        let mut ends: Vec<HashSet<LocalId>> = Vec::new();
        for inner in &inner {
            let mut at_end = assigned.clone();
            deep(|| block(inner, &mut at_end, found));
            ends.push(at_end);
        }
        if !inner.is_empty() && may_pass_by(statement) {
            ends.push(assigned.clone());
        }
        let mut ends = ends.into_iter();
        if let Some(first) = ends.next() {
            *assigned = ends.fold(first, |all, end| all.intersection(&end).copied().collect());
        }
    }
}
