// SPDX-License-Identifier: Apache-2.0
//! The scheduler's tables of egress: the time that delayed events have waited, the members of groups of
//! switches, and how a packet leaves: without the frame that its event has inside the network, or not at
//! all, where a copy has no event and where an egress handler generated none.

use super::bridge::{TASK_COPIES, TASK_CUT, TASK_MEMBER, TASK_PASS, TASK_ROUND, TASK_WAIT};
use super::context::Context;
use super::egress_parser::HERE;
use super::parts::MEMBER_ENTRIES;
use super::switch_values::{extern_type, values_table};
use crate::wire::FIRST_CUT_SESSION;
use source::Span;

/// The source address of a waiting event has a time stamp; what leaves has none.
pub(super) const SOURCE_AGAIN: &str = "hdr.frame.source_kind = SOURCE;";

/// What the control plane says of this switch, where egress handlers ask for it.
pub(super) fn values(context: &mut Context<'_>, stage: usize) -> Option<String> {
    values_table(context, stage, ("egress_values", "set_egress_values"), "eg_md");
    Some("egress_values.apply();".into())
}

/// How a packet leaves.
pub(super) fn leave(context: &mut Context<'_>, stage: usize) -> Option<String> {
    let has_egress = context.events.has_egress();
    let has_cuts = context.events.has_cuts();
    let mut keys = vec!["hdr.bridge.task", "eg_md.kept", "eg_md.leaves", "hdr.frame.number"];
    if has_cuts {
        keys.push("hdr.frame.source_kind");
    }
    if has_egress {
        keys.extend(["eg_md.dispatched", "eg_md.generated"]);
    }
    let keys: Vec<String> = keys.into_iter().map(|key| format!("{key} : ternary;")).collect();
    // The first that fits: task, kept, leaves, number; source; dispatched, generated.
    let mut entries = String::new();
    let any_handler = if has_egress { ", _, _" } else { "" };
    let source = if has_cuts { ", _" } else { "" };
    let any = &format!("{source}{any_handler}");
    entries.push_str(&format!("({TASK_COPIES} &&& {TASK_COPIES}, 0, _, _{any}) : drop_copy();"));
    if has_egress {
        for event in context.events.events.iter().filter(|event| event.has_egress) {
            entries.push_str(&format!("(_, _, _, _{source}, {}, 0) : drop_copy();", event.number));
        }
    }
    let lengths = context.events.cut_lengths();
    for event in context.events.cut.iter().map(|id| context.events.event(*id)) {
        let length = lengths.iter().position(|length| *length == event.frame_bytes()).unwrap_or(0);
        let session = FIRST_CUT_SESSION + length as u32;
        let number = event.number;
        entries.push_str(&format!(
            "({TASK_CUT}, _, 0, {number}, SOURCE_CUT{any_handler}) : cut({session}); \
             ({TASK_COPIES} &&& {TASK_COPIES}, 1, 0, {number}, SOURCE_CUT{any_handler}) : cut({session});"
        ));
    }
    for event in context.events.events.iter().filter(|event| event.is_bare) {
        entries.push_str(&format!("(_, _, 1, {}{any}) : unframe();", event.number));
    }
    entries.push_str(&format!("(_, _, 1, _{any}) : leave_here();"));
    let size = entries.matches(';').count();
    let cut = if has_cuts { cut(context) } else { String::new() };
    let cuts = if has_cuts { "cut;" } else { "" };
    let unframe = match context.events.events.iter().any(|event| event.is_bare) {
        true => "action unframe() { hdr.frame.setInvalid(); }",
        false => "",
    };
    let unframes = if unframe.is_empty() { "" } else { "unframe;" };
    context.put(
        Span::NONE,
        format!(
            "action drop_copy() {{ eg_dprsr_md.drop_ctl = 1; }} {cut} {unframe} \
             action leave_here() {{ hdr.frame.place_kind = PLACE_HERE; hdr.frame.place = 0; }} \
             @stage({stage}) table leave {{ key = {{ {} }} actions = {{ drop_copy; {cuts} {unframes} \
             leave_here; NoAction; }} const entries = {{ {entries} }} \
             const default_action = NoAction(); size = {size}; }}",
            keys.join("")
        ),
    );
    Some("leave.apply();".into())
}

/// The action that sends a mirror copy in place of the packet. The copy begins with a bridge, as if ingress had sent the
/// event alone.
fn cut(context: &Context<'_>) -> String {
    let task = if context.events.has_egress() { TASK_ROUND } else { TASK_PASS };
    let bits = bridge_bits(context);
    let bridge = u128::from(task) << (bits - 24);
    format!(
        "action cut(MirrorId_t session) {{ eg_dprsr_md.drop_ctl = 1; eg_dprsr_md.mirror_type = 1; \
         eg_md.session = session; eg_md.mirrored = {bits}w{bridge}; hdr.frame.source_kind = SOURCE; }}"
    )
}

/// Bits of the bridge.
pub(super) fn bridge_bits(context: &Context<'_>) -> u32 {
    8 * super::bridge::bytes(context.events.slots.len() as u32)
}

/// Each copy gets the number of its switch.
pub(super) fn member(context: &mut Context<'_>, stage: usize) -> Option<String> {
    context.put(
        Span::NONE,
        format!(
            "action at_switch(bit<32> switch_number) {{ hdr.frame.place_kind = PLACE_SWITCH; \
             hdr.frame.place = switch_number; }} @stage({stage}) table member {{ \
             key = {{ eg_intr_md.egress_rid : exact; }} actions = {{ at_switch; NoAction; }} \
             const default_action = NoAction(); size = {MEMBER_ENTRIES}; }}"
        ),
    );
    Some(format!("if (hdr.bridge.task == {TASK_MEMBER}) {{ member.apply(); }}"))
}

/// The time since a delayed event's last time stamp, and a new stamp.
pub(super) fn wait(context: &mut Context<'_>, stage: usize) -> Option<String> {
    let now = context.stamp("eg_prsr_md.global_tstamp");
    let body =
        format!("eg_md.elapsed = {now} - hdr.bridge.arrived; hdr.frame.source_kind = {now};");
    waiting(context, stage, ("wait", "waited"), &body)
}

/// The same in nanoseconds.
pub(super) fn scale_wait(context: &mut Context<'_>, stage: usize) -> Option<String> {
    let shift = context.options.stamp_shift();
    let body = format!("eg_md.elapsed_ns = (bit<32>)(eg_md.elapsed ++ {shift}w0);");
    waiting(context, stage, ("scale", "scaled"), &body)
}

/// A table with one action for what waits.
fn waiting(
    context: &mut Context<'_>,
    stage: usize,
    (table, action): (&str, &str),
    body: &str,
) -> Option<String> {
    context.put(
        Span::NONE,
        format!(
            "action {action}() {{ {body} }} @stage({stage}) table {table} {{ \
             key = {{ hdr.bridge.task : exact; }} actions = {{ {action}; NoAction; }} \
             const entries = {{ {TASK_WAIT} : {action}(); }} \
             const default_action = NoAction(); size = 1; }}"
        ),
    );
    Some(format!("{table}.apply();"))
}

/// What is left of the delay. Where the new stamp would look like the source address of what has none, the event keeps the
/// one before and counts both rounds in the next.
pub(super) fn count_down(context: &mut Context<'_>, stage: usize) -> Option<String> {
    let elapsed = match context.options.stamp_shift() {
        0 => "(bit<32>)eg_md.elapsed",
        _ => "eg_md.elapsed_ns",
    };
    let count = format!("hdr.frame.delay_ns = hdr.frame.delay_ns |-| {elapsed};");
    let mut actions = format!(
        "action keep_stamp() {{ hdr.frame.source_kind = hdr.bridge.arrived; }} \
         action counted() {{ {count} }} "
    );
    let (mut key, mut names) = ("", "keep_stamp; counted;");
    let mut entries =
        format!("({TASK_WAIT}, SOURCE) : keep_stamp(); ({TASK_WAIT}, _) : counted();");
    if context.events.has_egress() {
        // Once it has waited its egress handler is still to run.
        actions.push_str(&format!(
            "action counted_here() {{ {count} hdr.frame.place_kind = PLACE_LATER; }} "
        ));
        (key, names) = ("hdr.frame.place_kind : ternary;", "keep_stamp; counted; counted_here;");
        entries = format!(
            "({TASK_WAIT}, SOURCE, _) : keep_stamp(); ({TASK_WAIT}, _, {HERE}) : counted_here(); \
             ({TASK_WAIT}, _, _) : counted();"
        );
    }
    let size = entries.matches(';').count();
    context.put(
        Span::NONE,
        format!(
            "{actions} @stage({stage}) table count_down {{ key = {{ hdr.bridge.task : exact; \
             hdr.frame.source_kind : ternary; {key} }} actions = {{ {names} NoAction; }} \
             const entries = {{ {entries} }} const default_action = NoAction(); size = {size}; }}"
        ),
    );
    Some("count_down.apply();".into())
}

/// Metadata of egress.
pub(super) fn metadata(context: &Context<'_>) -> String {
    let mut text = String::new();
    if context.parts.contains(&super::parts::Part::Scheduler(super::parts::SchedulerPart::Leave)) {
        text.push_str("bit<1> kept; bit<1> leaves;");
    }
    if context.events.has_cuts() {
        text.push_str(&format!("MirrorId_t session; bit<{}> mirrored;", bridge_bits(context)));
    }
    text.push_str("bit<16> elapsed;");
    if context.options.stamp_shift() > 0 {
        text.push_str("bit<32> elapsed_ns;");
    }
    if context.events.has_egress() {
        text.push_str("bit<16> dispatched; bit<1> generated;");
    }
    if context
        .parts
        .contains(&super::parts::Part::Scheduler(super::parts::SchedulerPart::EgressValues))
    {
        text.push_str("bit<32> self_switch;");
        if context.options.has_own_recirculation_ports() {
            text.push_str("PortId_t recirculation_port;");
        }
        for (at, one) in context.program.externs.iter().enumerate() {
            if let Some(ty) = extern_type(one.ty) {
                text.push_str(&format!("{ty} {};", context.externs[at]));
            }
        }
    }
    text
}
