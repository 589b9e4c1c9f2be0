// SPDX-License-Identifier: Apache-2.0
//! Ingress: reads what a frame says about place and time, runs the handler of an event that is due
//! here, and sends what the packet then is: one event on its way, several to the serialiser, or a
//! frame in transit. `controls.p4` has the control, and here is what depends on the program's events.

use crate::expressions::wire_bits;
use crate::template::Template;
use crate::v1model::context::Context;
use crate::wire::{self, FRAME_BYTES};
use lucid::core::Type;
use lucid::syntax::ast::EventSort;
use source::Span;

/// Fills in the dispatcher.
pub(super) fn fill(context: &mut Context<'_>, template: &mut Template) {
    let handlers = super::handlers(context, false);
    let externs = context.program.externs.iter().zip(&context.externs);
    let values = externs.filter(|(declared, _)| matches!(declared.ty, Type::Int(_) | Type::Bool));
    let (mut parameters, mut body, mut defaults) = (String::new(), String::new(), String::new());
    for (declared, field) in values {
        parameters.push_str(&format!(", bit<{}> {field}", wire_bits(declared.ty)));
        body.push_str(&format!("meta.{field} = {field};"));
        defaults.push_str(", 0");
    }
    template.text("PART_EXTERN_PARAMETERS", parameters);
    template.text("PART_EXTERN_VALUES", body);
    template.text("PART_EXTERN_DEFAULTS", defaults);
    template.part("PART_INGRESS_INSTANCES", super::instances(context, &handlers));
    let waiting = context.handlers.iter().filter(|handler| handler.egress);
    let waiting = waiting.flat_map(|handler| &handler.events).map(|event| event.0 as usize);
    template.text("PART_MEETS_EGRESS", super::numbers(context, waiting));
    let bare = (0..context.shapes.events.len()).filter(|at| context.shapes.events[*at].is_bare);
    let bare = super::numbers(context, bare);
    template.text("PART_IS_FOR_PARSER", bare.clone());
    template.text("PART_IS_BARE", bare);
    template.part("PART_DISPATCH", context.written(|context| dispatch(context, &handlers)));
    template.text("PART_EXITS", exits(context));
    template.text("PART_GENERATED", generated(context));
    template.text("PART_SEVERAL", several(context));
}

/// Runs the handler of the event, or sends it where it is handled.
fn dispatch(context: &mut Context<'_>, handlers: &[(String, Vec<usize>)]) {
    let mut started = false;
    let mut branch = |context: &mut Context<'_>, span: Span, condition: String, then: String| {
        let otherwise = if started { "else " } else { "" };
        started = true;
        context.put(span, format!("{otherwise}if ({condition}) {{ {then} }}"));
    };
    for at in 0..context.program.events.len() {
        let (shape, event) = (&context.shapes.events[at], &context.program.events[at]);
        let (constant, span) = (shape.constant.clone(), event.span);
        if shape.is_bare {
            // The parser makes of the bytes what it makes of packets.
            branch(
                context,
                span,
                format!("hdr.frame.isValid() && meta.event == {constant}"),
                "meta.leaves = 1;".to_string(),
            );
        }
    }
    for at in 0..context.program.events.len() {
        let event = &context.program.events[at];
        let differs = event.handler.is_some() || event.egress_handler.is_some();
        if event.sort == EventSort::Exit && differs {
            // Its own leave; those of others are handled or leave without meeting an egress handler. What went round as
            // it leaves has met one on its way, and what was addressed to this switch by its number has not.
            let constant = context.shapes.events[at].constant.clone();
            let frame = frame("PLACE_PORT", &wire::OUTSIDE_PORT.to_string(), &constant);
            let condition = format!(
                "meta.event == {constant} && hdr.frame.isValid() && {}",
                context.came_round()
            );
            let transit = match context.has_egress_handlers() {
                true => "if (meta.ingress_port == meta.recirculation_port) { meta.transit = 1; }",
                false => "",
            };
            branch(context, event.span, condition, format!("hdr.frame = {frame}; {transit}"));
        }
    }
    for (name, events) in handlers {
        let span = context.program.events[events[0]].span;
        let conditions: Vec<String> = events
            .iter()
            .map(|at| format!("meta.event == {}", context.shapes.events[*at].constant))
            .collect();
        let mut then = String::new();
        for at in events {
            // A frame without anything behind its event: nothing will have to be cut off.
            let shape = &context.shapes.events[*at];
            if !shape.has_payload {
                then.push_str(&format!(
                    "if (hdr.frame.isValid() && meta.event == {} && \
                     standard_metadata.packet_length == {}) {{ meta.whole = 1; }}",
                    shape.constant,
                    FRAME_BYTES as u32 + shape.bytes
                ));
            }
        }
        then.push_str(&format!("{name}_here.apply(hdr, meta, standard_metadata);"));
        for at in events {
            if let Some((_, header)) = &context.shapes.events[*at].header {
                then.push_str(&format!("hdr.{header}.setInvalid();"));
            }
        }
        then.push_str("hdr.frame.setInvalid();");
        branch(context, span, conditions.join(" || "), then);
    }
    for at in 0..context.program.events.len() {
        let event = &context.program.events[at];
        if event.handler.is_none() {
            // It leaves the network here.
            let constant = context.shapes.events[at].constant.clone();
            let frame = frame("PLACE_PORT", &wire::OUTSIDE_PORT.to_string(), &constant);
            // Egress handlers are for what is generated here.
            let transit = if context.has_egress_handlers() { "meta.transit = 1;" } else { "" };
            let then = format!("hdr.frame = {frame}; {transit}");
            branch(context, event.span, format!("meta.event == {constant}"), then);
        }
    }
    // A frame with the number of no event.
    context.put(
        Span::NONE,
        match started {
            true => "else { hdr.frame.setInvalid(); }",
            false => "hdr.frame.setInvalid();",
        },
    );
}

fn frame(kind: &str, place: &str, number: &str) -> String {
    format!("{{ {kind}, {place}, SOURCE, 0, ETHERTYPE_LUCID, {number} }}")
}

/// Exit events do not go round to leave: their egress handler sees the port outside.
fn exits(context: &Context<'_>) -> String {
    let events = context.program.events.iter().enumerate();
    let exits = events
        .filter(|(_, event)| event.sort == EventSort::Exit && event.egress_handler.is_some())
        .map(|(at, _)| at);
    match super::numbers(context, exits) {
        none if none.is_empty() => none,
        numbers => format!(
            "if (hdr.frame.place == (bit<32>)meta.recirculation_port && ({numbers})) {{ \
             standard_metadata.egress_spec = {}; }}",
            wire::OUTSIDE_PORT
        ),
    }
}

/// What a handler generated: one event is the packet from now on; several go to the serialiser.
fn generated(context: &Context<'_>) -> String {
    let slots = context.shapes.slot_count;
    if slots == 0 {
        return String::new();
    }
    let mut text = String::from("if (meta.generated == 1) {");
    for slot in 0..slots {
        let otherwise = if slot > 0 { "else " } else { "" };
        let condition = match slot + 1 == slots && slot > 0 {
            true => String::new(),
            false => format!("if (hdr.frame_{slot}.isValid()) "),
        };
        text.push_str(&format!(
            "{otherwise}{condition}{{ hdr.frame = hdr.frame_{slot}; meta.empty = meta.empty_{slot} | meta.empty; }}"
        ));
    }
    text.push('}');
    text
}

/// Several events: copies of the packet to the recirculation port, and where an event leaves by a port,
/// one there.
fn several(context: &Context<'_>) -> String {
    let round = "standard_metadata.mcast_grp = (bit<16>)meta.copies;";
    if !context.mixes {
        return round.to_string();
    }
    let mut text = String::new();
    for slot in 0..context.shapes.slot_count {
        let otherwise = if slot > 0 { "else " } else { "" };
        text.push_str(&format!(
            "{otherwise}if (hdr.frame_{slot}.isValid() && hdr.frame_{slot}.place_kind == PLACE_PORT \
             && hdr.frame_{slot}.delay_ns == 0 && hdr.frame_{slot}.place < 511) {{ \
             meta.direct = {}; meta.direct_port = hdr.frame_{slot}.place[8:0]; }}",
            slot + 1
        ));
    }
    let (first, stride) = (wire::FIRST_MIXED, wire::MIXED_STRIDE.trailing_zeros());
    text.push_str(&format!(
        "if (meta.direct != 0 && at_once.apply().hit) {{ standard_metadata.mcast_grp = {first} + \
         ((bit<16>)(meta.copies - 1) << {stride}) + (bit<16>)meta.direct_port; }} \
         else {{ meta.direct = 0; {round} }}"
    ));
    text
}
