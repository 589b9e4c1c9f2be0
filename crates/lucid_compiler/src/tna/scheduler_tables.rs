// SPDX-License-Identifier: Apache-2.0
//! The scheduler's tables of ingress as P4_16: dispatch, forwarding, serialisation
//! ([`crate::wire`]). Those of egress are in `egress_tables`.

use super::bridge::{
    TASK_COPIES, TASK_CUT, TASK_LEAVE, TASK_MEMBER, TASK_ROUND, TASK_WAIT, task_direct,
};
use super::context::Context;
use super::egress_tables::{self, SOURCE_AGAIN};
use super::parts::{FORWARD_ENTRIES, SchedulerPart};
use super::slots::{Serialisation, serialise_rules, slot_shapes, spreads};
use super::switch_values::{extern_type, values_table};
use super::validity;
use crate::options::Delay;
use crate::wire::{self, PlaceKind};
use pisa::Gress;
use source::Span;

/// Where frames of flow control go (IEEE 802.3, annex 31B).
const PAUSE_ADDRESS: &str = "48w0x0180c2000001";

/// What the parser found a packet to be; the table `dispatch` matches on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Route {
    /// An event in a frame whose handler runs.
    Handled = 1,
    /// For another switch.
    Elsewhere = 2,
    /// Delay is left.
    Wait = 3,
    /// Due to leave by a port.
    Port = 4,
    /// A packet event that is due to leave by a port.
    PortBare = 5,
    /// By a group of ports.
    Group = 6,
    /// A packet event by a group of ports.
    GroupBare = 7,
    /// By all ports but one.
    Flood = 8,
    /// A packet event by all ports but one.
    FloodBare = 9,
    /// A packet event that is due here: the parser `main` has to read it.
    Unframe = 10,
    /// Due at each of a group of switches.
    Switches = 11,
    /// Out of the network: an exit event, or one without a handler here.
    Outside = 12,
    /// The same for a packet event.
    OutsideBare = 13,
    /// A PFC frame for the delay queue, from the packet generator: it pauses the queue.
    Pause = 14,
    /// It has waited, and its egress handler is to run.
    Again = 15,
    /// Delay is left, and it has no time stamp.
    WaitFirst = 16,
    /// A PFC frame for the delay queue that releases it.
    Release = 17,
}

/// Declares a table of the scheduler and gives what stands in `apply`.
pub(super) fn table(
    context: &mut Context<'_>,
    part: SchedulerPart,
    stage: usize,
) -> Option<String> {
    match part {
        SchedulerPart::SwitchValues => switch_values(context, stage),
        SchedulerPart::Dispatch => dispatch(context, stage),
        SchedulerPart::Forward => forward(context, stage),
        SchedulerPart::Serialise => serialise(context, stage),
        SchedulerPart::Keep(slot) => validity::keep(context, stage, slot),
        SchedulerPart::EgressValues => egress_tables::values(context, stage),
        SchedulerPart::Leave => egress_tables::leave(context, stage),
        SchedulerPart::Wait => egress_tables::wait(context, stage),
        SchedulerPart::MaskWait => egress_tables::mask_wait(context, stage),
        SchedulerPart::CountDown => egress_tables::count_down(context, stage),
        SchedulerPart::Member => egress_tables::member(context, stage),
    }
}

fn switch_values(context: &mut Context<'_>, stage: usize) -> Option<String> {
    values_table(context, stage, ("switch_values", "set_switch_values"), "ig_md");
    Some("switch_values.apply();".into())
}

fn dispatch(context: &mut Context<'_>, stage: usize) -> Option<String> {
    let flood = wire::FIRST_FLOOD;
    // What has an egress handler keeps its frame until then.
    let has_egress = context.events.has_egress();
    let leave = format!("hdr.bridge.task = {TASK_LEAVE}; {SOURCE_AGAIN}");
    let left = format!("hdr.frame.place_kind = PLACE_HERE; hdr.frame.place = 0; {SOURCE_AGAIN}");
    let here = match has_egress {
        true => leave.as_str(),
        false => &left,
    };
    let bare = "hdr.frame.setInvalid();";
    let leaves_bare = if has_egress { leave.as_str() } else { bare };
    let port = "ig_tm_md.ucast_egress_port = hdr.frame.place[8:0];";
    let group = "ig_tm_md.mcast_grp_b = hdr.frame.place[15:0];";
    let flooded = format!("ig_tm_md.mcast_grp_b = hdr.frame.place[15:0] + {flood:#06x};");
    let round = format!("ig_tm_md.ucast_egress_port = {};", context.back());
    let wait = format!("{round} ig_tm_md.qid = DELAY_QUEUE; hdr.bridge.task = {TASK_WAIT};");
    let stamp = context.stamp("ig_intr_md.ingress_mac_tstamp");
    let up = round_up(context, "hdr.frame");
    let first = format!("{wait} hdr.bridge.arrived = {stamp}; {up}");
    let wait = format!("{wait} hdr.bridge.arrived = hdr.frame.source_kind;");
    let pause =
        format!("{round} ig_tm_md.qid = EVENT_QUEUE; hdr.pause.destination = {PAUSE_ADDRESS};");
    let actions = [
        ("handle", Route::Handled, bare.to_string()),
        ("delay_event", Route::Wait, wait),
        ("delay_event_first", Route::WaitFirst, first),
        ("leave_by_port", Route::Port, format!("{port} {here}")),
        ("leave_by_port_bare", Route::PortBare, format!("{port} {leaves_bare}")),
        ("leave_by_group", Route::Group, format!("{group} {here}")),
        ("leave_by_group_bare", Route::GroupBare, format!("{group} {leaves_bare}")),
        ("flood", Route::Flood, format!("{flooded} {here}")),
        ("flood_bare", Route::FloodBare, format!("{flooded} {leaves_bare}")),
        (
            "spread",
            Route::Switches,
            format!(
                "ig_tm_md.mcast_grp_b = hdr.frame.place[15:0] + {:#06x}; ig_tm_md.qid = EVENT_QUEUE; \
                 hdr.bridge.task = {TASK_MEMBER};",
                wire::FIRST_SWITCHES
            ),
        ),
        (
            "leave_outside",
            Route::Outside,
            // The parser knows whether its egress handler is to run.
            format!("ig_tm_md.ucast_egress_port = {}; {left}", wire::OUTSIDE_PORT),
        ),
        (
            "leave_outside_bare",
            Route::OutsideBare,
            format!("ig_tm_md.ucast_egress_port = {}; {bare}", wire::OUTSIDE_PORT),
        ),
        ("pause_queue", Route::Pause, pause.clone()),
        ("release_queue", Route::Release, format!("{pause} hdr.pause.quanta = 0;")),
        ("unframe", Route::Unframe, format!("{round} ig_tm_md.qid = EVENT_QUEUE; {bare}")),
        (
            "go_round",
            Route::Again,
            format!(
                "{round} ig_tm_md.qid = EVENT_QUEUE; hdr.frame.place_kind = PLACE_HERE; \
                 hdr.bridge.task = {TASK_ROUND};"
            ),
        ),
    ];
    let has_bare = context.events.events.iter().any(|event| event.is_bare);
    let is_bare = |route: Route| {
        matches!(
            route,
            Route::PortBare
                | Route::GroupBare
                | Route::FloodBare
                | Route::OutsideBare
                | Route::Unframe
        )
    };
    let spreads = spreads(context.atomic);
    let has_queue = context.options.delay == Delay::Queue;
    let actions: Vec<_> = actions
        .into_iter()
        .filter(|(_, route, _)| has_bare || !is_bare(*route))
        .filter(|(_, route, _)| spreads || *route != Route::Switches)
        .filter(|(_, route, _)| has_queue || !matches!(route, Route::Pause | Route::Release))
        .filter(|(_, route, _)| has_egress || *route != Route::Again)
        .collect();
    let mut table =
        format!("@stage({stage}) table dispatch {{ key = {{ ig_md.route : exact; }} actions = {{");
    let mut entries = String::new();
    for (name, route, body) in &actions {
        let name = context.names.fresh(name);
        context.put(Span::NONE, format!("action {name}() {{ {body} }}"));
        table.push_str(&format!("{name};"));
        entries.push_str(&format!("{} : {name}();", *route as u32));
    }
    table.push_str(&format!(
        "NoAction; }} const entries = {{ {entries} }} const default_action = NoAction(); size = 32; }}"
    ));
    context.put(Span::NONE, table);
    // With `forward`, which is for other packets.
    None
}

fn forward(context: &mut Context<'_>, stage: usize) -> Option<String> {
    context.put(
        Span::NONE,
        format!(
            "action forward_to(PortId_t port) {{ ig_tm_md.ucast_egress_port = port; {SOURCE_AGAIN} }} \
             @stage({stage}) table forward {{ key = {{ hdr.frame.place : exact; }} \
             actions = {{ forward_to; NoAction; }} const default_action = NoAction(); \
             size = {FORWARD_ENTRIES}; }}"
        ),
    );
    let route = Route::Elsewhere as u32;
    Some(format!("if (ig_md.route == {route}) {{ forward.apply(); }} else {{ dispatch.apply(); }}"))
}

fn serialise(context: &mut Context<'_>, stage: usize) -> Option<String> {
    let slots = slot_shapes(context.atomic);
    let mut keys = String::new();
    for (at, shape) in slots.iter().enumerate() {
        keys.push_str(&format!("hdr.bridge.slot{at} : ternary;"));
        if !shape.direct.is_empty() {
            keys.push_str(&format!("hdr.slot{at}.place_kind[2:0] : ternary;"));
        }
        if shape.asks_delay {
            keys.push_str(&format!("hdr.slot{at}.delay_ns : ternary;"));
        }
        if shape.asks_cut() {
            keys.push_str(&format!("hdr.slot{at}.source_kind[0:0] : ternary;"));
        }
    }
    let mut actions: Vec<(String, String)> = Vec::new();
    let mut entries = String::new();
    for (tests, what) in serialise_rules(&slots) {
        let mut keyset = Vec::new();
        for (test, shape) in tests.iter().zip(&slots) {
            keyset.push(match test.is_there {
                Some(is_there) => u32::from(is_there).to_string(),
                None => "_".into(),
            });
            if !shape.direct.is_empty() {
                keyset.push(test.kind.map_or("_".into(), |kind| (kind as u32).to_string()));
            }
            if shape.asks_delay {
                keyset.push(if test.is_due { "0".into() } else { "_".into() });
            }
            if shape.asks_cut() {
                keyset.push(test.is_cut.map_or("_".into(), |is_cut| u32::from(is_cut).to_string()));
            }
        }
        let (name, body, arguments) = serialisation(context, what);
        if !actions.iter().any(|(known, _)| *known == name) {
            actions.push((name.clone(), body));
        }
        let keyset = match keyset.as_slice() {
            [one] => one.clone(),
            many => format!("({})", many.join(", ")),
        };
        entries.push_str(&format!("{keyset} : {name}({arguments});"));
    }
    let mut table = format!("@stage({stage}) table serialise {{ key = {{ {keys} }} actions = {{");
    for (name, body) in &actions {
        context.put(Span::NONE, body.clone());
        table.push_str(&format!("{name};"));
    }
    let size = serialise_rules(&slots).len();
    table.push_str(&format!(
        "NoAction; }} const entries = {{ {entries} }} const default_action = NoAction(); \
         size = {size}; }}"
    ));
    context.put(Span::NONE, table);
    Some("serialise.apply();".into())
}

/// Makes up for the part of a unit by which the first time stamp of an event is early, so that no delay is too short.
fn round_up(context: &Context<'_>, frame: &str) -> String {
    match (1_u64 << context.options.stamp_shift()) - 1 {
        0 => String::new(),
        rest => format!("{frame}.delay_ns = {frame}.delay_ns |+| {rest};"),
    }
}

/// Name, declaration and arguments of the action for a rule.
fn serialisation(context: &Context<'_>, what: Serialisation) -> (String, String, String) {
    let round = format!("ig_tm_md.ucast_egress_port = {};", context.back());
    let queue = "ig_tm_md.qid = EVENT_QUEUE;";
    match what {
        Serialisation::Round(slot) => {
            let name = format!("send_slot{slot}");
            let task = match context.events.has_egress() {
                true => format!("hdr.bridge.task = {TASK_ROUND};"),
                false => String::new(),
            };
            let body =
                format!("action {name}() {{ {round} {queue} hdr.bridge.slot{slot} = 0; {task} }}");
            (name, body, String::new())
        }
        Serialisation::Delayed(slot) => {
            let name = format!("delay_slot{slot}");
            let stamp = context.stamp("ig_intr_md.ingress_mac_tstamp");
            let up = round_up(context, &format!("hdr.slot{slot}"));
            let body = format!(
                "action {name}() {{ {round} ig_tm_md.qid = DELAY_QUEUE; hdr.bridge.slot{slot} = 0; \
                 hdr.bridge.task = {TASK_WAIT}; hdr.bridge.arrived = {stamp}; {up} }}"
            );
            (name, body, String::new())
        }
        Serialisation::Cut(slot) => {
            let name = format!("cut_slot{slot}");
            let body = format!(
                "action {name}() {{ {round} {queue} hdr.bridge.slot{slot} = 0; \
                 hdr.bridge.task = {TASK_CUT}; }}"
            );
            (name, body, String::new())
        }
        Serialisation::Copies(copies) => {
            let name = "send_copies".to_string();
            let body = format!(
                "action {name}(MulticastGroupId_t copies) {{ ig_tm_md.mcast_grp_a = copies; {queue} \
                 hdr.bridge.task = {TASK_COPIES}; }}"
            );
            (name, body, copies.to_string())
        }
        Serialisation::Direct(slot, kind, copies) => {
            let (word, place) = match kind {
                PlaceKind::Group => {
                    ("group", format!("ig_tm_md.mcast_grp_b = hdr.slot{slot}.place[15:0];"))
                }
                PlaceKind::Flood => (
                    "flood",
                    format!(
                        "ig_tm_md.mcast_grp_b = hdr.slot{slot}.place[15:0] + {:#06x};",
                        wire::FIRST_FLOOD
                    ),
                ),
                _ => ("port", format!("ig_tm_md.ucast_egress_port = hdr.slot{slot}.place[8:0];")),
            };
            let task = task_direct(slot);
            let name = format!("send_slot{slot}_by_{word}");
            let body = format!(
                "action {name}(MulticastGroupId_t copies) {{ {place} ig_tm_md.mcast_grp_a = copies; \
                 {queue} hdr.bridge.task = {task}; }}"
            );
            (name, body, copies.to_string())
        }
    }
}

/// Metadata that the scheduler needs.
pub(super) fn metadata(context: &Context<'_>, gress: Gress) -> String {
    match gress {
        Gress::Ingress => {
            let mut text = String::from(
                "bit<16> dispatched; bit<5> route; PortId_t ingress_port; bit<32> self_switch;",
            );
            if context.options.has_own_recirculation_ports() {
                text.push_str("PortId_t recirculation_port;");
            }
            for one in context.indexes.values() {
                text.push_str(&format!("bit<{}> {};", one.width_bits, one.field));
            }
            for (at, one) in context.program.externs.iter().enumerate() {
                if let Some(ty) = extern_type(one.ty) {
                    text.push_str(&format!("{ty} {};", context.externs[at]));
                }
            }
            text
        }
        Gress::Egress => egress_tables::metadata(context),
    }
}
