// SPDX-License-Identifier: Apache-2.0
//! Events as headers: the frame, the parameters of the event that came in, those of the events that a
//! handler generates by slot, and the bridge that tells egress what ingress made
//! ([`crate::wire`]). All headers are whole bytes and have no booleans.

use super::context::Context;
use super::event_headers::Chunk;
use crate::options::Delay;
use crate::wire;
use lucid::core::EventId;
use source::Span;

/// Constants, header types, and the struct of all headers.
pub(super) fn write(context: &mut Context<'_>, chunks: Vec<Chunk>) {
    constants(context);
    let events = context.events.clone();
    context.put(
        Span::NONE,
        "header frame_h { bit<16> place_kind; bit<32> place; bit<16> source_kind; bit<32> delay_ns; \
         bit<16> ether_type; bit<16> number; }",
    );
    context.comment("frame_h", "In front of every event on a wire.");
    context.put(Span::NONE, "header number_h { bit<16> number; }");
    let slot_count = events.slots.len() as u32;
    let bridge = super::bridge::declaration(slot_count, context.options.stamp_shift());
    context.comment(
        "bridge_h",
        "From ingress to egress: what egress has to do, and which slots hold a generated event.",
    );
    context.put(Span::NONE, bridge);
    if events.has_cuts() {
        let bits = super::egress_tables::bridge_bits(context);
        context.comment("mirror_h", "In front of mirror copies, in place of the bridge.");
        context.put(Span::NONE, format!("header mirror_h {{ bit<{bits}> bridge; }}"));
    }
    let mut fields = String::from("struct headers_t { bridge_h bridge; ");
    if context.options.delay == Delay::Queue {
        let pause = super::generator::header(context.options);
        context.comment(
            "pause_h",
            "A frame of flow control for the delay queue (IEEE 802.1Q, clause 36), as long as it is read.",
        );
        context.put(Span::NONE, pause);
        fields.push_str("pause_h pause; ");
    }
    fields.push_str("frame_h frame; number_h number;");
    for (at, event) in events.events.iter().enumerate() {
        let Some(ty) = &event.ty else { continue };
        let declared = &context.program.events[at];
        let mut text = format!("header {ty} {{");
        for (name, width_bits) in event.fields.iter().flatten() {
            text.push_str(&format!("bit<{width_bits}> {name};"));
        }
        if event.padding_bits > 0 {
            text.push_str(&format!("@padding bit<{}> _pad;", event.padding_bits));
        }
        text.push('}');
        let (span, comment) = (declared.span, format!("event {}", declared.name));
        context.comment(ty, comment);
        context.put(span, text);
        if events.has_own_header(EventId(at as u32)) {
            fields.push_str(&format!("{ty} in_{};", event.name));
        }
    }
    for slot in 0..slot_count {
        fields.push_str(&format!("frame_h slot{slot};"));
        for event in &events.slots[slot as usize] {
            let event = events.event(*event);
            if let Some(ty) = &event.ty {
                fields.push_str(&format!("{ty} slot{slot}_{};", event.name));
            }
        }
    }
    for event in &events.leaving {
        let event = events.event(*event);
        if let Some(ty) = &event.ty {
            fields.push_str(&format!("{ty} out_{};", event.name));
        }
    }
    for chunk in chunks {
        fields.push_str(&format!("{} {};", chunk.ty, chunk.name));
        context.put(chunk.span, chunk.declaration());
    }
    fields.push('}');
    context.put(Span::NONE, fields);
}

fn constants(context: &mut Context<'_>) {
    use wire::PlaceKind::{Flood, Group, Here, Later, Port, Switch, Switches};
    let kinds = [
        ("HERE", Here),
        ("SWITCH", Switch),
        ("PORT", Port),
        ("GROUP", Group),
        ("FLOOD", Flood),
        ("SWITCHES", Switches),
        ("LATER", Later),
    ];
    let has_egress = context.events.has_egress();
    for (name, kind) in kinds.into_iter().filter(|(_, kind)| *kind != Later || has_egress) {
        context.put(Span::NONE, format!("const bit<16> PLACE_{name} = {:#06x};", kind.field()));
    }
    context.put(Span::NONE, format!("const bit<16> SOURCE = {:#06x};", wire::SOURCE_PREFIX));
    if context.events.has_cuts() {
        let source = wire::SOURCE_CUT;
        context.put(Span::NONE, format!("const bit<16> SOURCE_CUT = {source:#06x};"));
    }
    let ether_type = lucid::core::LUCID_ETHER_TYPE;
    context.put(Span::NONE, format!("const bit<16> ETHERTYPE_LUCID = {ether_type:#06x};"));
    if context.options.delay == Delay::Queue {
        context.put(Span::NONE, "const bit<16> ETHERTYPE_FLOW_CONTROL = 0x8808;");
        let port = super::generator::port(context.options);
        context.put(Span::NONE, format!("const PortId_t GENERATOR_PORT = {port};"));
    }
    let options = context.options;
    let port = options.recirculation_port;
    if !options.has_own_recirculation_ports() {
        context.put(Span::NONE, format!("const PortId_t RECIRCULATION_PORT = {port};"));
    }
    if options.before.is_some() || options.after.is_some() {
        for event in context.events.events.clone() {
            let (name, number) = (event.name, event.number);
            context.put(Span::NONE, format!("const bit<16> EVENT_{name} = {number};"));
        }
    }
    context.put(Span::NONE, format!("const QueueId_t DELAY_QUEUE = {};", options.delay_queue));
    context
        .put(Span::NONE, format!("const QueueId_t EVENT_QUEUE = {};", super::parts::EVENT_QUEUE));
}
