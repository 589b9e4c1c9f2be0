// SPDX-License-Identifier: Apache-2.0
//! The ingress parser tells what a packet is (an event that is to be handled here and now, one on its
//! way, a packet for the program's parser `main`). Frames are as [`crate::compile::wire`] says; what
//! egress reads is in `egress_parser`.

use super::bridge::TASK_LEAVE;
use super::codes::NOT_ON_TARGET;
use super::context::Context;
use super::events::Chunk;
use super::scheduler::spreads;
use super::scheduler_tables::Route;
use crate::compile::Delay;
use crate::compile::expressions::{self, BuiltIn, Environment, literal, wire_bits};
use crate::compile::names::Names;
use crate::compile::normal::walk::deep;
use crate::core::{
    EventId, Expression, ExpressionKind, LocalId, ParserAction, ParserBlock, ParserId, ParserStep,
    Pattern, Type,
};
use source::{Diagnostic, Span};
use std::collections::HashMap;

/// How deep parsers may call one another; a circle of calls ends here.
const MOST_CALLS: u32 = 64;

/// The ingress parser, and the headers that the program's parsers read.
pub(super) fn ingress(context: &mut Context<'_>) -> Vec<Chunk> {
    let mut states = States {
        names: Names::new(&[
            "start",
            "frame",
            "to_switch",
            "for_this_switch",
            "here",
            "addressed",
            "leave",
            "due",
            "lucid_event",
            "accept",
            "reject",
            "outside",
            "outside_bare",
            "outside_leaves",
            "unframe",
            "delayed",
            "elsewhere",
            "leave_port",
            "leave_port_bare",
            "leave_group",
            "leave_group_bare",
            "leave_flood",
            "leave_flood_bare",
            "leave_switches",
            "pause",
            "release",
            "came_round",
            "came_first",
            "here_again",
            "addressed_again",
            "from_here_again",
            "later_again",
            "to_other",
            "from_here",
            "later",
            "waited",
            "again",
        ]),
        context,
        pieces: Vec::new(),
        chunks: Vec::new(),
        event_states: HashMap::new(),
        wants_number: false,
    };
    let main = states.context.program.main_parser;
    let other = match main {
        Some(parser) => states.parser(parser, HashMap::new(), 0),
        None => "reject".to_string(),
    };
    states.frames(&other);
    let States { pieces, chunks, .. } = states;
    context.put(
        Span::NONE,
        "parser IngressParser(packet_in pkt, out headers_t hdr, out ig_md_t ig_md, \
         out ingress_intrinsic_metadata_t ig_intr_md) { value_set<bit<32>>(1) this_switch;",
    );
    if context.options.own_recirculation_ports {
        context.put(Span::NONE, "value_set<PortId_t>(1) own_recirculation_port;");
    }
    context.pieces.extend(pieces);
    context.put(Span::NONE, "}");
    chunks
}

struct States<'c, 'p> {
    names: Names,
    context: &'c mut Context<'p>,
    pieces: Vec<(Span, String)>,
    chunks: Vec<Chunk>,
    event_states: HashMap<EventId, String>,
    wants_number: bool,
}

/// What the locals of a parser are on the way to a state.
struct ParserNames<'a> {
    values: &'a HashMap<LocalId, String>,
    /// Whether switches have recirculation ports of their own, which parsers do not know.
    own_ports: bool,
    impossible: Vec<Span>,
}

impl Environment for ParserNames<'_> {
    fn local(&mut self, local: LocalId) -> String {
        self.values.get(&local).cloned().unwrap_or_else(|| "0".to_string())
    }

    fn built_in(&mut self, value: BuiltIn, span: Span) -> (String, u32) {
        match value {
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
    fn put(&mut self, span: Span, text: impl Into<String>) {
        self.pieces.push((span, text.into()));
    }

    fn refuse(&mut self, span: Span, what: &str, help: &str) {
        self.context.found.push(Diagnostic::error(NOT_ON_TARGET, span, what).help(help));
    }

    /// States that read a frame; other packets go on in `other`.
    fn frames(&mut self, other: &str) {
        let route = |route: Route| format!("ig_md.route = {};", route as u32);
        let ether_type = "pkt.lookahead<bit<112>>()[15:0]";
        let select = match self.context.options.delay {
            Delay::Queue => format!(
                "select(ig_intr_md.ingress_port, {ether_type}) {{ (_, ETHERTYPE_LUCID) : frame; \
                 (GENERATOR_PORT, ETHERTYPE_FLOW_CONTROL) : pause; default : {other}; }}"
            ),
            Delay::Recirculation => {
                format!("select({ether_type}) {{ ETHERTYPE_LUCID : frame; default : {other}; }}")
            }
        };
        self.put(
            Span::NONE,
            format!(
                "state start {{ pkt.extract(ig_intr_md); pkt.advance(PORT_METADATA_SIZE); \
                 hdr.bridge.setValid(); ig_md.ingress_port = ig_intr_md.ingress_port; \
                 transition {select} }}"
            ),
        );
        if self.context.options.delay == Delay::Queue {
            for state in super::generator::states(&route(Route::Pause)) {
                self.put(Span::NONE, state);
            }
        }
        let waits = route(Route::Wait);
        let delayed = match self.context.options.has_stamps() {
            false => format!("state delayed {{ {waits} transition accept; }}"),
            // What came round has the time when it left egress in its source address; one that comes for
            // the first time, out of several copies for instance, has none.
            true => format!(
                "state delayed {{ {waits} transition select(hdr.frame.source_kind) {{ \
                 SOURCE : came_first; default : came_round; }} }} \
                 state came_first {{ hdr.bridge.arrived_ns = ig_intr_md.ingress_mac_tstamp[15:0]; \
                 transition accept; }} \
                 state came_round {{ hdr.bridge.arrived_ns = hdr.frame.source_kind; \
                 transition accept; }}"
            ),
        };
        let later = match self.context.events.has_egress() {
            true => "PLACE_LATER : later;",
            false => "",
        };
        let texts = [
            format!(
                "state frame {{ pkt.extract(hdr.frame); transition select(hdr.frame.place_kind) {{ \
                 PLACE_SWITCH : to_switch; PLACE_PORT : addressed; PLACE_GROUP : addressed; \
                 PLACE_FLOOD : addressed; PLACE_SWITCHES : addressed; {later} default : here; }} }}"
            ),
            "state to_switch { transition select(hdr.frame.place) { this_switch : for_this_switch; \
             default : to_other; } }"
                .to_string(),
            // It arrives at port 0 (see `crate::simulation`).
            "state for_this_switch { ig_md.ingress_port = 0; transition here; }".to_string(),
            // It waits where it was generated, and comes to other switches without a delay.
            format!(
                "state to_other {{ transition select(ig_intr_md.ingress_port) {{ \
                 {} : from_here; default : elsewhere; }} }} {}",
                self.context.back_keyset(),
                self.by_delay("from_here", "elsewhere")
            ),
            format!("state elsewhere {{ {} transition accept; }}", route(Route::Elsewhere)),
            delayed,
            self.by_delay("here", "due"),
            self.by_delay("addressed", "leave"),
        ];
        for text in texts {
            self.put(Span::NONE, text);
        }
        if !later.is_empty() {
            self.later();
        }
        self.leave();
        self.due();
    }

    /// A state that sends on what has a delay left; one that another switch or host wrote does not count.
    fn by_delay(&self, name: &str, due: &str) -> String {
        match self.context.options.has_stamps() {
            false => format!(
                "state {name} {{ transition select(hdr.frame.source_kind, hdr.frame.delay_ns) {{ \
                 (SOURCE, 0) : {due}; (SOURCE, _) : delayed; default : {due}; }} }}"
            ),
            true => format!(
                "state {name} {{ transition select(hdr.frame.source_kind, hdr.frame.delay_ns) {{ \
                 (_, 0) : {due}; (SOURCE, _) : delayed; default : {name}_again; }} }} \
                 state {name}_again {{ transition select(ig_intr_md.ingress_port) {{ \
                 {} : delayed; default : {due}; }} }}",
                self.context.back_keyset()
            ),
        }
    }

    /// What has waited meets its egress handler on one more way round.
    fn later(&mut self) {
        let events = self.context.events.events.iter();
        let events = events.filter(|event| event.meets_egress_going_round());
        let cases: String = events.map(|event| format!("{} : again;", event.number)).collect();
        let route = Route::Again as u32;
        let by_delay = self.by_delay("later", "waited");
        self.put(
            Span::NONE,
            format!(
                "state again {{ ig_md.route = {route}; transition accept; }} {by_delay} \
                 state waited {{ transition select(hdr.frame.number) {{ {cases} default : due; }} }}"
            ),
        );
    }

    /// By which ports, with or without the frame.
    fn leave(&mut self) {
        let bare: Vec<u32> = self
            .context
            .events
            .events
            .iter()
            .filter(|one| one.is_bare)
            .map(|one| one.number)
            .collect();
        let ways = [
            ("PORT", Route::PortBare, Route::Port),
            ("GROUP", Route::GroupBare, Route::Group),
            ("FLOOD", Route::FloodBare, Route::Flood),
        ];
        let mut cases = String::new();
        for (name, bare_route, route) in ways {
            let mut ends = vec![(name.to_lowercase(), route)];
            if !bare.is_empty() {
                ends.push((format!("{}_bare", name.to_lowercase()), bare_route));
            }
            for number in &bare {
                cases.push_str(&format!(
                    "(PLACE_{name}, {number}) : leave_{}_bare;",
                    name.to_lowercase()
                ));
            }
            cases.push_str(&format!("(PLACE_{name}, _) : leave_{};", name.to_lowercase()));
            for (end, route) in ends {
                self.put(
                    Span::NONE,
                    format!(
                        "state leave_{end} {{ ig_md.route = {}; transition accept; }}",
                        route as u32
                    ),
                );
            }
        }
        if spreads(self.context.atomic) {
            cases.push_str("(PLACE_SWITCHES, _) : leave_switches;");
            self.put(
                Span::NONE,
                format!(
                    "state leave_switches {{ ig_md.route = {}; transition accept; }}",
                    Route::Switches as u32
                ),
            );
        }
        self.put(
            Span::NONE,
            format!(
                "state leave {{ transition select(hdr.frame.place_kind, hdr.frame.number) {{ {cases} \
                 default : reject; }} }}"
            ),
        );
    }

    /// An event that is to be handled.
    fn due(&mut self) {
        let events = self.context.events.events.clone();
        let back = self.context.back_keyset();
        let mut cases = String::new();
        if events.iter().any(|event| event.is_bare) {
            let route = Route::Unframe as u32;
            self.put(
                Span::NONE,
                format!("state unframe {{ ig_md.route = {route}; transition accept; }}"),
            );
        }
        let mut outside = Vec::new();
        for (at, event) in events.iter().enumerate() {
            let id = EventId(at as u32);
            // No exit event is a packet event.
            let next = match (event.is_exit, event.is_bare, event.is_handled) {
                (true, _, false) if !event.has_egress => "outside".to_string(),
                (true, _, is_handled) => {
                    // Its own leave, those of others are handled.
                    let there = if is_handled { self.event_state(id) } else { "outside".into() };
                    let state = self.names.fresh(&format!("exit_{}", event.name));
                    let own = if event.has_egress { "outside_leaves" } else { "outside" };
                    outside.extend([own, "outside"]);
                    self.put(
                        Span::NONE,
                        format!(
                            "state {state} {{ transition select(ig_intr_md.ingress_port) {{ \
                             {back} : {own}; default : {there}; }} }}"
                        ),
                    );
                    state
                }
                (false, true, _) => "unframe".to_string(),
                (false, false, true) => self.event_state(id),
                (false, false, false) => "outside".to_string(),
            };
            if next == "outside" {
                outside.push("outside");
            }
            cases.push_str(&format!("{} : {next};", event.number));
        }
        let route = Route::Outside as u32;
        if outside.contains(&"outside") {
            self.put(
                Span::NONE,
                format!("state outside {{ ig_md.route = {route}; transition accept; }}"),
            );
        }
        if outside.contains(&"outside_leaves") {
            self.put(
                Span::NONE,
                format!(
                    "state outside_leaves {{ ig_md.route = {route}; hdr.bridge.task = {TASK_LEAVE}; \
                     transition accept; }}"
                ),
            );
        }
        let handled = Route::Handled as u32;
        self.put(
            Span::NONE,
            format!(
                "state due {{ ig_md.route = {handled}; transition select(hdr.frame.number) {{ {cases} \
                 default : reject; }} }}"
            ),
        );
        if self.wants_number {
            let mut cases = String::new();
            for (at, event) in events.iter().enumerate() {
                if event.is_handled {
                    let state = self.event_state(EventId(at as u32));
                    cases.push_str(&format!("{} : {state};", event.number));
                }
            }
            self.put(
                Span::NONE,
                format!(
                    "state lucid_event {{ pkt.extract(hdr.number); \
                     transition select(hdr.number.number) {{ {cases} default : reject; }} }}"
                ),
            );
        }
    }

    /// The state that reads an event's parameters.
    fn event_state(&mut self, id: EventId) -> String {
        if let Some(known) = self.event_states.get(&id) {
            return known.clone();
        }
        let event = self.context.events.event(id).clone();
        let name = self.names.fresh(&format!("event_{}", event.name));
        self.event_states.insert(id, name.clone());
        let extract = match event.ty {
            Some(_) => format!("pkt.extract({});", self.context.events.incoming_header(id)),
            None => String::new(),
        };
        let span = self.context.program.events[id.0 as usize].span;
        self.put(
            span,
            format!(
                "state {name} {{ {extract} ig_md.dispatched = {}; transition accept; }}",
                event.number
            ),
        );
        name
    }

    /// The states of a parser of the program; gives the first one's name.
    fn parser(&mut self, id: ParserId, values: HashMap<LocalId, String>, calls: u32) -> String {
        let parser = &self.context.program.parsers[id.0 as usize];
        if calls > MOST_CALLS {
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
        let header = format!("read{number}_{}", crate::compile::names::identifier(name));
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
        let own_ports = self.context.options.own_recirculation_ports;
        let mut names = ParserNames { values, own_ports, impossible: Vec::new() };
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
                let texts: Vec<String> =
                    subjects.iter().map(|subject| self.expression(subject, values)).collect();
                let mut cases = String::new();
                for (patterns, block) in branches {
                    let next = deep(|| self.block(name, block, values.clone(), calls));
                    let keysets: Vec<String> = patterns
                        .iter()
                        .zip(&widths)
                        .map(|(pattern, width_bits)| keyset(pattern, *width_bits))
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
        if !header.is_handled {
            return "transition reject;".into();
        }
        if header.ty.is_some() {
            body.push_str(&format!("{}.setValid();", self.context.events.incoming_header(*id)));
        }
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
        }
        body.push_str(&format!("ig_md.dispatched = {};", header.number));
        "transition accept;".into()
    }
}

fn keyset(pattern: &Pattern, width_bits: u32) -> String {
    let all = super::context::ones(width_bits);
    match pattern.mask & all {
        0 => "_".into(),
        mask if mask == all => literal(pattern.value, width_bits),
        mask => format!("{} &&& {}", literal(pattern.value, width_bits), literal(mask, width_bits)),
    }
}
