// SPDX-License-Identifier: Apache-2.0
//! Removes dead code: assignments and reads whose value is not used, branches without
//! statements, locals that are not mentioned. Random draws stay, since schedules count them, and so
//! does what the user marked `@noinline`.

use super::simplify::simplify;
use lucid::core::walk::{
    bodies_mut, deep, each_read, each_statement, each_statement_mut, expressions, expressions_mut,
    written, written_mut,
};
use lucid::core::{
    Access, Body, Expression, ExpressionKind, LocalId, Program, Statement, StatementKind, Type,
};
use lucid::syntax::ast::UnaryOperator;
use std::collections::{HashMap, HashSet};

/// Cleans all handlers.
pub(super) fn run(program: &mut Program) {
    for body in bodies_mut(program) {
        let mut live = HashSet::new();
        block(&mut body.statements, &mut live);
        renumber(body);
    }
    for parser in &mut program.parsers {
        super::parsers::clean(parser);
    }
}

/// Goes through a block from its end; `live` are the locals that are wanted behind it, then those
/// wanted before it.
fn block(statements: &mut Vec<Statement>, live: &mut HashSet<LocalId>) {
    let mut kept = Vec::with_capacity(statements.len());
    while let Some(mut statement) = statements.pop() {
        if deep(|| is_wanted(&mut statement, live)) {
            kept.push(statement);
        }
    }
    kept.reverse();
    *statements = kept;
}

/// Whether a statement makes a difference; what it wants is added to `live` then.
fn is_wanted(statement: &mut Statement, live: &mut HashSet<LocalId>) -> bool {
    match &mut statement.kind {
        StatementKind::Assign { local, no_inline: false, .. } if !live.contains(local) => {
            return false;
        }
        StatementKind::Access { access, result, .. } => {
            if result.is_some_and(|result| !live.contains(&result)) {
                *result = None;
            }
            if let (Access::Simple { get, set }, None) = (access, &result) {
                if set.is_none() {
                    return false;
                }
                *get = None;
            }
        }
        StatementKind::Lookup { results, .. }
            if !results.iter().any(|result| live.contains(result)) =>
        {
            return false;
        }
        StatementKind::If { condition, then, otherwise } => {
            let mut other = live.clone();
            block(then, live);
            block(otherwise, &mut other);
            live.extend(other);
            if then.is_empty() && otherwise.is_empty() {
                return false;
            }
            if then.is_empty() {
                std::mem::swap(then, otherwise);
                let truth = Expression::bool(true, condition.span);
                let inner = Box::new(std::mem::replace(condition, truth));
                let kind = ExpressionKind::Unary(UnaryOperator::Not, inner);
                *condition = Expression { kind, ty: Type::Bool, span: condition.span };
                simplify(condition);
            }
        }
        StatementKind::Match { subjects, branches } => {
            let mut all = live.clone();
            for branch in branches.iter_mut() {
                let mut inside = live.clone();
                block(&mut branch.statements, &mut inside);
                all.extend(inside);
            }
            *live = all;
            // No branch is like an empty one.
            while branches.last().is_some_and(|branch| branch.statements.is_empty()) {
                branches.pop();
            }
            if branches.is_empty() {
                return false;
            }
            for at in (0..subjects.len()).rev() {
                if branches.iter().all(|branch| branch.patterns[at].mask == 0) {
                    subjects.remove(at);
                    for branch in branches.iter_mut() {
                        branch.patterns.remove(at);
                    }
                }
            }
        }
        _ => {}
    }
    for local in written(statement) {
        live.remove(&local);
    }
    for expression in expressions(statement) {
        each_read(expression, &mut |local| {
            live.insert(local);
        });
    }
    true
}

/// Drops locals that are not mentioned and numbers the others anew.
fn renumber(body: &mut Body) {
    let mut used: HashSet<LocalId> = (0..body.parameter_count).map(LocalId).collect();
    each_statement(&body.statements, &mut |statement| {
        used.extend(written(statement));
        for expression in expressions(statement) {
            each_read(expression, &mut |local| {
                used.insert(local);
            });
        }
    });
    let mut numbers: HashMap<LocalId, LocalId> = HashMap::new();
    let mut locals = Vec::with_capacity(used.len());
    for (at, local) in std::mem::take(&mut body.locals).into_iter().enumerate() {
        let old = LocalId(at as u32);
        if used.contains(&old) {
            numbers.insert(old, LocalId(locals.len() as u32));
            locals.push(local);
        }
    }
    body.locals = locals;
    let renumbered = |local: &mut LocalId| {
        if let Some(new) = numbers.get(local) {
            *local = *new;
        }
    };
    each_statement_mut(&mut body.statements, &mut |statement| {
        written_mut(statement).into_iter().for_each(renumbered);
        for expression in expressions_mut(statement) {
            lucid::core::walk::each_expression_mut(expression, &mut |inner| {
                if let ExpressionKind::Local(local) = &mut inner.kind {
                    renumbered(local);
                }
            });
        }
    });
}
