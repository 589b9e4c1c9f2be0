// SPDX-License-Identifier: Apache-2.0
//! Reads links and the properties of their directions.

use super::context::Context;
use crate::codes;
use crate::format::value::{Located, QueueLimit, Record, Value, ValueKind};
use crate::model::{DEFAULT_LATENCY_PS, DEFAULT_RATE_BPS, Direction, End, Link, Node};
use document::Messages;
use network::links::{LinkOptions, LossModel};
use source::{Diagnostic, Span};
use std::collections::HashMap;

/// The greatest rate: one byte takes less than a picosecond above it.
const MAX_RATE_BPS: u64 = 8_000_000_000_000;
const MAX_OVERHEAD_BYTES: u64 = 65_535;

/// Reads the links of the field `links`. `generated` are the properties of the links that exist, which entries may change.
pub(super) fn read(
    list: &[Value],
    defaults: &Record,
    generated: &[Record],
    context: &mut Context<'_>,
) {
    let mut changed: HashMap<usize, Span> = HashMap::new();
    for value in list {
        match &value.kind {
            ValueKind::List(ends) => {
                let ends: Vec<_> = ends.iter().filter_map(Value::text).collect();
                if let Some(ends) = two_ends(&ends, value.span, context) {
                    add(None, ends, [defaults, defaults], value.span, context);
                }
            }
            ValueKind::Record(record) if record.is_written("link") => {
                change(record, generated, &mut changed, context);
            }
            ValueKind::Record(record) => object(record, defaults, context),
            _ => {}
        }
    }
}

/// The properties of both directions of a link.
fn directions(record: &Record, defaults: &Record, messages: &Messages) -> [Record; 2] {
    let both = merged(record.clone(), defaults, messages);
    ["forth", "back"].map(|name| match record.record(name) {
        Some(own) => merged(own.clone(), &both, messages),
        None => both.clone(),
    })
}

/// Changes properties of a generated link.
fn change(
    record: &Record,
    generated: &[Record],
    changed: &mut HashMap<usize, Span>,
    context: &mut Context<'_>,
) {
    if record.is_written("ends") {
        let message = "a link has both `ends` and `link`";
        let diagnostic = Diagnostic::error(codes::CONFLICT, record.span_of("ends"), message);
        let diagnostic = diagnostic.label(record.span_of("link"), "the other one");
        let help = "`ends` adds a link, `link` changes one of the topology";
        context.messages.push(diagnostic.help(help));
        return;
    }
    let Some(text) = record.text("link") else { return };
    let Some(number) = context.link(&text) else { return };
    let Some(properties) = generated.get(number) else {
        let message = format!("the field `topology` does not generate the link `{}`", text.value);
        let diagnostic = Diagnostic::error(codes::CONFLICT, text.span, message);
        let diagnostic = diagnostic.label(context.network.links[number].span, "the link");
        context.messages.push(diagnostic.help("write the properties where the link is"));
        return;
    };
    if let Some(earlier) = changed.insert(number, record.span) {
        let message = format!("the link `{}` is changed twice", text.value);
        let diagnostic = Diagnostic::error(codes::REPEATED_FIELD, text.span, message);
        context.messages.push(diagnostic.label(earlier, "the other one").help("join the two"));
        return;
    }
    let name = record.text("name").filter(|name| is_free(name, context));
    let records = directions(record, properties, context.messages);
    let link = &context.network.links[number];
    let has_lucid_ends = are_lucid(&link.ends, context);
    let directions = records.map(|record| direction(&record, has_lucid_ends, context.messages));
    let link = &mut context.network.links[number];
    link.directions = directions;
    link.span = record.span;
    link.name = name.map(|name| name.value);
}

fn object(record: &Record, defaults: &Record, context: &mut Context<'_>) {
    let [forth, back] = directions(record, defaults, context.messages);
    if record.get("ends").is_none() {
        if !record.is_written("ends") {
            let message = "a link has neither `ends` nor `link`";
            let help = "write `ends: [h1, \"s1:1\"]` for a new link, or `link: s1-s2` for one of the topology";
            context.messages.error(codes::MISSING, record.span, message, help);
        }
        return;
    }
    let name = record.text("name").filter(|name| is_free(name, context));
    if let Some(ends) = two_ends(&record.texts("ends"), record.span_of("ends"), context) {
        add(name.map(|name| name.value), ends, [&forth, &back], record.span, context);
    }
}

/// Whether a link can have a name.
fn is_free(name: &Located<String>, context: &Context<'_>) -> bool {
    let same = |link: &&Link| link.name.as_ref() == Some(&name.value);
    if let Some(earlier) = context.network.links.iter().find(same) {
        let message = format!("two links have the name `{}`", name.value);
        let diagnostic = Diagnostic::error(codes::BAD_NAME, name.span, message);
        context.messages.push(diagnostic.label(earlier.span, "the other one"));
        return false;
    }
    if context.find(&name.value).is_some() {
        let message = format!("`{}` is a node, so no link can have this name", name.value);
        context.messages.error(codes::BAD_NAME, name.span, message, "rename one of them");
        return false;
    }
    context.check_name(&name.value, name.span)
}

/// Adds the properties that a record lacks. Random and burst loss replace each other.
pub(super) fn merged(record: Record, defaults: &Record, messages: &Messages) -> Record {
    let loss = ["loss", "burst_loss"];
    let written: Vec<&str> = loss.into_iter().filter(|name| record.is_written(name)).collect();
    if written.len() == 2 {
        let message = "a link has both `loss` and `burst_loss`";
        let diagnostic = Diagnostic::error(codes::CONFLICT, record.span_of("burst_loss"), message);
        let diagnostic = diagnostic.label(record.span_of("loss"), "the other one");
        messages.push(diagnostic.help("`loss_in_good` of `burst_loss` is the loss beside bursts"));
    }
    match written.is_empty() {
        true => record.or(defaults),
        false => record.or(&defaults.clone().without(&loss)),
    }
}

fn two_ends(ends: &[Located<String>], span: Span, context: &mut Context<'_>) -> Option<[End; 2]> {
    let [one, other] = ends else {
        let message = format!("a link has two ends, not {}", ends.len());
        let help = "write [h1, \"s1:1\"]; properties need the long form: {ends: [h1, \"s1:1\"], rate: 10Mbps}";
        context.messages.error(codes::BAD_LINK, span, message, help);
        return None;
    };
    let (one, other) = (context.new_end(one), context.new_end(other));
    Some([one?, other?])
}

/// Adds a link; reports ends that cannot be connected.
pub(super) fn add(
    name: Option<String>,
    ends: [End; 2],
    records: [&Record; 2],
    span: Span,
    context: &mut Context<'_>,
) {
    let has_lucid_ends = are_lucid(&ends, context);
    let directions = records.map(|record| direction(record, has_lucid_ends, context.messages));
    if context.connect(ends, span) {
        context.network.links.push(Link { name, ends, directions, span });
    }
}

/// Whether both ends are Lucid switches.
fn are_lucid(ends: &[End; 2], context: &Context<'_>) -> bool {
    ends.iter().all(|end| match end.node {
        Node::Switch(number) => context.network.switches[number].is_lucid(),
        Node::Host(_) => false,
    })
}

/// A direction with the properties of a record.
fn direction(record: &Record, has_lucid_ends: bool, messages: &Messages) -> Direction {
    let default = |value: u64| (!has_lucid_ends).then_some(value);
    let rate_bps = record.number("rate");
    if rate_bps.is_some_and(|rate| rate > MAX_RATE_BPS) {
        let message = "`rate` is above 8 Tbps, where a byte takes less than a picosecond";
        messages.error(codes::BAD_VALUE, record.span_of("rate"), message, "");
    }
    let overhead_bytes = record.number("overhead").unwrap_or(0);
    if overhead_bytes > MAX_OVERHEAD_BYTES {
        let message = format!("`overhead` is above {MAX_OVERHEAD_BYTES} bytes a packet");
        messages.error(codes::BAD_VALUE, record.span_of("overhead"), message, "");
    }
    let latency_ps = record.number("latency");
    let reordering = record.decimal("reorder");
    Direction {
        options: LinkOptions {
            latency_ps: latency_ps.or(default(DEFAULT_LATENCY_PS)).unwrap_or(0),
            jitter_ps: record.number("jitter").unwrap_or(0),
            keeps_order: reordering.is_none() && !record.truth("reorder").unwrap_or(false),
            loss: loss(record),
            corruption: record.decimal("corrupt").unwrap_or(0.0),
            duplication: record.decimal("duplicate").unwrap_or(0.0),
            reordering: reordering.unwrap_or(0.0),
            sender_rate_bps: None,
        },
        rate_bps: rate_bps.or(default(DEFAULT_RATE_BPS)),
        queue: match record.get("queue").map(|value| &value.kind) {
            Some(ValueKind::Queue(limit)) => Some::<QueueLimit>(*limit),
            _ => None,
        },
        overhead_bytes: overhead_bytes.min(MAX_OVERHEAD_BYTES) as u32,
        is_default_rate: rate_bps.is_none() && !has_lucid_ends,
        is_default_latency: latency_ps.is_none() && !has_lucid_ends,
    }
}

fn loss(record: &Record) -> LossModel {
    let Some(burst) = record.record("burst_loss") else {
        return LossModel::Random(record.decimal("loss").unwrap_or(0.0));
    };
    let to_bad = burst.decimal("p").unwrap_or(0.0);
    LossModel::GilbertElliott {
        to_bad,
        // tc-netem: without r the states are independent, so the loss is random.
        to_good: burst.decimal("r").unwrap_or(1.0 - to_bad),
        loss_in_bad: burst.decimal("loss_in_bad").unwrap_or(1.0),
        loss_in_good: burst.decimal("loss_in_good").unwrap_or(0.0),
    }
}
