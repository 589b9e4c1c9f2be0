// SPDX-License-Identifier: Apache-2.0
//! Walkers of core programs: bodies of a program, nested statements, expressions of a statement, operands
//! of an expression, locals that are read and written.

use super::{
    Access, Body, Destination, Event, Expression, ExpressionKind, ExternArgument, LocalId,
    PrintPiece, Program, Statement, StatementKind, Use,
};

/// Runs something that calls itself, with stack enough.
pub fn deep<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 * 1024, 1024 * 1024, run)
}

/// The bodies of an event's handlers: ingress, egress, control.
pub fn bodies(event: &Event) -> impl Iterator<Item = &Body> {
    [&event.handler, &event.egress_handler, &event.control_handler].into_iter().flatten()
}

/// All bodies of a program, to change them.
pub fn bodies_mut(program: &mut Program) -> impl Iterator<Item = &mut Body> {
    program.events.iter_mut().flat_map(|event| {
        [&mut event.handler, &mut event.egress_handler, &mut event.control_handler]
            .into_iter()
            .flatten()
    })
}

/// The blocks of statements inside a statement, in order.
pub fn blocks(statement: &Statement) -> Vec<&Vec<Statement>> {
    match &statement.kind {
        StatementKind::If { then, otherwise, .. }
        | StatementKind::IfEvent { then, otherwise, .. } => vec![then, otherwise],
        StatementKind::Match { branches, .. } => {
            branches.iter().map(|branch| &branch.statements).collect()
        }
        _ => Vec::new(),
    }
}

/// As [`blocks`], to change them.
pub fn blocks_mut(statement: &mut Statement) -> Vec<&mut Vec<Statement>> {
    match &mut statement.kind {
        StatementKind::If { then, otherwise, .. }
        | StatementKind::IfEvent { then, otherwise, .. } => vec![then, otherwise],
        StatementKind::Match { branches, .. } => {
            branches.iter_mut().map(|branch| &mut branch.statements).collect()
        }
        _ => Vec::new(),
    }
}

/// Visits statements and those inside them, each before those inside it.
pub fn each_statement<'a>(statements: &'a [Statement], visit: &mut dyn FnMut(&'a Statement)) {
    for statement in statements {
        visit(statement);
        deep(|| {
            for block in blocks(statement) {
                each_statement(block, visit);
            }
        });
    }
}

/// As [`each_statement`], to change them.
pub fn each_statement_mut(statements: &mut [Statement], visit: &mut dyn FnMut(&mut Statement)) {
    for statement in statements {
        visit(statement);
        deep(|| {
            for block in blocks_mut(statement) {
                each_statement_mut(block, visit);
            }
        });
    }
}

/// The one list of a statement's own expressions; `$iter` is `iter` or `iter_mut`.
macro_rules! listed {
    ($kind:expr, $iter:ident) => {{
        let mut found = Vec::new();
        match $kind {
            StatementKind::Assign { value, .. } | StatementKind::IfEvent { value, .. } => {
                found.push(value);
            }
            StatementKind::Access { index, access, .. } => {
                found.push(index);
                match access {
                    Access::Simple { get, set } => {
                        for side in [get, set].into_iter().flatten() {
                            match side {
                                Use::Old => {}
                                Use::Value(value) | Use::Add(value) | Use::Memop(_, value) => {
                                    found.push(value);
                                }
                            }
                        }
                    }
                    Access::Complex { arguments, default, .. } => {
                        found.extend(arguments);
                        found.push(default);
                    }
                }
            }
            StatementKind::Lookup { key, arguments, .. } => {
                found.extend(key.$iter().chain(arguments))
            }
            StatementKind::Install { key, arguments, .. } => {
                for (value, mask) in key {
                    found.push(value);
                    found.extend(mask);
                }
                found.extend(arguments);
            }
            StatementKind::If { condition, .. } => found.push(condition),
            StatementKind::Match { subjects, .. } => found.extend(subjects),
            StatementKind::Generate { event, destination } => {
                found.push(event);
                match destination {
                    Destination::Event => {}
                    Destination::Switch(place)
                    | Destination::Switches(place)
                    | Destination::Port(place)
                    | Destination::Ports(place) => found.push(place),
                }
            }
            StatementKind::Print { pieces } => {
                found.extend(pieces.$iter().filter_map(|piece| match piece {
                    PrintPiece::Value(value) => Some(value),
                    PrintPiece::Text(_) => None,
                }))
            }
            StatementKind::CallExtern { arguments, .. } => {
                found.extend(arguments.$iter().filter_map(|argument| match argument {
                    ExternArgument::Value(value) => Some(value),
                    ExternArgument::Text(_) => None,
                }));
            }
            StatementKind::Random { .. } | StatementKind::Return => {}
        }
        found
    }};
}

/// The expressions of a statement itself, in order of evaluation; not those of statements inside.
pub fn expressions(statement: &Statement) -> Vec<&Expression> {
    listed!(&statement.kind, iter)
}

/// As [`expressions`], to change them.
pub fn expressions_mut(statement: &mut Statement) -> Vec<&mut Expression> {
    listed!(&mut statement.kind, iter_mut)
}

/// The locals that a statement itself writes.
pub fn written(statement: &Statement) -> Vec<LocalId> {
    match &statement.kind {
        StatementKind::Assign { local, .. } | StatementKind::Random { local } => vec![*local],
        StatementKind::Access { result, .. } => result.iter().copied().collect(),
        StatementKind::Lookup { results, .. } => results.clone(),
        StatementKind::IfEvent { locals, .. } => locals.clone(),
        _ => Vec::new(),
    }
}

/// As [`written`], to change them.
pub fn written_mut(statement: &mut Statement) -> Vec<&mut LocalId> {
    match &mut statement.kind {
        StatementKind::Assign { local, .. } | StatementKind::Random { local } => vec![local],
        StatementKind::Access { result, .. } => result.iter_mut().collect(),
        StatementKind::Lookup { results, .. } => results.iter_mut().collect(),
        StatementKind::IfEvent { locals, .. } => locals.iter_mut().collect(),
        _ => Vec::new(),
    }
}

/// The operands of an expression, in order.
pub fn operands(expression: &Expression) -> Vec<&Expression> {
    match &expression.kind {
        ExpressionKind::Unary(_, operand)
        | ExpressionKind::Cast(operand)
        | ExpressionKind::Slice(operand, _)
        | ExpressionKind::Flood(operand) => vec![operand],
        ExpressionKind::Binary(_, left, right) => vec![left, right],
        ExpressionKind::Hash { seed, arguments } => {
            std::iter::once(&**seed).chain(arguments).collect()
        }
        ExpressionKind::Checksum { arguments } | ExpressionKind::Event { arguments, .. } => {
            arguments.iter().collect()
        }
        ExpressionKind::Delay { event, nanoseconds } => vec![event, nanoseconds],
        ExpressionKind::Locate { event, switch } => vec![event, switch],
        ExpressionKind::LocateMany { event, switches } => vec![event, switches],
        _ => Vec::new(),
    }
}

/// As [`operands`], to change them.
pub fn operands_mut(expression: &mut Expression) -> Vec<&mut Expression> {
    match &mut expression.kind {
        ExpressionKind::Unary(_, operand)
        | ExpressionKind::Cast(operand)
        | ExpressionKind::Slice(operand, _)
        | ExpressionKind::Flood(operand) => vec![operand],
        ExpressionKind::Binary(_, left, right) => vec![left, right],
        ExpressionKind::Hash { seed, arguments } => {
            std::iter::once(&mut **seed).chain(arguments).collect()
        }
        ExpressionKind::Checksum { arguments } | ExpressionKind::Event { arguments, .. } => {
            arguments.iter_mut().collect()
        }
        ExpressionKind::Delay { event, nanoseconds } => vec![event, nanoseconds],
        ExpressionKind::Locate { event, switch } => vec![event, switch],
        ExpressionKind::LocateMany { event, switches } => vec![event, switches],
        _ => Vec::new(),
    }
}

/// Visits an expression and what is inside it, operands first.
pub fn each_expression<'a>(expression: &'a Expression, visit: &mut dyn FnMut(&'a Expression)) {
    deep(|| {
        for operand in operands(expression) {
            each_expression(operand, visit);
        }
        visit(expression);
    });
}

/// As [`each_expression`], to change them.
pub fn each_expression_mut(expression: &mut Expression, visit: &mut dyn FnMut(&mut Expression)) {
    deep(|| {
        for operand in operands_mut(expression) {
            each_expression_mut(operand, visit);
        }
        visit(expression);
    });
}

/// Visits the locals that an expression reads.
pub fn each_read(expression: &Expression, visit: &mut dyn FnMut(LocalId)) {
    each_expression(expression, &mut |inner| {
        if let ExpressionKind::Local(local) = inner.kind {
            visit(local);
        }
    });
}

/// Whether an expression has no operands and costs nothing to say twice.
pub fn is_leaf(expression: &Expression) -> bool {
    matches!(
        expression.kind,
        ExpressionKind::Constant(_)
            | ExpressionKind::Local(_)
            | ExpressionKind::Extern(_)
            | ExpressionKind::SelfSwitch
            | ExpressionKind::IngressPort
            | ExpressionKind::RecirculationPort
            | ExpressionKind::Time
            | ExpressionKind::DequeueDepth
    )
}
