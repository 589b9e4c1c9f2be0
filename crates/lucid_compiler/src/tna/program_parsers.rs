// SPDX-License-Identifier: Apache-2.0
//! The program's own parsers, from `main` on, as states of the ingress parser: what they read goes into
//! headers, what they compute is text until an event is made of it. The states that read frames are in
//! `parsers`.

use super::codes::NOT_ON_TARGET;
use super::event_headers::Chunk;
use super::parsers::States;
use super::scheduler_tables::Route;
use crate::expressions::{self, BuiltIn, Environment, literal, wire_bits};
use crate::names::Names;
use lucid::core::walk::deep;
use lucid::core::{
    Expression, ExpressionKind, LocalId, ParserAction, ParserBlock, ParserId, ParserStep, Type,
};
use source::{Diagnostic, Span};
use std::collections::HashMap;

/// How deep parsers may call one another; a circle of calls ends here.
const MAX_CALLS: u32 = 64;

/// Tofino's parser matches at most this many bits of a field at once.
const MAX_SELECT_BITS: u32 = 32;

/// Locals of a parser on the path to a state.
struct ParserNames<'a> {
    values: &'a HashMap<LocalId, String>,
    /// Whether switches have recirculation ports of their own, which parsers do not know.
    own_ports: bool,
    /// Whether what is parsed came to this switch by its number.
    is_addressed: bool,
    impossible: Vec<Span>,
}

impl Environment for ParserNames<'_> {
    fn local(&mut self, local: LocalId) -> String {
        self.values.get(&local).cloned().unwrap_or_else(|| "0".to_string())
    }

    fn built_in(&mut self, value: BuiltIn, span: Span) -> (String, u32) {
        match value {
            BuiltIn::IngressPort if self.is_addressed => (literal(0, 9), 9),
            BuiltIn::IngressPort => ("ig_intr_md.ingress_port".into(), 9),
            BuiltIn::RecirculationPort if !self.own_ports => ("RECIRCULATION_PORT".into(), 9),
            BuiltIn::Time => ("ig_intr_md.ingress_mac_tstamp".into(), 48),
            BuiltIn::SelfSwitch
            | BuiltIn::RecirculationPort
            | BuiltIn::DequeueDepth
            | BuiltIn::Extern(_) => {
                self.impossible.push(span);
                ("32w0".into(), 32)
            }
        }
    }

    fn hash(&mut self, _: u32, _: &[(String, u32)], width_bits: u32, span: Span) -> String {
        self.impossible.push(span);
        literal(0, width_bits)
    }

    fn checksum(&mut self, _: &[(String, u32)], span: Span) -> String {
        self.impossible.push(span);
        literal(0, 16)
    }

    fn impossible(&mut self, span: Span) {
        self.impossible.push(span);
    }
}

impl States<'_, '_> {
    fn refuse(&mut self, span: Span, what: &str, help: &str) {
        self.context.found.push(Diagnostic::error(NOT_ON_TARGET, span, what).help(help));
    }

    /// The states of a parser of the program; gives the first one's name.
    pub(super) fn parser(
        &mut self,
        id: ParserId,
        values: HashMap<LocalId, String>,
        calls: u32,
    ) -> String {
        let parser = &self.context.program.parsers[id.0 as usize];
        if calls > MAX_CALLS {
            self.refuse(
                parser.span,
                "parsers that call each other in a circle have no end",
                "take the circle apart: read a fixed number of headers",
            );
            return "reject".into();
        }
        let (name, block) = (parser.name.clone(), &parser.block);
        deep(|| self.block(&name, block, values, calls))
    }

    fn block(
        &mut self,
        name: &str,
        block: &ParserBlock,
        mut values: HashMap<LocalId, String>,
        calls: u32,
    ) -> String {
        let state = self.names.fresh(&format!("parse_{name}"));
        let mut body = String::new();
        // What is read goes into one header as long as it is no whole number of bytes.
        let mut fields: Vec<(Option<LocalId>, String, u32)> = Vec::new();
        let parser_locals = self.locals_of(block);
        let mut field_names = Names::new(&[]);
        for action in &block.actions {
            match action {
                ParserAction::Read(locals) => {
                    for local in locals {
                        let (name, ty) = parser_locals
                            .iter()
                            .find(|(id, _, _)| id == local)
                            .map_or(("field".into(), Type::Int(8)), |(_, name, ty)| {
                                (name.clone(), *ty)
                            });
                        let field = field_names.fresh(&name);
                        fields.push((Some(*local), field, wire_bits(ty)));
                    }
                }
                ParserAction::Skip(bits) => {
                    fields.push((None, field_names.fresh("skipped"), *bits));
                }
                ParserAction::Assign(local, value) => {
                    // Fields that were read until here have their names now.
                    self.chunk(block.span, name, &mut fields, &mut values, &mut body, false);
                    let text = self.expression(value, &values);
                    values.insert(*local, text);
                }
                ParserAction::Rest(_) => {}
            }
        }
        self.chunk(block.span, name, &mut fields, &mut values, &mut body, true);
        let transition = self.step(name, &block.step, block.span, &values, calls, &mut body);
        self.put(block.span, format!("state {state} {{ {body} {transition} }}"));
        state
    }

    /// Locals of the parser that a block belongs to.
    fn locals_of(&self, block: &ParserBlock) -> Vec<(LocalId, String, Type)> {
        fn holds(outer: &ParserBlock, inner: &ParserBlock) -> bool {
            std::ptr::eq(outer, inner)
                || match &outer.step {
                    ParserStep::Match { branches, .. } => {
                        branches.iter().any(|(_, block)| holds(block, inner))
                    }
                    _ => false,
                }
        }
        let parser = self.context.program.parsers.iter().find(|parser| holds(&parser.block, block));
        parser.map_or_else(Vec::new, |parser| {
            parser
                .locals
                .iter()
                .enumerate()
                .map(|(at, local)| (LocalId(at as u32), local.name.to_string(), local.ty))
                .collect()
        })
    }

    /// A header for the fields that were read, if they are whole bytes or nothing more comes.
    fn chunk(
        &mut self,
        span: Span,
        name: &str,
        fields: &mut Vec<(Option<LocalId>, String, u32)>,
        values: &mut HashMap<LocalId, String>,
        body: &mut String,
        is_last: bool,
    ) {
        let bits: u32 = fields.iter().map(|(_, _, width_bits)| width_bits).sum();
        if bits == 0 {
            return;
        }
        if !bits.is_multiple_of(8) {
            if is_last {
                self.refuse(
                    span,
                    &format!("this part of the parser reads {bits} bits, no whole number of bytes"),
                    "read the bits up to the next whole byte before the `match`",
                );
                fields.clear();
            }
            return;
        }
        let number = self.chunks.len();
        let ty = self.context.names.fresh(&format!("{name}_{number}_h"));
        let header = format!("read{number}_{}", crate::names::identifier(name));
        let mut declaration = format!("header {ty} {{");
        for (local, field, width_bits) in fields.drain(..) {
            declaration.push_str(&format!("bit<{width_bits}> {field};"));
            if let Some(local) = local {
                values.insert(local, format!("hdr.{header}.{field}"));
            }
        }
        declaration.push('}');
        body.push_str(&format!("pkt.extract(hdr.{header});"));
        self.chunks.push(Chunk { span, ty, declaration, name: header });
    }

    fn expression(&mut self, value: &Expression, values: &HashMap<LocalId, String>) -> String {
        let own_ports = self.context.options.has_own_recirculation_ports();
        let mut names = ParserNames {
            values,
            own_ports,
            is_addressed: self.is_addressed,
            impossible: Vec::new(),
        };
        // Locals are strings of bits, so that header fields can stand for them.
        let text = match &value.kind {
            ExpressionKind::Local(local) => {
                values.get(local).cloned().unwrap_or_else(|| literal(0, 1))
            }
            _ => {
                let text = expressions::bits(value, &mut names);
                if text.starts_with('(') { format!("({text})") } else { text }
            }
        };
        for span in names.impossible {
            self.refuse(
                span,
                "a parser cannot compute this",
                "compute it in the handler of the event that the parser generates",
            );
        }
        text
    }

    fn step(
        &mut self,
        name: &str,
        step: &ParserStep,
        span: Span,
        values: &HashMap<LocalId, String>,
        calls: u32,
        body: &mut String,
    ) -> String {
        match step {
            ParserStep::Drop => "transition reject;".into(),
            ParserStep::LucidEvent => {
                self.wants_number = true;
                "transition lucid_event;".into()
            }
            ParserStep::Call { parser, arguments } => {
                let mut handed = HashMap::new();
                for (at, argument) in arguments.iter().enumerate() {
                    if argument.ty != Type::Payload {
                        handed.insert(LocalId(at as u32), self.expression(argument, values));
                    }
                }
                let next = self.parser(*parser, handed, calls + 1);
                format!("transition {next};")
            }
            ParserStep::Generate(event) => self.generate(event, span, values, body),
            ParserStep::Match { subjects, branches } => {
                let widths: Vec<u32> =
                    subjects.iter().map(|subject| wire_bits(subject.ty)).collect();
                let texts: Vec<String> = subjects
                    .iter()
                    .zip(&widths)
                    .flat_map(|(subject, width_bits)| {
                        let text = self.expression(subject, values);
                        pieces(*width_bits).map(move |(low, bits)| match bits == *width_bits {
                            true => text.clone(),
                            false if text.contains(' ') => {
                                format!("({text})[{}:{low}]", low + bits - 1)
                            }
                            false => format!("{text}[{}:{low}]", low + bits - 1),
                        })
                    })
                    .collect();
                let mut cases = String::new();
                for (patterns, block) in branches {
                    let next = deep(|| self.block(name, block, values.clone(), calls));
                    let keysets: Vec<String> = patterns
                        .iter()
                        .zip(&widths)
                        .flat_map(|(pattern, width_bits)| {
                            pieces(*width_bits).map(|(low, bits)| {
                                keyset(pattern.value >> low, pattern.mask >> low, bits)
                            })
                        })
                        .collect();
                    let keyset = match keysets.as_slice() {
                        [one] => one.clone(),
                        many => format!("({})", many.join(", ")),
                    };
                    cases.push_str(&format!("{keyset} : {next};"));
                }
                let covers = branches
                    .iter()
                    .any(|(patterns, _)| patterns.iter().all(|pattern| pattern.mask == 0));
                if !covers {
                    cases.push_str("default : reject;");
                }
                format!("transition select({}) {{ {cases} }}", texts.join(", "))
            }
        }
    }

    fn generate(
        &mut self,
        event: &Expression,
        span: Span,
        values: &HashMap<LocalId, String>,
        body: &mut String,
    ) -> String {
        let ExpressionKind::Event { event: id, arguments } = &event.kind else {
            return "transition reject;".into();
        };
        let header = self.context.events.event(*id).clone();
        if header.ty.is_some() {
            body.push_str(&format!("{}.setValid();", self.context.events.incoming_header(*id)));
        }
        let mut given: HashMap<u32, String> = HashMap::new();
        for (at, argument) in arguments.iter().enumerate() {
            if argument.ty == Type::Payload {
                if matches!(argument.kind, ExpressionKind::EmptyPayload) {
                    self.refuse(
                        span,
                        "the rest of a packet cannot be cut off here",
                        "hand the packet's payload to the event: `Payload.parse(packet)`",
                    );
                }
                continue;
            }
            let value = self.expression(argument, values);
            let field = self.context.events.incoming(*id, at as u32);
            body.push_str(&format!("{field} = {value};"));
            given.insert(at as u32, value);
        }
        if header.is_handled {
            let value = |parameter| given.get(&parameter).cloned().unwrap_or_default();
            body.push_str(&self.context.set_indexes(*id, value));
            body.push_str(&format!("ig_md.dispatched = {};", header.number));
            body.push_str(&super::validity::begin(self.context, *id));
        } else {
            // It leaves the network here, in a frame where it is no packet event.
            self.context.events.passing.insert(*id);
            let route = if header.is_bare { Route::OutsideBare } else { Route::Outside };
            body.push_str(&format!("ig_md.route = {};", route as u32));
            if header.padding_bits > 0 {
                let incoming = self.context.events.incoming_header(*id);
                body.push_str(&format!("{incoming}._pad = 0;"));
            }
            if !header.is_bare {
                body.push_str(&format!(
                    "hdr.frame.setValid(); hdr.frame.source_kind = SOURCE; hdr.frame.delay_ns = 0; \
                     hdr.frame.ether_type = ETHERTYPE_LUCID; hdr.frame.number = {};",
                    header.number
                ));
            }
        }
        "transition accept;".into()
    }
}

/// First bit and width of each piece of a key of a `select`, highest first.
fn pieces(width_bits: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..width_bits.div_ceil(MAX_SELECT_BITS)).rev().map(move |at| {
        let low = at * MAX_SELECT_BITS;
        (low, MAX_SELECT_BITS.min(width_bits - low))
    })
}

fn keyset(value: u128, mask: u128, width_bits: u32) -> String {
    let all = super::context::ones(width_bits);
    let value = value & all;
    match mask & all {
        0 => "_".into(),
        mask if mask == all => literal(value, width_bits),
        mask => format!("{} &&& {}", literal(value, width_bits), literal(mask, width_bits)),
    }
}
