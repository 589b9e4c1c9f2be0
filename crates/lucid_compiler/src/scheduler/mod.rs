// SPDX-License-Identifier: Apache-2.0
//! The event scheduler in P4_16 for v1model (Lucid §3.2): which frames are for this switch, which
//! handler runs, and how generated events get out of the packet. What a frame is stands in
//! [`super::wire`]; handlers are `v1model`'s.

mod egress;
mod ingress;
pub(super) mod probes;

use super::expressions::wire_bits;
use super::v1model::context::{Context, HandlerControl};
use super::wire::{self, PlaceKind};
use crate::options::{Clock, Delay, Recirculation};
use crate::template::{Piece, Template};
use lucid::core::{LUCID_ETHER_TYPE, Type};
use source::Span;

/// An event that leaves by a port below this, by a linked one or out of the network does not wait for
/// others of the same handler; by other ports it goes round with them.
pub const SERIALISER_PORTS: u32 = 64;

/// Constants and the header of frames.
pub(super) fn constants(context: &mut Context<'_>) {
    let kinds = [
        ("PLACE_HERE", PlaceKind::Here),
        ("PLACE_SWITCH", PlaceKind::Switch),
        ("PLACE_PORT", PlaceKind::Port),
        ("PLACE_GROUP", PlaceKind::Group),
        ("PLACE_FLOOD", PlaceKind::Flood),
        ("PLACE_SWITCHES", PlaceKind::Switches),
    ];
    for (name, kind) in kinds {
        context.put(Span::NONE, format!("const bit<16> {name} = 16w{:#x};", kind.field()));
    }
    context.put(Span::NONE, format!("const bit<16> SOURCE = 16w{:#x};", wire::SOURCE_PREFIX));
    context.put(Span::NONE, format!("const bit<16> ETHERTYPE_LUCID = {LUCID_ETHER_TYPE};"));
    if context.recirculates() {
        context.put(Span::NONE, "const bit<32> RECIRCULATED = 4;");
        let comment = "The instance_type of what `recirculate` brings back.";
        context.comments.push(("RECIRCULATED".to_string(), comment.to_string()));
    }
    context.put(
        Span::NONE,
        "header lucid_t { bit<16> place_kind; bit<32> place; bit<16> source_kind; bit<32> delay_ns; \
         bit<16> ether_type; bit<16> number; }",
    );
    let comment = "The frame of an event: where it is to be handled, how much longer it has to wait, \
                   and which event it is.\nInside the switch source_kind has the low bits of the \
                   time when the frame left egress.";
    context.comments.push(("lucid_t".to_string(), comment.to_string()));
    let comment = "Where an event is to be handled, or to leave.";
    context.comments.push(("PLACE_HERE".to_string(), comment.to_string()));
}

impl Context<'_> {
    fn recirculates(&self) -> bool {
        self.options.recirculation == Recirculation::Primitive
    }

    /// In ingress, whether the packet came by the recirculation port. What the primitive brings back has
    /// no `ingress_port`.
    fn came_round(&self) -> &'static str {
        match self.recirculates() {
            true => "standard_metadata.instance_type == RECIRCULATED",
            false => "standard_metadata.ingress_port == meta.recirculation_port",
        }
    }

    /// The time in ingress, in units of the clock, 48 bits. What the primitive brings back has no
    /// `ingress_global_timestamp`; it has the time when its round began in egress.
    pub(super) fn ingress_time(&self) -> &'static str {
        match self.recirculates() {
            true => "meta.ingress_time",
            false => "standard_metadata.ingress_global_timestamp",
        }
    }

    /// The port by which the packet came, in the parser, 9 bits.
    pub(super) fn parser_ingress_port(&self) -> &'static str {
        match self.recirculates() {
            // One of them is 0.
            true => "(standard_metadata.ingress_port | meta.ingress_port)",
            false => "standard_metadata.ingress_port",
        }
    }
}

/// What the parts of the program tell each other about a packet. Fields in list 0 are kept when the
/// packet is recirculated by the primitive.
pub(super) fn metadata(context: &mut Context<'_>) {
    let ingress = match context.recirculates() {
        true => "@field_list(0) bit<9> ingress_port; @field_list(0) bit<48> ingress_time;",
        false => "bit<9> ingress_port;",
    };
    let mut text = format!(
        "struct metadata_t {{ bit<16> event; {ingress} bit<9> recirculation_port; \
         bit<32> self; bit<8> generated; bit<8> copies; bit<1> leaves; bit<1> whole; bit<1> empty;",
    );
    if context.has_egress_handlers() {
        text.push_str("bit<1> waited; bit<1> transit;");
    }
    if context.mixes {
        text.push_str("bit<8> direct; bit<9> direct_port;");
    }
    if context.addresses_packets {
        text.push_str("bit<1> addressed;");
    }
    for slot in 0..context.shapes.slot_count {
        text.push_str(&format!("bit<1> empty_{slot};"));
    }
    context.put(Span::NONE, text);
    for (at, declared) in context.program.externs.iter().enumerate() {
        let width_bits = match declared.ty {
            Type::Int(_) | Type::Bool => wire_bits(declared.ty),
            _ => continue,
        };
        let field = context.externs[at].clone();
        context.put(declared.span, format!("bit<{width_bits}> {field};"));
    }
    context.put(Span::NONE, "}");
}

/// The queue with the highest priority (v1model's `priority` has three bits).
const HIGHEST_QUEUE: u32 = 7;

/// The controls of the switch but for the parser.
pub(super) fn controls(context: &mut Context<'_>) {
    let mut template = Template::new(include_str!("controls.p4"));
    let options = context.options;
    let ingress_time = context.ingress_time();
    let [delay_queue, event_queue] = match options.delay {
        Delay::Recirculation => [String::new(), String::new()],
        Delay::Queue => [options.delay_queue, HIGHEST_QUEUE]
            .map(|queue| format!("standard_metadata.priority = {queue};")),
    };
    template.choose("MIXES", context.mixes);
    template.choose("RECIRCULATES", context.recirculates());
    template.choose("COUNTS_MICROSECONDS", options.clock == Clock::Microseconds);
    template.choose("HAS_BEFORE", options.before.is_some());
    template.choose("HAS_AFTER", options.after.is_some());
    template.choose("HAS_EGRESS_HANDLERS", context.has_egress_handlers());
    template.choose("HAS_SWITCH_GROUPS", !context.switch_groups.is_empty());
    template.choose("ADDRESSES_PACKETS", context.addresses_packets);
    template.choose("HAS_BARE", context.shapes.events.iter().any(|shape| shape.is_bare));
    template.define("SLOTS", context.shapes.slot_count);
    template.define("RECIRCULATION_PORT", options.recirculation_port);
    template.define("INGRESS_TIME", ingress_time);
    template.define("SET_DELAY_QUEUE", delay_queue);
    template.define("SET_EVENT_QUEUE", event_queue);
    template.define("FRAME_BYTES", wire::FRAME_BYTES);
    template.define("FIRST_MEMBER", wire::FIRST_MEMBER);
    template.define("FIRST_GROUP", wire::FIRST_GROUP);
    template.define("FIRST_FLOOD", wire::FIRST_FLOOD);
    template.define("FIRST_SWITCHES", wire::FIRST_SWITCHES);
    ingress::fill(context, &mut template);
    egress::fill(context, &mut template);
    let headers = context.shapes.events.iter().filter_map(|shape| shape.header.as_ref());
    let headers = headers.map(|(_, name)| name).chain(context.shapes.slots.values().flatten());
    let emits: String = headers.map(|name| format!("packet.emit(hdr.{name});")).collect();
    template.text("PART_EMITS", emits);
    context.pieces.extend(template.pieces());
    for (control, comment) in [
        (
            "ingress",
            "The dispatcher: frames that are for another place or another time go on their way; for \
             an event that is due here its handler runs, and what that generated is sent.",
        ),
        ("egress", "The serialiser: each copy of a packet with several events keeps one."),
    ] {
        context.comments.push((control.to_string(), comment.to_string()));
    }
}

/// Controls of handlers and their events.
fn handlers(context: &Context<'_>, egress: bool) -> Vec<(String, Vec<usize>)> {
    let handlers = context.handlers.iter().filter(|handler| handler.egress == egress);
    let events = |handler: &HandlerControl| {
        (handler.name.clone(), handler.events.iter().map(|event| event.0 as usize).collect())
    };
    handlers.map(events).collect()
}

/// Instances of the controls of handlers.
fn instances(context: &Context<'_>, handlers: &[(String, Vec<usize>)]) -> Vec<Piece> {
    let instance = |(name, events): &(String, Vec<usize>)| {
        (context.program.events[events[0]].span, format!("{name}() {name}_here;"))
    };
    handlers.iter().map(instance).collect()
}

/// Whether the frame is of one of these events.
fn numbers(context: &Context<'_>, events: impl Iterator<Item = usize>) -> String {
    let constant =
        |at: usize| format!("hdr.frame.number == {}", context.shapes.events[at].constant);
    events.map(constant).collect::<Vec<_>>().join(" || ")
}
