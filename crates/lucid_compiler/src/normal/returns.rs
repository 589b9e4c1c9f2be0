// SPDX-License-Identifier: Apache-2.0
//! Handlers without `return`: what follows a statement that may leave the handler goes into the one
//! path that does not leave it, or runs only if a flag says that no path has left. Statements behind a
//! `return` go. Unread flags go later.

use super::locals::NewLocals;
use lucid::core::walk::{blocks_mut, bodies_mut, deep, each_statement};
use lucid::core::{
    Body, Branch, Expression, LocalId, Pattern, Program, Statement, StatementKind, Type,
};
use lucid::syntax::ast::UnaryOperator;
use source::Span;
use std::sync::Arc;

/// Takes the returns out of all handlers.
pub(super) fn run(program: &mut Program) {
    for body in bodies_mut(program) {
        of_body(body);
    }
}

/// Whether a block leaves the handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaves {
    Never,
    Sometimes,
    Always,
}

fn of_body(body: &mut Body) {
    let mut first = None;
    each_statement(&body.statements, &mut |statement| {
        if matches!(statement.kind, StatementKind::Return) {
            first = first.or(Some(statement.span));
        }
    });
    let Some(span) = first else { return };
    let mut statements = std::mem::take(&mut body.statements);
    let flag = NewLocals::of(body).add("returned", Type::Bool, span);
    block(&mut statements, flag);
    statements.insert(0, set(flag, false, span, Arc::from([])));
    body.statements = statements;
}

fn block(statements: &mut Vec<Statement>, flag: LocalId) -> Leaves {
    for at in 0..statements.len() {
        let statement = &mut statements[at];
        if matches!(statement.kind, StatementKind::Return) {
            *statement = set(flag, true, statement.span, statement.inlined_at.clone());
            statements.truncate(at + 1);
            return Leaves::Always;
        }
        let inner = blocks_mut(statement);
        let mut paths: Vec<Leaves> =
            inner.into_iter().map(|inner| deep(|| block(inner, flag))).collect();
        if paths.iter().all(|path| *path == Leaves::Never) {
            continue;
        }
        if super::slots::may_pass_by(statement)
            && let StatementKind::Match { subjects, branches } = &mut statement.kind
        {
            // The path past the statement gets a branch, so that what follows has a place.
            let patterns = subjects.iter().map(|_| Pattern { value: 0, mask: 0 }).collect();
            let span = statement.span;
            branches.push(Branch { patterns, statements: Vec::new(), span });
            paths.push(Leaves::Never);
        }
        let mut rest = statements.split_off(at + 1);
        let after = block(&mut rest, flag);
        let whole = |path: &Leaves| if *path == Leaves::Never { after } else { *path };
        let all = paths.iter().map(whole);
        let all = all.reduce(|one, other| if one == other { one } else { Leaves::Sometimes });
        let mut staying = paths.iter().enumerate().filter(|(_, path)| **path != Leaves::Always);
        match (staying.next(), staying.next()) {
            // Nothing comes this far.
            (None, _) => {}
            (Some((path, Leaves::Never)), None) => {
                if let Some(block) = blocks_mut(&mut statements[at]).into_iter().nth(path) {
                    block.extend(rest);
                }
            }
            _ if rest.is_empty() => {}
            _ => {
                let guarded = if_staying(flag, rest, &statements[at]);
                statements.push(guarded);
            }
        }
        return all.unwrap_or(Leaves::Never);
    }
    Leaves::Never
}

/// `if (!returned) { rest }`
fn if_staying(flag: LocalId, rest: Vec<Statement>, behind: &Statement) -> Statement {
    let span = behind.span;
    let left = Expression::local(flag, Type::Bool, span);
    let condition = Expression::unary(UnaryOperator::Not, left, span);
    let kind = StatementKind::If { condition, then: rest, otherwise: Vec::new() };
    Statement { kind, span, inlined_at: behind.inlined_at.clone() }
}

fn set(flag: LocalId, value: bool, span: Span, inlined_at: Arc<[Span]>) -> Statement {
    let value = Expression::bool(value, span);
    let kind = StatementKind::Assign { local: flag, value, no_inline: false };
    Statement { kind, span, inlined_at }
}
