// SPDX-License-Identifier: Apache-2.0
//! Reads the `topology.json` of the P4 tutorials. Fields for other tools are ignored. A program is named by its compiled
//! file there, `build/X.json`, which means `X.p4`; switches without one get the program of the command line.
//!
//! A link is `[node, node, latency, bandwidth]`, the last two optional. A latency is a number of milliseconds, or a text
//! with a unit (microseconds without one, as `tc` has it). A bandwidth is in megabits per second.

use super::applications;
use super::context::Context;
use super::nodes::SwitchOrigin;
use super::{Options, addresses, checks, links, nodes};
use crate::codes;
use crate::fields::link::DIRECTION;
use crate::fields::node::{HOST, SWITCH};
use crate::format::decode;
use crate::format::shape::{Section, Shape};
use crate::format::value::{Located, Record, Value, ValueKind};
use crate::model::{Network, Origin};
use document::{Fields, Messages, Node, NodeKind};
use source::Span;
use source::quantity::{self, Decimals, Notation, Units};

const MILLISECOND_PS: u64 = 1_000_000_000;
const MEGABIT: u64 = 1_000_000;

/// Latencies in picoseconds.
const LATENCY: Notation = Notation {
    units: Units::Named(&[
        ("ns", 1_000),
        ("nsec", 1_000),
        ("us", 1_000_000),
        ("usec", 1_000_000),
        ("ms", MILLISECOND_PS),
        ("msec", MILLISECOND_PS),
        ("s", 1_000_000_000_000),
        ("sec", 1_000_000_000_000),
    ]),
    unit_list: "ns, us, ms, s",
    default_scale: Some(1_000_000),
    decimals: Decimals::Rounded,
};

/// Largest accepted latency in picoseconds and rate in bits per second.
const MAX_QUANTITY: u64 = i64::MAX as u64;

/// Reads a topology; `None` if the document is not an object.
pub(super) fn read(root: &Node, options: &Options, messages: &Messages) -> Option<Network> {
    let mut file = Fields::of(root, "a topology", messages)?;
    let mut context = Context::new(options, messages);
    context.network.origin = Origin::Tutorial;
    for Item { name, span, record } in switches(&mut file, messages) {
        nodes::switch(&name, span, SwitchOrigin::File, &record, &mut context);
    }
    for Item { name, span, record } in hosts(&mut file, messages) {
        nodes::host(&name, span, &record, None, &mut context);
    }
    addresses::generate_macs(&mut context.network);
    add_links(&mut file, &mut context);
    applications::give_names(&mut context);
    checks::all(&context);
    Some(context.network)
}

/// A switch or host of a topology.
pub(super) struct Item {
    pub name: String,
    pub span: Span,
    pub record: Record,
}

/// The switches, with the fields of network files.
pub(super) fn switches(file: &mut Fields<'_>, messages: &Messages) -> Vec<Item> {
    let sections = file.sections("switches").into_iter().map(|(field, mut fields)| Item {
        name: field.name.clone(),
        span: field.name_span,
        record: switch(&mut fields, field.value.span, messages),
    });
    sections.collect()
}

/// The hosts, likewise.
pub(super) fn hosts(file: &mut Fields<'_>, messages: &Messages) -> Vec<Item> {
    let sections = file.sections("hosts").into_iter().map(|(field, mut fields)| {
        let mut record = Record::empty(&HOST, field.value.span);
        for (name, ours) in [("ip", "address"), ("mac", "mac"), ("commands", "commands")] {
            insert(&mut record, &HOST, ours, name, fields.get(&[name]), messages);
        }
        Item { name: field.name.clone(), span: field.name_span, record }
    });
    sections.collect()
}

/// Adds the links; the nodes are there.
pub(super) fn add_links(file: &mut Fields<'_>, context: &mut Context<'_>) {
    let Some(node) = file.get(&["links"]) else { return };
    for node in context.messages.list(node, "`links`").unwrap_or_default() {
        link(node, context);
    }
}

/// Decodes a value by the shape of the field that it means.
fn insert(
    record: &mut Record,
    section: &'static Section,
    ours: &'static str,
    written: &str,
    node: Option<&Node>,
    messages: &Messages,
) {
    let Some(node) = node.filter(|node| node.kind != NodeKind::Null) else { return };
    let shape = section.fields().find(|field| field.name == ours).map(|field| &field.shape);
    if let Some(shape) = shape {
        record.insert(ours, decode(node, shape, &format!("`{written}`"), messages));
    }
}

fn switch(fields: &mut Fields<'_>, span: Span, messages: &Messages) -> Record {
    let mut record = Record::empty(&SWITCH, span);
    for name in ["cpu_port", "priority_queues"] {
        insert(&mut record, &SWITCH, name, name, fields.get(&[name]), messages);
    }
    let present = |node: Option<&Node>, what: &str| {
        let node = node.filter(|node| node.kind != NodeKind::Null)?;
        decode(node, &Shape::Text, what, messages)
    };
    if let Some(Located { value, span }) =
        present(fields.get(&["program"]), "`program`").and_then(|program| program.text())
    {
        let kind = ValueKind::Text(source_of(&value));
        record.insert("program", Some(Value { span, kind }));
    }
    let runtime = present(fields.get(&["runtime_json"]), "`runtime_json`");
    let commands = present(fields.get(&["cli_input"]), "`cli_input`");
    let entries: Vec<Value> = runtime.into_iter().chain(commands).collect();
    if !entries.is_empty() {
        record.insert("entries", Some(Value { span, kind: ValueKind::List(entries) }));
    }
    record
}

/// Returns the source of a program: `X.p4` for `build/X.json`.
fn source_of(program: &str) -> String {
    let Some(stem) = program.strip_suffix(".json") else { return program.to_string() };
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let folder = match folder.strip_suffix("build") {
        Some(outer) if outer.is_empty() || outer.ends_with('/') => outer.to_string(),
        _ if folder.is_empty() => String::new(),
        _ => format!("{folder}/"),
    };
    format!("{folder}{name}.p4")
}

fn link(node: &Node, context: &mut Context<'_>) {
    let messages = context.messages;
    let (one, other, rest) = match &node.kind {
        NodeKind::List(parts) => match parts.as_slice() {
            [one, other, rest @ ..] if rest.len() <= 2 => (one, other, rest),
            _ => {
                let message = "a link has two ends, a latency and a bandwidth";
                let help = "write [node, node, latency, bandwidth]; the last two may be left out";
                messages.error(codes::BAD_LINK, node.span, message, help);
                return;
            }
        },
        _ => {
            messages.wrong_type(node, "a link", "a list [node, node, latency, bandwidth]");
            return;
        }
    };
    let end = |node: &Node, context: &mut Context<'_>| {
        let text = messages.text(node, "the end of a link")?.to_string();
        context.new_end(&Located { value: text, span: node.span })
    };
    let ends = (end(one, context), end(other, context));
    let mut record = Record::empty(&DIRECTION, node.span);
    let mut number = |name: &'static str, node: Option<&Node>, value: Option<u64>| {
        if let Some(node) = node {
            let value =
                value.map(|value| Value { span: node.span, kind: ValueKind::Number(value) });
            record.insert(name, value);
        }
    };
    let present = |at: usize| rest.get(at).filter(|node| node.kind != NodeKind::Null);
    let (latency, rate) = (present(0), present(1));
    number("latency", latency, latency.and_then(|node| latency_ps(node, messages)));
    number("rate", rate, rate.and_then(|node| rate_bps(node, messages)));
    if let (Some(one), Some(other)) = ends {
        links::add(None, [one, other], [&record, &record], node.span, context);
    }
}

fn latency_ps(node: &Node, messages: &Messages) -> Option<u64> {
    let expected = "a number of milliseconds or a text such as \"10us\"";
    let latency = messages.quantity(node, "a latency", &LATENCY, Some(MILLISECOND_PS), expected)?;
    if latency > MAX_QUANTITY {
        messages.wrong_value(node, "a latency", expected);
        return None;
    }
    Some(latency)
}

fn rate_bps(node: &Node, messages: &Messages) -> Option<u64> {
    let rate = match &node.kind {
        NodeKind::Int(number) => {
            u64::try_from(*number).ok().and_then(|number| number.checked_mul(MEGABIT))
        }
        NodeKind::Float(number) => quantity::scaled(*number, MEGABIT).ok(),
        _ => None,
    };
    let rate = rate.filter(|rate| (1..=MAX_QUANTITY).contains(rate));
    if rate.is_none() {
        messages.wrong_value(node, "a bandwidth", "a positive number of megabits per second");
    }
    rate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_compiled_programs() {
        for (program, source) in [
            ("build/basic.json", "basic.p4"),
            ("pod/build/basic.json", "pod/basic.p4"),
            ("solution/basic.json", "solution/basic.p4"),
            ("rebuild/basic.json", "rebuild/basic.p4"),
            ("basic.json", "basic.p4"),
            ("basic.p4", "basic.p4"),
        ] {
            assert_eq!(source_of(program), source);
        }
    }

    #[test]
    fn latencies_have_units() {
        let check = |value: &str, expected: Option<u64>| {
            let messages = Messages::new(&super::super::CONVENTIONS, document::Format::Json);
            let node = messages.parse(source::FileId(0), value).expect("JSON");
            assert_eq!(latency_ps(&node, &messages), expected, "{value:?}");
        };
        check("0", Some(0));
        check("1.5", Some(1_500_000_000));
        check("\"0\"", Some(0));
        check("\"7\"", Some(7_000_000));
        check("\"7ns\"", Some(7_000));
        check("\"0.5 ms\"", Some(500_000_000));
        check("\"-1s\"", None);
        check("1e300", None);
        check("[]", None);
    }
}
