// SPDX-License-Identifier: Apache-2.0
//! Reads entries of `expect`: conditions at the end of the run, or at a time during it.
//! `report::verdicts` evaluates them.

use super::codes;
use super::network::Network;
use super::quantities;
use super::run::{Argument, Count, Expectation, ExpectationKind, FieldSpans, LifecycleStep};
use super::values::RunValues;
use document::{Fields, Messages, Node, NodeKind};
use source::{Diagnostic, Span};

/// The counters of a switch that can be expected.
pub const COUNTERS: &[&str] = &[
    "handled",
    "packets",
    "generated",
    "recirculated",
    "left",
    "dropped",
    "out of range",
    "tables full",
];

/// All entries of `expect`.
pub(super) fn expectations(
    node: &Node,
    network: &Network,
    max_time_ps: u64,
    messages: &Messages,
) -> Vec<Expectation> {
    let Some(list) = messages.list(node, "`expect`") else { return Vec::new() };
    let mut read = Vec::new();
    for (index, entry) in list.iter().enumerate() {
        read.extend(expectation(index, entry, network, max_time_ps, messages));
    }
    read
}

fn expectation(
    index: usize,
    node: &Node,
    network: &Network,
    max_time_ps: u64,
    messages: &Messages,
) -> Option<Expectation> {
    let mut fields = Fields::of(node, "an expectation", messages)?;
    let mut field_spans = FieldSpans { whole: node.span, ..FieldSpans::default() };
    let executions = fields.get(&["for"]);
    let executions = executions.map_or(Some(Vec::new()), |node| executions_of(node, messages));
    let mut found = Vec::new();
    for (name, what) in [
        ("handled", Some(LifecycleStep::Handled)),
        ("generated", Some(LifecycleStep::Generated)),
        ("left", Some(LifecycleStep::Left)),
        ("dropped", Some(LifecycleStep::Dropped)),
        ("array", None),
        ("counter", None),
    ] {
        // `event` is another word for `handled`.
        let names: &[&'static str] =
            if name == "handled" { &["handled", "event"] } else { &[name] };
        if let Some(field) = fields.field(names) {
            found.push((name, what, field));
        }
    }
    let kind = match found.as_slice() {
        [(_, Some(what), field)] => {
            event(&mut fields, *what, &field.value, network, &mut field_spans, messages)
        }
        [("array", _, field)] => {
            array(&mut fields, &field.value, network, max_time_ps, &mut field_spans, messages)
        }
        [(_, _, field)] => counter(&mut fields, &field.value, network, &mut field_spans, messages),
        [] => {
            let message = "an expectation does not say what is expected";
            let diagnostic = Diagnostic::error(codes::MISSING, node.span, message);
            messages.push(diagnostic.help(
                "write one of `handled`, `generated`, `left` and `dropped` with an event's name, \
                 `array` with an array's name, or `counter` with a counter's name",
            ));
            return None;
        }
        [(first, _, at), (second, _, also), ..] => {
            let message = format!("an expectation has both `{first}` and `{second}`");
            let diagnostic = Diagnostic::error(codes::CONFLICT, also.name_span, message);
            messages
                .push(diagnostic.label(at.name_span, "the first").help("write two expectations"));
            return None;
        }
    };
    fields.finish();
    Some(Expectation { index, kind: kind?, executions: executions?, field_spans })
}

/// `for`: one execution or a list of them. Their names are checked where the targets are known.
fn executions_of(node: &Node, messages: &Messages) -> Option<Vec<(String, Span)>> {
    let names = match &node.kind {
        NodeKind::List(names) => names.as_slice(),
        _ => std::slice::from_ref(node),
    };
    names.iter().map(|node| Some((messages.text(node, "`for`")?.to_string(), node.span))).collect()
}

fn event(
    fields: &mut Fields<'_>,
    what: LifecycleStep,
    name: &Node,
    network: &Network,
    field_spans: &mut FieldSpans,
    messages: &Messages,
) -> Option<ExpectationKind> {
    fields.expect(&["args", "arguments", "switch", "port", "after", "before", "count"]);
    field_spans.name = name.span;
    let name = messages.text(name, "an event's name").map(str::to_string);
    let arguments = match fields.get(&["args", "arguments"]) {
        Some(node) => {
            let list = messages.list(node, "`args`")?;
            field_spans.arguments = list.iter().map(|argument| argument.span).collect();
            let mut arguments = Vec::new();
            for node in list {
                let pattern = pattern(node, messages)?;
                arguments.push(Some(pattern).filter(|pattern| !pattern.is_any()));
            }
            Some(arguments)
        }
        None => None,
    };
    let switch = match fields.get(&["switch"]) {
        Some(node) => Some(switch(node, network, messages)?),
        None => None,
    };
    let port = match fields.get(&["port"]) {
        Some(node) => Some(messages.integer_u32(node, "`port`")?),
        None => None,
    };
    let (after, before) = (fields.get(&["after"]), fields.get(&["before"]));
    let after_ps = match after {
        Some(node) => Some(messages.time(node, "`after`")?),
        None => None,
    };
    let before_ps = match before {
        Some(node) => Some(messages.time(node, "`before`")?),
        None => None,
    };
    if let (Some(after_ps), Some(before_ps), Some(node)) = (after_ps, before_ps, before)
        && before_ps < after_ps
    {
        let message = "`before` is earlier than `after`, so nothing can be between";
        messages.error(codes::CONFLICT, node.span, message, "");
        return None;
    }
    let count = match fields.get(&["count"]) {
        Some(node) => count(node, messages)?,
        None => Count { least: 1, most: None },
    };
    let name = name?;
    Some(ExpectationKind::Event { what, name, arguments, switch, port, after_ps, before_ps, count })
}

fn switch(node: &Node, network: &Network, messages: &Messages) -> Option<u32> {
    let number = messages.integer(node, "`switch`", u128::MAX)?;
    network.switch(node, number, messages)
}

fn array(
    fields: &mut Fields<'_>,
    name: &Node,
    network: &Network,
    max_time_ps: u64,
    field_spans: &mut FieldSpans,
    messages: &Messages,
) -> Option<ExpectationKind> {
    fields.expect(&["switch", "start", "index", "values", "value", "at"]);
    field_spans.name = name.span;
    let name = messages.text(name, "an array's name").map(str::to_string);
    let at_switch = match fields.get(&["switch"]) {
        Some(node) => switch(node, network, messages)?,
        None => 0,
    };
    let start = match fields.get(&["start", "index"]) {
        Some(node) => messages.integer_u64(node, "`start`")?,
        None => 0,
    };
    let node = fields.need(&["values", "value"], "\"values\": [1, 0, 3]");
    let at_ps = match fields.get(&["at"]) {
        Some(node) => {
            let at_ps = messages.time(node, "`at`")?;
            if at_ps > max_time_ps {
                let message = "the run ends before this time";
                let help = "leave `at` out for the end of the run";
                messages.error(codes::CONFLICT, node.span, message, help);
                return None;
            }
            Some(at_ps)
        }
        None => None,
    };
    let node = node?;
    let cells = match &node.kind {
        NodeKind::List(cells) => cells.as_slice(),
        _ => std::slice::from_ref(node),
    };
    field_spans.arguments = cells.iter().map(|cell| cell.span).collect();
    let mut values = Vec::new();
    for cell in cells {
        let parts = match &cell.kind {
            NodeKind::List(parts) if (1..=2).contains(&parts.len()) => parts.as_slice(),
            NodeKind::List(_) => {
                messages.wrong_type(cell, "a cell", "a number, or a list of one or two numbers");
                return None;
            }
            _ => std::slice::from_ref(cell),
        };
        let numbers = parts.iter().map(|part| messages.integer(part, "a cell", u128::MAX));
        values.push(numbers.collect::<Option<Vec<u128>>>()?);
    }
    Some(ExpectationKind::Array { name: name?, switch: at_switch, start, values, at_ps })
}

fn counter(
    fields: &mut Fields<'_>,
    node: &Node,
    network: &Network,
    field_spans: &mut FieldSpans,
    messages: &Messages,
) -> Option<ExpectationKind> {
    fields.expect(&["switch", "count"]);
    field_spans.name = node.span;
    let name = document::normalized(messages.text(node, "a counter's name")?);
    if !COUNTERS.contains(&name.as_str()) {
        let message = format!("there is no counter `{name}`");
        let help = match source::nearest(&name, COUNTERS.iter().copied()) {
            Some(near) => format!("`{near}` may be meant"),
            None => format!("counters are {}", COUNTERS.join(", ")),
        };
        messages.error(codes::UNKNOWN_KIND, node.span, message, &help);
        return None;
    }
    let switch = match fields.get(&["switch"]) {
        Some(node) => Some(switch(node, network, messages)?),
        None => None,
    };
    let count = match fields.need(&["count"], "\"count\": 3") {
        Some(node) => count(node, messages)?,
        None => return None,
    };
    Some(ExpectationKind::Counter { name, switch, count })
}

/// `3`, `"at least 3"`, `"at most 3"`, `"2..5"`, `{"least": 2, "most": 5}`
fn count(node: &Node, messages: &Messages) -> Option<Count> {
    match &node.kind {
        NodeKind::Int(_) => {
            let exact = messages.integer_u64(node, "`count`")?;
            Some(Count { least: exact, most: Some(exact) })
        }
        NodeKind::Text(text) => {
            let count = quantities::count(text);
            if count.is_none() {
                let message = format!("{text:?} is no count");
                let help = "write 3, \"at least 3\", \"at most 3\" or \"2..5\"";
                messages.error(codes::BAD_QUANTITY, node.span, message, help);
            }
            count
        }
        NodeKind::Object(_) => {
            let mut fields = Fields::of(node, "a count", messages)?;
            let (least, most) = (fields.get(&["least", "min"]), fields.get(&["most", "max"]));
            fields.finish();
            let least = match least {
                Some(node) => messages.integer_u64(node, "`least`")?,
                None => 0,
            };
            let most = match most {
                Some(node) => Some(messages.integer_u64(node, "`most`")?),
                None => None,
            };
            if most.is_some_and(|most| most < least) {
                let message = "`most` is less than `least`";
                messages.error(codes::CONFLICT, node.span, message, "");
                return None;
            }
            Some(Count { least, most })
        }
        _ => {
            messages.wrong_type(node, "`count`", "a number, a text or an object");
            None
        }
    }
}

/// An expected argument; `null` becomes `"_"`, at any depth.
fn pattern(node: &Node, messages: &Messages) -> Option<Argument> {
    let parts: Vec<&Node> = match &node.kind {
        NodeKind::Null => return Some(Argument::any()),
        NodeKind::List(list) => list.iter().collect(),
        // The fields of a record, in order.
        NodeKind::Object(fields) => fields.iter().map(|field| &field.value).collect(),
        _ => return messages.argument(node),
    };
    let parts: Vec<_> = parts.into_iter().map(|part| pattern(part, messages)).collect();
    parts.into_iter().collect::<Option<Vec<_>>>().map(Argument::List)
}
