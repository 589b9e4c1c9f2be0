// SPDX-License-Identifier: Apache-2.0
//! The parser: frames of events by their ether type at the usual place; everything else by the
//! program's parser `main`, state by state. A packet that is too short, and one that no branch
//! matches, becomes no event.

use super::context::Context;
use super::shapes::Chunk;
use crate::addressed;
use crate::expressions::{self, BuiltIn, Environment, literal, type_text, wire_bits};
use crate::names::{Names, identifier};
use crate::wire::FRAME_BYTES;
use lucid::core::arithmetic::mask;
use lucid::core::{
    EventId, Expression, ExpressionKind, LocalId, Parser, ParserAction, ParserBlock, ParserId,
    ParserStep, Pattern, Type,
};
use source::Span;
use std::collections::BTreeMap;

/// Writes the parser.
pub(super) fn write(context: &mut Context<'_>) {
    let mut states = States {
        context,
        names: super::interface::INTERFACE.names(),
        states: Vec::new(),
        declarations: Vec::new(),
        entered: BTreeMap::new(),
        waiting: Vec::new(),
        reads_events: false,
        is_addressed: false,
    };
    for name in
        ["frame", "read_frame", "read_number", "select_event", "for_switch", "addressed_packet"]
    {
        states.names.fresh(name);
    }
    let main = states.context.program.main_parser;
    let other = match main {
        Some(main) => states.enter(main, 0).state.clone(),
        None => "accept".to_string(),
    };
    let addressed = states.addressed();
    while let Some((parser, pending, is_addressed)) = states.waiting.pop() {
        states.is_addressed = is_addressed;
        states.parser(parser, pending);
    }
    let events = states.events();
    let States { states, declarations, reads_events, .. } = states;
    // A frame is this long at least, so a shorter packet is none.
    let short = FRAME_BYTES as u32;
    context.put(
        Span::NONE,
        "parser packet_parser(packet_in packet, out headers_t hdr, inout metadata_t meta, \
         inout standard_metadata_t standard_metadata) {",
    );
    if addressed.is_some() {
        context.put(Span::NONE, "@name(\".this_switch\") value_set<bit<32>>(1) this_switch;");
    }
    context.pieces.extend(declarations);
    context.put(
        Span::NONE,
        format!(
            "state start {{ transition select(standard_metadata.packet_length) {{ \
             32w0 &&& {:#x}: {other}; default: frame; }} }} \
             state frame {{ transition select(packet.lookahead<bit<112>>()[15:0]) {{ \
             ETHERTYPE_LUCID: read_frame; default: {other}; }} }} \
             state read_frame {{ packet.extract(hdr.frame); meta.event = hdr.frame.number; \
             transition {}; }}",
            !(short - 1),
            addressed.as_ref().map_or("select_event", |(transition, _)| transition)
        ),
    );
    if let Some((_, states)) = addressed {
        context.put(Span::NONE, states);
    }
    if reads_events {
        context.put(
            Span::NONE,
            "state read_number { meta.event = packet.lookahead<bit<16>>(); packet.advance(16); \
             transition select_event; }",
        );
    }
    context.pieces.extend(events);
    context.pieces.extend(states);
    context.put(Span::NONE, "}");
    let comment = "Frames of events, and packets as the program's parser `main` reads them.";
    context.comments.push(("packet_parser".to_string(), comment.to_string()));
}

/// A parser of the program, entered with some bits of a byte already read.
#[derive(Clone)]
struct Entry {
    state: String,
    /// Variables of its locals; a payload has none.
    locals: Vec<String>,
}

struct States<'c, 'p> {
    context: &'c mut Context<'p>,
    names: Names,
    states: Vec<super::context::Piece>,
    declarations: Vec<super::context::Piece>,
    entered: BTreeMap<(ParserId, u32, bool), Entry>,
    waiting: Vec<(ParserId, u32, bool)>,
    reads_events: bool,
    /// Whether the states being written read a packet event that came to this switch by its number, and ask for the
    /// port: it is 0.
    is_addressed: bool,
}

impl<'p> States<'_, 'p> {
    /// The states that read each event's parameters.
    fn events(&mut self) -> Vec<super::context::Piece> {
        let mut pieces = Vec::new();
        let mut choices = String::new();
        for (at, event) in self.context.program.events.iter().enumerate() {
            let shape = self.context.shapes.event(EventId(at as u32));
            let Some((_, header)) = &shape.header else {
                choices.push_str(&format!("{}: accept;", shape.constant));
                continue;
            };
            let state = self.names.fresh(&format!("read_{header}"));
            choices.push_str(&format!("{}: {state};", shape.constant));
            let text =
                format!("state {state} {{ packet.extract(hdr.{header}); transition accept; }}");
            pieces.push((event.span, text));
        }
        let text = format!(
            "state select_event {{ transition select(meta.event) {{ {choices} \
             default: accept; }} }}"
        );
        pieces.insert(0, (Span::NONE, text));
        pieces
    }

    /// How a frame goes on, and the states that read a packet event that is due at this switch by its number: the
    /// parser `main` reads what is behind the frame. `None` if there are no such events.
    fn addressed(&mut self) -> Option<(String, String)> {
        let main = self.context.program.main_parser.filter(|_| self.context.addresses_packets)?;
        self.is_addressed = addressed::parsers_ask_for_port(self.context.program);
        let next = self.enter(main, 0).state.clone();
        self.is_addressed = false;
        let bare = self.context.shapes.events.iter().filter(|shape| shape.is_bare);
        let cases: String = bare
            .map(|shape| format!("(PLACE_SWITCH, 0, {}): for_switch;", shape.constant))
            .collect();
        let transition = format!(
            "select(hdr.frame.place_kind, hdr.frame.delay_ns, hdr.frame.number) {{ {cases} \
             default: select_event; }}"
        );
        let states = format!(
            "state for_switch {{ transition select(hdr.frame.place) {{ \
             this_switch: addressed_packet; default: select_event; }} }} \
             state addressed_packet {{ meta.addressed = 1; meta.event = 0; transition {next}; }}"
        );
        Some((transition, states))
    }

    fn enter(&mut self, parser: ParserId, pending: u32) -> &Entry {
        let key = (parser, pending, self.is_addressed);
        let known = self.entered.contains_key(&key);
        if !known {
            let declared = &self.context.program.parsers[parser.0 as usize];
            let state = self.names.fresh(&format!("parse_{}", identifier(&declared.name)));
            let mut locals = Vec::new();
            for local in &declared.locals {
                let name = self.names.fresh(&format!(
                    "{}_{}",
                    identifier(&declared.name),
                    identifier(&local.name)
                ));
                if matches!(local.ty, Type::Int(_) | Type::Bool) {
                    let text = format!("{} {name};", type_text(local.ty));
                    self.declarations.push((local.span, text));
                }
                locals.push(name);
            }
            self.entered.insert(key, Entry { state, locals });
            self.waiting.push(key);
        }
        &self.entered[&key]
    }

    fn parser(&mut self, id: ParserId, pending: u32) {
        let declared: &'p Parser = &self.context.program.parsers[id.0 as usize];
        let entry = self.entered[&(id, pending, self.is_addressed)].clone();
        self.block(declared, &entry, &declared.block, entry.state.clone(), pending, true);
    }

    /// A state for each block; bits that are read but not yet taken from the packet are `pending`.
    fn block(
        &mut self,
        parser: &'p Parser,
        entry: &Entry,
        block: &'p ParserBlock,
        state: String,
        mut pending: u32,
        first: bool,
    ) {
        let mut text = format!("state {state} {{");
        if first {
            // The interpreter begins with zeros each time.
            for (at, local) in parser.locals.iter().enumerate() {
                let written_first = at < parser.parameter_count as usize
                    || always_written(&parser.block, LocalId(at as u32));
                match local.ty {
                    _ if written_first => {}
                    Type::Int(_) => text.push_str(&format!("{} = 0;", entry.locals[at])),
                    Type::Bool => text.push_str(&format!("{} = false;", entry.locals[at])),
                    _ => {}
                }
            }
        }
        let mut at = 0;
        while at < block.actions.len() {
            match &block.actions[at] {
                ParserAction::Read(_) => {
                    let mut locals = Vec::new();
                    while let Some(ParserAction::Read(more)) = block.actions.get(at) {
                        locals.extend(more.iter().copied());
                        at += 1;
                    }
                    text.push_str(&self.read(parser, entry, block.span, &locals, &mut pending));
                    continue;
                }
                ParserAction::Skip(bits) => {
                    let all = pending + bits;
                    if !all.is_multiple_of(8) {
                        // Takes note of a packet that ends within the last byte.
                        text.push_str(&format!("packet.lookahead<bit<{all}>>();"));
                    }
                    if all / 8 > 0 {
                        text.push_str(&format!("packet.advance({});", all / 8 * 8));
                    }
                    pending = all % 8;
                }
                ParserAction::Assign(local, value) => {
                    let mut inside = Inside { states: self, locals: &entry.locals };
                    if value.ty != Type::Payload {
                        let value = expressions::text(value, &mut inside);
                        text.push_str(&format!("{} = {value};", entry.locals[local.0 as usize]));
                    }
                }
                ParserAction::Rest(_) => {
                    if pending > 0 {
                        self.context.refuse(
                            block.span,
                            "the rest of the packet begins within a byte",
                            "read or skip whole bytes in front of it",
                        );
                    }
                }
            }
            at += 1;
        }
        self.step(parser, entry, block, text, pending);
    }

    /// Reads fields one after the other.
    fn read(
        &mut self,
        parser: &'p Parser,
        entry: &Entry,
        span: Span,
        locals: &[LocalId],
        pending: &mut u32,
    ) -> String {
        let width = |local: LocalId| wire_bits(parser.locals[local.0 as usize].ty);
        let bits: u32 = locals.iter().map(|local| width(*local)).sum();
        let assign = |local: LocalId, value: String| {
            let name = &entry.locals[local.0 as usize];
            match parser.locals[local.0 as usize].ty {
                Type::Bool => format!("{name} = {value} == 1;"),
                _ => format!("{name} = {value};"),
            }
        };
        let mut text = String::new();
        if *pending == 0 && bits.is_multiple_of(8) {
            let name = self.context.shapes.names.fresh(&format!("{}_header", parser.name));
            let ty = self.context.names.fresh(&format!("{name}_t"));
            let mut fields = Names::default();
            let mut declaration = format!("header {ty} {{");
            text.push_str(&format!("packet.extract(hdr.{name});"));
            for local in locals {
                let field = fields.fresh(&parser.locals[local.0 as usize].name);
                declaration.push_str(&format!("bit<{}> {field};", width(*local)));
                text.push_str(&assign(*local, format!("hdr.{name}.{field}")));
            }
            declaration.push('}');
            self.context.shapes.chunks.push(Chunk { span, ty, declaration, name });
            return text;
        }
        let all = *pending + bits;
        let ahead = self.names.fresh("ahead");
        self.declarations.push((span, format!("bit<{all}> {ahead};")));
        text.push_str(&format!("{ahead} = packet.lookahead<bit<{all}>>();"));
        let mut low = bits;
        for local in locals {
            low -= width(*local);
            let high = low + width(*local) - 1;
            text.push_str(&assign(*local, format!("{ahead}[{high}:{low}]")));
        }
        if all / 8 > 0 {
            text.push_str(&format!("packet.advance({});", all / 8 * 8));
        }
        *pending = all % 8;
        text
    }

    /// How a block ends.
    fn step(
        &mut self,
        parser: &'p Parser,
        entry: &Entry,
        block: &'p ParserBlock,
        mut text: String,
        pending: u32,
    ) {
        let span = block.span;
        match &block.step {
            ParserStep::Match { subjects, branches } => {
                let mut inside = Inside { states: self, locals: &entry.locals };
                let values: Vec<String> = subjects
                    .iter()
                    .map(|subject| expressions::bits(subject, &mut inside))
                    .collect();
                let widths: Vec<u32> =
                    subjects.iter().map(|subject| wire_bits(subject.ty)).collect();
                text.push_str(&format!("transition select({}) {{", values.join(", ")));
                let mut next = Vec::new();
                let mut matches_all = false;
                for (patterns, branch) in branches {
                    let state = self.names.fresh(&format!("parse_{}", parser.name));
                    matches_all |= patterns.iter().all(|pattern| pattern.mask == 0);
                    text.push_str(&format!("{}: {state};", keyset(patterns, &widths)));
                    next.push((state, branch));
                    if matches_all {
                        break;
                    }
                }
                if !matches_all {
                    // Without an event the packet is dropped.
                    text.push_str("default: accept;");
                }
                text.push_str("} }");
                self.states.push((span, text));
                for (state, branch) in next {
                    self.block(parser, entry, branch, state, pending, false);
                }
                return;
            }
            ParserStep::Generate(event) => self.generate(entry, event, &mut text),
            ParserStep::Call { parser: called, arguments } => {
                let next = self.enter(*called, pending).clone();
                let mut values = Vec::new();
                for argument in arguments {
                    let mut inside = Inside { states: self, locals: &entry.locals };
                    values.push(
                        (argument.ty != Type::Payload)
                            .then(|| expressions::text(argument, &mut inside)),
                    );
                }
                let own = std::ptr::eq(parser, &self.context.program.parsers[called.0 as usize]);
                // A parser that calls itself reads its locals while it sets them.
                if own && values.len() > 1 {
                    for (at, value) in values.iter_mut().enumerate() {
                        if let Some(value) = value {
                            let ty = type_text(parser.locals[at].ty);
                            let name = self.names.fresh("handed");
                            self.declarations.push((span, format!("{ty} {name};")));
                            text.push_str(&format!("{name} = {value};"));
                            *value = name;
                        }
                    }
                }
                for (name, value) in next.locals.iter().zip(values) {
                    if let Some(value) = value {
                        text.push_str(&format!("{name} = {value};"));
                    }
                }
                text.push_str(&format!("transition {};", next.state));
            }
            ParserStep::LucidEvent => {
                if pending > 0 {
                    self.context.refuse(
                        span,
                        "the event begins within a byte",
                        "read or skip whole bytes in front of it",
                    );
                }
                self.reads_events = true;
                text.push_str("transition read_number;");
            }
            ParserStep::Drop => text.push_str("transition accept;"),
        }
        text.push('}');
        self.states.push((span, text));
    }

    fn generate(&mut self, entry: &Entry, event: &Expression, text: &mut String) {
        let ExpressionKind::Event { event, arguments } = &event.kind else {
            self.impossible(event.span);
            return;
        };
        let mut values = Vec::new();
        for argument in arguments {
            match &argument.kind {
                ExpressionKind::EmptyPayload => {
                    self.context.empties_payload = true;
                    text.push_str("meta.empty = 1;");
                }
                _ if argument.ty == Type::Payload => {}
                _ => {
                    let mut inside = Inside { states: self, locals: &entry.locals };
                    values.push(expressions::bits(argument, &mut inside));
                }
            }
        }
        let shape = self.context.shapes.event(*event);
        if shape.padding_bits > 0 {
            values.push(literal(0, shape.padding_bits));
        }
        if let Some((_, header)) = &shape.header {
            text.push_str(&format!("hdr.{header} = {{ {} }};", values.join(", ")));
        }
        text.push_str(&format!("meta.event = {}; transition accept;", shape.constant));
    }

    fn impossible(&mut self, span: Span) {
        self.context.refuse(
            span,
            "a parser on this target cannot compute this",
            "generate an event with what was read, and compute in its handler",
        );
    }
}

/// Whether a local is surely set before the block's first branch ends, so that it needs no zero.
fn always_written(block: &ParserBlock, local: LocalId) -> bool {
    block.actions.iter().any(|action| match action {
        ParserAction::Read(locals) => locals.contains(&local),
        ParserAction::Assign(to, _) | ParserAction::Rest(to) => *to == local,
        ParserAction::Skip(_) => false,
    })
}

fn keyset(patterns: &[Pattern], widths: &[u32]) -> String {
    let texts: Vec<String> = patterns
        .iter()
        .zip(widths)
        .map(|(pattern, width_bits)| match pattern.mask {
            0 => "_".to_string(),
            bits if bits == mask(*width_bits) => literal(pattern.value, *width_bits),
            bits => {
                format!(
                    "{} &&& {}",
                    literal(pattern.value, *width_bits),
                    literal(bits, *width_bits)
                )
            }
        })
        .collect();
    match texts.as_slice() {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    }
}

/// What an expression of a parser sees.
struct Inside<'a, 'c, 'p> {
    states: &'a mut States<'c, 'p>,
    locals: &'a [String],
}

impl Environment for Inside<'_, '_, '_> {
    fn local(&mut self, local: LocalId) -> String {
        self.locals[local.0 as usize].clone()
    }

    fn built_in(&mut self, value: BuiltIn, span: Span) -> (String, u32) {
        match value {
            BuiltIn::IngressPort if self.states.is_addressed => (literal(0, 9), 9),
            BuiltIn::IngressPort => (self.states.context.parser_ingress_port().to_string(), 9),
            _ => {
                self.states.impossible(span);
                (literal(0, 32), 32)
            }
        }
    }

    fn hash(&mut self, _: u32, _: &[(String, u32)], width_bits: u32, span: Span) -> String {
        self.states.impossible(span);
        literal(0, width_bits)
    }

    fn checksum(&mut self, _: &[(String, u32)], span: Span) -> String {
        self.states.impossible(span);
        literal(0, 16)
    }

    fn impossible(&mut self, span: Span) {
        self.states.impossible(span);
    }
}
