// SPDX-License-Identifier: Apache-2.0
//! Elaborates parsers. A program without a `main` parser gets one where its meaning is unambiguous: around
//! `eth_main`, or around the only packet event `eth`.

use super::builder::{Builder, Purpose, as_local};
use super::frame::{Frame, Returns};
use super::values::Value;
use super::{Elaborated, Elaborator, Scope, codes};
use crate::check::{Builtin, Definition, Type};
use crate::core::{
    self, EventId, Expression, ExpressionKind, LUCID_ETHER_TYPE, LocalId, Parser, ParserAction,
    ParserBlock, ParserId, ParserStep,
};
use crate::syntax::ast::{self, EventSort, NodeId, ParserActionKind};
use source::{Diagnostic, Span};

/// Widths of an Ethernet header's fields in bits.
const ETHERNET_BITS: [u32; 3] = [48, 48, 16];

/// Names of the fields of an Ethernet header in parsers that are made.
const ETHERNET_NAMES: [&str; 3] = ["dmac", "smac", "ether_type"];

impl<'a> Elaborator<'a> {
    /// Elaborates all parsers that have one type, and finds or makes the main one.
    pub(super) fn all_parsers(&mut self) -> Elaborated<()> {
        let mut main = None;
        let mut ethernet = None;
        for (id, declaration) in self.index.parsers.clone() {
            let signature = self.checked.signatures.get(&id);
            if signature.is_some_and(|signature| !signature.variables.is_empty()) {
                continue;
            }
            let parser = self.parser(id, Scope::default(), declaration.span)?;
            match &*self.full_name(id) {
                "main" => main = Some(parser),
                "eth_main" => ethernet = Some((parser, declaration.span)),
                _ => {}
            }
        }
        self.program.main_parser = match (main, ethernet) {
            (Some(main), _) => Some(main),
            (None, Some((parser, span))) => Some(self.around_ethernet(parser, span)?),
            (None, None) => self.around_event(),
        };
        Ok(())
    }

    /// The parser with these values for its variables.
    fn parser(&mut self, id: NodeId, mut scope: Scope, span: Span) -> Elaborated<ParserId> {
        let found = self.index.parsers.iter().find(|(parser, _)| *parser == id);
        let Some((_, declaration)) = found.copied() else {
            return Err(self.internal(span, "a parser that is not declared"));
        };
        let mut types = Vec::new();
        for parameter in declaration.parameters {
            types.push(self.type_of(parameter.name.id, &scope, parameter.name.span)?);
        }
        let key = (id, types);
        if let Some(parser) = self.parsers.get(&key) {
            return Ok(*parser);
        }
        let parser = ParserId(self.program.parsers.len() as u32);
        let name = self.full_name(id);
        let step = ParserStep::Drop;
        let empty = ParserBlock { actions: Vec::new(), step, span: declaration.span };
        self.program.parsers.push(Parser {
            name,
            span: declaration.span,
            locals: Vec::new(),
            parameter_count: 0,
            block: empty,
        });
        let mut builder = Builder::new(Purpose::Parser);
        scope.frame = Frame::function(Returns::Nothing);
        for (parameter, ty) in declaration.parameters.iter().zip(key.1.clone()) {
            let name = &parameter.name;
            let value = match ty {
                Type::Bitstring => Value::Bitstring,
                ty => self.declare(&mut builder, &name.name, &ty, name.span)?,
            };
            scope.locals.insert(name.id, value);
        }
        self.parsers.insert(key, parser);
        let parameter_count = builder.locals.len() as u32;
        let block = self.parser_block(declaration.body, &mut scope, &mut builder)?;
        let made = &mut self.program.parsers[parser.0 as usize];
        made.locals = builder.locals;
        made.parameter_count = parameter_count;
        made.block = block;
        Ok(parser)
    }

    fn parser_block(
        &mut self,
        block: &'a ast::ParserBlock,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<ParserBlock> {
        stacker::maybe_grow(256 * 1024, 2 * 1024 * 1024, || {
            let outer = std::mem::take(&mut builder.parser_actions);
            let step = self.parser_steps(block, scope, builder);
            let actions = std::mem::replace(&mut builder.parser_actions, outer);
            Ok(ParserBlock { actions, step: step?, span: block.span })
        })
    }

    fn parser_steps(
        &mut self,
        block: &'a ast::ParserBlock,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<ParserStep> {
        for action in &block.actions {
            self.parser_action(action, scope, builder)?;
            self.assignments(builder)?;
        }
        self.parser_step(&block.step, scope, builder)
    }

    /// Makes parser actions of the statements that expressions left: assignments, of functions.
    fn assignments(&mut self, builder: &mut Builder) -> Elaborated<()> {
        for statement in std::mem::take(&mut builder.statements) {
            let core::StatementKind::Assign { local, value, .. } = statement.kind else {
                let message = "a parser cannot do this";
                let diagnostic =
                    Diagnostic::error(codes::PARSER_EXPRESSION, statement.span, message)
                        .note("a parser reads, assigns, and decides with a `match` at its end")
                        .help("do it in the handler of the event that the parser generates");
                return Err(self.report_through(&statement.inlined_at, diagnostic));
            };
            builder.parser_actions.push(ParserAction::Assign(local, value));
        }
        Ok(())
    }

    fn parser_action(
        &mut self,
        action: &'a ast::ParserAction,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        match &action.kind {
            ParserActionKind::Read { name, .. } => {
                let ty = self.type_of(name.id, scope, name.span)?;
                let value = self.declare(builder, &name.name, &ty, name.span)?;
                let mut locals = Vec::new();
                for leaf in value.leaves() {
                    let Some(local) = as_local(leaf) else { continue };
                    match builder.locals[local.0 as usize].ty {
                        core::Type::Int(_) | core::Type::Bool => locals.push(local),
                        core::Type::Payload => {
                            if !locals.is_empty() {
                                let read = std::mem::take(&mut locals);
                                builder.parser_actions.push(ParserAction::Read(read));
                            }
                            builder.parser_actions.push(ParserAction::Rest(local));
                        }
                        other => {
                            let what = super::operators::describe_type(other);
                            let message = format!("{what} cannot be read from a packet");
                            let code = codes::PARSER_EXPRESSION;
                            return Err(self.error(code, action.span, message));
                        }
                    }
                }
                if !locals.is_empty() {
                    builder.parser_actions.push(ParserAction::Read(locals));
                }
                scope.locals.insert(name.id, value);
                Ok(())
            }
            ParserActionKind::Skip { source, .. } => {
                let Some(ty) = self.checked.skipped_types.get(&source.id).cloned() else {
                    return Err(self.internal(action.span, "a skip of an unknown length"));
                };
                let ty = self.close(&ty, scope, action.span)?;
                let mut bits: u32 = 0;
                for (_, ty) in self.flatten("skipped", &ty, action.span)? {
                    bits = bits.saturating_add(match ty {
                        core::Type::Int(width) => width,
                        _ => 1,
                    });
                }
                builder.parser_actions.push(ParserAction::Skip(bits));
                Ok(())
            }
            ParserActionKind::Local { name, value, .. } => {
                let ty = self.type_of(name.id, scope, name.span)?;
                let made = self.expression(value, scope, builder)?;
                if matches!(made, Value::Bitstring) {
                    scope.locals.insert(name.id, made);
                    return Ok(());
                }
                let target = self.declare(builder, &name.name, &ty, name.span)?;
                self.assign(&target, &made, false, action.span, builder)?;
                scope.locals.insert(name.id, target);
                Ok(())
            }
            ParserActionKind::Assign { target, value } => {
                let target = self.expression(target, scope, builder)?;
                let value = self.expression(value, scope, builder)?;
                self.assign(&target, &value, false, action.span, builder)
            }
        }
    }

    fn parser_step(
        &mut self,
        step: &'a ast::ParserStep,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<ParserStep> {
        match step {
            ast::ParserStep::Match { subjects, branches, .. } => {
                let subjects = self.subjects(subjects, scope, builder)?;
                self.assignments(builder)?;
                let mut made = Vec::with_capacity(branches.len());
                for branch in branches {
                    let span = branch.span;
                    let patterns =
                        self.parser_patterns(&branch.patterns, &subjects, span, scope, builder)?;
                    if let Some(patterns) = patterns {
                        made.push((patterns, self.parser_block(&branch.body, scope, builder)?));
                    }
                }
                Ok(ParserStep::Match { subjects, branches: made })
            }
            ast::ParserStep::Generate { event, .. } => {
                let event = self.scalar(event, scope, builder)?;
                self.assignments(builder)?;
                Ok(ParserStep::Generate(event))
            }
            ast::ParserStep::Call { parser, arguments, span } => {
                let id = match self.definition(parser)? {
                    Definition::Parser(id) => id,
                    Definition::Builtin(Builtin::LucidParser) => {
                        return Ok(ParserStep::LucidEvent);
                    }
                    _ => return Err(self.internal(*span, "a call of something that is no parser")),
                };
                let mut handed = Vec::new();
                for argument in arguments {
                    let value = self.expression(argument, scope, builder)?;
                    for leaf in value.leaves() {
                        if !matches!(leaf, Value::Bitstring) {
                            handed.push(self.as_scalar(leaf.clone(), *span)?);
                        }
                    }
                }
                self.assignments(builder)?;
                let inner = self.instantiated(parser.id, scope, *span)?;
                let parser = self.parser(id, inner, *span)?;
                Ok(ParserStep::Call { parser, arguments: handed })
            }
            ast::ParserStep::Drop { .. } => Ok(ParserStep::Drop),
        }
    }

    /// `Payload.parse(pkt)`: the unread rest of the packet, in a parser.
    pub(super) fn rest_of_packet(
        &mut self,
        span: Span,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        if builder.purpose != Purpose::Parser {
            let message = "only a parser has a packet to read";
            let diagnostic = Diagnostic::error(codes::PARSER_EXPRESSION, span, message);
            let help = "read the payload in a parser and hand it over as an event's parameter";
            return Err(self.report_in(builder, diagnostic.help(help)));
        }
        self.assignments(builder)?;
        let ty = core::Type::Payload;
        let local = builder.temporary("payload", ty, span);
        builder.parser_actions.push(ParserAction::Rest(local));
        Ok(Value::local(local, ty, span))
    }

    /// A main parser that reads an Ethernet header and passes packets other than the compiler's own
    /// to `eth_main`.
    fn around_ethernet(&mut self, parser: ParserId, span: Span) -> Elaborated<ParserId> {
        let callee = &self.program.parsers[parser.0 as usize];
        let given = callee.locals.iter().take(callee.parameter_count as usize);
        let types: Vec<core::Type> = given.map(|local| local.ty).collect();
        if types != ETHERNET_BITS.map(core::Type::Int) {
            let message = "`eth_main` takes an Ethernet header and the rest of the packet";
            let diagnostic = Diagnostic::error(codes::PARSER_EXPRESSION, span, message);
            let help = "declare `parser eth_main(int<48> dmac, int<48> smac, int<16> type, \
                        bitstring pkt)`";
            return Err(self.report(diagnostic.help(help)));
        }
        let call = |arguments| ParserStep::Call { parser, arguments };
        Ok(self.ethernet_parser(span, Vec::new(), Vec::new(), call))
    }

    /// A main parser for the only packet event `eth` with an Ethernet header and a payload.
    fn around_event(&mut self) -> Option<ParserId> {
        let is_packet = |(_, event): &(usize, &core::Event)| event.sort == EventSort::Packet;
        let mut packets = self.program.events.iter().enumerate().filter(is_packet);
        let (at, event) = packets.next()?;
        let [dmac, smac, ether_type] = ETHERNET_BITS.map(core::Type::Int);
        let expected = [dmac, smac, ether_type, core::Type::Payload];
        let types = event.parameters.iter().map(|parameter| parameter.ty);
        if packets.next().is_some() || &*event.name != "eth" || !types.eq(expected) {
            return None;
        }
        let span = event.span;
        let payload = LocalId(ETHERNET_BITS.len() as u32);
        let name = "payload".into();
        let local = core::Local { name, ty: core::Type::Payload, span };
        let generate = |mut arguments: Vec<Expression>| {
            let kind = ExpressionKind::Local(payload);
            arguments.push(Expression { kind, ty: core::Type::Payload, span });
            let kind = ExpressionKind::Event { event: EventId(at as u32), arguments };
            ParserStep::Generate(Expression { kind, ty: core::Type::Event, span })
        };
        let rest = vec![ParserAction::Rest(payload)];
        Some(self.ethernet_parser(span, vec![local], rest, generate))
    }

    /// A main parser that reads an Ethernet header; what other packets than the compiler's own end in
    /// is given.
    fn ethernet_parser(
        &mut self,
        span: Span,
        more_locals: Vec<core::Local>,
        actions: Vec<ParserAction>,
        step: impl FnOnce(Vec<Expression>) -> ParserStep,
    ) -> ParserId {
        let fields = ETHERNET_NAMES.iter().zip(ETHERNET_BITS);
        let mut locals: Vec<core::Local> = fields
            .map(|(name, bits)| core::Local {
                name: (*name).into(),
                ty: core::Type::Int(bits),
                span,
            })
            .collect();
        locals.extend(more_locals);
        let value = |at: usize| {
            let kind = ExpressionKind::Local(LocalId(at as u32));
            Expression { kind, ty: core::Type::Int(ETHERNET_BITS[at]), span }
        };
        let other = ParserBlock { actions, step: step((0..3).map(value).collect()), span };
        let own = ParserBlock { actions: Vec::new(), step: ParserStep::LucidEvent, span };
        let mask = core::arithmetic::mask(ETHERNET_BITS[2]);
        let own_type = core::Pattern { value: u128::from(LUCID_ETHER_TYPE), mask };
        let any = core::Pattern { value: 0, mask: 0 };
        let step = ParserStep::Match {
            subjects: vec![value(2)],
            branches: vec![(vec![own_type], own), (vec![any], other)],
        };
        let read = ParserAction::Read((0..3).map(LocalId).collect());
        let block = ParserBlock { actions: vec![read], step, span };
        let id = ParserId(self.program.parsers.len() as u32);
        let name = "main".into();
        self.program.parsers.push(Parser { name, span, locals, parameter_count: 0, block });
        id
    }
}
