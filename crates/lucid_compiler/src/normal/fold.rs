// SPDX-License-Identifier: Apache-2.0
//! Puts what is known of locals into the expressions that read them, computes what is then known,
//! and replaces branches whose condition is known by the path that is taken. Assignments stay; `dead_code` removes
//! unused ones.

use super::facts::Facts;
use super::simplify::simplify;
use super::substitution::put;
use lucid::core::walk::{bodies_mut, deep, expressions_mut, written};
use lucid::core::{Branch, Expression, ExpressionKind, Pattern, Program, Statement, StatementKind};

/// Folds all handlers, actions and parsers.
pub(super) fn run(program: &mut Program) {
    for body in bodies_mut(program) {
        let mut facts = Facts::initial(&body.locals, body.parameter_count);
        body.statements = block(std::mem::take(&mut body.statements), &mut facts);
    }
    for action in &mut program.actions {
        action.results.iter_mut().for_each(simplify);
    }
    for parser in &mut program.parsers {
        super::parsers::fold(parser);
    }
}

fn block(statements: Vec<Statement>, facts: &mut Facts) -> Vec<Statement> {
    let mut made = Vec::with_capacity(statements.len());
    for statement in statements {
        deep(|| fold(statement, facts, &mut made));
    }
    made
}

fn fold(mut statement: Statement, facts: &mut Facts, out: &mut Vec<Statement>) {
    for expression in expressions_mut(&mut statement) {
        put(expression, facts);
    }
    match statement.kind {
        StatementKind::Assign { local, ref value, no_inline } => {
            if matches!(value.kind, ExpressionKind::Local(from) if from == local) {
                return;
            }
            if no_inline {
                facts.forget(local);
            } else {
                facts.assign(local, value);
            }
            out.push(statement);
        }
        StatementKind::If { condition, then, otherwise } => {
            if let Some(truth) = condition.as_bool() {
                out.extend(block(if truth { then } else { otherwise }, facts));
                return;
            }
            let mut other_facts = facts.clone();
            facts.learn(&condition, true);
            other_facts.learn(&condition, false);
            let then = block(then, facts);
            let otherwise = block(otherwise, &mut other_facts);
            *facts = std::mem::take(facts).join(&other_facts);
            statement.kind = StatementKind::If { condition, then, otherwise };
            out.push(statement);
        }
        StatementKind::Match { subjects, branches } => {
            let place = Statement { kind: StatementKind::Return, ..statement };
            fold_match(subjects, branches, &place, facts, out);
        }
        _ => {
            for local in written(&statement) {
                facts.forget(local);
            }
            out.push(statement);
        }
    }
}

fn fold_match(
    mut subjects: Vec<Expression>,
    mut branches: Vec<Branch>,
    place: &Statement,
    facts: &mut Facts,
    out: &mut Vec<Statement>,
) {
    // Subjects that are known are decided now.
    let mut at = 0;
    while at < subjects.len() {
        if let Some(value) = subjects[at].as_int() {
            branches.retain(|branch| {
                branch.patterns.get(at).is_none_or(|one| value & one.mask == one.value)
            });
            for branch in &mut branches {
                branch.patterns.remove(at);
            }
            subjects.remove(at);
        } else {
            at += 1;
        }
    }
    // Subjects that no branch asks for go.
    for at in (0..subjects.len()).rev() {
        if branches.iter().all(|branch| branch.patterns[at].mask == 0) {
            subjects.remove(at);
            for branch in &mut branches {
                branch.patterns.remove(at);
            }
        }
    }
    let mut remaining = facts.clone();
    let mut ends: Vec<Facts> = Vec::new();
    let mut made: Vec<Branch> = Vec::new();
    let mut is_closed = false;
    for mut branch in branches {
        if is_closed {
            break;
        }
        let pairs = || subjects.iter().zip(&branch.patterns);
        let can_match = pairs().all(|(subject, pattern)| match remaining.possible(subject) {
            Some(values) => values.iter().any(|value| value & pattern.mask == pattern.value),
            None => true,
        });
        if !can_match {
            continue;
        }
        let covers = |(subject, pattern): (&Expression, &Pattern)| {
            let all = |values: &std::collections::BTreeSet<u128>| {
                values.iter().all(|value| value & pattern.mask == pattern.value)
            };
            pattern.mask == 0 || remaining.possible(subject).is_some_and(all)
        };
        is_closed = pairs().all(covers);
        let mut inside = remaining.clone();
        for (subject, pattern) in pairs() {
            inside.matched(subject, *pattern);
        }
        if let ([subject], [pattern]) = (&subjects[..], &branch.patterns[..]) {
            remaining.unmatched(subject, *pattern);
        }
        if is_closed {
            branch.patterns.iter_mut().for_each(|pattern| *pattern = Pattern { value: 0, mask: 0 });
        }
        branch.statements = block(branch.statements, &mut inside);
        ends.push(inside);
        made.push(branch);
    }
    if !is_closed {
        ends.push(remaining);
    }
    let mut ends = ends.into_iter();
    if let Some(first) = ends.next() {
        *facts = ends.fold(first, |all, end| all.join(&end));
    }
    if made.len() == 1 && is_closed {
        out.extend(made.into_iter().flat_map(|branch| branch.statements));
        return;
    }
    if made.is_empty() {
        return;
    }
    let kind = StatementKind::Match { subjects, branches: made };
    out.push(Statement { kind, ..place.clone() });
}
