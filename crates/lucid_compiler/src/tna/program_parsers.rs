// SPDX-License-Identifier: Apache-2.0
//! The program's own parsers, from `main` on, as states of the ingress parser: what they read goes into
//! headers, what they compute is text until an event is made of it. Which events stay in these headers is decided in
//! `parsed_events`; the states that read frames are in `parsers`.

use super::codes::NOT_ON_TARGET;
use super::event_headers::Chunk;
use super::parsed_events::{self, ChunkId, Generated};
use super::parsers::States;
use super::scheduler_tables::Route;
use crate::expressions::{self, BuiltIn, Environment, literal, wire_bits};
use crate::names::Names;
use lucid::core::walk::deep;
use lucid::core::{
    Expression, ExpressionKind, LocalId, ParserAction, ParserBlock, ParserId, ParserStep, Pattern,
    Type,
};
use pisa::Gress;
use source::{Diagnostic, Span};
use std::collections::{BTreeMap, HashMap};

/// How deep parsers may call one another; a circle of calls ends here.
const MAX_CALLS: u32 = 64;

/// Tofino's parser matches at most this many bits of a field at once.
const MAX_SELECT_BITS: u32 = 32;

/// What is known on the path to a state.
#[derive(Clone, Default)]
struct ParserPath {
    /// Text of the parser's locals.
    values: HashMap<LocalId, String>,
    /// Constants that fields are known to equal.
    known: HashMap<String, String>,
    /// What was read, in order.
    read: Vec<ChunkId>,
    /// What the next state has to read first: a `match` has looked ahead at it.
    unread: Option<ChunkId>,
}

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

/// What a block has read since the last header.
struct Run<'b> {
    block: &'b ParserBlock,
    /// Of its parser.
    name: &'b str,
    /// Headers of the block before.
    number: usize,
    fields: Vec<(Option<LocalId>, String, u32)>,
}

impl States<'_, '_> {
    fn refuse(&mut self, span: Span, what: &str, help: &str) {
        self.context.found.push(Diagnostic::error(NOT_ON_TARGET, span, what).help(help));
    }

    /// The states of the parser that reads packets; gives the first one's name.
    pub(super) fn main_parser(&mut self, id: ParserId) -> String {
        self.parser(id, ParserPath::default(), 0)
    }

    /// The states of a parser of the program; gives the first one's name.
    fn parser(&mut self, id: ParserId, path: ParserPath, calls: u32) -> String {
        let parser = &self.context.program.parsers[id.0 as usize];
        if calls > MAX_CALLS {
            self.refuse(
                parser.span,
                "parsers that call each other in a circle have no end",
                "take the circle apart: read a fixed number of headers",
            );
            return "reject".into();
        }
        deep(|| self.block(&parser.name, &parser.block, path, calls))
    }

    fn block(
        &mut self,
        name: &str,
        block: &ParserBlock,
        mut path: ParserPath,
        calls: u32,
    ) -> String {
        let state = self.names.fresh(&format!("parse_{name}"));
        let mut body = String::new();
        if let Some(unread) = path.unread.take() {
            match &block.step {
                ParserStep::Drop if block.actions.is_empty() => {}
                _ if finds_event(block) => {
                    let bits = self.chunks[unread.0 as usize].bits();
                    body.push_str(&format!("pkt.advance({bits});"));
                }
                _ => self.extract(unread, &mut path, &mut body),
            }
        }
        // What is read goes into one header as long as it is no whole number of bytes.
        let mut run = Run { block, name, number: 0, fields: Vec::new() };
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
                        run.fields.push((Some(*local), field, wire_bits(ty)));
                    }
                }
                ParserAction::Skip(bits) => {
                    run.fields.push((None, field_names.fresh("skipped"), *bits));
                }
                ParserAction::Assign(local, value) => {
                    // Fields that were read until here have their names now.
                    if let Some(chunk) = self.chunk(&mut run, &mut path, false) {
                        self.extract(chunk, &mut path, &mut body);
                    }
                    let text = self.expression(value, &path.values);
                    path.values.insert(*local, text);
                }
                ParserAction::Rest(_) => {}
            }
        }
        if let Some(chunk) = self.chunk(&mut run, &mut path, true) {
            match self.looks_ahead(&block.step, chunk, &path) {
                true => path.unread = Some(chunk),
                false => self.extract(chunk, &mut path, &mut body),
            }
        }
        match &block.step {
            ParserStep::Generate(event) => {
                self.put(block.span, format!("state {state} {{ {body}"));
                self.generate(event, block.span, path);
                self.put(block.span, "transition accept; }");
            }
            step => {
                let transition = self.step(name, step, path, calls);
                self.put(block.span, format!("state {state} {{ {body} {transition} }}"));
            }
        }
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

    /// A header for the fields that were read, if they are whole bytes or nothing more comes. States of one block share
    /// their headers, since no path has two of them.
    fn chunk(
        &mut self,
        run: &mut Run<'_>,
        path: &mut ParserPath,
        is_last: bool,
    ) -> Option<ChunkId> {
        let bits: u32 = run.fields.iter().map(|(_, _, width_bits)| width_bits).sum();
        if bits == 0 {
            return None;
        }
        if !bits.is_multiple_of(8) {
            if is_last {
                self.refuse(
                    run.block.span,
                    &format!("this part of the parser reads {bits} bits, no whole number of bytes"),
                    "read the bits up to the next whole byte before the `match`",
                );
                run.fields.clear();
            }
            return None;
        }
        let key = (std::ptr::from_ref(run.block), run.number);
        run.number += 1;
        let id = match self.chunks_of.get(&key) {
            Some(known) => *known,
            None => {
                let number = self.chunks.len();
                self.chunks.push(Chunk {
                    span: run.block.span,
                    ty: self.context.names.fresh(&format!("{}_{number}_h", run.name)),
                    name: format!("read{number}_{}", crate::names::identifier(run.name)),
                    fields: run
                        .fields
                        .iter()
                        .map(|(_, name, bits)| (name.clone(), *bits))
                        .collect(),
                });
                self.chunks_of.insert(key, ChunkId(number as u32));
                ChunkId(number as u32)
            }
        };
        for (local, field, _) in run.fields.drain(..) {
            if let Some(local) = local {
                path.values.insert(local, self.chunks[id.0 as usize].field(&field));
            }
        }
        Some(id)
    }

    fn extract(&self, chunk: ChunkId, path: &mut ParserPath, body: &mut String) {
        body.push_str(&format!("pkt.extract({});", self.chunks[chunk.0 as usize].header()));
        path.read.push(chunk);
    }

    /// Whether the branches of a `match` read a header after it was decided on: on some of them the header belongs to
    /// no event of this parser.
    fn looks_ahead(&self, step: &ParserStep, chunk: ChunkId, path: &ParserPath) -> bool {
        let ParserStep::Match { subjects, branches } = step else { return false };
        branches.iter().any(|(_, block)| finds_event(block))
            && subjects.iter().all(|subject| {
                let ExpressionKind::Local(local) = &subject.kind else { return false };
                let text = path.values.get(local);
                text.is_some_and(|text| self.ahead(chunk, text).is_some())
            })
    }

    /// A field of a header that lies at the parser's position, before the header is extracted.
    fn ahead(&self, chunk: ChunkId, field: &str) -> Option<String> {
        let chunk = &self.chunks[chunk.0 as usize];
        let mut end_bits = 0;
        for (name, width_bits) in &chunk.fields {
            end_bits += width_bits;
            if chunk.field(name) == field {
                return Some(match *width_bits == end_bits {
                    true => format!("pkt.lookahead<bit<{end_bits}>>()"),
                    false => format!("pkt.lookahead<bit<{end_bits}>>()[{}:0]", width_bits - 1),
                });
            }
        }
        None
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

    fn step(&mut self, name: &str, step: &ParserStep, path: ParserPath, calls: u32) -> String {
        match step {
            ParserStep::Drop | ParserStep::Generate(_) => "transition reject;".into(),
            ParserStep::LucidEvent => {
                self.wants_number = true;
                self.again.extend(path.read);
                "transition lucid_event;".into()
            }
            ParserStep::Call { parser, arguments } => {
                let mut handed = HashMap::new();
                for (at, argument) in arguments.iter().enumerate() {
                    if argument.ty != Type::Payload {
                        handed.insert(LocalId(at as u32), self.expression(argument, &path.values));
                    }
                }
                let next = self.parser(*parser, ParserPath { values: handed, ..path }, calls + 1);
                format!("transition {next};")
            }
            ParserStep::Match { subjects, branches } => {
                self.select(name, subjects, branches, &path, calls)
            }
        }
    }

    fn select(
        &mut self,
        name: &str,
        subjects: &[Expression],
        branches: &[(Vec<Pattern>, ParserBlock)],
        path: &ParserPath,
        calls: u32,
    ) -> String {
        let widths: Vec<u32> = subjects.iter().map(|subject| wire_bits(subject.ty)).collect();
        let subjects: Vec<String> =
            subjects.iter().map(|subject| self.expression(subject, &path.values)).collect();
        let texts: Vec<String> = (subjects.iter().zip(&widths))
            .flat_map(|(subject, width_bits)| {
                let ahead = path.unread.and_then(|chunk| self.ahead(chunk, subject));
                let text = ahead.unwrap_or_else(|| subject.clone());
                pieces(*width_bits).map(move |(low, bits)| match bits == *width_bits {
                    true => text.clone(),
                    false if text.contains(' ') => format!("({text})[{}:{low}]", low + bits - 1),
                    false => format!("{text}[{}:{low}]", low + bits - 1),
                })
            })
            .collect();
        let mut cases = String::new();
        for (patterns, block) in branches {
            let mut path = path.clone();
            for ((pattern, subject), width_bits) in patterns.iter().zip(&subjects).zip(&widths) {
                if pattern.mask & super::context::ones(*width_bits)
                    == super::context::ones(*width_bits)
                {
                    path.known.insert(subject.clone(), literal(pattern.value, *width_bits));
                }
            }
            let next = deep(|| self.block(name, block, path, calls));
            let keysets: Vec<String> = patterns
                .iter()
                .zip(&widths)
                .flat_map(|(pattern, width_bits)| {
                    pieces(*width_bits)
                        .map(|(low, bits)| keyset(pattern.value >> low, pattern.mask >> low, bits))
                })
                .collect();
            let keyset = match keysets.as_slice() {
                [one] => one.clone(),
                many => format!("({})", many.join(", ")),
            };
            cases.push_str(&format!("{keyset} : {next};"));
        }
        let covers =
            branches.iter().any(|(patterns, _)| patterns.iter().all(|pattern| pattern.mask == 0));
        if !covers {
            cases.push_str("default : reject;");
        }
        format!("transition select({}) {{ {cases} }}", texts.join(", "))
    }

    /// Leaves an empty piece for what makes the event: it depends on all places that make this event.
    fn generate(&mut self, event: &Expression, span: Span, path: ParserPath) {
        let ExpressionKind::Event { event: id, arguments } = &event.kind else { return };
        let mut given = BTreeMap::new();
        for (at, argument) in (0..).zip(arguments) {
            if argument.ty != Type::Payload {
                given.insert(at, self.expression(argument, &path.values));
            } else if matches!(argument.kind, ExpressionKind::EmptyPayload) {
                self.refuse(
                    span,
                    "the rest of a packet cannot be cut off here",
                    "hand the packet's payload to the event: `Payload.parse(packet)`",
                );
            }
        }
        let ParserPath { read, known, .. } = path;
        let generated = Generated { event: *id, arguments: given, read, known };
        self.generated.push((generated, self.pieces.len()));
        self.put(span, "");
    }

    /// Decides in which headers events come in, and fills in what makes them.
    pub(super) fn finish_generated(&mut self) {
        let places = std::mem::take(&mut self.generated);
        let generated: Vec<Generated> = places.iter().map(|(one, _)| one.clone()).collect();
        let options = self.context.options;
        // The user's P4 finds each event in a header of its own.
        if options.before.is_none() && options.after.is_none() {
            let events = &self.context.events;
            self.context.events.parsed =
                parsed_events::of(events, &self.chunks, &generated, &self.again);
        }
        for (one, piece) in &places {
            self.pieces[*piece].1 = self.made(one);
        }
    }

    /// What makes an event.
    fn made(&mut self, made: &Generated) -> String {
        let (id, arguments) = (made.event, &made.arguments);
        let header = self.context.events.event(id).clone();
        let mut body = String::new();
        if !self.context.events.parsed.contains_key(&id) {
            if header.ty.is_some() {
                body.push_str(&format!("{}.setValid();", self.context.events.incoming_header(id)));
            }
            for (at, value) in arguments {
                let field = self.context.events.incoming(Gress::Ingress, id, *at);
                body.push_str(&format!("{field} = {value};"));
            }
        }
        if header.is_handled {
            let value = |parameter| arguments.get(&parameter).cloned().unwrap_or_default();
            body.push_str(&self.context.set_indexes(id, value));
            body.push_str(&format!("ig_md.dispatched = {};", header.number));
            body.push_str(&super::validity::begin(self.context, id));
        } else {
            // It leaves the network here, in a frame where it is no packet event.
            self.context.events.passing.insert(id);
            let route = if header.is_bare { Route::OutsideBare } else { Route::Outside };
            body.push_str(&format!("ig_md.route = {};", route as u32));
            if header.padding_bits > 0 {
                let incoming = self.context.events.incoming_header(id);
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
        body
    }
}

/// Whether a block only goes on to a whole event on the wire.
fn finds_event(block: &ParserBlock) -> bool {
    block.actions.is_empty() && matches!(block.step, ParserStep::LucidEvent)
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
