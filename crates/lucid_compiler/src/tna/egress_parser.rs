// SPDX-License-Identifier: Apache-2.0
//! The egress parser takes apart what ingress made. By the copy's replica number it extracts the one slot
//! that the copy is for and advances over the others, so that no table has to take them off, however many
//! there are; and it knows whether an egress handler runs. What the tables behind it do is in
//! `egress_tables`, the tasks in `bridge`.

use super::bridge::{
    TASK_COPIES, TASK_CUT, TASK_LEAVE, TASK_MEMBER, TASK_PASS, TASK_ROUND, TASK_WAIT, task_direct,
};
use super::context::Context;
use super::event_headers::EventHeader;
use super::slots::{may_be_several, slot_shapes};
use crate::wire::FRAME_BYTES;
use lucid::core::EventId;
use source::Span;
use std::collections::BTreeMap;

/// Bits of a frame.
const FRAME_BITS: u32 = 8 * FRAME_BYTES as u32;

/// The kind of what goes round: [`crate::wire::PlaceKind::Here`], or zero where statements say so.
pub(super) const HERE: &str = "0 &&& 7";

/// Which copy it is; there are at most 63 to tell apart.
const REPLICA: &str = "eg_intr_md.egress_rid[7:0]";

/// Writes the parser.
pub(super) fn write(context: &mut Context<'_>) {
    let slots = slot_shapes(context.atomic);
    let count = if may_be_several(&slots) { slots.len() as u32 } else { 0 };
    let has_egress = context.events.has_egress();
    let mut tasks = format!(
        "({TASK_PASS}, _) : accept; ({TASK_WAIT}, _) : waited; ({TASK_MEMBER}, _) : waited;"
    );
    let mut states = String::from("state waited { pkt.extract(hdr.frame); transition accept; }");
    if context.events.has_cuts() {
        tasks.push_str(&format!("({TASK_CUT}, _) : waited;"));
    }
    if has_egress {
        tasks.push_str(&format!("({TASK_ROUND}, _) : round; ({TASK_LEAVE}, _) : leave;"));
        states.push_str(&framed(context));
    }
    if count > 0 {
        for (slot, _) in (0..).zip(&slots).filter(|(_, shape)| !shape.direct.is_empty()) {
            // Replica 0 leaves by a port; the others are for other slots.
            let first = if slot == 0 { "leave0".into() } else { format!("leave{slot}_behind0") };
            let task = task_direct(slot);
            // The copy for this slot has nothing to carry.
            tasks.push_str(&format!("({task}, 0) : {first}; ({task}, {}) : accept;", slot + 1));
            states.push_str(&leaves(context, slot));
        }
        tasks.push_str(&format!("({TASK_COPIES} &&& {TASK_COPIES}, _) : slot0;"));
        for slot in 0..count {
            states.push_str(&self::slot(context, slot));
        }
    }
    // The time stamp with the bits below it, and other bits above.
    let arrived = match super::egress_tables::bridge_bits(context) {
        32 => "pkt.lookahead<bit<32>>()".to_string(),
        bits => format!("pkt.lookahead<bit<{bits}>>()[31:0]"),
    };
    context.put(
        Span::NONE,
        format!(
            "parser EgressParser(packet_in pkt, out headers_t hdr, out eg_md_t eg_md, \
             out egress_intrinsic_metadata_t eg_intr_md) {{ \
             state start {{ pkt.extract(eg_intr_md); eg_md.arrived = {arrived}; \
             pkt.extract(hdr.bridge); \
             transition select(hdr.bridge.task, {REPLICA}) {{ {tasks} default : accept; }} }} \
             {states} }}"
        ),
    );
}

/// A case for an event, with what else is matched in front of its number.
fn case(kinds: &str, event: &EventHeader, state: &str) -> String {
    match kinds {
        "" => format!("{} : {state}_{};", event.number, event.name),
        kinds => format!("({kinds}, {}) : {state}_{};", event.number, event.name),
    }
}

/// Numbers of events with the states that read them for their egress handler.
fn handled(context: &Context<'_>, kinds: &str, runs: impl Fn(&EventHeader) -> bool) -> String {
    let events = context.events.events.iter().filter(|event| runs(event));
    events.map(|event| case(kinds, event, "run")).collect()
}

/// A packet that is one event in its frame: its egress handler runs if it is due as it goes round, and
/// as it leaves.
fn framed(context: &Context<'_>) -> String {
    let round = handled(context, &format!("{HERE}, 0"), EventHeader::meets_egress_going_round);
    let leave = handled(context, "", |event| event.has_egress);
    let mut text = format!(
        "state round {{ pkt.extract(hdr.frame); \
         transition select(hdr.frame.place_kind, hdr.frame.delay_ns, hdr.frame.number) {{ {round} \
         default : accept; }} }} \
         state leave {{ pkt.extract(hdr.frame); eg_md.leaves = 1; \
         transition select(hdr.frame.number) {{ {leave} default : accept; }} }}"
    );
    for id in (0..context.events.events.len() as u32).map(EventId) {
        if context.events.event(id).has_egress {
            text.push_str(&run(context, id, "run", "accept"));
        }
    }
    text
}

/// The state that reads an event for its egress handler.
fn run(context: &Context<'_>, id: EventId, prefix: &str, next: &str) -> String {
    let event = context.events.event(id);
    format!(
        "state {prefix}_{} {{ {} eg_md.dispatched = {}; transition {next}; }}",
        event.name,
        extract(context, id),
        event.number
    )
}

fn extract(context: &Context<'_>, id: EventId) -> String {
    match context.events.event(id).ty {
        Some(_) => format!("pkt.extract({});", context.events.incoming_header(id)),
        None => String::new(),
    }
}

/// What follows an event that is kept: slots that the copy is not for.
fn rest(context: &Context<'_>, slot: u32) -> String {
    match slot as usize == context.events.slots.len() {
        true => "accept".to_string(),
        false => format!("rest{slot}"),
    }
}

/// States of the copy that leaves by a port with the event of a slot, behind the slots before it.
fn leaves(context: &Context<'_>, slot: u32) -> String {
    let runs = |event: &EventHeader| event.has_egress;
    let cases =
        handled_here(context, slot, "", runs) + &kept(context, slot, "", |event| !event.has_egress);
    let mut text = format!(
        "state leave{slot} {{ pkt.extract(hdr.frame); eg_md.kept = 1; eg_md.leaves = 1; {} }}",
        select("hdr.frame.number", &cases, &rest(context, slot + 1))
    );
    for before in 0..slot {
        let next = match before + 1 == slot {
            true => format!("leave{slot}"),
            false => format!("leave{slot}_behind{}", before + 1),
        };
        text.push_str(&over(context, before, &format!("leave{slot}_behind{before}"), &next));
    }
    text
}

/// States that advance over a slot if it holds an event.
fn over(context: &Context<'_>, slot: u32, name: &str, next: &str) -> String {
    let skip = format!("{name}_skip");
    format!(
        "state {name} {{ transition select(hdr.bridge.slot{slot}) {{ 1 : {skip}; \
         default : {next}; }} }} {}",
        self::skip(context, slot, &skip, next)
    )
}

/// States for one slot of a packet with several: the copy that is for it keeps it. Few fields stay until later states,
/// since Tofino's parser has room for 32 bits of them.
fn slot(context: &Context<'_>, slot: u32) -> String {
    let events = &context.events;
    let here = &events.slots[slot as usize];
    let next = match slot + 1 == events.slots.len() as u32 {
        true => "accept".to_string(),
        false => format!("slot{}", slot + 1),
    };
    let rest = rest(context, slot + 1);
    let runs = EventHeader::meets_egress_going_round;
    // What has bytes to lose goes round once more before that.
    let run_now = handled_here(context, slot, &format!("SOURCE, {HERE}, 0"), runs);
    let (keys, any) = match run_now.is_empty() {
        true => ("hdr.frame.number", ""),
        false => (
            "hdr.frame.source_kind, hdr.frame.place_kind, hdr.frame.delay_ns, hdr.frame.number",
            "_, _, _",
        ),
    };
    let mut text = format!(
        "state slot{slot} {{ transition select(hdr.bridge.slot{slot}, {REPLICA}) {{ \
         (1, {}) : keep{slot}; (1, _) : skip{slot}; default : {next}; }} }} \
         state keep{slot} {{ pkt.extract(hdr.frame); eg_md.kept = 1; {} }}",
        slot + 1,
        select(keys, &(run_now + &kept(context, slot, any, |_| true)), &rest)
    );
    for id in here {
        if events.event(*id).ty.is_some() {
            text.push_str(&format!(
                "state keep{slot}_{} {{ {} transition {rest}; }}",
                events.event(*id).name,
                extract(context, *id)
            ));
        }
        if events.event(*id).has_egress {
            text.push_str(&run(context, *id, &format!("run{slot}"), &rest));
        }
    }
    if slot > 0 {
        text.push_str(&over(context, slot, &format!("rest{slot}"), &rest));
    }
    text.push_str(&skip(context, slot, &format!("skip{slot}"), &next));
    text
}

fn select(keys: &str, cases: &str, otherwise: &str) -> String {
    match cases.is_empty() {
        true => format!("transition {otherwise};"),
        false => format!("transition select({keys}) {{ {cases} default : {otherwise}; }}"),
    }
}

/// Cases for the events of a slot whose egress handlers run.
fn handled_here(
    context: &Context<'_>,
    slot: u32,
    kinds: &str,
    runs: impl Fn(&EventHeader) -> bool,
) -> String {
    let here = context.events.slots[slot as usize].iter().map(|id| context.events.event(*id));
    here.filter(|event| runs(event))
        .map(|event| case(kinds, event, &format!("run{slot}")))
        .collect()
}

/// Cases for those events of a slot that have parameters.
fn kept(
    context: &Context<'_>,
    slot: u32,
    kinds: &str,
    which: impl Fn(&EventHeader) -> bool,
) -> String {
    let here = context.events.slots[slot as usize].iter().map(|id| context.events.event(*id));
    here.filter(|event| event.ty.is_some() && which(event))
        .map(|event| case(kinds, event, &format!("keep{slot}")))
        .collect()
}

/// Advances over a slot: its frame and its parameters.
fn skip(context: &Context<'_>, slot: u32, name: &str, next: &str) -> String {
    let events = &context.events;
    let mut by_bits: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for id in &events.slots[slot as usize] {
        let event = events.event(*id);
        by_bits.entry(event.bits()).or_default().push(event.number);
    }
    if let Some((bits, _)) = by_bits.iter().next().filter(|_| by_bits.len() == 1) {
        let bits = FRAME_BITS + bits;
        return format!("state {name} {{ pkt.advance({bits}); transition {next}; }}");
    }
    let mut cases = String::new();
    let mut text = String::new();
    for (bits, numbers) in by_bits {
        for number in numbers {
            cases.push_str(&format!("{number} : {name}_{bits};"));
        }
        let all_bits = FRAME_BITS + bits;
        text.push_str(&format!(
            "state {name}_{bits} {{ pkt.advance({all_bits}); transition {next}; }}"
        ));
    }
    format!(
        "{text} state {name} {{ transition select(pkt.lookahead<bit<{FRAME_BITS}>>()[15:0]) {{ \
         {cases} default : {next}; }} }}"
    )
}
