// SPDX-License-Identifier: Apache-2.0
//! Egress: of each copy from the serialiser one event stays; the time in the queue is taken off the
//! delay; egress handlers run; packet events lose their frame as they leave, and packets are as long as
//! their event.

use crate::options::Clock;
use crate::v1model::Context;
use crate::wire::FRAME_BYTES;
use source::Span;

/// Declares the control.
pub(crate) fn write(context: &mut Context<'_>) {
    let parameters = &*crate::v1model::PARAMETERS;
    context.put(Span::NONE, format!("control egress{parameters} {{"));
    let handlers: Vec<(String, Vec<usize>)> = context
        .handlers
        .iter()
        .filter(|handler| handler.egress)
        .map(|handler| {
            let events = handler.events.iter().map(|event| event.0 as usize).collect();
            (handler.name.clone(), events)
        })
        .collect();
    if context.shapes.slot_count > 1 {
        context.put(Span::NONE, "bit<16> place;");
    }
    if !context.switch_groups.is_empty() {
        context.put(
            Span::NONE,
            "action at_switch(bit<32> number) { hdr.frame.place_kind = PLACE_SWITCH; \
             hdr.frame.place = number; } @name(\".member\") table member { \
             key = { standard_metadata.egress_rid: exact @name(\"replica\"); } \
             actions = { at_switch; } size = 4096; }",
        );
    }
    context.put(Span::NONE, "bit<32> length; bit<1> has_payload; bit<1> is_bare;");
    lengths(context);
    for (name, events) in &handlers {
        let span = context.program.events[events[0]].span;
        context.put(span, format!("{name}() {name}_here;"));
    }
    context.put(Span::NONE, "apply {");
    copies(context);
    members(context);
    context.put(Span::NONE, "if (hdr.frame.isValid()) {");
    time(context);
    context.put(
        Span::NONE,
        "if (meta.leaves == 1) { hdr.frame.place_kind = PLACE_HERE; hdr.frame.place = 0; }",
    );
    run(context, &handlers);
    context.put(
        Span::NONE,
        format!(
            "lengths.apply(); \
             if (is_bare == 1 && meta.leaves == 1) {{ hdr.frame.setInvalid(); }} \
             else {{ length = length + {FRAME_BYTES}; }} \
             if (meta.whole == 0 && (has_payload == 0 || meta.empty == 1)) {{ truncate(length); }} }}"
        ),
    );
    if context.recirculates() {
        context.put(
            Span::NONE,
            "if (standard_metadata.egress_port == meta.recirculation_port) { \
             meta.ingress_port = meta.recirculation_port; \
             meta.ingress_time = standard_metadata.egress_global_timestamp; \
             recirculate_preserving_field_list(0); }",
        );
    }
    context.put(Span::NONE, "} }");
    let comment = "The serialiser: each copy of a packet with several events keeps one.";
    context.comments.push(("egress".to_string(), comment.to_string()));
}

/// How long each event is on the wire.
fn lengths(context: &mut Context<'_>) {
    context.put(
        Span::NONE,
        "action measure(bit<32> bytes, bit<1> payload, bit<1> bare) { length = bytes; \
         has_payload = payload; is_bare = bare; } \
         table lengths { key = { hdr.frame.number: exact; } actions = { measure; } \
         const default_action = measure(0, 1, 0); const entries = {",
    );
    for at in 0..context.shapes.events.len() {
        let shape = &context.shapes.events[at];
        let text = format!(
            "{}: measure({}, {}, {});",
            shape.constant,
            shape.bytes,
            u8::from(shape.has_payload),
            u8::from(shape.is_bare)
        );
        context.put(context.program.events[at].span, text);
    }
    context.put(Span::NONE, format!("}} size = {}; }}", context.shapes.events.len().max(1)));
}

/// Which event each copy keeps: replica i the one in place i - 1.
fn copies(context: &mut Context<'_>) {
    if context.shapes.slot_count < 2 {
        return;
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
    // A path that generated fewer events leaves places empty. What is due here and has no frame outside
    // loses it on its way.
    let bare: Vec<String> = context
        .shapes
        .events
        .iter()
        .filter(|shape| shape.is_bare)
        .map(|shape| format!("hdr.frame.number == {}", shape.constant))
        .collect();
    text.push_str(
        "if (place != 0) { if (!hdr.frame.isValid()) { \
         mark_to_drop(standard_metadata); }",
    );
    if !bare.is_empty() {
        text.push_str(&format!(
            "else if (hdr.frame.place_kind == PLACE_HERE && hdr.frame.delay_ns == 0 && ({})) \
             {{ meta.leaves = 1; }}",
            bare.join(" || ")
        ));
    }
    text.push('}');
    context.put(Span::NONE, text);
}

/// Of an event to a group of switches each copy is for one.
fn members(context: &mut Context<'_>) {
    if !context.switch_groups.is_empty() {
        let first = crate::wire::FIRST_MEMBER;
        let text = format!(
            "if (standard_metadata.egress_rid >= {first} && hdr.frame.isValid()) \
             {{ member.apply(); }}"
        );
        context.put(Span::NONE, text);
    }
}

/// Takes the time in the queue off the delay of what comes back; on links there is none.
fn time(context: &mut Context<'_>) {
    let elapsed = format!("standard_metadata.egress_global_timestamp - {}", context.ingress_time());
    let elapsed = match context.options.clock {
        Clock::Nanoseconds => format!("({elapsed})"),
        Clock::Microseconds => format!("(({elapsed}) * 1000)"),
    };
    context.put(
        Span::NONE,
        format!(
            "if (standard_metadata.egress_port == meta.recirculation_port) {{ \
             hdr.frame.delay_ns = (bit<32>)((bit<48>)hdr.frame.delay_ns |-| {elapsed}); \
             hdr.frame.source_kind = standard_metadata.egress_global_timestamp[15:0]; \
             if (hdr.frame.source_kind == SOURCE) {{ hdr.frame.source_kind = SOURCE + 1; }} \
             }} else {{ hdr.frame.source_kind = SOURCE; hdr.frame.delay_ns = 0; }}"
        ),
    );
}

/// Runs egress handlers, on what is due and leaves now. What is for a switch by number meets none.
fn run(context: &mut Context<'_>, handlers: &[(String, Vec<usize>)]) {
    if handlers.is_empty() {
        return;
    }
    context.put(
        Span::NONE,
        "if (hdr.frame.delay_ns == 0 && meta.transit == 0 && \
         hdr.frame.place_kind == PLACE_HERE) {",
    );
    let mut started = false;
    for (name, events) in handlers {
        let span = context.program.events[events[0]].span;
        let conditions: Vec<String> = events
            .iter()
            .map(|at| format!("hdr.frame.number == {}", context.shapes.events[*at].constant))
            .collect();
        let otherwise = if started { "else " } else { "" };
        started = true;
        let mut text = format!("{otherwise}if ({}) {{", conditions.join(" || "));
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
            "meta.event = hdr.frame.number; meta.generated = 0; \
             {name}_here.apply(hdr, meta, standard_metadata); {outgoing} \
             if (meta.generated == 0) {{ mark_to_drop(standard_metadata); }} else {{ \
             hdr.frame.number = hdr.frame_0.number; meta.empty = meta.empty | meta.empty_0; }} }}"
        ));
        context.put(span, text);
    }
    context.put(Span::NONE, "}");
}
