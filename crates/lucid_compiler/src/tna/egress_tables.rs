// SPDX-License-Identifier: Apache-2.0
//! The scheduler's tables of egress: the time that delayed events have waited, the members of groups of
//! switches, and how a packet leaves: without the frame that its event has inside the network, or not at
//! all, where a copy has no event and where an egress handler generated none.

use super::bridge::{TASK_COPIES, TASK_CUT, TASK_MEMBER, TASK_PASS, TASK_ROUND, TASK_WAIT};
use super::context::Context;
use super::egress_parser::HERE;
use super::parts::{MEMBER_ENTRIES, Part, SchedulerPart};
use super::switch_values::{extern_type, values_table};
use crate::wire::FIRST_CUT_SESSION;
use source::Span;

/// The source address of a waiting event has a time stamp; what leaves has none.
pub(super) const SOURCE_AGAIN: &str = "hdr.frame.source_kind = SOURCE;";

/// Applications of the scheduler's tables for packets with some tasks. They are on branches of their own, so that tables
/// of one stage may write parts of one container.
#[derive(Debug, Default)]
pub(super) struct ByTask {
    waits: Vec<String>,
    members: Vec<String>,
}

impl ByTask {
    /// Where the applications of a part stand, if not with the others.
    pub(super) fn of(&mut self, part: Part) -> Option<&mut Vec<String>> {
        match part {
            Part::Scheduler(
                SchedulerPart::Wait | SchedulerPart::MaskWait | SchedulerPart::CountDown,
            ) => Some(&mut self.waits),
            Part::Scheduler(SchedulerPart::Member) => Some(&mut self.members),
            _ => None,
        }
    }

    /// The branches, with what all other packets meet.
    pub(super) fn around(&self, others: &[String]) -> String {
        let mut text = String::new();
        for (task, applied) in [(TASK_WAIT, &self.waits), (TASK_MEMBER, &self.members)] {
            if !applied.is_empty() {
                text.push_str(&format!(
                    "if (hdr.bridge.task == {task}) {{ {} }} else ",
                    applied.join(" ")
                ));
            }
        }
        match (text.strip_suffix(" else "), others) {
            (Some(branches), []) => branches.to_string(),
            _ => format!("{text}{{ {} }}", others.join(" ")),
        }
    }
}

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
    let slots = context.events.slots.len() as u32;
    let bridge = super::bridge::of_task(task, slots, context.options.stamp_shift());
    format!(
        "action cut(MirrorId_t session) {{ eg_dprsr_md.drop_ctl = 1; eg_dprsr_md.mirror_type = 1; \
         eg_md.session = session; eg_md.mirrored = {bits}w{bridge}; hdr.frame.source_kind = SOURCE; }}"
    )
}

/// Bits of the bridge.
pub(super) fn bridge_bits(context: &Context<'_>) -> u32 {
    8 * super::bridge::bytes(context.events.slots.len() as u32, context.options.stamp_shift())
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
    Some("member.apply();".into())
}

/// The time since a delayed event's last time stamp, and a new stamp. The stamp and the time are those bits of the
/// result that [`mask_wait`] keeps: an ALU of Tofino computes with whole containers of one size.
pub(super) fn wait(context: &mut Context<'_>, stage: usize) -> Option<String> {
    let now = "eg_prsr_md.global_tstamp";
    let stamp = context.stamp(now);
    let body =
        format!("eg_md.elapsed = {now}[31:0] - eg_md.arrived; hdr.frame.source_kind = {stamp};");
    waiting(context, stage, ("wait", "waited"), &body)
}

/// The bits of that time that the stamp has, in nanoseconds.
pub(super) fn mask_wait(context: &mut Context<'_>, stage: usize) -> Option<String> {
    let mask = 0xffff_u32 << context.options.stamp_shift();
    let body = format!("eg_md.elapsed = eg_md.elapsed & {mask:#010x};");
    waiting(context, stage, ("mask", "masked"), &body)
}

/// A table with one action.
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
             actions = {{ {action}; }} const default_action = {action}(); size = 1; }}"
        ),
    );
    Some(format!("{table}.apply();"))
}

/// What is left of the delay. Where the new stamp would look like the source address of what has none, the event keeps the
/// one before and counts both rounds in the next.
pub(super) fn count_down(context: &mut Context<'_>, stage: usize) -> Option<String> {
    let count = "hdr.frame.delay_ns = hdr.frame.delay_ns |-| eg_md.elapsed;";
    let stamp = context.stamp("eg_md.arrived");
    let mut actions = format!(
        "action keep_stamp() {{ hdr.frame.source_kind = {stamp}; }} \
         action counted() {{ {count} }} "
    );
    let (mut key, mut names) = ("", "keep_stamp; counted;");
    let mut entries = String::from("SOURCE : keep_stamp(); _ : counted();");
    if context.events.has_egress() {
        // Once it has waited its egress handler is still to run.
        actions.push_str(&format!(
            "action counted_here() {{ {count} hdr.frame.place_kind = PLACE_LATER; }} "
        ));
        (key, names) = ("hdr.frame.place_kind : ternary;", "keep_stamp; counted; counted_here;");
        entries = format!(
            "(SOURCE, _) : keep_stamp(); (_, {HERE}) : counted_here(); (_, _) : counted();"
        );
    }
    let size = entries.matches(';').count();
    context.put(
        Span::NONE,
        format!(
            "{actions} @stage({stage}) table count_down {{ key = {{ \
             hdr.frame.source_kind : ternary; {key} }} actions = {{ {names} NoAction; }} \
             const entries = {{ {entries} }} const default_action = NoAction(); size = {size}; }}"
        ),
    );
    Some("count_down.apply();".into())
}

/// Metadata of egress.
pub(super) fn metadata(context: &Context<'_>) -> String {
    let mut text = String::new();
    if context.parts.contains(&Part::Scheduler(SchedulerPart::Leave)) {
        text.push_str("bit<1> kept; bit<1> leaves;");
    }
    if context.events.has_cuts() {
        text.push_str(&format!("MirrorId_t session; bit<{}> mirrored;", bridge_bits(context)));
    }
    text.push_str("bit<32> arrived; bit<32> elapsed;");
    if context.events.has_egress() {
        text.push_str("bit<16> dispatched; bit<1> generated;");
    }
    if context.parts.contains(&Part::Scheduler(SchedulerPart::EgressValues)) {
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
