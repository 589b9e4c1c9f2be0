// SPDX-License-Identifier: Apache-2.0
//! Whether a core program is in normal form: the invariants at the head of this module's parent, in
//! their order. It is for finding mistakes of passes: it tells in words, not with diagnostics.

use lucid::core::walk::{deep, each_expression, each_statement, expressions, is_leaf, operands};
use lucid::core::{
    Body, Constant, Destination, Expression, ExpressionKind, GlobalKind, Local, Parser,
    ParserAction, ParserBlock, ParserStep, Program, Statement, StatementKind, Type,
};

/// Everything that is not as the normal form says, one sentence each, with where it is.
///
/// # Errors
///
/// What is wrong, [`lucid::core::verify`]'s findings included.
pub fn verify(program: &Program) -> Result<(), Vec<String>> {
    let mut wrong = lucid::core::verify(program).err().unwrap_or_default();
    for event in &program.events {
        let bodies = [
            ("handler", &event.handler),
            ("egress handler", &event.egress_handler),
            ("control handler", &event.control_handler),
        ];
        for (what, body) in bodies {
            let Some(body) = body else { continue };
            let place = format!("{what} of `{}`", event.name);
            let mut verifier = Verifier { place, wrong: &mut wrong };
            verifier.body(body);
        }
    }
    for global in &program.globals {
        let GlobalKind::Table(table) = &global.kind else { continue };
        let mut verifier =
            Verifier { place: format!("table `{}`", global.name), wrong: &mut wrong };
        for ty in table.argument_types.iter().chain(&table.result_types) {
            verifier
                .ensure(matches!(ty, Type::Int(_) | Type::Bool), || format!("a part of {ty:?}"));
        }
    }
    for parser in &program.parsers {
        let place = format!("parser `{}`", parser.name);
        Verifier { place, wrong: &mut wrong }.parser(parser);
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

struct Verifier<'a> {
    place: String,
    wrong: &'a mut Vec<String>,
}

impl Verifier<'_> {
    fn ensure(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.wrong.push(format!("{}: {}", self.place, what()));
        }
    }

    fn body(&mut self, body: &Body) {
        let parameters = body.parameter_count as usize;
        for (at, local) in body.locals.iter().enumerate() {
            self.local(local, at < parameters);
        }
        let payloads = body.locals.iter().filter(|local| local.ty == Type::Payload).count();
        self.ensure(payloads <= 1, || "more than one payload".to_owned());
        each_statement(&body.statements, &mut |statement| self.statement(statement));
        for local in super::initial::read_early(body) {
            let name = body.locals.get(local.0 as usize).map_or("?", |local| &*local.name);
            self.ensure(false, || format!("`{name}` is read before it is assigned"));
        }
    }

    fn local(&mut self, local: &Local, is_parameter: bool) {
        let fits = match local.ty {
            Type::Int(_) | Type::Bool => true,
            Type::Payload => is_parameter,
            Type::Event | Type::Group => false,
        };
        self.ensure(fits, || format!("`{}` is of type {:?}", local.name, local.ty));
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Generate { event, destination } => {
                self.generated(event);
                self.destination(destination);
                return;
            }
            StatementKind::Return => self.ensure(false, || "a return".to_owned()),
            StatementKind::IfEvent { .. } => self.ensure(false, || "a match on events".to_owned()),
            StatementKind::If { condition, then, otherwise } => {
                let known = matches!(condition.kind, ExpressionKind::Constant(_));
                self.ensure(!known, || "a condition that is known".to_owned());
                let empty = then.is_empty() && otherwise.is_empty();
                self.ensure(!empty, || "an `if` without statements".to_owned());
            }
            StatementKind::Match { subjects, branches } => {
                self.ensure(!subjects.is_empty(), || "a match on nothing".to_owned());
                self.ensure(!branches.is_empty(), || "a match without branches".to_owned());
                let last = branches.len().saturating_sub(1);
                for branch in branches.iter().take(last) {
                    let all = branch.patterns.iter().all(|pattern| pattern.mask == 0);
                    self.ensure(!all, || "branches behind one that matches everything".to_owned());
                }
            }
            _ => {}
        }
        for expression in expressions(statement) {
            self.plain(expression);
        }
    }

    fn generated(&mut self, event: &Expression) {
        let inner = match &event.kind {
            ExpressionKind::Delay { event, nanoseconds } => {
                self.plain(nanoseconds);
                event
            }
            _ => event,
        };
        let ExpressionKind::Event { arguments, .. } = &inner.kind else {
            self.ensure(false, || "a generated event without a constructor".to_owned());
            return;
        };
        for argument in arguments {
            match (argument.ty, &argument.kind) {
                (Type::Payload, ExpressionKind::Local(_) | ExpressionKind::EmptyPayload) => {}
                _ => self.plain(argument),
            }
        }
    }

    fn destination(&mut self, destination: &Destination) {
        let flood = |group: &Expression| matches!(&group.kind, ExpressionKind::Flood(port) if is_leaf(port));
        match destination {
            Destination::Event => {}
            Destination::Switch(place) | Destination::Port(place) => self.plain(place),
            Destination::Ports(group) => {
                let known = flood(group) || is_known_group(group);
                self.ensure(known, || "ports in no normal form".into());
            }
            Destination::Switches(group) => {
                let open = flood(group) || matches!(group.kind, ExpressionKind::Extern(_));
                self.ensure(open, || "switches in no normal form".into());
            }
        }
    }

    /// An expression of integers and booleans, folded.
    fn plain(&mut self, expression: &Expression) {
        each_expression(expression, &mut |inner| {
            self.ensure(matches!(inner.ty, Type::Int(_) | Type::Bool), || {
                format!("an expression of type {:?}", inner.ty)
            });
            let known = |operand: &&Expression| matches!(operand.kind, ExpressionKind::Constant(_));
            let operands = operands(inner);
            let computed = matches!(
                inner.kind,
                ExpressionKind::Unary(..)
                    | ExpressionKind::Binary(..)
                    | ExpressionKind::Cast(_)
                    | ExpressionKind::Slice(..)
            );
            self.ensure(!computed || !operands.iter().all(known), || {
                "an operator on constants".to_owned()
            });
            match &inner.kind {
                ExpressionKind::Cast(operand) => {
                    self.ensure(operand.ty != inner.ty, || "a cast to the same type".to_owned());
                }
                ExpressionKind::Slice(operand, low) => {
                    let whole = *low == 0 && operand.ty == inner.ty;
                    let again = matches!(operand.kind, ExpressionKind::Slice(..));
                    self.ensure(!whole && !again, || "a slice that is not needed".to_owned());
                }
                _ => {}
            }
        });
    }

    fn parser(&mut self, parser: &Parser) {
        for local in &parser.locals {
            let fits = matches!(local.ty, Type::Int(_) | Type::Bool | Type::Payload);
            self.ensure(fits, || format!("`{}` is of type {:?}", local.name, local.ty));
        }
        self.parser_block(&parser.block);
    }

    fn parser_block(&mut self, block: &ParserBlock) {
        for action in &block.actions {
            match action {
                ParserAction::Assign(_, value) => self.plain(value),
                ParserAction::Read(_) | ParserAction::Skip(_) | ParserAction::Rest(_) => {}
            }
        }
        match &block.step {
            ParserStep::Match { subjects, branches } => {
                for subject in subjects {
                    self.plain(subject);
                }
                for (_, inner) in branches {
                    deep(|| self.parser_block(inner));
                }
            }
            ParserStep::Generate(event) => {
                let is_made = matches!(event.kind, ExpressionKind::Event { .. });
                self.ensure(is_made, || "a parser without a constructor".to_owned());
                self.generated(event);
            }
            ParserStep::Call { arguments, .. } => {
                for argument in arguments.iter().filter(|one| one.ty != Type::Payload) {
                    self.plain(argument);
                }
            }
            ParserStep::LucidEvent | ParserStep::Drop => {}
        }
    }
}

/// A constant with its members in order, or an extern.
fn is_known_group(group: &Expression) -> bool {
    match &group.kind {
        ExpressionKind::Constant(Constant::Group(members)) => {
            !members.is_empty() && members.windows(2).all(|pair| pair[0] < pair[1])
        }
        ExpressionKind::Extern(_) => true,
        _ => false,
    }
}
