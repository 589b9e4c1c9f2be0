// SPDX-License-Identifier: Apache-2.0
//! Decodes a document by its shape, with a diagnostic for each value that the shape does not take and for each field that
//! its section does not have.

use super::address::{Mac, Prefix};
use super::condition::{self, Bound, Number, Range};
use super::quantity::{FREQUENCY, RATE, TIME};
use super::scalar::{
    FREQUENCY_EXPECTED, RATE_EXPECTED, TIME_EXPECTED, bytes, count, decimal, parsed, probability,
    quantity, queue, size, text,
};
use super::shape::{FieldShape, Kind, Section, Shape};
use super::value::{Located, NamedValue, Record, Value, ValueKind};
use crate::codes;
use document::{Field, Fields, Messages, Node, NodeKind};
use source::{Diagnostic, printable};

/// Decodes a value; messages call it `what`. Returns `None`, with diagnostics, if the value does not have the shape. Of
/// an object with mistakes the correct fields remain.
pub fn decode(node: &Node, shape: &Shape, what: &str, messages: &Messages) -> Option<Value> {
    let kind = match shape {
        Shape::Time => ValueKind::Number(quantity(node, what, &TIME, TIME_EXPECTED, messages)?),
        Shape::Rate => {
            let rate = quantity(node, what, &RATE, RATE_EXPECTED, messages)?;
            if rate == 0 {
                let help = "`loss: 100%` loses everything; `events` take links down";
                messages.error(codes::BAD_VALUE, node.span, format!("{what} is zero"), help);
                return None;
            }
            ValueKind::Number(rate)
        }
        Shape::Frequency => {
            let frequency = quantity(node, what, &FREQUENCY, FREQUENCY_EXPECTED, messages)?;
            ValueKind::Frequency(frequency)
        }
        Shape::Size => ValueKind::Number(size(node, what, messages)?),
        Shape::Probability => ValueKind::Decimal(probability(node, what, messages)?),
        Shape::Count { least, most } => {
            ValueKind::Number(count(node, what, *least, *most, messages)?)
        }
        Shape::Decimal => ValueKind::Decimal(decimal(node, what, messages)?),
        Shape::Truth => ValueKind::Truth(messages.truth(node, what)?),
        Shape::Text => ValueKind::Text(text(node, what, messages)?),
        Shape::Word(words) => {
            let choices: Vec<_> = words.iter().map(|(word, _)| (*word, *word)).collect();
            ValueKind::Word(messages.choice(node, what, &choices)?)
        }
        Shape::Interface => {
            let expected = "an address with the length of its prefix, such as \"10.0.1.1/24\"";
            let has_length = |text: &str| text.contains('/');
            let read = |text: &str| Prefix::parse(text).filter(|_| has_length(text));
            ValueKind::Interface(parsed(node, what, expected, read, messages)?)
        }
        Shape::Ip => {
            let read = |text: &str| text.trim().parse().ok();
            ValueKind::Ip(parsed(
                node,
                what,
                "an IP address, such as \"10.0.1.1\"",
                read,
                messages,
            )?)
        }
        Shape::Prefix => {
            let expected = "a prefix, such as \"10.0.0.0/8\", or \"default\"";
            let read = |text: &str| match text.trim() {
                "default" => Some(Prefix::v4([0; 4], 0)),
                text => Prefix::parse(text),
            };
            ValueKind::Prefix(parsed(node, what, expected, read, messages)?)
        }
        Shape::Mac => {
            let expected = "an Ethernet address, such as \"08:00:00:00:01:11\"";
            ValueKind::Mac(parsed(node, what, expected, Mac::parse, messages)?)
        }
        Shape::Bytes => {
            let expected = "bytes of two hexadecimal digits each, such as \"ffff ffff ffff 0800\"";
            ValueKind::Bytes(parsed(node, what, expected, bytes, messages)?)
        }
        Shape::Queue => {
            let expected =
                "a number of packets or bytes with its unit, such as \"64p\" or \"64KB\"";
            ValueKind::Queue(parsed(node, what, expected, queue, messages)?)
        }
        Shape::Condition(inner) => ValueKind::Condition(range(node, inner, what, messages)?),
        Shape::List(inner) => {
            let list = messages.list(node, what)?.iter();
            let each = format!("an element of {what}");
            ValueKind::List(list.filter_map(|node| decode(node, inner, &each, messages)).collect())
        }
        Shape::OneOrMany(inner) => match &node.kind {
            NodeKind::List(list) => {
                let decoded = list.iter().filter_map(|node| decode(node, inner, what, messages));
                ValueKind::List(decoded.collect())
            }
            _ => ValueKind::List(vec![decode(node, inner, what, messages)?]),
        },
        Shape::Record(section) => ValueKind::Record(record(node, section, messages)?),
        Shape::Short { section, field } => ValueKind::Record(match &node.kind {
            NodeKind::Object(_) => record(node, section, messages)?,
            _ => short(node, section, field, messages)?,
        }),
        Shape::Named { what: each, shape } => {
            ValueKind::Named(named(node, what, each, shape, messages)?)
        }
        Shape::Tagged { what, common, kinds } => {
            return tagged(node, what, (common, kinds), messages);
        }
        Shape::Any(shapes) => {
            return alternative(node, shapes, what, messages);
        }
    };
    Some(Value { span: node.span, kind })
}

/// Decodes a value by the first shape that accepts it, else by the last one. A value of a type that no shape takes gets a
/// message that lists them all.
fn alternative(
    node: &Node,
    shapes: &'static [Shape],
    what: &str,
    messages: &Messages,
) -> Option<Value> {
    let (last, others) = shapes.split_last()?;
    if let Some(found) = others.iter().find(|shape| accepts(shape, &node.kind)) {
        return decode(node, found, what, messages);
    }
    let is_quantity = match &node.kind {
        NodeKind::Text(text) => {
            text.trim().starts_with(|first: char| "+-.0123456789".contains(first))
        }
        NodeKind::Int(_) | NodeKind::Float(_) => {
            matches!(last, Shape::Probability | Shape::Size | Shape::Decimal)
        }
        _ => false,
    };
    if is_quantity || matches!((last, &node.kind), (Shape::Record(_), NodeKind::Object(_))) {
        return decode(node, last, what, messages);
    }
    let expected = in_words(&shapes.iter().flat_map(Shape::examples).collect::<Vec<_>>());
    let message = format!("{what} must be {expected}, not {}", node.kind.described());
    let words = shapes.iter().flat_map(Shape::words);
    let (code, help) = match &node.kind {
        NodeKind::Text(text) => (codes::BAD_VALUE, source::nearest(text, words)),
        _ => (codes::WRONG_TYPE, None),
    };
    let help = help.map(|near| format!("`{near}` may be meant"));
    messages.error(code, node.span, message, &help.unwrap_or_default());
    None
}

/// `a, b or c`.
fn in_words(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Whether a value is of the type that a shape takes, and for words whether it is one of them.
fn accepts(shape: &Shape, kind: &NodeKind) -> bool {
    match shape {
        Shape::Word(words) => {
            matches!(kind, NodeKind::Text(text) if words.iter().any(|(word, _)| word == text))
        }
        Shape::Truth => matches!(kind, NodeKind::Bool(_)),
        Shape::Text | Shape::Ip | Shape::Interface => matches!(kind, NodeKind::Text(_)),
        Shape::Size => matches!(kind, NodeKind::Text(_) | NodeKind::Int(_)),
        Shape::Frequency => {
            let unit = |text: &str| {
                let unit =
                    text.trim_start_matches(|each: char| !each.is_alphabetic() && each != '/');
                FREQUENCY.parse(&format!("1{unit}")).is_ok()
            };
            matches!(kind, NodeKind::Text(text) if unit(text))
        }
        Shape::List(_) => matches!(kind, NodeKind::List(_)),
        Shape::Record(_) | Shape::Named { .. } => matches!(kind, NodeKind::Object(_)),
        _ => false,
    }
}

/// Decodes a condition: a number or a quantity of the inner shape, or a text with an operator.
fn range(node: &Node, inner: &Shape, what: &str, messages: &Messages) -> Option<Range> {
    let number = |node: &Node| -> Option<Number> {
        if matches!(inner, Shape::Rate) {
            // Unlike a link's rate, a measured one may be zero.
            let rate = quantity(node, what, &RATE, RATE_EXPECTED, messages)?;
            return Some(Number::Whole(rate.into()));
        }
        let value = decode(node, inner, what, messages)?;
        Some(match value.kind {
            ValueKind::Decimal(value) => Number::Fraction(value),
            ValueKind::Number(value) => Number::Whole(value.into()),
            _ => return None,
        })
    };
    let NodeKind::Text(text) = &node.kind else {
        let bound = Some(Bound { value: number(node)?, is_inclusive: true });
        return Some(Range { least: bound, most: bound });
    };
    // The unit of the last value of `2..5ms` holds for both.
    let split = condition::split(text);
    let unit = match (split.least, split.most) {
        (Some((least, _)), Some((most, _)))
            if least.ends_with(|last: char| last.is_ascii_digit()) =>
        {
            most.trim_start_matches(|each: char| each.is_ascii_digit() || "._".contains(each))
        }
        _ => "",
    };
    let bound = |part: Option<(&str, bool)>, unit: &str| -> Option<Option<Bound>> {
        let Some((text, is_inclusive)) = part else { return Some(None) };
        let text = format!("{text}{unit}");
        let kind = match text.parse::<u64>() {
            Ok(number) => NodeKind::Int(number.into()),
            Err(_) => NodeKind::Text(text),
        };
        let value = number(&Node { span: node.span, kind })?;
        Some(Some(Bound { value, is_inclusive }))
    };
    let (least, most) = (bound(split.least, unit)?, bound(split.most, "")?);
    if let (Some(least), Some(most)) = (least, most)
        && !(Range { least: None, most: Some(most) }).includes(least.value)
    {
        let message = format!("{what} ends before it begins: \"{}\"", printable(text, 40));
        messages.error(codes::BAD_VALUE, node.span, message, "write the smaller value first");
        return None;
    }
    Some(Range { least, most })
}

fn record(node: &Node, section: &'static Section, messages: &Messages) -> Option<Record> {
    let mut fields = Fields::of(node, section.what, messages)?;
    let mut record = Record::empty(section, node.span);
    for field in section.fields() {
        // The message about the name of another tool says which field is meant.
        let foreign = section.foreign_names.iter().filter(|(_, ours)| *ours == field.name);
        let has_foreign_name = foreign
            .clone()
            .any(|(name, _)| fields.all().iter().any(|written| written.name == *name));
        let found = match field.required.filter(|_| !has_foreign_name) {
            Some(example) => fields.need(&[field.name], example),
            None => fields.get(&[field.name]),
        };
        match found {
            // `null` leaves a field out, as an empty value does in YAML.
            Some(found) if found.kind != NodeKind::Null => {
                let what = format!("`{}`", field.name);
                record.insert(field.name, decode(found, &field.shape, &what, messages));
            }
            _ => {
                if let Some(example) = field.required {
                    record.insert(field.name, None);
                    if let Some(empty) = found {
                        let message = format!("`{}` has no value", field.name);
                        let help = format!("such as {example}");
                        messages.error(codes::MISSING, empty.span, message, &help);
                    }
                }
            }
        }
    }
    for (foreign, ours) in section.foreign_names {
        let Some(found) = fields.all().iter().find(|field| field.name == *foreign) else {
            continue;
        };
        fields.expect(&[*foreign]);
        let message = format!("{} has no field `{foreign}`", section.what);
        let help = format!("its name here is `{ours}`");
        messages.error(codes::UNKNOWN_FIELD, found.name_span, message, &help);
    }
    fields.finish();
    Some(record)
}

fn short(
    node: &Node,
    section: &'static Section,
    field: &'static str,
    messages: &Messages,
) -> Option<Record> {
    let mut record = Record::empty(section, node.span);
    if node.kind == NodeKind::Null {
        return Some(record);
    }
    let shape = section.fields().find(|each| each.name == field)?;
    let value = decode(node, &shape.shape, section.what, messages);
    value.is_some().then(|| record.insert(field, value))?;
    for required in section.fields().filter(|each| each.required.is_some() && each.name != field) {
        let message = format!("{} has no `{}`", section.what, required.name);
        messages.error(codes::MISSING, node.span, message, "write it as an object");
    }
    Some(record)
}

fn named(
    node: &Node,
    what: &str,
    each: &str,
    shape: &Shape,
    messages: &Messages,
) -> Option<Vec<NamedValue>> {
    let NodeKind::Object(fields) = &node.kind else {
        messages.wrong_type(
            node,
            what,
            &format!("an object with the name of {each} for each field"),
        );
        return None;
    };
    let mut list: Vec<NamedValue> = Vec::new();
    for field in fields {
        if messages.is_note(&field.name) {
            continue;
        }
        let name = Located { value: field.name.clone(), span: field.name_span };
        if let Some(earlier) = list.iter().find(|other| other.name.value == name.value) {
            let message = format!("`{}` is there twice", printable(&field.name, 40));
            let diagnostic = Diagnostic::error(codes::REPEATED_FIELD, field.name_span, message);
            messages.push(diagnostic.label(earlier.name.span, "the first one"));
            continue;
        }
        let value = match (&field.value.kind, shape) {
            // `h1:` alone in YAML.
            (NodeKind::Null, Shape::Record(section)) => {
                let record = Record::empty(section, field.name_span);
                Some(Value { span: field.name_span, kind: ValueKind::Record(record) })
            }
            _ => {
                decode(&field.value, shape, &format!("`{}`", printable(&field.name, 40)), messages)
            }
        };
        // The name stays known if its value is wrong.
        let value = value.or_else(|| match shape {
            Shape::Record(section) => {
                let kind = ValueKind::Record(Record::empty(section, field.value.span));
                Some(Value { span: field.value.span, kind })
            }
            _ => None,
        });
        list.extend(value.map(|value| NamedValue { name, value }));
    }
    Some(list)
}

fn tagged(
    node: &Node,
    what: &str,
    (common, kinds): (&[FieldShape], &'static [Kind]),
    messages: &Messages,
) -> Option<Value> {
    let names = || kinds.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
    let kind_of = |name: &str, span| {
        let found = kinds.iter().find(|kind| kind.name == name);
        if found.is_none() {
            let message = format!("{what} of the kind `{}` does not exist", printable(name, 40));
            let help = match source::nearest(name, kinds.iter().map(|kind| kind.name)) {
                Some(near) => format!("`{near}` may be meant"),
                None => format!("the kinds are {}", names()),
            };
            messages.error(codes::UNKNOWN_FIELD, span, message, &help);
        }
        found
    };
    let (kind, span, value) = match &node.kind {
        NodeKind::Text(name) => {
            let kind = kind_of(name, node.span)?;
            let empty = Node { span: node.span, kind: NodeKind::Object(Vec::new()) };
            (kind, node.span, decode(&empty, &kind.shape, what, messages)?)
        }
        NodeKind::Object(fields) => {
            let is_common = |field: &&Field| common.iter().any(|known| known.name == field.name);
            let written = fields.iter().filter(|field| !messages.is_note(&field.name));
            let (beside, own): (Vec<&Field>, Vec<&Field>) = written.partition(is_common);
            let [field] = own[..] else {
                let message = format!("{what} has one field, its kind");
                let is_kind = |field: &&Field| kinds.iter().any(|kind| kind.name == field.name);
                let (kind, others): (Vec<&Field>, Vec<&Field>) =
                    own.iter().partition(|field| is_kind(field));
                let others: Vec<&str> = others.iter().map(|field| field.name.as_str()).collect();
                let help = match kind[..] {
                    [kind] => format!(
                        "write the other fields inside: `{}: {{{}: ...}}`",
                        kind.name,
                        printable(&others.join(": ..., "), 60)
                    ),
                    _ => format!("the kinds are {}", names()),
                };
                messages.error(codes::CONFLICT, node.span, message, &help);
                return None;
            };
            let kind = kind_of(&field.name, field.name_span)?;
            let value = match &field.value.kind {
                NodeKind::Null if beside.is_empty() => {
                    let kind = NodeKind::Object(Vec::new());
                    Node { span: field.name_span, kind }
                }
                _ => with_fields(field, &kind.shape, &beside),
            };
            let value = decode(&value, &kind.shape, &format!("`{}`", field.name), messages);
            (kind, field.name_span, value?)
        }
        _ => {
            messages.wrong_type(node, what, "an object with one field, its kind");
            return None;
        }
    };
    let kind = Located { value: kind.name, span };
    Some(Value { span: node.span, kind: ValueKind::Tagged { kind, value: Box::new(value) } })
}

/// The value of a kind with the fields that stand beside the kind.
fn with_fields(field: &Field, shape: &Shape, beside: &[&Field]) -> Node {
    if beside.is_empty() {
        return field.value.clone();
    }
    let mut fields = match (&field.value.kind, shape) {
        (NodeKind::Object(fields), _) => fields.clone(),
        (NodeKind::Null, _) => Vec::new(),
        // A value alone is that of one field.
        (_, Shape::Short { field: name, .. }) => {
            vec![Field { name: (*name).to_string(), ..field.clone() }]
        }
        // Its type is wrong, which is reported.
        _ => return field.value.clone(),
    };
    fields.extend(beside.iter().map(|field| (*field).clone()));
    Node { span: field.value.span, kind: NodeKind::Object(fields) }
}
