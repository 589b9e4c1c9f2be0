// SPDX-License-Identifier: Apache-2.0
//! Event values in locals become numbers: which constructor (`e.tag`, zero before any assignment), its
//! arguments (`e.route.dst`), delay, kind of place and place. Generating such a local becomes a
//! match over what it can be; `this` becomes the event's own constructor over its arguments. Which
//! constructors, delays and places are possible is found without regard to order. Parsers
//! are in `parsers`.

mod shapes;
mod statements;

use super::locals::{NewLocals, assign};
use lucid::core::walk::{each_expression, each_statement, expressions, written};
use lucid::core::{
    Body, Event, EventId, Expression, ExpressionKind, LocalId, Program, Statement, StatementKind,
    Type,
};
use shapes::Shapes;
use source::Span;
pub(super) use statements::choice;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Takes event values out of the locals of all handlers.
pub(super) fn run(program: &mut Program) {
    for at in 0..program.events.len() {
        let id = EventId(at as u32);
        let mut event = program.events[at].clone();
        for body in [&mut event.handler, &mut event.egress_handler, &mut event.control_handler]
            .into_iter()
            .flatten()
        {
            of_body(&program.events, id, body);
        }
        program.events[at] = event;
    }
    for parser in &mut program.parsers {
        super::parsers::without_events(&program.events, parser);
    }
}

fn of_body(events: &[Event], own: EventId, body: &mut Body) {
    this_as_constructor(events, own, body);
    let shapes = Shapes::of(body);
    let mut rewriter = Rewriter {
        events,
        types: body.locals.iter().map(|local| local.ty).collect(),
        parts: HashMap::new(),
        locals: NewLocals::among(&mut body.locals),
        shapes,
    };
    rewriter.make_parts();
    let statements = std::mem::take(&mut body.statements);
    let made = rewriter.block(statements);
    let initial = rewriter.initial();
    body.statements = initial.into_iter().chain(made).collect();
}

/// Replaces `this` by the event's constructor over its parameters, or over copies made in the
/// beginning of parameters that are assigned.
fn this_as_constructor(events: &[Event], own: EventId, body: &mut Body) {
    let mut uses_this = None;
    let mut assigned: HashSet<LocalId> = HashSet::new();
    each_statement(&body.statements, &mut |statement| {
        assigned.extend(written(statement));
        for expression in expressions(statement) {
            each_expression(expression, &mut |inner| {
                if matches!(inner.kind, ExpressionKind::This) {
                    uses_this = uses_this.or(Some(inner.span));
                }
            });
        }
    });
    let Some(span) = uses_this else { return };
    let mut copies = Vec::new();
    let mut arguments = Vec::new();
    let parameters = events.get(own.0 as usize).map_or(&[][..], |event| &event.parameters);
    let mut locals = NewLocals::among(&mut body.locals);
    for (at, parameter) in parameters.iter().enumerate() {
        let mut local = LocalId(at as u32);
        if assigned.contains(&local) {
            let copy = locals.add(&format!("this.{}", parameter.name), parameter.ty, span);
            let value = Expression::local(local, parameter.ty, span);
            let kind = StatementKind::Assign { local: copy, value, no_inline: false };
            copies.push(Statement { kind, span, inlined_at: Arc::from([]) });
            local = copy;
        }
        arguments.push(Expression::local(local, parameter.ty, span));
    }
    lucid::core::walk::each_statement_mut(&mut body.statements, &mut |statement| {
        for expression in lucid::core::walk::expressions_mut(statement) {
            lucid::core::walk::each_expression_mut(expression, &mut |inner| {
                if matches!(inner.kind, ExpressionKind::This) {
                    let arguments = arguments.clone();
                    inner.kind = ExpressionKind::Event { event: own, arguments };
                }
            });
        }
    });
    body.statements.splice(0..0, copies);
}

/// The locals that an event local became.
struct Parts {
    tag: LocalId,
    arguments: HashMap<EventId, Vec<LocalId>>,
    delay: Option<LocalId>,
    /// [`HERE`], [`SWITCH`], [`SWITCHES`].
    place_kind: Option<LocalId>,
    switch: Option<LocalId>,
    switches: Option<LocalId>,
}

const HERE: u128 = 0;
const SWITCH: u128 = 1;
const SWITCHES: u128 = 2;

/// Width of a kind of place in bits.
const PLACE_BITS: u32 = 2;

struct Rewriter<'a> {
    events: &'a [Event],
    /// Of the locals that were there before.
    types: Vec<Type>,
    parts: HashMap<LocalId, Parts>,
    locals: NewLocals<'a>,
    shapes: Shapes,
}

impl Rewriter<'_> {
    /// Makes the locals that stand for event locals.
    fn make_parts(&mut self) {
        for at in 0..self.types.len() {
            let local = LocalId(at as u32);
            if self.types[at] != Type::Event {
                continue;
            }
            let Some(declared) = self.locals.get(local).cloned() else { continue };
            let (name, span) = (declared.name, declared.span);
            let shape = self.shapes.of_local(local);
            let mut add = |part: &str, ty| self.locals.add(&format!("{name}.{part}"), ty, span);
            let tag = add("tag", Type::Int(self.shapes.tag_bits()));
            let delay = shape.delayed.then(|| add("delay", Type::Int(self.shapes.delay_bits)));
            let placed = shape.switch || shape.switches;
            let place_kind = placed.then(|| add("place", Type::Int(PLACE_BITS)));
            let switch = shape.switch.then(|| add("switch", Type::Int(self.shapes.switch_bits)));
            let switches = shape.switches.then(|| add("switches", Type::Group));
            let mut arguments = HashMap::new();
            for event in &shape.constructors {
                let Some(declared) = self.events.get(event.0 as usize) else { continue };
                let parts = (declared.parameters.iter())
                    .map(|one| add(&format!("{}.{}", declared.name, one.name), one.ty))
                    .collect();
                arguments.insert(*event, parts);
            }
            let parts = Parts { tag, arguments, delay, place_kind, switch, switches };
            self.parts.insert(local, parts);
        }
    }

    /// Assignments for the beginning: no event.
    fn initial(&self) -> Vec<Statement> {
        let mut locals: Vec<&LocalId> = self.parts.keys().collect();
        locals.sort();
        let set = |local: &LocalId| {
            let span = self.locals.get(*local).map_or(Span::NONE, |local| local.span);
            let place = Statement { kind: StatementKind::Return, span, inlined_at: Arc::from([]) };
            let none = Expression::int(0, self.shapes.tag_bits(), span);
            self.parts.get(local).map(|parts| assign(&place, parts.tag, none))
        };
        locals.into_iter().filter_map(set).collect()
    }
}
