// SPDX-License-Identifier: Apache-2.0
//! Ingress: reads what a frame says about place and time, runs the handler of an event that is due
//! here, and sends what the packet then is: one event on its way, several to the serialiser, or a
//! frame in transit. Which frame each copy keeps is `egress`'s.

use crate::expressions::wire_bits;
use crate::options::{Clock, Delay};
use crate::v1model::Context;
use crate::wire::{self, FRAME_BYTES};
use lucid::core::Type;
use lucid::syntax::ast::EventSort;
use source::Span;

/// The queue with the highest priority (v1model's `priority` has three bits).
const HIGHEST_QUEUE: u32 = 7;

/// Declares the control.
pub(crate) fn write(context: &mut Context<'_>) {
    let parameters = &*crate::v1model::PARAMETERS;
    context.put(Span::NONE, format!("control ingress{parameters} {{"));
    configuration(context);
    at_once(context);
    context.put(
        Span::NONE,
        "action forward_to(bit<9> port) { standard_metadata.egress_spec = port; } \
         action unreachable() { mark_to_drop(standard_metadata); } \
         @name(\".forward\") table forward { key = { hdr.frame.place: exact @name(\"switch\"); } \
         actions = { forward_to; unreachable; } default_action = unreachable(); size = 4096; }",
    );
    let handlers: Vec<(String, Vec<usize>)> = context
        .handlers
        .iter()
        .filter(|handler| !handler.egress)
        .map(|handler| {
            let events = handler.events.iter().map(|event| event.0 as usize).collect();
            (handler.name.clone(), events)
        })
        .collect();
    for (name, events) in &handlers {
        let span = context.program.events[events[0]].span;
        context.put(span, format!("{name}() {name}_here;"));
    }
    for (hook, given) in [("before", &context.options.before), ("after", &context.options.after)] {
        if given.is_some() {
            context.pieces.push((Span::NONE, format!("{hook}() {hook}_here;")));
        }
    }
    context.put(
        Span::NONE,
        "apply { if (standard_metadata.parser_error != error.NoError) { \
         mark_to_drop(standard_metadata); return; } configuration.apply();",
    );
    let port = "meta.ingress_port = standard_metadata.ingress_port;";
    let came = match context.recirculates() {
        // What comes round has both from egress.
        true => format!(
            "if (!({})) {{ {port} \
             meta.ingress_time = standard_metadata.ingress_global_timestamp; }}",
            context.came_round()
        ),
        false => port.to_string(),
    };
    context.put(Span::NONE, came);
    if context.options.before.is_some() {
        context.put(Span::NONE, "before_here.apply(hdr, meta, standard_metadata);");
    }
    arrival(context);
    let waited = match waiters(context) {
        numbers if numbers.is_empty() => String::new(),
        numbers => format!(" && !(meta.waited == 1 && ({numbers}))"),
    };
    context.put(
        Span::NONE,
        format!(
            "if (!hdr.frame.isValid() || \
             hdr.frame.place_kind == PLACE_HERE && hdr.frame.delay_ns == 0{waited}) {{"
        ),
    );
    dispatch(context, &handlers);
    generated(context);
    context.put(Span::NONE, "}");
    if context.has_egress_handlers() {
        context.put(
            Span::NONE,
            "else if (meta.ingress_port != meta.recirculation_port) { meta.transit = 1; }",
        );
    }
    route(context);
    if context.options.after.is_some() {
        context.put(Span::NONE, "after_here.apply(hdr, meta, standard_metadata);");
    }
    context.put(Span::NONE, "} }");
    let comment = "The dispatcher: frames that are for another place or another time go on their way; for \
                   an event that is due here its handler runs, and what that generated is sent.";
    context.comments.push(("ingress".to_string(), comment.to_string()));
}

/// The table of the ports that an event may leave by while others go round.
fn at_once(context: &mut Context<'_>) {
    if context.mixes {
        context.put(
            Span::NONE,
            "action known() { } @name(\".at_once\") table at_once { \
             key = { meta.direct_port: exact @name(\"port\"); } actions = { known; } \
             size = 512; }",
        );
    }
}

/// Which frames have to go round once more when their delay is over, to meet their egress handler.
fn waiters(context: &Context<'_>) -> String {
    let events = context.handlers.iter().filter(|handler| handler.egress);
    let numbers: Vec<String> = events
        .flat_map(|handler| &handler.events)
        .map(|event| format!("hdr.frame.number == {}", context.shapes.event(*event).constant))
        .collect();
    numbers.join(" || ")
}

/// What differs from switch to switch, as the data of a default action.
fn configuration(context: &mut Context<'_>) {
    let port = context.options.recirculation_port;
    let mut parameters = String::from("bit<32> self_number, bit<9> recirculation_port");
    let mut body =
        String::from("meta.self = self_number; meta.recirculation_port = recirculation_port;");
    let mut defaults = format!("0, {port}");
    for (at, declared) in context.program.externs.iter().enumerate() {
        if !matches!(declared.ty, Type::Int(_) | Type::Bool) {
            continue;
        }
        let field = &context.externs[at];
        parameters.push_str(&format!(", bit<{}> {field}", wire_bits(declared.ty)));
        body.push_str(&format!("meta.{field} = {field};"));
        defaults.push_str(", 0");
    }
    context.put(
        Span::NONE,
        format!(
            "@name(\".configure\") action configure({parameters}) {{ {body} }} \
             @name(\".configuration\") table configuration {{ actions = {{ configure; }} \
             default_action = configure({defaults}); size = 1; }}"
        ),
    );
}

/// Place and remaining delay of a frame.
fn arrival(context: &mut Context<'_>) {
    // Both ends of the way through the recirculation port are the switch's, so 16 bits of the time
    // tell how long it took. What the primitive brings back counts it in egress.
    let elapsed = "(standard_metadata.ingress_global_timestamp[15:0] - hdr.frame.source_kind)";
    let elapsed = match context.options.clock {
        _ if context.recirculates() => String::new(),
        Clock::Nanoseconds => format!("|-| (bit<32>){elapsed}"),
        Clock::Microseconds => format!("|-| ((bit<32>){elapsed} * 1000)"),
    };
    let waited = match context.has_egress_handlers() {
        true => {
            "meta.waited = hdr.frame.delay_ns != 0 && hdr.frame.place_kind != PLACE_SWITCH \
             ? 1w1 : 0;"
        }
        false => "",
    };
    context.put(
        Span::NONE,
        format!(
            "if (hdr.frame.isValid()) {{ \
             if (hdr.frame.place_kind < PLACE_HERE || hdr.frame.place_kind > PLACE_SWITCHES) {{ \
             hdr.frame.place_kind = PLACE_HERE; }} \
             {waited} \
             if (hdr.frame.source_kind != SOURCE) {{ \
             hdr.frame.delay_ns = meta.ingress_port == meta.recirculation_port ? \
             hdr.frame.delay_ns {elapsed} : 0; }} \
             if (hdr.frame.place_kind == PLACE_SWITCH && hdr.frame.place == meta.self && \
             hdr.frame.delay_ns == 0) {{ hdr.frame.place_kind = PLACE_HERE; \
             meta.ingress_port = 0; }} }}"
        ),
    );
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
            // Its own leave, and meet their egress handler; those of others are handled or leave without.
            let constant = context.shapes.events[at].constant.clone();
            let frame = frame("PLACE_PORT", &wire::OUTSIDE_PORT.to_string(), &constant);
            let condition = format!(
                "meta.event == {constant} && hdr.frame.isValid() && {}",
                context.came_round()
            );
            branch(context, event.span, condition, format!("hdr.frame = {frame};"));
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

/// What a handler generated: one event is the packet from now on; several go to the serialiser.
fn generated(context: &mut Context<'_>) {
    let slots = context.shapes.slot_count;
    if slots == 0 {
        return;
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
    context.put(Span::NONE, text);
}

/// Sends the packet.
fn route(context: &mut Context<'_>) {
    let (waiting, urgent) = match context.options.delay {
        Delay::Queue => (
            format!("standard_metadata.priority = {};", context.options.delay_queue),
            format!("standard_metadata.priority = {HIGHEST_QUEUE};"),
        ),
        Delay::Recirculation => (String::new(), String::new()),
    };
    let recirculate = "standard_metadata.egress_spec = meta.recirculation_port;";
    let bare: Vec<String> = context
        .shapes
        .events
        .iter()
        .filter(|shape| shape.is_bare)
        .map(|shape| format!("hdr.frame.number == {}", shape.constant))
        .collect();
    let bare = match bare.is_empty() {
        true => String::new(),
        false => format!("if ({}) {{ meta.leaves = 1; }}", bare.join(" || ")),
    };
    let switches = match context.switch_groups.is_empty() {
        true => String::new(),
        false => format!(
            "else if (hdr.frame.place_kind == PLACE_SWITCHES) {{ {urgent} \
             standard_metadata.mcast_grp = hdr.frame.place[15:0] + {}; }}",
            wire::FIRST_SWITCHES
        ),
    };
    let (group, flood) = (wire::FIRST_GROUP, wire::FIRST_FLOOD);
    let mut text = String::new();
    if context.shapes.slot_count > 1 {
        text.push_str(&format!(
            "if (meta.generated > 1) {{ {urgent} {} }} else ",
            several(context)
        ));
    }
    text.push_str(&format!(
        "if (!hdr.frame.isValid()) {{ mark_to_drop(standard_metadata); }} \
         else if (hdr.frame.delay_ns != 0) {{ {recirculate} {waiting} }} \
         else if (hdr.frame.place_kind == PLACE_HERE || hdr.frame.place_kind == PLACE_SWITCH && \
         hdr.frame.place == meta.self) {{ {recirculate} {urgent} \
         if (hdr.frame.place_kind == PLACE_HERE) {{ {bare} }} }} \
         else if (hdr.frame.place_kind == PLACE_SWITCH) {{ forward.apply(); }} \
         else if (hdr.frame.place_kind == PLACE_PORT && hdr.frame.place < 511) {{ \
         standard_metadata.egress_spec = hdr.frame.place[8:0]; meta.leaves = 1; }} \
         else if (hdr.frame.place_kind == PLACE_GROUP) {{ \
         standard_metadata.mcast_grp = hdr.frame.place[15:0] + {group}; meta.leaves = 1; }} \
         else if (hdr.frame.place_kind == PLACE_FLOOD) {{ \
         standard_metadata.mcast_grp = {flood} + (hdr.frame.place < 511 ? \
         hdr.frame.place[15:0] : 511); meta.leaves = 1; }} \
         {switches} else {{ mark_to_drop(standard_metadata); }}"
    ));
    if bare.is_empty() {
        text = text.replace("if (hdr.frame.place_kind == PLACE_HERE) {  }", "");
    }
    context.put(Span::NONE, text);
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
