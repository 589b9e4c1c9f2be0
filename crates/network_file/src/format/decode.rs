// SPDX-License-Identifier: Apache-2.0
//! Decodes a document by its shape, with a diagnostic for each value that the shape does not take and for each field that
//! its section does not have.

use super::address::{Mac, Prefix};
use super::condition::{self, Bound, Number, Range};
use super::quantity::{self, FREQUENCY, RATE, SIZE, TIME};
use super::shape::{Kind, Section, Shape};
use super::value::{Located, NamedValue, QueueLimit, Record, Value, ValueKind};
use crate::codes;
use document::{Fields, Messages, Node, NodeKind};
use source::quantity::Notation;
use source::{Diagnostic, printable};

/// The longest quantity, so that sums of several fit into 64 bits.
const MAX_QUANTITY: u64 = i64::MAX as u64;

const TIME_EXPECTED: &str = "a time with its unit (ps, ns, us, ms, s, min), such as \"10us\"";
const RATE_EXPECTED: &str =
    "a rate with its unit (bps, kbps, Mbps, Gbps, Tbps), such as \"10Mbps\"";
const FREQUENCY_EXPECTED: &str =
    "a number per second with its unit (/s, k/s, M/s, pps, kpps, Mpps), such as \"1000/s\"";
const SIZE_EXPECTED: &str =
    "a number of bytes, or a text with a unit (B, KB, MB, GB, KiB, MiB, GiB), such as \"64KB\"";

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
            ValueKind::List(list.filter_map(|node| decode(node, inner, what, messages)).collect())
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
        Shape::Tagged { what, kinds } => return tagged(node, what, kinds, messages),
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

fn quantity(
    node: &Node,
    what: &str,
    notation: &Notation,
    expected: &str,
    messages: &Messages,
) -> Option<u64> {
    // Zero is the same in every unit.
    if notation.default_scale.is_none() && node.kind == NodeKind::Int(0) {
        return Some(0);
    }
    if let Some(number) = without_unit(node, notation) {
        let message = format!("{what} has no unit: {number}");
        let help = format!("write {expected}");
        messages.error(codes::BAD_VALUE, node.span, message, &help);
        return None;
    }
    let scale = notation.default_scale;
    let value = messages.quantity(node, what, notation, scale, expected)?;
    if value > MAX_QUANTITY {
        messages.error(codes::BAD_VALUE, node.span, format!("{what} is too large"), "");
        return None;
    }
    Some(value)
}

/// The number of a quantity that lacks its unit.
fn without_unit(node: &Node, notation: &Notation) -> Option<String> {
    use source::quantity::QuantityError;
    match (&node.kind, notation.default_scale) {
        (NodeKind::Int(number), None) => Some(number.to_string()),
        (NodeKind::Float(number), None) if *number >= 0.0 => Some(number.to_string()),
        (NodeKind::Text(text), None) => match notation.parse(text) {
            Err(QuantityError::Unit { unit, .. }) if unit.is_empty() => {
                Some(text.trim().to_string())
            }
            _ => None,
        },
        _ => None,
    }
}

/// A whole number; without a greatest value the message names the least one only.
fn count(node: &Node, what: &str, least: u64, most: u64, messages: &Messages) -> Option<u64> {
    if most < u64::MAX {
        return messages.number(node, what, least..=most);
    }
    let number = match &node.kind {
        NodeKind::Int(number) => u64::try_from(*number).ok(),
        NodeKind::Text(text) => text.trim().parse().ok(),
        _ => None,
    };
    let number = number.filter(|number| *number >= least);
    if number.is_none() {
        messages.wrong_value(node, what, &format!("a whole number of at least {least}"));
    }
    number
}

fn size(node: &Node, what: &str, messages: &Messages) -> Option<u64> {
    quantity(node, what, &SIZE, SIZE_EXPECTED, messages)
}

fn probability(node: &Node, what: &str, messages: &Messages) -> Option<f64> {
    let found = quantity::probability(&node.kind);
    if found.is_none() {
        let expected = "a probability from 0 to 1, or a percentage from \"0%\" to \"100%\"";
        let message = format!("{what} must be {expected}, not {}", node.kind.described());
        let percent = match node.kind {
            NodeKind::Int(number @ 2..=100) => Some(number.to_string()),
            NodeKind::Float(number) if number > 1.0 && number <= 100.0 => Some(number.to_string()),
            _ => None,
        };
        let help = percent.map(|number| format!("write \"{number}%\" for {number} percent"));
        messages.error(codes::BAD_VALUE, node.span, message, &help.unwrap_or_default());
    }
    found
}

fn decimal(node: &Node, what: &str, messages: &Messages) -> Option<f64> {
    let value = match &node.kind {
        NodeKind::Int(value) => Some(*value as f64),
        NodeKind::Float(value) => Some(*value),
        NodeKind::Text(text) => text.trim().parse().ok(),
        _ => None,
    };
    let value = value.filter(|value| value.is_finite() && *value > 0.0);
    if value.is_none() {
        messages.wrong_value(node, what, "a number above zero");
    }
    value
}

/// A text; numbers and truth values are texts where a text is expected, as in the names of YAML documents.
fn text(node: &Node, what: &str, messages: &Messages) -> Option<String> {
    match &node.kind {
        NodeKind::Int(number) => Some(number.to_string()),
        NodeKind::Text(text) if text.trim().is_empty() => {
            messages.error(codes::BAD_VALUE, node.span, format!("{what} is empty"), "");
            None
        }
        _ => messages.text(node, what).map(str::to_string),
    }
}

fn parsed<T>(
    node: &Node,
    what: &str,
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
    messages: &Messages,
) -> Option<T> {
    let found = match &node.kind {
        NodeKind::Text(text) => read(text),
        _ => None,
    };
    if found.is_none() {
        messages.wrong_value(node, what, expected);
    }
    found
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|each| !each.is_whitespace() && *each != ':')
        .map(|each| each.to_digit(16).map(|digit| digit as u8))
        .collect();
    let digits = digits.filter(|digits| !digits.is_empty() && digits.len().is_multiple_of(2))?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

fn queue(text: &str) -> Option<QueueLimit> {
    let text = text.trim();
    for unit in ["packets", "p"] {
        if let Some(number) = text.strip_suffix(unit) {
            let packets = number.trim().parse().ok().filter(|packets| *packets > 0)?;
            return Some(QueueLimit::Packets(packets));
        }
    }
    let has_unit = text.ends_with(|each: char| each.is_alphabetic());
    let size = SIZE.parse(text).ok().filter(|size| has_unit && (1..=MAX_QUANTITY).contains(size));
    size.map(QueueLimit::Bytes)
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
        let found = match field.required {
            Some(example) => fields.need(&[field.name], example),
            None => fields.get(&[field.name]),
        };
        match found {
            // `null` leaves a field out, as an empty value does in YAML.
            Some(found) if found.kind != NodeKind::Null => {
                let what = format!("`{}`", field.name);
                record.insert(field.name, decode(found, &field.shape, &what, messages));
            }
            _ if field.required.is_some() => record.insert(field.name, None),
            _ => {}
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

fn tagged(node: &Node, what: &str, kinds: &'static [Kind], messages: &Messages) -> Option<Value> {
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
            let mut written = fields.iter().filter(|field| !messages.is_note(&field.name));
            let (Some(field), None) = (written.next(), written.next()) else {
                let message = format!("{what} has one field, its kind");
                let help = format!("the kinds are {}", names());
                messages.error(codes::CONFLICT, node.span, message, &help);
                return None;
            };
            let kind = kind_of(&field.name, field.name_span)?;
            let value = match &field.value.kind {
                NodeKind::Null => {
                    let empty = NodeKind::Object(Vec::new());
                    decode(
                        &Node { span: field.name_span, kind: empty },
                        &kind.shape,
                        what,
                        messages,
                    )
                }
                _ => decode(&field.value, &kind.shape, &format!("`{}`", field.name), messages),
            };
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
