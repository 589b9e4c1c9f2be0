// SPDX-License-Identifier: Apache-2.0
//! What a program for TNA tells of a pass through ingress with P4 of the user's around the dispatcher
//! ([`crate::options::Options::observed`]), as one for v1model does: what the user's controls change, which
//! handler runs on what, and what it generated.

use super::context::Context;
use crate::observed::{Around, Header, told};
use crate::options::Delay;
use crate::wire::{GENERATED_LOG, INGRESS_LOG};
use lucid::core::EventId;

/// Fields of an event's header.
fn fields(context: &Context<'_>, event: EventId) -> impl Iterator<Item = String> {
    context.events.event(event).fields.iter().flatten().map(|(name, _)| name.clone())
}

fn values(context: &Context<'_>, event: EventId, header: &str) -> Vec<String> {
    fields(context, event).map(|field| format!("{header}.{field}")).collect()
}

fn all(context: &Context<'_>) -> impl Iterator<Item = EventId> {
    (0..context.events.events.len() as u32).map(EventId)
}

/// Which handler runs on what.
pub(super) fn handlers(context: &Context<'_>) -> String {
    let mut text = String::new();
    for id in all(context).filter(|id| context.events.event(*id).is_handled) {
        let header = context.events.incoming_header(id);
        let mut told_values = vec!["ig_md.ingress_port".to_string(), "1w0".to_string()];
        told_values.extend(values(context, id, &header));
        let told = told(&format!("{INGRESS_LOG}{}", id.0), &told_values);
        let number = context.events.event(id).number;
        text.push_str(&format!("if (ig_md.dispatched == {number}) {{ {told} }}"));
    }
    text
}

/// The events in slots.
pub(super) fn generated(context: &Context<'_>) -> String {
    let mut text = String::new();
    for (slot, events) in context.events.slots.iter().enumerate() {
        for id in events {
            let header = context.events.outgoing_header(slot as u32, *id);
            let mut told_values = vec!["1w0".to_string()];
            told_values.extend(values(context, *id, &header));
            let told = told(&format!("{GENERATED_LOG}{}", id.0), &told_values);
            let number = context.events.event(*id).number;
            text.push_str(&format!(
                "if (hdr.slot{slot}.isValid() && hdr.slot{slot}.number == {number}) {{ {told} }}"
            ));
        }
    }
    text
}

/// The call of a control of the user's.
pub(super) fn user(context: &Context<'_>, hook: &str) -> String {
    let call =
        format!("{hook}_here.apply(hdr, ig_md, ig_intr_md, ig_prsr_md, ig_dprsr_md, ig_tm_md);");
    let guarded = |text: String| match context.options.delay {
        // Frames that time the delay queue are not the user's.
        Delay::Queue => format!("if (!hdr.pause.isValid()) {{ {text} }}"),
        Delay::Recirculation => text,
    };
    if !context.options.observed {
        return guarded(call);
    }
    let frame = ["place_kind", "place", "source_kind", "delay_ns", "number"];
    let frame = |name: &str| Header::new(name, frame.iter().map(ToString::to_string));
    let has_header = |id: &EventId| context.events.event(*id).ty.is_some();
    let event = |name: &str, id: EventId| Header::new(name, fields(context, id));
    let mut headers = vec![frame("hdr.frame")];
    for id in all(context).filter(has_header) {
        headers.push(event(&context.events.incoming_header(id), id));
    }
    let mut way: Vec<String> = [
        "ig_tm_md.ucast_egress_port",
        "ig_tm_md.mcast_grp_a",
        "ig_tm_md.mcast_grp_b",
        "ig_tm_md.qid",
        "ig_tm_md.bypass_egress",
        "ig_dprsr_md.drop_ctl",
        "hdr.bridge.task",
    ]
    .map(String::from)
    .to_vec();
    for (slot, events) in (0..).zip(&context.events.slots) {
        way.push(format!("hdr.bridge.slot{slot}"));
        if hook == "after" {
            headers.push(frame(&format!("hdr.slot{slot}")));
            for id in events.iter().filter(|id| has_header(id)) {
                headers.push(event(&context.events.outgoing_header(slot, *id), *id));
            }
        }
    }
    let event = vec!["ig_md.dispatched".to_string(), "ig_md.route".to_string()];
    guarded(Around { event, headers, way }.call(hook, &call))
}
