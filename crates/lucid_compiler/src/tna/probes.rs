// SPDX-License-Identifier: Apache-2.0
//! Probes of a program for TNA, whose handlers share tables: the event that is handled is in its header at the
//! beginning of ingress, or where the user's `before` ends; generated events are in theirs where `after` begins, or
//! at the end. What comes to egress is seen from outside.

use super::context::Context;
use crate::probes::{EventSlots, GeneratedSlots, HandlerProbes, ProbePoint, Probes, parameters};
use lucid::core::EventId;
use pisa::Gress;

/// What the storage of ingress is called behind `hdr` and `ig_md`.
const STORAGE: &str = "ingress";

/// What probes see of a program.
pub(super) fn probes(context: &Context<'_>) -> Probes {
    let events = &context.events;
    let all = || (0..events.events.len() as u32).map(EventId);
    let slot = |name: String| format!("{STORAGE}.{name}");
    let has_header = |id: &EventId| events.event(*id).ty.is_some();
    let event_slots = all().map(|id| EventSlots {
        number: events.event(id).number,
        parameters: (events.event(id).fields.iter().zip(0..))
            .map(|(field, at)| {
                field.as_ref().map(|_| slot(events.incoming(Gress::Ingress, id, at)))
            })
            .collect(),
    });
    let mut headers = vec![slot("hdr.frame".to_string())];
    headers.extend(all().flat_map(|id| events.incoming_headers(id)).map(slot));
    let mut generated = Vec::new();
    let mut destination: Vec<String> = [
        "ig_intr_md_for_tm.ucast_egress_port",
        "ig_intr_md_for_tm.mcast_grp_a",
        "ig_intr_md_for_tm.mcast_grp_b",
        "ig_intr_md_for_tm.qid",
        "ig_intr_md_for_tm.bypass_egress",
        "ig_intr_md_for_dprsr.drop_ctl",
    ]
    .map(String::from)
    .to_vec();
    destination.push(slot("hdr.bridge.task".to_string()));
    for (at, held) in (0..).zip(&events.slots) {
        destination.push(slot(format!("hdr.bridge.slot{at}")));
        let frame = slot(format!("hdr.slot{at}"));
        headers.push(frame.clone());
        for event in held {
            let header = has_header(event).then(|| slot(events.outgoing_header(at, *event)));
            let parameters = parameters(header.as_deref(), &events.event(*event).fields);
            generated.push(GeneratedSlots { frame: frame.clone(), event: *event, parameters });
            headers.extend(header);
        }
    }
    let (before, after) = (context.options.before.is_some(), context.options.after.is_some());
    let control = |hook: &str| format!("Ingress.{hook}_here");
    let handlers = HandlerProbes {
        events: all().filter(|id| events.event(*id).is_handled).collect(),
        is_egress: false,
        input: match before {
            true => ProbePoint::end(control("before")),
            false => ProbePoint::begin("Ingress"),
        },
        number: slot("md.dispatched".to_string()),
        output: match after {
            true => ProbePoint::begin(control("after")),
            false => ProbePoint::end("Ingress"),
        },
    };
    let hooks = [("before", before), ("after", after)].into_iter().filter(|(_, given)| *given);
    Probes {
        handlers: vec![handlers],
        user_controls: hooks.map(|(hook, _)| control(hook)).collect(),
        events: event_slots.collect(),
        generated,
        ingress_port: slot("md.ingress_port".to_string()),
        is_payload_empty: None,
        headers,
        identity: ["md.dispatched", "md.route"].map(|name| slot(name.to_string())).to_vec(),
        destination,
    }
}
