// SPDX-License-Identifier: Apache-2.0
//! Parsers in normal form, a step a pass: event values become their arguments, payloads are called by
//! the local that has the packet's rest, what is known is computed, unused assignments go. A parser
//! is a tree, so on each path every local has one known definition, which the passes of handlers have to search for.

use super::event_values::{Base, taken_apart};
use super::facts::Facts;
use super::locals::NewLocals;
use super::substitution::put;
use lucid::core::walk::{deep, each_expression_mut, each_read};
use lucid::core::{
    Event, EventId, Expression, ExpressionKind, Local, LocalId, Parser, ParserAction, ParserBlock,
    ParserStep, Type,
};
use std::collections::{HashMap, HashSet};

/// Event locals on the path to a block: constructor and the locals of its arguments.
type Made = HashMap<LocalId, (EventId, Vec<LocalId>)>;

/// Takes event values out of a parser's locals. A parser's event is handled here and now, so delays
/// and places go.
pub(super) fn without_events(events: &[Event], parser: &mut Parser) {
    let mut locals = NewLocals::among(&mut parser.locals);
    events_of_block(events, &mut parser.block, &mut locals, Made::new());
}

fn events_of_block(
    events: &[Event],
    block: &mut ParserBlock,
    locals: &mut NewLocals<'_>,
    mut made: Made,
) {
    let mut actions = Vec::with_capacity(block.actions.len());
    for action in std::mem::take(&mut block.actions) {
        let ParserAction::Assign(local, value) = &action else {
            actions.push(action);
            continue;
        };
        let Some(apart) = taken_apart(value).filter(|_| value.ty == Type::Event) else {
            actions.push(action);
            continue;
        };
        match apart.base {
            Base::Local(from) => {
                match made.get(&from).cloned() {
                    Some(event) => made.insert(*local, event),
                    None => made.remove(local),
                };
            }
            Base::Constructor(event, arguments) => {
                let name = locals.get(*local).map_or("event".into(), |local| local.name.clone());
                let parameters =
                    events.get(event.0 as usize).map_or(&[][..], |event| &event.parameters);
                let mut kept = Vec::new();
                for (argument, parameter) in arguments.iter().zip(parameters) {
                    let name = format!("{name}.{}", parameter.name);
                    let copy = locals.add(&name, parameter.ty, argument.span);
                    actions.push(ParserAction::Assign(copy, argument.clone()));
                    kept.push(copy);
                }
                made.insert(*local, (event, kept));
            }
        }
    }
    block.actions = actions;
    match &mut block.step {
        ParserStep::Match { branches, .. } => {
            for (_, inner) in branches {
                deep(|| events_of_block(events, inner, locals, made.clone()));
            }
        }
        ParserStep::Generate(event) => {
            let Some(apart) = taken_apart(event) else { return };
            let span = event.span;
            let kind = match apart.base {
                Base::Constructor(event, arguments) => {
                    ExpressionKind::Event { event, arguments: arguments.to_vec() }
                }
                Base::Local(local) => match made.get(&local) {
                    Some((event, kept)) => {
                        let argument = |local: &LocalId| {
                            let ty = locals.get(*local).map_or(Type::Bool, |local| local.ty);
                            Expression::local(*local, ty, span)
                        };
                        let arguments = kept.iter().map(argument).collect();
                        ExpressionKind::Event { event: *event, arguments }
                    }
                    // A packet that becomes no event is dropped.
                    None => {
                        block.step = ParserStep::Drop;
                        return;
                    }
                },
            };
            event.kind = kind;
        }
        ParserStep::Call { .. } | ParserStep::LucidEvent | ParserStep::Drop => {}
    }
}

/// Payload locals on the path to a block: the local that has the bytes, or empty.
type Payloads = HashMap<LocalId, Option<LocalId>>;

/// Takes copies of payloads out of a parser.
pub(super) fn without_copies(parser: &mut Parser) {
    let count = parser.parameter_count as usize;
    let mut payloads = Payloads::new();
    for (at, local) in parser.locals.iter().enumerate().take(count) {
        if local.ty == Type::Payload {
            payloads.insert(LocalId(at as u32), Some(LocalId(at as u32)));
        }
    }
    let mut locals = NewLocals::among(&mut parser.locals);
    payloads_of_block(&mut parser.block, &mut locals, payloads);
}

fn payloads_of_block(block: &mut ParserBlock, locals: &mut NewLocals<'_>, mut payloads: Payloads) {
    let source = |payloads: &Payloads, value: &Expression| match &value.kind {
        ExpressionKind::Local(from) => payloads.get(from).copied().flatten(),
        _ => None,
    };
    block.actions.retain_mut(|action| match action {
        ParserAction::Assign(local, value) if value.ty == Type::Payload => {
            let from = source(&payloads, value);
            payloads.insert(*local, from);
            false
        }
        ParserAction::Rest(local) => {
            let declared = *local;
            if payloads.values().any(|from| *from == Some(declared)) {
                // Something still has what this local had.
                let old = locals.get(declared).cloned();
                if let Some(Local { name, ty, span }) = old {
                    *local = locals.add(&name, ty, span);
                }
            }
            payloads.insert(declared, Some(*local));
            true
        }
        _ => true,
    });
    let replace = |expression: &mut Expression| {
        each_expression_mut(expression, &mut |inner| {
            if inner.ty == Type::Payload && matches!(inner.kind, ExpressionKind::Local(_)) {
                inner.kind = match source(&payloads, inner) {
                    Some(from) => ExpressionKind::Local(from),
                    None => ExpressionKind::EmptyPayload,
                };
            }
        });
    };
    match &mut block.step {
        ParserStep::Match { branches, .. } => {
            for (_, inner) in branches {
                deep(|| payloads_of_block(inner, locals, payloads.clone()));
            }
        }
        ParserStep::Generate(event) => replace(event),
        ParserStep::Call { arguments, .. } => arguments.iter_mut().for_each(replace),
        ParserStep::LucidEvent | ParserStep::Drop => {}
    }
}

/// Computes what is known.
pub(super) fn fold(parser: &mut Parser) {
    let facts = Facts::initial(&parser.locals, parser.parameter_count);
    fold_block(&mut parser.block, facts);
}

fn fold_block(block: &mut ParserBlock, mut facts: Facts) {
    for action in &mut block.actions {
        match action {
            ParserAction::Read(locals) => locals.iter().for_each(|local| facts.forget(*local)),
            ParserAction::Assign(local, value) => {
                put(value, &facts);
                facts.assign(*local, value);
            }
            ParserAction::Skip(_) | ParserAction::Rest(_) => {}
        }
    }
    match &mut block.step {
        ParserStep::Match { subjects, branches } => {
            subjects.iter_mut().for_each(|subject| put(subject, &facts));
            for (patterns, inner) in branches {
                let mut inside = facts.clone();
                for (subject, pattern) in subjects.iter().zip(patterns) {
                    inside.matched(subject, *pattern);
                }
                deep(|| fold_block(inner, inside));
            }
        }
        ParserStep::Generate(event) => put(event, &facts),
        ParserStep::Call { arguments, .. } => {
            arguments.iter_mut().for_each(|argument| put(argument, &facts));
        }
        ParserStep::LucidEvent | ParserStep::Drop => {}
    }
}

/// Removes unused assignments and locals.
pub(super) fn clean(parser: &mut Parser) {
    wanted(&mut parser.block);
    let mut used: HashSet<LocalId> = (0..parser.parameter_count).map(LocalId).collect();
    each_local(&mut parser.block, &mut |local| {
        used.insert(*local);
    });
    let mut numbers: HashMap<LocalId, LocalId> = HashMap::new();
    let mut kept = Vec::new();
    for (at, local) in std::mem::take(&mut parser.locals).into_iter().enumerate() {
        let old = LocalId(at as u32);
        if used.contains(&old) {
            numbers.insert(old, LocalId(kept.len() as u32));
            kept.push(local);
        }
    }
    parser.locals = kept;
    each_local(&mut parser.block, &mut |local| {
        if let Some(new) = numbers.get(local) {
            *local = *new;
        }
    });
}

/// Drops a block's unused assignments; the locals that are wanted before it.
fn wanted(block: &mut ParserBlock) -> HashSet<LocalId> {
    let mut live = HashSet::new();
    let want = |live: &mut HashSet<LocalId>, expression: &Expression| {
        each_read(expression, &mut |local| {
            live.insert(local);
        });
    };
    match &mut block.step {
        ParserStep::Match { subjects, branches } => {
            for (_, inner) in branches {
                live.extend(deep(|| wanted(inner)));
            }
            subjects.iter().for_each(|subject| want(&mut live, subject));
        }
        ParserStep::Generate(event) => want(&mut live, event),
        ParserStep::Call { arguments, .. } => {
            arguments.iter().for_each(|argument| want(&mut live, argument));
        }
        ParserStep::LucidEvent | ParserStep::Drop => {}
    }
    let mut kept = Vec::with_capacity(block.actions.len());
    while let Some(action) = block.actions.pop() {
        match &action {
            ParserAction::Assign(local, value) => {
                if !live.remove(local) {
                    continue;
                }
                want(&mut live, value);
            }
            ParserAction::Read(locals) => locals.iter().for_each(|local| {
                live.remove(local);
            }),
            // Nothing can be read behind the rest, so it makes a difference without a use.
            ParserAction::Rest(local) => {
                live.remove(local);
            }
            ParserAction::Skip(_) => {}
        }
        kept.push(action);
    }
    kept.reverse();
    block.actions = kept;
    live
}

/// Visits every mention of a local.
fn each_local(block: &mut ParserBlock, visit: &mut dyn FnMut(&mut LocalId)) {
    fn in_expression(expression: &mut Expression, visit: &mut dyn FnMut(&mut LocalId)) {
        each_expression_mut(expression, &mut |inner| {
            if let ExpressionKind::Local(local) = &mut inner.kind {
                visit(local);
            }
        });
    }
    for action in &mut block.actions {
        match action {
            ParserAction::Read(locals) => locals.iter_mut().for_each(&mut *visit),
            ParserAction::Assign(local, value) => {
                visit(local);
                in_expression(value, visit);
            }
            ParserAction::Rest(local) => visit(local),
            ParserAction::Skip(_) => {}
        }
    }
    match &mut block.step {
        ParserStep::Match { subjects, branches } => {
            subjects.iter_mut().for_each(|subject| in_expression(subject, visit));
            for (_, inner) in branches {
                deep(|| each_local(inner, visit));
            }
        }
        ParserStep::Generate(event) => in_expression(event, visit),
        ParserStep::Call { arguments, .. } => {
            arguments.iter_mut().for_each(|argument| in_expression(argument, visit));
        }
        ParserStep::LucidEvent | ParserStep::Drop => {}
    }
}
