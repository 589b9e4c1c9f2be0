// SPDX-License-Identifier: Apache-2.0
//! Payloads in locals become a boolean each: whether it is the packet's own rest (`p.kept`) or empty,
//! for a handler can move a payload or leave it, nothing else. A generated event with such a payload
//! becomes two, one of which runs.

use super::locals::{NewLocals, assign};
use lucid::core::walk::{
    blocks_mut, bodies_mut, deep, each_expression_mut, each_statement, written,
};
use lucid::core::{
    Body, Expression, ExpressionKind, LocalId, Program, Statement, StatementKind, Type,
};
use source::Span;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Takes payloads out of the locals of all handlers.
pub(super) fn run(program: &mut Program) {
    for body in bodies_mut(program) {
        of_body(body);
    }
    program.parsers.iter_mut().for_each(super::parsers::without_copies);
}

struct Payloads {
    /// The parameter.
    own: Option<LocalId>,
    /// Whether a local is the packet's rest; the parameter is not among them if nothing assigns it.
    kept: HashMap<LocalId, LocalId>,
}

fn of_body(body: &mut Body) {
    let is_payload = |at: usize| body.locals.get(at).is_some_and(|local| local.ty == Type::Payload);
    let own = (0..body.parameter_count).map(LocalId).find(|local| is_payload(local.0 as usize));
    let mut assigned: HashSet<LocalId> = HashSet::new();
    each_statement(&body.statements, &mut |statement| assigned.extend(written(statement)));
    let payloads: Vec<LocalId> = (0..body.locals.len())
        .filter(|at| is_payload(*at))
        .map(|at| LocalId(at as u32))
        .filter(|local| Some(*local) != own || assigned.contains(local))
        .collect();
    let mut made = Payloads { own, kept: HashMap::new() };
    let mut statements = Vec::new();
    let mut locals = NewLocals::of(body);
    for local in payloads {
        let Some(declared) = locals.get(local).cloned() else { continue };
        let (span, inlined_at) = (declared.span, Arc::from([]));
        let kept = locals.add(&format!("{}.kept", declared.name), Type::Bool, span);
        let place = Statement { kind: StatementKind::Return, span, inlined_at };
        let value = Expression::bool(Some(local) == own, span);
        statements.push(assign(&place, kept, value));
        made.kept.insert(local, kept);
    }
    statements.extend(made.block(std::mem::take(&mut body.statements)));
    body.statements = statements;
}

impl Payloads {
    fn block(&self, statements: Vec<Statement>) -> Vec<Statement> {
        let mut made = Vec::with_capacity(statements.len());
        for mut statement in statements {
            deep(|| {
                for block in blocks_mut(&mut statement) {
                    *block = self.block(std::mem::take(block));
                }
            });
            match &mut statement.kind {
                StatementKind::Assign { local, value, .. } if value.ty == Type::Payload => {
                    let (local, kept) = (*local, self.is_kept(value));
                    if let Some(to) = self.kept.get(&local) {
                        made.push(assign(&statement, *to, kept));
                    }
                }
                StatementKind::Generate { event, .. } => {
                    let condition = self.condition(event);
                    let Some((local, condition)) = condition else {
                        made.push(statement);
                        continue;
                    };
                    let kept = self.own.map(|own| with_payload(&statement, local, Some(own)));
                    let then = kept.into_iter().collect();
                    let otherwise = vec![with_payload(&statement, local, None)];
                    statement.kind = StatementKind::If { condition, then, otherwise };
                    made.push(statement);
                }
                _ => made.push(statement),
            }
        }
        made
    }

    /// Whether a payload is the packet's rest.
    fn is_kept(&self, value: &Expression) -> Expression {
        match &value.kind {
            ExpressionKind::Local(local) => match self.kept.get(local) {
                Some(kept) => Expression::local(*kept, Type::Bool, value.span),
                None => Expression::bool(Some(*local) == self.own, value.span),
            },
            _ => Expression::bool(false, value.span),
        }
    }

    /// The payload local of an event that is not known, and when it is the packet's rest.
    fn condition(&self, event: &Expression) -> Option<(LocalId, Expression)> {
        let mut found = None;
        lucid::core::walk::each_read(event, &mut |local| {
            if let Some(kept) = self.kept.get(&local) {
                found = Some((local, Expression::local(*kept, Type::Bool, Span::NONE)));
            }
        });
        found.map(|(local, condition)| (local, Expression { span: event.span, ..condition }))
    }
}

/// The statement with the parameter or with an empty payload in the place of a payload local.
fn with_payload(statement: &Statement, local: LocalId, own: Option<LocalId>) -> Statement {
    let mut statement = statement.clone();
    if let StatementKind::Generate { event, .. } = &mut statement.kind {
        each_expression_mut(event, &mut |inner| {
            if matches!(inner.kind, ExpressionKind::Local(found) if found == local) {
                inner.kind = match own {
                    Some(own) => ExpressionKind::Local(own),
                    None => ExpressionKind::EmptyPayload,
                };
            }
        });
    }
    statement
}
