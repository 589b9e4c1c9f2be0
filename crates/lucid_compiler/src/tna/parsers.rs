// SPDX-License-Identifier: Apache-2.0
//! The ingress parser tells what a packet is (an event that is to be handled here and now, one on its
//! way, a packet for the program's parser `main`). Frames are as [`crate::wire`] says; what
//! egress reads is in `egress_parser`, the program's own parsers are in `program_parsers`.

use super::bridge::TASK_LEAVE;
use super::context::Context;
use super::event_headers::Chunk;
use super::parsed_events::{ChunkId, Generated};
use super::scheduler_tables::Route;
use super::slots::spreads;
use crate::addressed;
use crate::names::Names;
use crate::options::Delay;
use lucid::core::{EventId, ParserBlock};
use pisa::Gress;
use source::Span;
use std::collections::{BTreeSet, HashMap};

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
            "accept",
            "addressed",
            "addressed_delayed",
            "addressed_packet",
            "addressed_packet_delayed",
            "back_addressed_packet",
            "back_due_packet",
            "due_packet",
            "packet_behind",
            "again",
            "back_addressed",
            "back_due",
            "back_for_this_switch",
            "back_frame",
            "back_from_here",
            "back_here",
            "back_later",
            "back_packet",
            "back_waited",
            "by_number",
            "by_port",
            "came_first",
            "came_round",
            "delayed",
            "due",
            "elsewhere",
            "for_this_switch",
            "frame",
            "generated",
            "here",
            "keep_pause",
            "here_delayed",
            "later",
            "later_delayed",
            "leave",
            "leave_flood",
            "leave_flood_bare",
            "leave_group",
            "leave_group_bare",
            "leave_port",
            "leave_port_bare",
            "leave_switches",
            "lucid_event",
            "outside",
            "outside_leaves",
            "packet",
            "pause",
            "reject",
            "release",
            "start",
            "start_frame",
            "start_to_switch",
            "unframe",
            "waited",
        ]),
        context,
        pieces: Vec::new(),
        chunks: Vec::new(),
        chunks_of: HashMap::new(),
        generated: Vec::new(),
        again: BTreeSet::new(),
        event_states: HashMap::new(),
        wants_number: false,
        is_addressed: false,
    };
    let program = states.context.program;
    let other = match program.main_parser {
        Some(parser) => states.main_parser(parser),
        None => "reject".to_string(),
    };
    let addressed = match program.main_parser {
        Some(parser) if addressed::sends_packets(program) => {
            states.is_addressed = true;
            let differs = addressed::parsers_ask_for_port(program);
            let own = differs.then(|| states.main_parser(parser));
            states.is_addressed = false;
            Some(own.unwrap_or_else(|| other.clone()))
        }
        _ => None,
    };
    states.finish_generated();
    states.frames(&other, addressed.as_deref());
    let States { pieces, chunks, wants_number: has_number, .. } = states;
    context.put(
        Span::NONE,
        "parser IngressParser(packet_in pkt, out headers_t hdr, out ig_md_t ig_md, \
         out ingress_intrinsic_metadata_t ig_intr_md) { value_set<bit<32>>(1) this_switch;",
    );
    if context.options.has_own_recirculation_ports() {
        context.put(Span::NONE, "value_set<PortId_t>(1) own_recirculation_port;");
    }
    context.pieces.extend(pieces);
    context.put(Span::NONE, "}");
    Read { chunks, has_number }
}

/// Fields of the frame in front, as the parser sees them before it extracts the frame.
const PLACE_KIND: &str = "pkt.lookahead<bit<16>>()";
const SOURCE_KIND: &str = "pkt.lookahead<bit<64>>()[15:0]";
const DELAY_NS: &str = "pkt.lookahead<bit<96>>()[31:0]";
const ETHER_TYPE: &str = "pkt.lookahead<bit<112>>()[15:0]";
const NUMBER: &str = "pkt.lookahead<bit<128>>()[15:0]";

/// Fields of the frame as the parser sees them before it extracts the intrinsic metadata: 128 bits are in front.
const PLACE_KIND_FIRST: &str = "pkt.lookahead<bit<144>>()[15:0]";
const PLACE_FIRST: &str = "pkt.lookahead<bit<176>>()[31:0]";
const ETHER_TYPE_FIRST: &str = "pkt.lookahead<bit<240>>()[15:0]";

/// What the table `dispatch` is to do.
fn route(route: Route) -> String {
    format!("ig_md.route = {};", route as u32)
}

/// What names of states begin with that depend on the port by which the packet came.
fn prefix(came_back: bool) -> &'static str {
    if came_back { "back_" } else { "" }
}

/// A state that sends on what has a delay left; one that another switch or host wrote does not count.
fn by_delay(came_back: bool, name: &str, due: &str) -> String {
    let of = prefix(came_back);
    match came_back {
        true => format!(
            "state {of}{name} {{ transition select({DELAY_NS}) {{ 0 : {due}; default : delayed; }} }}"
        ),
        false => format!(
            "state {name} {{ transition select({DELAY_NS}) {{ 0 : {due}; \
             default : {name}_delayed; }} }} \
             state {name}_delayed {{ transition select({SOURCE_KIND}) {{ \
             SOURCE : delayed; default : {due}; }} }}"
        ),
    }
}

/// The parser in the making.
pub(super) struct States<'c, 'p> {
    pub(super) names: Names,
    pub(super) context: &'c mut Context<'p>,
    pub(super) pieces: Vec<(Span, String)>,
    pub(super) chunks: Vec<Chunk>,
    /// The header that holds a run of what a block reads, by the block and the run's number.
    pub(super) chunks_of: HashMap<(*const ParserBlock, usize), ChunkId>,
    /// Where the program's parsers make events, and the piece that fills the event in.
    pub(super) generated: Vec<(Generated, usize)>,
    /// Headers behind which a path finds a whole event.
    pub(super) again: BTreeSet<ChunkId>,
    pub(super) event_states: HashMap<EventId, String>,
    pub(super) wants_number: bool,
    /// Whether the states being written read a packet event that came to this switch by its number.
    pub(super) is_addressed: bool,
}

impl States<'_, '_> {
    pub(super) fn put(&mut self, span: Span, text: impl Into<String>) {
        self.pieces.push((span, text.into()));
    }

    /// States that read a frame; other packets go on in `other`, packet events for this switch by its number in
    /// `addressed`. The frame is extracted when it is decided what happens
    /// to it, since Tofino's parser has no access to what is behind it: until then states look ahead. There are two of
    /// each that depends on whether the packet came back by the recirculation port.
    fn frames(&mut self, other: &str, addressed: Option<&str>) {
        let has_queue = self.context.options.delay == Delay::Queue;
        let generator = if has_queue { "GENERATOR_PORT : generated;" } else { "" };
        self.start(generator);
        if has_queue {
            self.put(
                Span::NONE,
                format!(
                    "state generated {{ transition select({ETHER_TYPE}) {{ \
                     ETHERTYPE_FLOW_CONTROL : pause; default : packet; }} }}"
                ),
            );
            for state in super::generator::states(&route(Route::Pause), &route(Route::Release)) {
                self.put(Span::NONE, state);
            }
        }
        for came_back in [false, true] {
            self.addresses(other, addressed.is_some(), came_back);
        }
        // What came round has the time when it left egress in its source address; one that comes for
        // the first time, out of several copies for instance, has none.
        let (first, again) = (route(Route::WaitFirst), route(Route::Wait));
        let elsewhere = route(Route::Elsewhere);
        self.put(
            Span::NONE,
            format!(
                "state elsewhere {{ pkt.extract(hdr.frame); {elsewhere} transition accept; }} \
                 state delayed {{ transition select({SOURCE_KIND}) {{ \
                 SOURCE : came_first; default : came_round; }} }} \
                 state came_first {{ pkt.extract(hdr.frame); {first} transition accept; }} \
                 state came_round {{ pkt.extract(hdr.frame); {again} transition accept; }}"
            ),
        );
        if let Some(main) = addressed {
            // A packet event that is due at this switch is what the program's parser makes of the bytes behind its frame.
            let handled = route(Route::Handled);
            self.put(
                Span::NONE,
                format!(
                    "state packet_behind {{ pkt.extract(hdr.frame); {handled} transition {main}; }}"
                ),
            );
        }
        if self.context.events.has_egress() {
            let again = route(Route::Again);
            self.put(
                Span::NONE,
                format!("state again {{ pkt.extract(hdr.frame); {again} transition accept; }}"),
            );
        }
        self.leave();
        self.due();
    }

    /// The first states. They look ahead over the intrinsic metadata: an event for this switch by its number arrives at
    /// port 0 (the documentation of the simulation says so), and Tofino's parser writes a field once.
    fn start(&mut self, generator: &str) {
        let back = self.context.back_keyset();
        let begin =
            "pkt.extract(ig_intr_md); pkt.advance(PORT_METADATA_SIZE); hdr.bridge.setValid();";
        self.put(
            Span::NONE,
            format!(
                "state start {{ transition select({ETHER_TYPE_FIRST}) {{ \
                 ETHERTYPE_LUCID : start_frame; default : by_port; }} }} \
                 state start_frame {{ transition select({PLACE_KIND_FIRST}) {{ \
                 PLACE_SWITCH : start_to_switch; default : by_port; }} }} \
                 state start_to_switch {{ transition select({PLACE_FIRST}) {{ \
                 this_switch : by_number; default : by_port; }} }} \
                 state by_number {{ {begin} ig_md.ingress_port = 0; \
                 transition select(ig_intr_md.ingress_port) {{ {back} : back_for_this_switch; \
                 default : for_this_switch; }} }} \
                 state by_port {{ {begin} ig_md.ingress_port = ig_intr_md.ingress_port; \
                 transition select(ig_intr_md.ingress_port) {{ {back} : back_packet; {generator} \
                 default : packet; }} }}"
            ),
        );
    }

    /// States that find out where a frame goes, and whether it waits.
    fn addresses(&mut self, other: &str, has_packets: bool, came_back: bool) {
        let of = prefix(came_back);
        let has_egress = self.context.events.has_egress();
        let later = match has_egress {
            true => format!("PLACE_LATER : {of}later;"),
            false => String::new(),
        };
        // It waits where it was generated, and comes to other switches without a delay.
        let to_other = if came_back { "back_from_here" } else { "elsewhere" };
        let mut texts = vec![
            format!(
                "state {of}packet {{ transition select({ETHER_TYPE}) {{ \
                 ETHERTYPE_LUCID : {of}frame; default : {other}; }} }}"
            ),
            format!(
                "state {of}frame {{ transition select({PLACE_KIND}) {{ \
                 PLACE_SWITCH : {to_other}; PLACE_PORT : {of}addressed; \
                 PLACE_GROUP : {of}addressed; PLACE_FLOOD : {of}addressed; \
                 PLACE_SWITCHES : {of}addressed; {later} default : {of}here; }} }}"
            ),
            format!(
                "state {of}for_this_switch {{ transition {of}{}; }}",
                if has_packets { "addressed_packet" } else { "here" }
            ),
            by_delay(came_back, "here", &format!("{of}due")),
            by_delay(came_back, "addressed", "leave"),
        ];
        if came_back {
            texts.push(by_delay(came_back, "from_here", "elsewhere"));
        }
        if has_packets {
            let events = self.context.events.events.iter().filter(|event| event.is_bare);
            let cases: String =
                events.map(|event| format!("{} : packet_behind;", event.number)).collect();
            texts.push(by_delay(came_back, "addressed_packet", &format!("{of}due_packet")));
            texts.push(format!(
                "state {of}due_packet {{ transition select({NUMBER}) {{ {cases} \
                 default : {of}due; }} }}"
            ));
        }
        if has_egress {
            // What has waited goes round once more to meet its egress handler.
            let events = self.context.events.events.iter();
            let events = events.filter(|event| event.meets_egress_going_round());
            let cases: String = events.map(|event| format!("{} : again;", event.number)).collect();
            texts.push(by_delay(came_back, "later", &format!("{of}waited")));
            texts.push(format!(
                "state {of}waited {{ transition select({NUMBER}) {{ {cases} default : {of}due; }} }}"
            ));
        }
        for text in texts {
            self.put(Span::NONE, text);
        }
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
                "state leave {{ pkt.extract(hdr.frame); \
                 transition select(hdr.frame.place_kind, hdr.frame.number) {{ {cases} \
                 default : reject; }} }}"
            ),
        );
    }

    /// An event that is to be handled.
    fn due(&mut self) {
        let events = self.context.events.events.clone();
        if events.iter().any(|event| event.is_bare) {
            let route = route(Route::Unframe);
            self.put(Span::NONE, format!("state unframe {{ {route} transition accept; }}"));
        }
        let mut used: BTreeSet<&str> = BTreeSet::new();
        for came_back in [false, true] {
            let mut cases = String::new();
            for (at, event) in events.iter().enumerate() {
                // Exit events leave where they were generated; those of others are handled. No exit event is a packet
                // event.
                let leaves = event.is_exit && (came_back || !event.is_handled);
                let next = match (leaves, event.is_bare, event.is_handled) {
                    (true, _, _) if event.has_egress && came_back => "outside_leaves".to_string(),
                    (true, _, _) => "outside".to_string(),
                    (false, true, _) => "unframe".to_string(),
                    (false, false, true) => self.event_state(EventId(at as u32)),
                    (false, false, false) => "outside".to_string(),
                };
                used.extend(["outside", "outside_leaves"].iter().filter(|state| **state == next));
                cases.push_str(&format!("{} : {next};", event.number));
            }
            let of = prefix(came_back);
            self.put(
                Span::NONE,
                format!(
                    "state {of}due {{ pkt.extract(hdr.frame); transition select(hdr.frame.number) {{ \
                     {cases} default : reject; }} }}"
                ),
            );
        }
        let outside = route(Route::Outside);
        for (state, task) in [
            ("outside", String::new()),
            ("outside_leaves", format!("hdr.bridge.task = {TASK_LEAVE};")),
        ] {
            if used.contains(state) {
                let text = format!("state {state} {{ {outside} {task} transition accept; }}");
                self.put(Span::NONE, text);
            }
        }
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
        let headers = self.context.events.incoming_headers(id);
        let extract: String =
            headers.iter().map(|header| format!("pkt.extract({header});")).collect();
        let span = self.context.program.events[id.0 as usize].span;
        let begin = super::validity::begin(self.context, id);
        let handled = route(Route::Handled);
        let incoming = |parameter| self.context.events.incoming(Gress::Ingress, id, parameter);
        let indexes = self.context.set_indexes(id, incoming);
        self.put(
            span,
            format!(
                "state {name} {{ {extract} {indexes} {handled} ig_md.dispatched = {}; {begin} transition accept; }}",
                event.number
            ),
        );
        name
    }
}
