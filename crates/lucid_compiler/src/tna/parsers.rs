// SPDX-License-Identifier: Apache-2.0
//! The ingress parser tells what a packet is (an event that is to be handled here and now, one on its
//! way, a packet for the program's parser `main`). Frames are as [`crate::wire`] says; what
//! egress reads is in `egress_parser`, the program's own parsers are in `program_parsers`.

use super::bridge::TASK_LEAVE;
use super::context::Context;
use super::event_headers::Chunk;
use super::scheduler_tables::Route;
use super::slots::spreads;
use crate::names::Names;
use crate::options::Delay;
use lucid::core::EventId;
use source::Span;
use std::collections::HashMap;

/// Headers that only the ingress parser reads.
pub(super) struct Read {
    /// Those of the program's parsers.
    pub(super) chunks: Vec<Chunk>,
    /// Whether they read an event by its number.
    pub(super) has_number: bool,
}

/// The ingress parser, and what it reads.
pub(super) fn ingress(context: &mut Context<'_>) -> Read {
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
    let States { pieces, chunks, wants_number: has_number, .. } = states;
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
    Read { chunks, has_number }
}

/// The parser in the making.
pub(super) struct States<'c, 'p> {
    pub(super) names: Names,
    pub(super) context: &'c mut Context<'p>,
    pub(super) pieces: Vec<(Span, String)>,
    pub(super) chunks: Vec<Chunk>,
    pub(super) event_states: HashMap<EventId, String>,
    pub(super) wants_number: bool,
}

impl States<'_, '_> {
    pub(super) fn put(&mut self, span: Span, text: impl Into<String>) {
        self.pieces.push((span, text.into()));
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
        let first = match self.context.options.stamp_shift() {
            0 => String::new(),
            _ => route(Route::WaitFirst),
        };
        // What came round has the time when it left egress in its source address; one that comes for
        // the first time, out of several copies for instance, has none.
        let arrived = self.context.stamp("ig_intr_md.ingress_mac_tstamp");
        let delayed = format!(
            "state delayed {{ {waits} transition select(hdr.frame.source_kind) {{ \
             SOURCE : came_first; default : came_round; }} }} \
             state came_first {{ {first} hdr.bridge.arrived = {arrived}; transition accept; }} \
             state came_round {{ hdr.bridge.arrived = hdr.frame.source_kind; transition accept; }}"
        );
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
            // It arrives at port 0 (the documentation of the simulation says so).
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
        format!(
            "state {name} {{ transition select(hdr.frame.source_kind, hdr.frame.delay_ns) {{ \
             (_, 0) : {due}; (SOURCE, _) : delayed; default : {name}_again; }} }} \
             state {name}_again {{ transition select(ig_intr_md.ingress_port) {{ \
             {} : delayed; default : {due}; }} }}",
            self.context.back_keyset()
        )
    }

    /// What has waited goes round once more to meet its egress handler.
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
        let routes = [
            ("PORT", Route::PortBare, Route::Port),
            ("GROUP", Route::GroupBare, Route::Group),
            ("FLOOD", Route::FloodBare, Route::Flood),
        ];
        let mut cases = String::new();
        for (name, bare_route, route) in routes {
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
        let begin = super::validity::begin(self.context, id);
        self.put(
            span,
            format!(
                "state {name} {{ {extract} ig_md.dispatched = {}; {begin} transition accept; }}",
                event.number
            ),
        );
        name
    }
}
