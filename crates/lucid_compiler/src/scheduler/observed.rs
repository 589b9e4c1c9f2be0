// SPDX-License-Identifier: Apache-2.0
//! What a program for v1model tells of a pass through ingress with P4 of the user's around the dispatcher
//! ([`crate::options::Options::observed`]): what the user's controls change, which handler runs on what, and what it generated.

use crate::observed::{Around, Header, told};
use crate::v1model::Context;
use crate::wire::{GENERATED_LOG, INGRESS_LOG};

/// Parameters with bits of an event in a header.
pub(super) fn parameters(context: &Context<'_>, event: usize, header: Option<&str>) -> Vec<String> {
    let fields = context.shapes.events[event].fields.iter().flatten();
    header.map_or_else(Vec::new, |header| {
        fields.map(|(field, _)| format!("hdr.{header}.{field}")).collect()
    })
}

/// What a handler of an event runs on.
pub(super) fn handler(context: &Context<'_>, event: usize) -> String {
    let shape = &context.shapes.events[event];
    let name = shape.header.as_ref().map(|(_, name)| name.as_str());
    let mut values = vec!["meta.ingress_port".to_string(), "meta.empty".to_string()];
    values.extend(parameters(context, event, name));
    let told = told(&format!("{INGRESS_LOG}{event}"), &values);
    format!("if (meta.event == {}) {{ {told} }}", shape.constant)
}

/// The events in the places of generated ones.
pub(super) fn generated(context: &Context<'_>) -> String {
    let mut text = String::new();
    for ((slot, event), name) in &context.shapes.slots {
        let shape = context.shapes.event(*event);
        let number = event.0 as usize;
        let mut values = vec!["1w0".to_string()];
        values.extend(parameters(context, number, name.as_deref()));
        let told = told(&format!("{GENERATED_LOG}{number}"), &values);
        text.push_str(&format!(
            "if (hdr.frame_{slot}.isValid() && hdr.frame_{slot}.number == {}) {{ {told} }}",
            shape.constant
        ));
    }
    text
}

/// The call of a control of the user's.
pub(super) fn user(context: &Context<'_>, hook: &str) -> String {
    let call = format!("{hook}_here.apply(hdr, meta, standard_metadata);");
    if !context.options.observed {
        return call;
    }
    let frame = ["place_kind", "place", "source_kind", "delay_ns", "number"];
    let frame = |name: &str| Header::new(name, frame.iter().map(ToString::to_string));
    let event = |name: &str, at: usize| {
        let fields = context.shapes.events[at].fields.iter().flatten();
        Header::new(&format!("hdr.{name}"), fields.map(|(field, _)| field.clone()))
    };
    let mut headers = vec![frame("hdr.frame")];
    for (at, shape) in context.shapes.events.iter().enumerate() {
        headers.extend(shape.header.iter().map(|(_, name)| event(name, at)));
    }
    if hook == "after" {
        for slot in 0..context.shapes.slot_count {
            headers.push(frame(&format!("hdr.frame_{slot}")));
        }
        for ((_, at), name) in &context.shapes.slots {
            headers.extend(name.iter().map(|name| event(name, at.0 as usize)));
        }
    }
    let way = [
        "standard_metadata.egress_spec",
        "standard_metadata.mcast_grp",
        "standard_metadata.priority",
        "meta.leaves",
        "meta.copies",
        "meta.generated",
    ];
    let event = vec!["meta.event".to_string()];
    Around { event, headers, way: way.map(String::from).to_vec() }.call(hook, &call)
}
