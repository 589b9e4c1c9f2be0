// SPDX-License-Identifier: Apache-2.0
//! What a target cannot do of a program in normal form: statements, expressions, widths, tables and
//! parsers, each with the reason there and what to do instead.

use super::name;
use crate::atomic::codes::{SEED, SHIFT_BY_VARIABLE, WIDE_ARITHMETIC};
use crate::normal::generate_slots;
use crate::options::Backend;
use crate::{codes, wire};
use lucid::core::walk::{bodies, deep, each_expression, each_statement, expressions};
use lucid::core::{
    Action, Body, Constant, Destination, Event, Expression, ExpressionKind, Global, GlobalKind,
    Parser, ParserAction, ParserBlock, ParserStep, Program, Statement, StatementKind, Type,
};
use lucid::syntax::ast::{BinaryOperator as B, EventSort};
use source::{Code, Diagnostic, Diagnostics, Span};
use std::collections::HashSet;

/// Widest operands of an ALU of Tofino in bits.
const ALU_BITS: u32 = 32;

/// Which handler of an event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gress {
    Ingress,
    Egress,
}

/// What the target cannot do, and what it leaves out.
pub(super) fn check(program: &Program, target: Backend) -> Diagnostics {
    let mut checker =
        Checker { program, target, found: Diagnostics::new(), reported: HashSet::new() };
    for global in &program.globals {
        checker.global(global);
    }
    for event in &program.events {
        checker.event(event);
    }
    for parser in &program.parsers {
        checker.parser_block(&parser.block, parser, 0);
    }
    checker.found
}

/// Whether groups are compared that only the control plane knows.
pub(super) fn has_open_comparisons(program: &Program) -> bool {
    let mut found = false;
    for body in program.events.iter().flat_map(bodies) {
        each_statement(&body.statements, &mut |statement| {
            for expression in expressions(statement) {
                each_expression(expression, &mut |inner| found |= compares_groups(inner));
            }
        });
    }
    found
}

fn compares_groups(expression: &Expression) -> bool {
    matches!(&expression.kind, ExpressionKind::Binary(_, left, _) if left.ty == Type::Group)
}

struct Checker<'p> {
    program: &'p Program,
    target: Backend,
    found: Diagnostics,
    /// A statement of a function is inlined many times and reported once.
    reported: HashSet<(&'static str, Span)>,
}

impl Checker<'_> {
    fn tell(&mut self, diagnostic: Diagnostic) {
        if self.reported.insert((diagnostic.code.0, diagnostic.primary.span)) {
            self.found.push(diagnostic);
        }
    }

    fn refuse(&mut self, code: Code, span: Span, message: impl Into<String>, help: &str) {
        self.tell(Diagnostic::error(code, span, message).help(help));
    }

    fn is_tna(&self) -> bool {
        self.target == Backend::Tna
    }

    fn global(&mut self, global: &Global) {
        match &global.kind {
            GlobalKind::Array { width_bits, .. }
            | GlobalKind::PairArray { width_bits, .. }
            | GlobalKind::Counter { width_bits, .. } => {
                if self.is_tna() && *width_bits > ALU_BITS {
                    let message = format!(
                        "`{}` has cells of {width_bits} bits; a stateful ALU of Tofino takes {ALU_BITS}",
                        global.name
                    );
                    let help = "take a pair array, or an array for each half";
                    self.refuse(codes::WIDE_CELLS, global.span, message, help);
                }
            }
            GlobalKind::Table(table) => {
                for id in &table.actions {
                    if let Some(action) = self.program.actions.get(id.0 as usize) {
                        self.action(action);
                    }
                }
            }
        }
    }

    fn action(&mut self, action: &Action) {
        for result in &action.results {
            each_expression(result, &mut |inner| {
                if is_calculation(inner) && self.is_tna() {
                    let message = format!(
                        "action `{}` hashes, which actions of match tables on Tofino cannot",
                        action.name
                    );
                    let help = "hash in the handler and hand the result to the lookup";
                    self.refuse(codes::ACTION, inner.span, message, help);
                } else {
                    self.expression(inner, Gress::Ingress);
                }
            });
        }
    }

    fn event(&mut self, event: &Event) {
        if let Some(body) = &event.control_handler {
            let message = format!(
                "`{}` has a control handler, and no compiled program runs on the processor",
                event.declared_name
            );
            let help = "handle it in the pipeline, or send it out of the processor's port";
            self.refuse(codes::CONTROL_HANDLER, body.span, message, help);
        }
        self.alignment(event);
        if let Some(body) = &event.handler {
            self.body(event, body, Gress::Ingress);
        }
        if let Some(body) = &event.egress_handler {
            self.body(event, body, Gress::Egress);
        }
    }

    /// Payloads begin at whole bytes.
    fn alignment(&mut self, event: &Event) {
        let bits: u32 = event.parameters.iter().map(|one| width(one.ty)).sum();
        let payload = event.parameters.iter().find(|one| one.ty == Type::Payload);
        if let Some(payload) = payload.filter(|_| !bits.is_multiple_of(8))
            && event.sort == EventSort::Packet
        {
            let message = format!(
                "the payload of packet event `{}` stands behind {bits} bits, which are no whole bytes",
                event.declared_name
            );
            let help = format!("add a parameter of {} bits in front of it", 8 - bits % 8);
            self.tell(Diagnostic::error(codes::UNALIGNED, payload.span, message).help(help));
        }
    }

    fn body(&mut self, event: &Event, body: &Body, gress: Gress) {
        let most = generate_slots(body).most;
        let (limit, code) = match gress {
            Gress::Ingress => (wire::MAX_GENERATED, codes::TOO_MANY_EVENTS),
            Gress::Egress => (1, codes::EGRESS),
        };
        if most > limit {
            let mut last = body.span;
            each_statement(&body.statements, &mut |statement| {
                if matches!(statement.kind, StatementKind::Generate { .. }) {
                    last = statement.span;
                }
            });
            let (what, help) = match gress {
                Gress::Ingress => ("handler", "generate an event that goes on with the rest"),
                Gress::Egress => ("egress handler", "generate the others in the ingress handler"),
            };
            let message = format!(
                "the {what} of `{}` generates up to {most} events, and {limit} can leave it",
                event.declared_name
            );
            self.refuse(code, last, message, help);
        }
        each_statement(&body.statements, &mut |statement| self.statement(statement, gress));
        let has_payload = event.parameters.iter().any(|one| one.ty == Type::Payload);
        if gress == Gress::Egress && has_payload && self.is_tna() {
            each_statement(&body.statements, &mut |statement| self.hands_on(statement));
        }
    }

    /// An egress handler of Tofino cannot make its packet shorter.
    fn hands_on(&mut self, statement: &Statement) {
        let StatementKind::Generate { event, .. } = &statement.kind else { return };
        let mut hands_on = false;
        each_expression(event, &mut |inner| {
            hands_on |= inner.ty == Type::Payload && matches!(inner.kind, ExpressionKind::Local(_));
        });
        if !hands_on {
            let message = "an egress handler of Tofino cannot cut the payload off its packet";
            let help = "generate this event in the ingress handler, or hand on the payload";
            self.refuse(codes::CUT_PAYLOAD, statement.span, message, help);
        }
    }

    fn statement(&mut self, statement: &Statement, gress: Gress) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Install { .. } => {
                let message = "a handler in a pipeline cannot install entries";
                let help = "let the control plane install them, or keep what is learned in arrays";
                self.refuse(codes::INSTALL, span, message, help);
            }
            StatementKind::CallExtern { function, .. } if self.is_tna() => {
                let function = self.program.extern_functions.get(function.0 as usize);
                let called = function.map_or("?", |function| &*function.name);
                let message = format!("Tofino has nothing that `{called}` could call");
                let help = "generate an event that leaves by a port, and do the rest there";
                self.refuse(codes::EXTERN_FUNCTION, span, message, help);
            }
            StatementKind::Print { .. } if self.is_tna() => {
                let message = "this is left out: a pipeline of Tofino has no log";
                let other = Backend::V1Model.name();
                let help = format!("compile for {other} to see it, or generate an event instead");
                self.tell(Diagnostic::warning(codes::PRINT, span, message).help(help));
            }
            StatementKind::Generate { destination: Destination::Port(port), .. } => {
                if let ExpressionKind::Constant(Constant::Int(number, _)) = &port.kind {
                    self.port(*number, port.span);
                }
            }
            StatementKind::Generate { destination: Destination::Ports(ports), .. } => {
                if let ExpressionKind::Constant(Constant::Group(members)) = &ports.kind {
                    members.iter().for_each(|port| self.port((*port).into(), ports.span));
                }
            }
            StatementKind::Generate { destination: Destination::Switches(group), .. }
                if matches!(group.kind, ExpressionKind::Flood(_)) =>
            {
                let message = "a flood is of ports, not of switches";
                let help = "write the group out, or generate an event for each switch";
                self.refuse(codes::OPEN_GROUP, span, message, help);
            }
            _ => {}
        }
        for expression in expressions(statement) {
            each_expression(expression, &mut |inner| self.expression(inner, gress));
        }
    }

    /// A port that is known.
    fn port(&mut self, port: u128, span: Span) {
        if port > wire::LARGEST_PORT.into() {
            let largest = wire::LARGEST_PORT;
            let message = format!("no compiled switch has a port {port}");
            let help = format!("take one of the ports 0 to {largest}");
            self.refuse(codes::PORT, span, message, &help);
        }
    }

    /// One expression, without its operands.
    fn expression(&mut self, expression: &Expression, gress: Gress) {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Hash { seed, .. }
                if !matches!(seed.kind, ExpressionKind::Constant(_)) =>
            {
                // The seed itself may be a local by now, and has the place where that was declared.
                let message = "the seed of this hash is not known before the run";
                let help = "take a constant seed, and hash the variable as one of the values";
                self.refuse(SEED, span, message, help);
            }
            ExpressionKind::DequeueDepth if gress == Gress::Ingress => {
                let target = name(self.target);
                let message = format!("{target} does not know the depth of a queue here");
                let help = "read it in an egress handler";
                self.refuse(codes::QUEUE_DEPTH, span, message, help);
            }
            ExpressionKind::Binary(..) if compares_groups(expression) => {
                let message = "only the control plane knows the members of an extern group";
                let help = "compare a number that says which group it is";
                self.refuse(codes::OPEN_GROUP, span, message, help);
            }
            ExpressionKind::Binary(operator, left, right) if self.is_tna() => {
                self.operator(*operator, left, right, span);
            }
            ExpressionKind::Unary(lucid::syntax::ast::UnaryOperator::Negate, operand)
                if self.is_tna() =>
            {
                self.arithmetic(width(operand.ty), span);
            }
            _ => {}
        }
    }

    /// An operator on Tofino.
    fn operator(&mut self, operator: B, left: &Expression, right: &Expression, span: Span) {
        match operator {
            B::Add
            | B::Subtract
            | B::SaturatingAdd
            | B::SaturatingSubtract
            | B::Less
            | B::Greater
            | B::LessOrEqual
            | B::GreaterOrEqual => self.arithmetic(width(left.ty), span),
            B::ShiftLeft | B::ShiftRight
                if width(left.ty) > ALU_BITS
                    && !matches!(right.kind, ExpressionKind::Constant(_)) =>
            {
                let message = format!(
                    "this shifts {} bits by a variable; an ALU of Tofino takes {ALU_BITS}",
                    width(left.ty)
                );
                let help = "shift the halves, or by a constant";
                self.refuse(SHIFT_BY_VARIABLE, span, message, help);
            }
            _ => {}
        }
    }

    fn arithmetic(&mut self, width_bits: u32, span: Span) {
        if width_bits > ALU_BITS {
            let message =
                format!("this computes with {width_bits} bits; an ALU of Tofino takes {ALU_BITS}");
            let help = "compute with the halves, or with fewer bits";
            self.refuse(WIDE_ARITHMETIC, span, message, help);
        }
    }

    /// A block of a parser; `bits` of the last byte were read before it.
    fn parser_block(&mut self, block: &ParserBlock, parser: &Parser, bits: u32) {
        let mut bits = bits;
        for action in &block.actions {
            match action {
                ParserAction::Read(locals) => {
                    let types = locals.iter().filter_map(|one| parser.locals.get(one.0 as usize));
                    bits = (bits + types.map(|local| width(local.ty)).sum::<u32>()) % 8;
                }
                ParserAction::Skip(more) => bits = (bits + more) % 8,
                ParserAction::Assign(_, value) => self.parser_value(value),
                ParserAction::Rest(_) => self.begins("the rest of the packet", bits, block.span),
            }
        }
        if self.is_tna() && !matches!(block.step, ParserStep::Drop) {
            self.begins("what follows here", bits, block.span);
        }
        match &block.step {
            ParserStep::Match { subjects, branches } => {
                subjects.iter().for_each(|subject| self.parser_value(subject));
                for (_, inner) in branches {
                    deep(|| self.parser_block(inner, parser, bits));
                }
            }
            ParserStep::Generate(event) => self.parser_value(event),
            ParserStep::Call { arguments, .. } => {
                arguments.iter().for_each(|argument| self.parser_value(argument));
            }
            ParserStep::LucidEvent => self.begins("the event", bits, block.span),
            ParserStep::Drop => {}
        }
    }

    fn begins(&mut self, what: &str, bits: u32, span: Span) {
        if bits != 0 {
            let message = format!("{what} begins {bits} bits behind the beginning of a byte");
            let help = "read or skip whole bytes in front of it";
            self.refuse(codes::UNALIGNED, span, message, help);
        }
    }

    /// Parsers compare and copy; on v1model they compute a little.
    fn parser_value(&mut self, value: &Expression) {
        let is_tna = self.is_tna();
        each_expression(value, &mut |inner| {
            let computes = match &inner.kind {
                ExpressionKind::Binary(B::Concatenate, ..) => false,
                ExpressionKind::Binary(..) | ExpressionKind::Unary(..) => is_tna,
                ExpressionKind::Checksum { .. } => is_tna,
                ExpressionKind::EmptyPayload if is_tna => {
                    let message = "a parser of Tofino cannot cut the payload off a packet";
                    let help =
                        "hand on the payload that the packet has, and cut it off in a handler";
                    self.refuse(codes::CUT_PAYLOAD, inner.span, message, help);
                    false
                }
                _ => is_calculation(inner) || matches!(inner.kind, ExpressionKind::DequeueDepth),
            };
            if computes {
                let message = format!("a parser on {} cannot compute this", name(self.target));
                let help = "generate an event with what was read, and compute in its handler";
                self.refuse(codes::PARSER, inner.span, message, help);
            }
        });
    }
}

fn is_calculation(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Hash { .. } | ExpressionKind::Checksum { .. })
}

fn width(ty: Type) -> u32 {
    match ty {
        Type::Int(width) => width,
        Type::Bool => 1,
        _ => 0,
    }
}
