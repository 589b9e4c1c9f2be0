// SPDX-License-Identifier: Apache-2.0
//! The scheduler's tables as P4_16: dispatch, forwarding, serialisation, and in egress what is left of
//! each copy and the time that delayed events have waited ([`crate::compile::wire`]).

use super::context::Context;
use super::scheduler::{
    FORWARD_ENTRIES, MEMBER_ENTRIES, SchedulerPart, SlotShape, slot_shapes, spreads,
};
use crate::compile::Delay;
use crate::compile::expressions::type_text;
use crate::compile::wire::{self, PlaceKind};
use crate::core::Type;
use pisa::Gress;
use source::Span;

/// Where frames of flow control go (IEEE 802.3, annex 31B).
const PAUSE_ADDRESS: &str = "48w0x0180c2000001";

/// What egress has to do with a packet: nothing.
const TASK_PASS: u32 = 0;
/// It waited.
const TASK_WAIT: u32 = 1;
/// A copy for one member of a group of switches.
const TASK_MEMBER: u32 = 2;
/// Copies of slots; higher numbers too.
const TASK_COPIES: u32 = 3;

/// The event of this slot leaves by a port, in its frame.
fn task_framed(slot: u32) -> u32 {
    TASK_COPIES + 1 + 2 * slot
}

/// The same without a frame.
fn task_bare(slot: u32) -> u32 {
    TASK_COPIES + 2 + 2 * slot
}

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
    /// A PFC frame for the delay queue, from the packet generator or a processor.
    Pause = 14,
}

/// What a rule of `serialise` asks of one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SlotTest {
    /// Whether an event is there; any.
    pub(super) is_there: Option<bool>,
    /// Its kind of place; any.
    pub(super) kind: Option<PlaceKind>,
    /// Without a delay; any.
    pub(super) is_due: bool,
}

/// What a rule of `serialise` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Serialisation {
    /// One event to the recirculation port, to be handled at once.
    Round(u32),
    /// One event to the recirculation port, to wait.
    Delayed(u32),
    /// Several to the recirculation port: as many copies as the highest slot has a number.
    Copies(u32),
    /// A slot leaves by a port, others go round in so many copies (0: there are none).
    Direct(u32, PlaceKind, u32),
}

/// The rules of `serialise`, in order.
pub(super) fn serialise_rules(slots: &[SlotShape]) -> Vec<(Vec<SlotTest>, Serialisation)> {
    let count = slots.len();
    let any = vec![SlotTest::default(); count];
    let mut rules = Vec::new();
    for (at, shape) in slots.iter().enumerate() {
        for kind in &shape.direct {
            let mut base = any.clone();
            base[at] =
                SlotTest { is_there: Some(true), kind: Some(*kind), is_due: shape.writes_delay };
            for highest in (0..count).rev().filter(|highest| *highest != at) {
                let mut tests = base.clone();
                tests[highest].is_there = Some(true);
                let what = Serialisation::Direct(at as u32, *kind, highest as u32 + 1);
                rules.push((tests, what));
            }
            rules.push((base, Serialisation::Direct(at as u32, *kind, 0)));
        }
    }
    for (at, shape) in slots.iter().enumerate() {
        let mut alone = vec![SlotTest { is_there: Some(false), ..SlotTest::default() }; count];
        alone[at].is_there = Some(true);
        if shape.writes_delay {
            let mut due = alone.clone();
            due[at].is_due = true;
            rules.push((due, Serialisation::Round(at as u32)));
            rules.push((alone, Serialisation::Delayed(at as u32)));
        } else {
            rules.push((alone, Serialisation::Round(at as u32)));
        }
    }
    for highest in (1..count).rev() {
        let mut tests = any.clone();
        tests[highest].is_there = Some(true);
        rules.push((tests, Serialisation::Copies(highest as u32 + 1)));
    }
    rules
}

/// Declares a table of the scheduler and gives what stands in `apply`.
pub(super) fn table(
    context: &mut Context<'_>,
    part: SchedulerPart,
    stage: usize,
    second: bool,
) -> Option<String> {
    match part {
        SchedulerPart::SwitchValues => switch_values(context, stage),
        SchedulerPart::Dispatch => dispatch(context, stage),
        SchedulerPart::Forward => forward(context, stage),
        SchedulerPart::Serialise => serialise(context, stage),
        SchedulerPart::Strip => strip(context, stage),
        SchedulerPart::Wait => wait(context, stage, second),
        SchedulerPart::Member => member(context, stage),
    }
}

fn switch_values(context: &mut Context<'_>, stage: usize) -> Option<String> {
    let mut parameters = vec!["bit<32> self_switch".to_string()];
    let mut body = String::from("ig_md.self_switch = self_switch;");
    let mut defaults = vec!["0".to_string()];
    for (at, one) in context.program.externs.iter().enumerate() {
        let Some(ty) = extern_type(one.ty) else { continue };
        let name = &context.externs[at];
        parameters.push(format!("{ty} {name}"));
        body.push_str(&format!("ig_md.{name} = {name};"));
        defaults.push("0".into());
    }
    context.put(
        Span::NONE,
        format!(
            "action set_switch_values({}) {{ {body} }} @stage({stage}) table switch_values {{ \
             actions = {{ set_switch_values; }} default_action = set_switch_values({}); size = 1; }}",
            parameters.join(", "),
            defaults.join(", ")
        ),
    );
    Some("switch_values.apply();".into())
}

/// The type of an extern as metadata; none for groups, which are multicast groups.
pub(super) fn extern_type(ty: Type) -> Option<String> {
    match ty {
        Type::Int(_) => Some(type_text(ty)),
        Type::Bool => Some("bit<1>".into()),
        Type::Event | Type::Group | Type::Payload => None,
    }
}

fn dispatch(context: &mut Context<'_>, stage: usize) -> Option<String> {
    let flood = wire::FIRST_FLOOD;
    let here = "hdr.frame.place_kind = PLACE_HERE; hdr.frame.place = 0;";
    let bare = "hdr.frame.setInvalid();";
    let port = "ig_tm_md.ucast_egress_port = hdr.frame.place[8:0];";
    let group = "ig_tm_md.mcast_grp_b = hdr.frame.place[15:0];";
    let flooded = format!("ig_tm_md.mcast_grp_b = hdr.frame.place[15:0] + {flood:#06x};");
    let round = "ig_tm_md.ucast_egress_port = RECIRCULATION_PORT;";
    let actions = [
        ("handle", Route::Handled, bare.to_string()),
        (
            "delay_event",
            Route::Wait,
            format!("{round} ig_tm_md.qid = DELAY_QUEUE; hdr.bridge.task = {TASK_WAIT};"),
        ),
        ("leave_by_port", Route::Port, format!("{port} {here}")),
        ("leave_by_port_bare", Route::PortBare, format!("{port} {bare}")),
        ("leave_by_group", Route::Group, format!("{group} {here}")),
        ("leave_by_group_bare", Route::GroupBare, format!("{group} {bare}")),
        ("flood", Route::Flood, format!("{flooded} {here}")),
        ("flood_bare", Route::FloodBare, format!("{flooded} {bare}")),
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
            format!("ig_tm_md.ucast_egress_port = {}; {here}", wire::OUTSIDE_PORT),
        ),
        (
            "leave_outside_bare",
            Route::OutsideBare,
            format!("ig_tm_md.ucast_egress_port = {}; {bare}", wire::OUTSIDE_PORT),
        ),
        (
            "time_queue",
            Route::Pause,
            format!("{round} ig_tm_md.qid = EVENT_QUEUE; hdr.pause.destination = {PAUSE_ADDRESS};"),
        ),
        ("unframe", Route::Unframe, format!("{round} ig_tm_md.qid = EVENT_QUEUE; {bare}")),
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
        .filter(|(_, route, _)| has_queue || *route != Route::Pause)
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
        "NoAction; }} const entries = {{ {entries} }} const default_action = NoAction(); size = 16; }}"
    ));
    context.put(Span::NONE, table);
    // With `forward`, which is for other packets.
    None
}

fn forward(context: &mut Context<'_>, stage: usize) -> Option<String> {
    context.put(
        Span::NONE,
        format!(
            "action forward_to(PortId_t port) {{ ig_tm_md.ucast_egress_port = port; }} \
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
    let events = context.events.clone();
    let mut keys = String::new();
    // Whether the events of a slot are to be told apart: some leave without a frame.
    let mut mixed = Vec::new();
    for (at, shape) in slots.iter().enumerate() {
        keys.push_str(&format!("hdr.bridge.slot{at} : ternary;"));
        let bare = events.slots[at].iter().filter(|id| events.event(**id).is_bare).count();
        let is_mixed = !shape.direct.is_empty() && bare > 0 && bare < events.slots[at].len();
        if !shape.direct.is_empty() {
            keys.push_str(&format!("hdr.slot{at}.place_kind[2:0] : ternary;"));
        }
        if is_mixed {
            keys.push_str(&format!("hdr.slot{at}.number : ternary;"));
        }
        if shape.writes_delay {
            keys.push_str(&format!("hdr.slot{at}.delay_ns : ternary;"));
        }
        mixed.push(is_mixed);
    }
    let mut actions: Vec<(String, String)> = Vec::new();
    let mut entries = String::new();
    for (tests, what) in serialise_rules(&slots) {
        // Numbers of the bare events one by one, then the others.
        let mut variants: Vec<(Option<u32>, bool)> = Vec::new();
        if let Serialisation::Direct(slot, ..) = what {
            let bare = |id: &&crate::core::EventId| events.event(**id).is_bare;
            let here = &events.slots[slot as usize];
            if mixed[slot as usize] {
                let numbers = here.iter().filter(bare).map(|id| events.event(*id).number);
                variants.extend(numbers.map(|number| (Some(number), true)));
                variants.push((None, false));
            } else {
                variants.push((None, here.iter().any(|id| events.event(*id).is_bare)));
            }
        } else {
            variants.push((None, false));
        }
        for (number, is_bare) in variants {
            let mut keyset = Vec::new();
            for (at, (test, shape)) in tests.iter().zip(&slots).enumerate() {
                keyset.push(match test.is_there {
                    Some(is_there) => u32::from(is_there).to_string(),
                    None => "_".into(),
                });
                if !shape.direct.is_empty() {
                    keyset.push(test.kind.map_or("_".into(), |kind| (kind as u32).to_string()));
                }
                if mixed[at] {
                    let is_it =
                        matches!(what, Serialisation::Direct(slot, ..) if slot as usize == at);
                    keyset.push(number.filter(|_| is_it).map_or("_".into(), |one| one.to_string()));
                }
                if shape.writes_delay {
                    keyset.push(if test.is_due { "0".into() } else { "_".into() });
                }
            }
            let (name, body, arguments) = serialisation(what, is_bare);
            if !actions.iter().any(|(known, _)| *known == name) {
                actions.push((name.clone(), body));
            }
            let keyset = match keyset.as_slice() {
                [one] => one.clone(),
                many => format!("({})", many.join(", ")),
            };
            entries.push_str(&format!("{keyset} : {name}({arguments});"));
        }
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

/// Name, declaration and arguments of the action for a rule.
fn serialisation(what: Serialisation, is_bare: bool) -> (String, String, String) {
    let round = "ig_tm_md.ucast_egress_port = RECIRCULATION_PORT;";
    let queue = "ig_tm_md.qid = EVENT_QUEUE;";
    match what {
        Serialisation::Round(slot) => {
            let name = format!("send_slot{slot}");
            let body = format!("action {name}() {{ {round} {queue} hdr.bridge.slot{slot} = 0; }}");
            (name, body, String::new())
        }
        Serialisation::Delayed(slot) => {
            let name = format!("delay_slot{slot}");
            let body = format!(
                "action {name}() {{ {round} ig_tm_md.qid = DELAY_QUEUE; hdr.bridge.slot{slot} = 0; \
                 hdr.bridge.task = {TASK_WAIT}; }}"
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
            let (bare, task) = match is_bare {
                true => ("_bare", task_bare(slot)),
                false => ("", task_framed(slot)),
            };
            let name = format!("send_slot{slot}_by_{word}{bare}");
            let body = format!(
                "action {name}(MulticastGroupId_t copies) {{ {place} ig_tm_md.mcast_grp_a = copies; \
                 {queue} hdr.bridge.task = {task}; }}"
            );
            (name, body, copies.to_string())
        }
    }
}

fn strip(context: &mut Context<'_>, stage: usize) -> Option<String> {
    let events = context.events.clone();
    let slots = slot_shapes(context.atomic);
    let count = events.slots.len() as u32;
    let mut keys = String::from("hdr.bridge.task : ternary; eg_intr_md.egress_rid : ternary;");
    for slot in 0..count {
        keys.push_str(&format!("hdr.bridge.slot{slot} : ternary;"));
    }
    let others = |kept: u32| {
        let mut text = String::new();
        for slot in (0..count).filter(|slot| *slot != kept) {
            text.push_str(&format!("hdr.slot{slot}.setInvalid();"));
            for header in events.slot_headers(slot) {
                text.push_str(&format!("{header}.setInvalid();"));
            }
        }
        text
    };
    let mut actions = vec!["drop_copy".to_string()];
    context.put(Span::NONE, "action drop_copy() { eg_dprsr_md.drop_ctl = 1; }");
    let anything = vec!["_".to_string(); count as usize];
    let entry = |task: &str, rid: u32, slots: &[String], action: &str| {
        let mut keyset = vec![task.to_string(), rid.to_string()];
        keyset.extend_from_slice(slots);
        format!("({}) : {action}();", keyset.join(", "))
    };
    let mut entries = String::new();
    for slot in 0..count {
        let is_direct = !slots[slot as usize].direct.is_empty();
        let bare = events.slots[slot as usize].iter().any(|id| events.event(*id).is_bare);
        let framed = events.slots[slot as usize].iter().any(|id| !events.event(*id).is_bare);
        let keep = others(slot);
        if is_direct && framed {
            context.put(
                Span::NONE,
                format!(
                    "action leave_slot{slot}() {{ {keep} hdr.slot{slot}.place_kind = PLACE_HERE; \
                     hdr.slot{slot}.place = 0; }}"
                ),
            );
            actions.push(format!("leave_slot{slot}"));
            let task = task_framed(slot).to_string();
            entries.push_str(&entry(&task, 0, &anything, &format!("leave_slot{slot}")));
            entries.push_str(&entry(&task, slot + 1, &anything, "drop_copy"));
        }
        if is_direct && bare {
            context.put(
                Span::NONE,
                format!("action leave_slot{slot}_bare() {{ {keep} hdr.slot{slot}.setInvalid(); }}"),
            );
            actions.push(format!("leave_slot{slot}_bare"));
            let task = task_bare(slot).to_string();
            entries.push_str(&entry(&task, 0, &anything, &format!("leave_slot{slot}_bare")));
            entries.push_str(&entry(&task, slot + 1, &anything, "drop_copy"));
        }
    }
    let may_copy = count > 1;
    for slot in (0..count).filter(|_| may_copy) {
        let keep = others(slot);
        context.put(Span::NONE, format!("action keep_slot{slot}() {{ {keep} }}"));
        actions.push(format!("keep_slot{slot}"));
        let mut here = anything.clone();
        here[slot as usize] = "1".into();
        entries.push_str(&entry("_", slot + 1, &here, &format!("keep_slot{slot}")));
        entries.push_str(&entry("_", slot + 1, &anything, "drop_copy"));
    }
    let size = entries.matches(';').count().max(1);
    context.put(
        Span::NONE,
        format!(
            "@stage({stage}) table strip {{ key = {{ {keys} }} actions = {{ {}; NoAction; }} \
             const entries = {{ {entries} }} const default_action = NoAction(); size = {size}; }}",
            actions.join("; ")
        ),
    );
    Some(format!("if (hdr.bridge.task >= {TASK_COPIES}) {{ strip.apply(); }}"))
}

/// Each copy gets the number of its switch.
fn member(context: &mut Context<'_>, stage: usize) -> Option<String> {
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

fn wait(context: &mut Context<'_>, stage: usize, second: bool) -> Option<String> {
    let (table, action, body) = match (context.options.delay, second) {
        (Delay::Queue, _) => (
            "wait",
            "waited",
            "hdr.frame.delay_ns = hdr.frame.delay_ns |-| (bit<32>)eg_intr_md.deq_timedelta;",
        ),
        (Delay::Recirculation, false) => (
            "wait",
            "waited",
            "eg_md.elapsed_ns = eg_prsr_md.global_tstamp[31:0] - hdr.bridge.arrived_ns;",
        ),
        (Delay::Recirculation, true) => (
            "count_down",
            "counted",
            "hdr.frame.delay_ns = hdr.frame.delay_ns |-| eg_md.elapsed_ns; \
             hdr.frame.place = eg_prsr_md.global_tstamp[31:0];",
        ),
    };
    context.put(
        Span::NONE,
        format!(
            "action {action}() {{ {body} }} @stage({stage}) table {table} {{ \
             key = {{ hdr.bridge.task : exact; }} actions = {{ {action}; NoAction; }} \
             const entries = {{ {TASK_WAIT} : {action}(); }} const default_action = NoAction(); \
             size = 1; }}"
        ),
    );
    Some(format!("{table}.apply();"))
}

/// Metadata that the scheduler needs.
pub(super) fn metadata(context: &Context<'_>, gress: Gress) -> String {
    match gress {
        Gress::Ingress => {
            let mut text = String::from(
                "bit<16> dispatched; bit<4> route; PortId_t ingress_port; bit<32> self_switch;",
            );
            for (at, one) in context.program.externs.iter().enumerate() {
                if let Some(ty) = extern_type(one.ty) {
                    text.push_str(&format!("{ty} {};", context.externs[at]));
                }
            }
            text
        }
        Gress::Egress => match context.options.delay {
            Delay::Recirculation => "bit<32> elapsed_ns;".into(),
            Delay::Queue => String::new(),
        },
    }
}

pub(super) const PASS: u32 = TASK_PASS;
pub(super) const WAITS: u32 = TASK_WAIT;
pub(super) const MEMBER: u32 = TASK_MEMBER;
