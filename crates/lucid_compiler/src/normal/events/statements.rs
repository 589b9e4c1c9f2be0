// SPDX-License-Identifier: Apache-2.0
//! The statements of a body with event values taken apart.

use super::{HERE, PLACE_BITS, Rewriter, SWITCH, SWITCHES};
use crate::normal::event_values::{Base, EventParts, Place, taken_apart};
use crate::normal::locals::{assign, at, equal, widened};
use lucid::core::walk::{blocks_mut, deep, each_read};
use lucid::core::{
    Branch, Destination, EventId, Expression, ExpressionKind, LocalId, Pattern, Statement,
    StatementKind, Type, arithmetic,
};

impl Rewriter<'_> {
    pub(super) fn block(&mut self, statements: Vec<Statement>) -> Vec<Statement> {
        let mut made = Vec::with_capacity(statements.len());
        for mut statement in statements {
            deep(|| {
                for block in blocks_mut(&mut statement) {
                    *block = self.block(std::mem::take(block));
                }
            });
            self.statement(statement, &mut made);
        }
        made
    }

    fn statement(&mut self, statement: Statement, out: &mut Vec<Statement>) {
        match &statement.kind {
            StatementKind::Assign { local, value, .. } if value.ty == Type::Event => {
                if let Some(made) = taken_apart(value) {
                    self.assignment(*local, &made, &statement, out);
                }
            }
            StatementKind::Generate { event, destination } => {
                if let Some(made) = taken_apart(event) {
                    self.generate(&made, destination, &statement, out);
                }
            }
            StatementKind::IfEvent { value, .. } => {
                match taken_apart(value).map(|made| made.base) {
                    Some(Base::Local(local)) => self.if_local(local, &statement, out),
                    Some(Base::Constructor(made, arguments)) => {
                        self.if_constructor(made, arguments, &statement, out);
                    }
                    None => out.push(statement),
                }
            }
            _ => out.push(statement),
        }
    }

    /// `local = made`
    fn assignment(
        &self,
        local: LocalId,
        made: &EventParts<'_>,
        place: &Statement,
        out: &mut Vec<Statement>,
    ) {
        let Some(parts) = self.parts.get(&local) else { return };
        let span = place.span;
        let copy = |to: LocalId, from: LocalId| self.copied(place, to, from);
        let tag_bits = self.shapes.tag_bits();
        let from = match made.base {
            Base::Constructor(event, arguments) => {
                let tag = Expression::int(self.shapes.number(event), tag_bits, span);
                out.push(assign(place, parts.tag, tag));
                let locals = parts.arguments.get(&event).map_or(&[][..], Vec::as_slice);
                for (to, argument) in locals.iter().zip(arguments) {
                    out.push(assign(place, *to, argument.clone()));
                }
                None
            }
            Base::Local(from) if from == local => Some(parts),
            Base::Local(from) => {
                let Some(from) = self.parts.get(&from) else { return };
                out.push(copy(parts.tag, from.tag));
                let mut events: Vec<&EventId> = from.arguments.keys().collect();
                events.sort();
                for event in events {
                    let (Some(to), Some(from)) =
                        (parts.arguments.get(event), from.arguments.get(event))
                    else {
                        continue;
                    };
                    out.extend(to.iter().zip(from).map(|(to, from)| copy(*to, *from)));
                }
                Some(from)
            }
        };
        if let Some(to) = parts.delay {
            let bits = self.shapes.delay_bits;
            match (made.delay, from.and_then(|from| from.delay)) {
                (Some(delay), _) => out.push(assign(place, to, widened(delay.clone(), bits))),
                (None, Some(from)) if from == to => {}
                (None, Some(from)) => out.push(copy(to, from)),
                (None, None) => out.push(assign(place, to, Expression::int(0, bits, span))),
            }
        }
        let Some(kind) = parts.place_kind else { return };
        let set_kind = |to| assign(place, kind, Expression::int(to, PLACE_BITS, span));
        match (made.place, from) {
            (Some(Place::Switch(switch)), _) => {
                out.push(set_kind(SWITCH));
                if let Some(to) = parts.switch {
                    out.push(assign(place, to, widened(switch.clone(), self.shapes.switch_bits)));
                }
            }
            (Some(Place::Switches(switches)), _) => {
                out.push(set_kind(SWITCHES));
                if let Some(to) = parts.switches {
                    out.push(assign(place, to, switches.clone()));
                }
            }
            (None, Some(from)) if from.tag == parts.tag => {}
            (None, Some(from)) => {
                match from.place_kind {
                    Some(from) => out.push(copy(kind, from)),
                    None => out.push(set_kind(HERE)),
                }
                let pairs = [(parts.switch, from.switch), (parts.switches, from.switches)];
                for (to, from) in pairs {
                    if let (Some(to), Some(from)) = (to, from) {
                        out.push(copy(to, from));
                    }
                }
            }
            (None, None) => out.push(set_kind(HERE)),
        }
    }

    fn copied(&self, place: &Statement, to: LocalId, from: LocalId) -> Statement {
        let ty = self.locals.get(from).map_or(Type::Bool, |local| local.ty);
        assign(place, to, Expression::local(from, ty, place.span))
    }

    fn read(&self, local: LocalId, place: &Statement) -> Expression {
        let ty = self.locals.get(local).map_or(Type::Bool, |local| local.ty);
        Expression::local(local, ty, place.span)
    }

    fn generate(
        &self,
        made: &EventParts<'_>,
        destination: &Destination,
        statement: &Statement,
        out: &mut Vec<Statement>,
    ) {
        // A place of the statement counts more than one of the event.
        let destination = match (destination, made.place) {
            (Destination::Event, Some(Place::Switch(switch))) => {
                Some(Destination::Switch(switch.clone()))
            }
            (Destination::Event, Some(Place::Switches(group))) => {
                Some(Destination::Switches(group.clone()))
            }
            (Destination::Event, None) => None,
            (other, _) => Some(other.clone()),
        };
        match made.base {
            Base::Constructor(event, arguments) => {
                let destination = destination.unwrap_or(Destination::Event);
                let event = constructed(event, arguments.to_vec(), statement);
                out.push(generated(event, made.delay.cloned(), destination, statement));
            }
            Base::Local(local) => {
                self.generate_local(local, made.delay, destination, statement, out)
            }
        }
    }

    /// A match over the constructors that a local can have, in each one over its places.
    fn generate_local(
        &self,
        local: LocalId,
        delay: Option<&Expression>,
        destination: Option<Destination>,
        statement: &Statement,
        out: &mut Vec<Statement>,
    ) {
        let Some(parts) = self.parts.get(&local) else { return };
        let read = |local: LocalId| self.read(local, statement);
        let delay = delay.cloned().or(parts.delay.map(read));
        let shape = self.shapes.of_local(local);
        let tag_bits = self.shapes.tag_bits();
        let mut branches = Vec::new();
        for event in &shape.constructors {
            let locals = parts.arguments.get(event).map_or(&[][..], Vec::as_slice);
            let arguments: Vec<Expression> = locals.iter().copied().map(read).collect();
            let one = |destination| {
                let event = constructed(*event, arguments.clone(), statement);
                generated(event, delay.clone(), destination, statement)
            };
            let inside = match (&destination, parts.place_kind) {
                (Some(destination), _) => one(destination.clone()),
                (None, None) => one(Destination::Event),
                (None, Some(kind)) => {
                    let mut places = vec![(HERE, Destination::Event)];
                    places.extend(parts.switch.map(|at| (SWITCH, Destination::Switch(read(at)))));
                    places.extend(
                        parts.switches.map(|at| (SWITCHES, Destination::Switches(read(at)))),
                    );
                    let places = places.into_iter();
                    let places =
                        places.map(|(kind, destination)| (kind, vec![one(destination)])).collect();
                    choice(read(kind), PLACE_BITS, places, statement)
                }
            };
            branches.push((self.shapes.number(*event), vec![inside]));
        }
        if !branches.is_empty() {
            out.push(choice(read(parts.tag), tag_bits, branches, statement));
        }
    }

    fn if_local(&self, local: LocalId, statement: &Statement, out: &mut Vec<Statement>) {
        let StatementKind::IfEvent { event, locals, then, otherwise, .. } = &statement.kind else {
            return;
        };
        let parts = self.parts.get(&local);
        let arguments = parts.and_then(|parts| parts.arguments.get(event));
        let (Some(parts), Some(arguments)) = (parts, arguments) else {
            // It can never be this event.
            out.extend(otherwise.iter().cloned());
            return;
        };
        let pairs = locals.iter().zip(arguments);
        let mut inside: Vec<Statement> =
            pairs.map(|(to, from)| self.copied(statement, *to, *from)).collect();
        inside.extend(then.iter().cloned());
        let span = statement.span;
        let tag = Expression::int(self.shapes.number(*event), self.shapes.tag_bits(), span);
        let condition = equal(self.read(parts.tag, statement), tag, span);
        let kind = StatementKind::If { condition, then: inside, otherwise: otherwise.clone() };
        out.push(at(statement, kind));
    }

    fn if_constructor(
        &mut self,
        made: EventId,
        arguments: &[Expression],
        statement: &Statement,
        out: &mut Vec<Statement>,
    ) {
        let StatementKind::IfEvent { event, locals, then, otherwise, .. } = &statement.kind else {
            return;
        };
        if made != *event {
            out.extend(otherwise.iter().cloned());
            return;
        }
        let mut overlaps = false;
        for argument in arguments {
            each_read(argument, &mut |local| overlaps |= locals.contains(&local));
        }
        let mut values = arguments.to_vec();
        if overlaps {
            // All arguments are evaluated before the first local is assigned.
            for value in &mut values {
                let copy = self.locals.add("argument", value.ty, value.span);
                let read = Expression::local(copy, value.ty, value.span);
                out.push(assign(statement, copy, std::mem::replace(value, read)));
            }
        }
        for (to, value) in locals.iter().zip(values) {
            out.push(assign(statement, *to, value));
        }
        out.extend(then.iter().cloned());
    }
}

fn constructed(event: EventId, arguments: Vec<Expression>, place: &Statement) -> Expression {
    let kind = ExpressionKind::Event { event, arguments };
    Expression { kind, ty: Type::Event, span: place.span }
}

fn generated(
    event: Expression,
    delay: Option<Expression>,
    destination: Destination,
    place: &Statement,
) -> Statement {
    let event = match delay {
        Some(nanoseconds) => {
            let (span, ty) = (event.span, Type::Event);
            let nanoseconds = Box::new(nanoseconds);
            let kind = ExpressionKind::Delay { event: Box::new(event), nanoseconds };
            Expression { kind, ty, span }
        }
        None => event,
    };
    at(place, StatementKind::Generate { event, destination })
}

/// A match on a number: what runs for each value.
pub(in crate::normal) fn choice(
    subject: Expression,
    width_bits: u32,
    branches: Vec<(u128, Vec<Statement>)>,
    place: &Statement,
) -> Statement {
    let mask = arithmetic::mask(width_bits);
    let branches = branches.into_iter().map(|(value, statements)| Branch {
        patterns: vec![Pattern { value, mask }],
        statements,
        span: place.span,
    });
    at(place, StatementKind::Match { subjects: vec![subject], branches: branches.collect() })
}
