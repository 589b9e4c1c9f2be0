// SPDX-License-Identifier: Apache-2.0
//! Egress: of each copy from the serialiser one event stays; the time in the queue is taken off the
//! delay; egress handlers run; packet events lose their frame as they leave, and packets are as long as
//! their event. `controls.p4` has the control, and here is what depends on the program's events.

use crate::template::{Piece, Template};
use crate::v1model::context::Context;
use crate::v1model::shapes::EventShape;
use lucid::core::Event;

/// Fills in the control.
pub(super) fn fill(context: &mut Context<'_>, template: &mut Template) {
    let handlers = super::handlers(context, true);
    template.part("PART_EGRESS_INSTANCES", super::instances(context, &handlers));
    template.part("PART_LENGTHS", lengths(context));
    template.text("PART_COPIES", copies(context));
    template.part("PART_EGRESS_HANDLERS", run(context, &handlers));
}

/// How long each event is on the wire.
fn lengths(context: &Context<'_>) -> Vec<Piece> {
    let entry = |(event, shape): (&Event, &EventShape)| {
        let EventShape { constant, bytes, has_payload, is_bare, .. } = shape;
        let (payload, bare) = (u8::from(*has_payload), u8::from(*is_bare));
        (event.span, format!("{constant}: measure({bytes}, {payload}, {bare});"))
    };
    context.program.events.iter().zip(&context.shapes.events).map(entry).collect()
}

/// Which event each copy keeps: replica i the one in place i - 1.
fn copies(context: &Context<'_>) -> String {
    if context.shapes.slot_count < 2 {
        return String::new();
    }
    let mut text = String::from("place = standard_metadata.egress_rid;");
    if context.mixes {
        // The one that leaves by a port has replica number 0, and the others have one place less.
        text.push_str(
            "if (meta.direct != 0) { if (place == 0) { place = (bit<16>)meta.direct; \
             meta.leaves = 1; } else if (place >= (bit<16>)meta.direct) { place = place + 1; } }",
        );
    }
    for slot in 0..context.shapes.slot_count {
        let otherwise = if slot > 0 { "else " } else { "" };
        text.push_str(&format!(
            "{otherwise}if (place == {}) {{ hdr.frame = hdr.frame_{slot}; \
             meta.empty = meta.empty | meta.empty_{slot};",
            slot + 1
        ));
        for ((other, _), name) in &context.shapes.slots {
            if let (Some(name), true) = (name, *other != slot) {
                text.push_str(&format!("hdr.{name}.setInvalid();"));
            }
        }
        text.push('}');
    }
    // A path that generated fewer events leaves places empty.
    text.push_str("if (place != 0 && !hdr.frame.isValid()) { mark_to_drop(standard_metadata); }");
    text
}

/// Runs the egress handler of an event.
fn run(context: &Context<'_>, handlers: &[(String, Vec<usize>)]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut started = false;
    for (name, events) in handlers {
        let span = context.program.events[events[0]].span;
        let conditions = super::numbers(context, events.iter().copied());
        let otherwise = if started { "else " } else { "" };
        started = true;
        let mut text = format!("{otherwise}if ({}) {{", conditions);
        // The event may be one that came in or one that was generated here.
        let mut outgoing = String::new();
        for ((_, event), name) in &context.shapes.slots {
            if !events.contains(&(event.0 as usize)) {
                continue;
            }
            if let (Some(name), Some((_, header))) = (name, &context.shapes.event(*event).header) {
                text.push_str(&format!(
                    "if (hdr.{name}.isValid()) {{ hdr.{header} = hdr.{name}; \
                     hdr.{name}.setInvalid(); }}"
                ));
            }
        }
        for at in events {
            if let Some((_, header)) = &context.shapes.events[*at].header {
                outgoing.push_str(&format!("hdr.{header}.setInvalid();"));
            }
        }
        text.push_str(&format!(
            "meta.event = hdr.frame.number; meta.generated = 0; meta.empty_0 = 0; \
             {name}_here.apply(hdr, meta, standard_metadata); {outgoing} \
             if (meta.generated == 0) {{ mark_to_drop(standard_metadata); }} else {{ \
             hdr.frame.number = hdr.frame_0.number; meta.empty = meta.empty | meta.empty_0; }} }}"
        ));
        pieces.push((span, text));
    }
    pieces
}
