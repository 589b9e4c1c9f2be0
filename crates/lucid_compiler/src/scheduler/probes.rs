// SPDX-License-Identifier: Apache-2.0
//! Probes of a program for v1model: each handler is a control of its own, in which its event is in a header.

use crate::probes::{EventSlots, GeneratedSlots, HandlerProbes, ProbePoint, Probes, parameters};
use crate::v1model::context::Context;

/// What probes see of a program.
pub(crate) fn probes(context: &Context<'_>) -> Probes {
    let shapes = &context.shapes;
    let slot = |name: &str| format!("hdr.{name}");
    let mut headers = vec![slot("frame")];
    let mut events = Vec::new();
    for (event, shape) in context.program.events.iter().zip(&shapes.events) {
        let header = shape.header.as_ref().map(|(_, name)| slot(name));
        let parameters = parameters(header.as_deref(), &shape.fields);
        events.push(EventSlots { number: event.wire_number, parameters });
        headers.extend(header);
    }
    headers.extend((0..shapes.slot_count).map(|at| slot(&format!("frame_{at}"))));
    let mut generated = Vec::new();
    for ((at, event), name) in &shapes.slots {
        let header = name.as_deref().map(slot);
        let parameters = parameters(header.as_deref(), &shapes.event(*event).fields);
        generated.push(GeneratedSlots {
            frame: slot(&format!("frame_{at}")),
            event: *event,
            parameters,
        });
        headers.extend(header);
    }
    let handlers = context.handlers.iter().map(|handler| {
        let (block, number) = match handler.egress {
            true => ("egress", "hdr.frame.number"),
            false => ("ingress", "meta.event"),
        };
        let control = format!("{block}.{}_here", handler.name);
        HandlerProbes {
            events: handler.events.clone(),
            is_egress: handler.egress,
            input: ProbePoint::begin(control.as_str()),
            number: number.to_string(),
            output: ProbePoint::end(control),
        }
    });
    let hooks = [("before", &context.options.before), ("after", &context.options.after)];
    let hooks = hooks.iter().filter(|(_, given)| given.is_some());
    Probes {
        handlers: handlers.collect(),
        user_controls: hooks.map(|(hook, _)| format!("ingress.{hook}_here")).collect(),
        events,
        generated,
        ingress_port: "meta.ingress_port".to_string(),
        is_payload_empty: Some("meta.empty".to_string()),
        headers,
        identity: vec!["meta.event".to_string()],
        destination: [
            "standard_metadata.egress_spec",
            "standard_metadata.mcast_grp",
            "standard_metadata.priority",
            "meta.leaves",
            "meta.copies",
            "meta.generated",
        ]
        .map(String::from)
        .to_vec(),
    }
}
