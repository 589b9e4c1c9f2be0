// SPDX-License-Identifier: Apache-2.0
//! Values without parts: quantities, numbers, texts, and texts of a form. Each function reports a value that it does not
//! take.

use super::quantity::SIZE;
use super::value::QueueLimit;
use crate::codes;
use document::{Messages, Node, NodeKind};
use source::quantity::Notation;

/// The longest quantity, so that sums of several fit into 64 bits.
const MAX_QUANTITY: u64 = i64::MAX as u64;

pub const TIME_EXPECTED: &str = "a time with its unit (ps, ns, us, ms, s, min), such as \"10us\"";
pub const RATE_EXPECTED: &str =
    "a rate with its unit (bps, kbps, Mbps, Gbps, Tbps), such as \"10Mbps\"";
pub const FREQUENCY_EXPECTED: &str =
    "a number per second with its unit (/s, k/s, M/s, pps, kpps, Mpps), such as \"1000/s\"";
const SIZE_EXPECTED: &str =
    "a number of bytes, or a text with a unit (B, KB, MB, GB, KiB, MiB, GiB), such as \"64KB\"";

/// Reads a quantity in its smallest unit.
pub fn quantity(
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

/// Returns the number of a quantity that lacks its unit.
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

/// Reads a whole number; without a greatest value the message names the least one only.
pub fn count(node: &Node, what: &str, least: u64, most: u64, messages: &Messages) -> Option<u64> {
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

/// Reads a number of bytes.
pub fn size(node: &Node, what: &str, messages: &Messages) -> Option<u64> {
    quantity(node, what, &SIZE, SIZE_EXPECTED, messages)
}

/// Reads a probability; advises to write a percent sign after a number above 1.
pub fn probability(node: &Node, what: &str, messages: &Messages) -> Option<f64> {
    let found = node.kind.probability();
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

/// Reads a number above zero.
pub fn decimal(node: &Node, what: &str, messages: &Messages) -> Option<f64> {
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

/// Reads a text. A whole number is one too, as YAML reads a name of digits as a number.
pub fn text(node: &Node, what: &str, messages: &Messages) -> Option<String> {
    match &node.kind {
        NodeKind::Int(number) => Some(number.to_string()),
        NodeKind::Text(text) if text.trim().is_empty() => {
            messages.error(codes::BAD_VALUE, node.span, format!("{what} is empty"), "");
            None
        }
        _ => messages.text(node, what).map(str::to_string),
    }
}

/// Reads a text of a form.
pub fn parsed<T>(
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

/// Reads hexadecimal digits, two a byte; spaces and colons between them do not count.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|each| !each.is_whitespace() && *each != ':')
        .map(|each| each.to_digit(16).map(|digit| digit as u8))
        .collect();
    let digits = digits.filter(|digits| !digits.is_empty() && digits.len().is_multiple_of(2))?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// Reads the length of a queue.
pub fn queue(text: &str) -> Option<QueueLimit> {
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
