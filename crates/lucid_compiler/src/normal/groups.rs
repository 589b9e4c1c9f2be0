// SPDX-License-Identifier: Apache-2.0
//! Groups in locals become numbers: which of the groups that the body mentions (`g.which`, zero is
//! the empty group), and the port of a flood (`g.port`). A `generate` to such a local becomes a match
//! over what it can be; a comparison of groups becomes one of numbers. Groups in events, tables and
//! calls have no normal form; `support` says so before.

mod sources;

use super::events::choice;
use super::locals::{NewLocals, assign, equal, widened};
use lucid::core::walk::{
    blocks_mut, bodies_mut, deep, each_expression_mut, expressions_mut, is_leaf,
};
use lucid::core::{
    Body, Constant, Destination, Expression, ExpressionKind, LocalId, Program, Statement,
    StatementKind, Type,
};
use lucid::syntax::ast::{BinaryOperator, UnaryOperator};
use source::Span;
use sources::{Source, Sources};
use std::collections::HashMap;
use std::sync::Arc;

/// Takes groups out of the locals of all handlers.
pub(super) fn run(program: &mut Program) {
    for body in bodies_mut(program) {
        of_body(body);
    }
}

/// The locals that a group local became.
#[derive(Clone, Copy)]
struct Parts {
    which: LocalId,
    port: Option<LocalId>,
}

struct Groups<'a> {
    locals: NewLocals<'a>,
    parts: HashMap<LocalId, Parts>,
    sources: Sources,
}

fn of_body(body: &mut Body) {
    let sources = Sources::of(body);
    let mut list = std::mem::take(&mut body.locals);
    let mut groups = Groups { locals: NewLocals::among(&mut list), parts: HashMap::new(), sources };
    let mut made = groups.make_parts();
    made.extend(groups.block(std::mem::take(&mut body.statements)));
    body.statements = made;
    body.locals = list;
}

impl Groups<'_> {
    /// Makes the locals that stand for group locals, and assignments that empty them.
    fn make_parts(&mut self) -> Vec<Statement> {
        let (bits, port_bits) = (self.sources.bits(), self.sources.port_bits);
        let mut initial = Vec::new();
        for at in 0..self.locals.len() {
            let local = LocalId(at as u32);
            let declared = self.locals.get(local).filter(|local| local.ty == Type::Group).cloned();
            let Some(declared) = declared else { continue };
            let (name, span) = (declared.name, declared.span);
            let place = Statement { kind: StatementKind::Return, span, inlined_at: Arc::from([]) };
            let which = self.locals.add(&format!("{name}.which"), Type::Int(bits), span);
            initial.push(assign(&place, which, Expression::int(0, bits, span)));
            let mut port = None;
            if self.sources.of_local(local).contains(&Source::Flood) {
                let name = format!("{name}.port");
                let local = self.locals.add(&name, Type::Int(port_bits), span);
                initial.push(assign(&place, local, Expression::int(0, port_bits, span)));
                port = Some(local);
            }
            self.parts.insert(local, Parts { which, port });
        }
        initial
    }

    fn block(&mut self, statements: Vec<Statement>) -> Vec<Statement> {
        let mut made = Vec::with_capacity(statements.len());
        for mut statement in statements {
            deep(|| {
                for block in blocks_mut(&mut statement) {
                    *block = self.block(std::mem::take(block));
                }
            });
            for expression in expressions_mut(&mut statement) {
                each_expression_mut(expression, &mut |inner| self.compared(inner));
            }
            match &statement.kind {
                StatementKind::Assign { local, value, .. } if value.ty == Type::Group => {
                    self.assignment(*local, value, &statement, &mut made);
                }
                StatementKind::Generate { event, destination } => {
                    self.generate(event, destination, &statement, &mut made);
                }
                _ => made.push(statement),
            }
        }
        made
    }

    fn assignment(
        &self,
        local: LocalId,
        value: &Expression,
        place: &Statement,
        out: &mut Vec<Statement>,
    ) {
        let Some(to) = self.parts.get(&local) else { return };
        if matches!(value.kind, ExpressionKind::Local(from) if from == local) {
            return;
        }
        let port = self.port(value);
        out.push(assign(place, to.which, self.which(value)));
        if let (Some(to), Some(port)) = (to.port, port) {
            out.push(assign(place, to, port));
        }
    }

    /// The number of a group's value; of what is none, that of the empty group.
    fn which(&self, value: &Expression) -> Expression {
        let bits = self.sources.bits();
        match &value.kind {
            ExpressionKind::Local(local) => match self.parts.get(local) {
                Some(parts) => Expression::local(parts.which, Type::Int(bits), value.span),
                None => Expression::int(0, bits, value.span),
            },
            _ => Expression::int(self.sources.number(value), bits, value.span),
        }
    }

    /// The port of a flood, if it may be one.
    fn port(&self, value: &Expression) -> Option<Expression> {
        let bits = self.sources.port_bits;
        match &value.kind {
            ExpressionKind::Local(local) => {
                let port = self.parts.get(local)?.port?;
                Some(Expression::local(port, Type::Int(bits), value.span))
            }
            ExpressionKind::Flood(port) => Some(widened((**port).clone(), bits)),
            _ => None,
        }
    }

    /// Makes a comparison of groups one of numbers, if no extern is compared.
    fn compared(&self, expression: &mut Expression) {
        let ExpressionKind::Binary(operator, left, right) = &expression.kind else { return };
        if left.ty != Type::Group || self.sources.is_open(left) || self.sources.is_open(right) {
            return;
        }
        let span = expression.span;
        let same = equal(self.which(left), self.which(right), span);
        let is_flood = |group: &Expression| matches!(group.kind, ExpressionKind::Flood(_));
        let both = match (self.port(left), self.port(right)) {
            (Some(one), Some(other)) => {
                let mut ports = equal(one, other, span);
                if !is_flood(left) && !is_flood(right) {
                    // Ports count if both are floods.
                    let flood = self.sources.number_of(&Source::Flood);
                    let flood = Expression::int(flood, self.sources.bits(), span);
                    let flood = equal(self.which(left), flood, span);
                    let kind = ExpressionKind::Unary(UnaryOperator::Not, flood.into());
                    ports = joined(BinaryOperator::Or, boolean(kind, span), ports, span);
                }
                joined(BinaryOperator::And, same, ports, span)
            }
            _ => same,
        };
        *expression = match operator {
            BinaryOperator::NotEqual => {
                boolean(ExpressionKind::Unary(UnaryOperator::Not, both.into()), span)
            }
            _ => both,
        };
    }

    fn generate(
        &mut self,
        event: &Expression,
        destination: &Destination,
        statement: &Statement,
        out: &mut Vec<Statement>,
    ) {
        let to_ports = matches!(destination, Destination::Ports(_));
        let (Destination::Ports(group) | Destination::Switches(group)) = destination else {
            out.push(statement.clone());
            return;
        };
        let one = |destination: Destination| {
            let mut one = statement.clone();
            one.kind = StatementKind::Generate { event: event.clone(), destination };
            one
        };
        let to = |group: Expression| match to_ports {
            true => Destination::Ports(group),
            false => Destination::Switches(group),
        };
        let span = group.span;
        match &group.kind {
            ExpressionKind::Local(local) => {
                let mut branches = Vec::new();
                for source in self.sources.of_local(*local) {
                    let inside = match &source {
                        Source::Members(members) => to_members(members, span, to_ports, &one),
                        Source::Extern(id) => {
                            let kind = ExpressionKind::Extern(*id);
                            vec![one(to(Expression { kind, ty: Type::Group, span }))]
                        }
                        Source::Flood => {
                            let port = self.port(group);
                            port.map(|port| one(to(flood(port, span)))).into_iter().collect()
                        }
                    };
                    // An empty group gets no copy.
                    if !inside.is_empty() {
                        branches.push((self.sources.number_of(&source), inside));
                    }
                }
                if !branches.is_empty() {
                    let which = self.which(group);
                    out.push(choice(which, self.sources.bits(), branches, statement));
                }
            }
            ExpressionKind::Constant(Constant::Group(list)) => {
                out.extend(to_members(&sources::members(list), span, to_ports, &one));
            }
            ExpressionKind::Flood(port) if !is_leaf(port) => {
                let local = self.locals.add("flood.port", port.ty, span);
                out.push(assign(statement, local, (**port).clone()));
                out.push(one(to(flood(Expression::local(local, port.ty, span), span))));
            }
            _ => out.push(statement.clone()),
        }
    }
}

/// An event to the members of a group: one statement for all ports, one for each switch.
fn to_members(
    members: &[u32],
    span: Span,
    to_ports: bool,
    one: &dyn Fn(Destination) -> Statement,
) -> Vec<Statement> {
    let switch =
        |member: &u32| one(Destination::Switch(Expression::int(u128::from(*member), 32, span)));
    match (members, to_ports) {
        ([], _) => Vec::new(),
        (members, true) => {
            vec![one(Destination::Ports(Expression::constant(
                Constant::Group(members.to_vec()),
                span,
            )))]
        }
        (members, false) => members.iter().map(switch).collect(),
    }
}

fn flood(port: Expression, span: Span) -> Expression {
    Expression { kind: ExpressionKind::Flood(Box::new(port)), ty: Type::Group, span }
}

fn boolean(kind: ExpressionKind, span: Span) -> Expression {
    Expression { kind, ty: Type::Bool, span }
}

fn joined(operator: BinaryOperator, one: Expression, other: Expression, span: Span) -> Expression {
    boolean(ExpressionKind::Binary(operator, Box::new(one), Box::new(other)), span)
}
