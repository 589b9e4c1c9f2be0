// SPDX-License-Identifier: Apache-2.0
//! The conventions of specifications, and the values that only they have: times and rates in Lucid's units,
//! arguments of events and actions.

use super::argument::integer;
use super::codes;
use super::quantities::BIT_RATE;
use super::run::{Argument, PS_PER_NS};
use document::{Conventions, FieldNames, Messages, Node, NodeKind};
use source::quantity::TIME;
use source::{Severity, Span};

/// How specifications are written.
pub(super) static CONVENTIONS: Conventions = Conventions {
    syntax: codes::SYNTAX,
    syntax_help: "",
    wrong_type: codes::WRONG_TYPE,
    wrong_value: codes::BAD_QUANTITY,
    missing: codes::MISSING,
    unknown_field: codes::UNKNOWN_FIELD,
    repeated_field: codes::REPEATED_FIELD,
    unused_fields: Severity::Warning,
    field_names: FieldNames::Loose,
    note_fields: &["comment", "description", "$schema", "//"],
    reference: "docs/lucid-runs.md",
    number_in_text: Some(|text| integer(text).map(|(value, _)| value)),
};

/// Reads the values that only specifications have.
pub(super) trait RunValues {
    /// Reads a number with a fraction.
    fn float(&self, node: &Node, what: &str) -> Option<f64>;
    /// Reads a time in picoseconds.
    fn time(&self, node: &Node, what: &str) -> Option<u64>;
    /// Reads a rate in bits a second.
    fn rate(&self, node: &Node, what: &str) -> Option<u64>;
    /// Reads an argument of an event or an action.
    fn argument(&self, node: &Node) -> Option<Argument>;
    /// Reads a list of arguments with their places.
    fn arguments(&self, node: &Node, what: &str) -> Option<(Vec<Argument>, Vec<Span>)>;
}

impl RunValues for Messages {
    fn float(&self, node: &Node, what: &str) -> Option<f64> {
        let value = match &node.kind {
            NodeKind::Int(value) => Some(*value as f64),
            NodeKind::Float(value) => Some(*value),
            NodeKind::Text(text) => {
                text.trim().parse().ok().filter(|value: &f64| value.is_finite())
            }
            _ => None,
        };
        if value.is_none() {
            self.wrong_type(node, what, "a number");
        }
        value
    }

    fn time(&self, node: &Node, what: &str) -> Option<u64> {
        let expected = "a time (a number of nanoseconds, or a text such as \"100ns\" or \"5us\")";
        self.quantity(node, what, &TIME, Some(PS_PER_NS), expected)
    }

    fn rate(&self, node: &Node, what: &str) -> Option<u64> {
        let expected = "a rate (a number of bits a second, or a text such as \"10Gbps\")";
        self.quantity(node, what, &BIT_RATE, Some(1), expected)
    }

    fn argument(&self, node: &Node) -> Option<Argument> {
        match &node.kind {
            NodeKind::Int(value) => Some(Argument::Int(*value)),
            NodeKind::Bool(value) => Some(Argument::Bool(*value)),
            NodeKind::Text(text) => Some(Argument::Text(text.clone())),
            NodeKind::List(list) => {
                let parts: Vec<_> = list.iter().map(|part| self.argument(part)).collect();
                parts.into_iter().collect::<Option<Vec<_>>>().map(Argument::List)
            }
            // The fields of a record, in order.
            NodeKind::Object(fields) => {
                let parts: Vec<_> = fields.iter().map(|part| self.argument(&part.value)).collect();
                parts.into_iter().collect::<Option<Vec<_>>>().map(Argument::List)
            }
            NodeKind::Float(value) if *value < 0.0 && value.fract() == 0.0 => {
                let message = "an argument is negative, and Lucid's integers are unsigned";
                let help = "write the value of the same bits: -1 in 32 bits is 4294967295";
                self.error(codes::BAD_QUANTITY, node.span, message, help);
                None
            }
            NodeKind::Null | NodeKind::Float(_) => {
                let expected = "a whole number, a truth value, a text or a list";
                self.wrong_type(node, "an argument", expected);
                None
            }
        }
    }

    fn arguments(&self, node: &Node, what: &str) -> Option<(Vec<Argument>, Vec<Span>)> {
        let list = self.list(node, what)?;
        let read: Vec<_> = list.iter().map(|argument| self.argument(argument)).collect();
        let spans = list.iter().map(|argument| argument.span).collect();
        Some((read.into_iter().collect::<Option<Vec<_>>>()?, spans))
    }
}
