// SPDX-License-Identifier: Apache-2.0
//! Access to the fields of objects with messages: names with spaces, underscores or hyphens alike,
//! wrong kinds of values, unknown and repeated fields. Which fields there are is not known here.

use super::argument::integer;
use super::codes;
use super::document::{Field, Kind, Node};
use super::quantities;
use super::run::Argument;
use source::quantity::QuantityError;
use source::{Code, Diagnostic, Diagnostics, Span};

/// Fields that hold notes of people and are never read.
const NOTES: &[&str] = &["comment", "description", "$schema", "//"];

/// Longer lists of fields are not told.
const MOST_LISTED: usize = 14;

/// Where messages go.
#[derive(Default)]
pub(super) struct Messages {
    pub list: Diagnostics,
}

impl Messages {
    /// Adds an error.
    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>, help: &str) {
        let mut diagnostic = Diagnostic::error(code, span, message);
        if !help.is_empty() {
            diagnostic = diagnostic.help(help);
        }
        self.list.push(diagnostic);
    }

    /// Adds the error that a value is of the wrong kind.
    pub fn wrong_type(&mut self, node: &Node, what: &str, wanted: &str) {
        let found = node.kind.described();
        let message = format!("{what} is {wanted}, not {found}");
        self.list.push(
            Diagnostic::error(codes::WRONG_TYPE, node.span, message)
                .here(format!("this is {found}")),
        );
    }

    /// A whole number that fits `most`.
    pub fn integer(&mut self, node: &Node, what: &str, most: u128) -> Option<u128> {
        let value = match &node.kind {
            Kind::Int(value) => *value,
            Kind::Text(text) => match integer(text) {
                Some((value, _)) => value,
                None => {
                    self.wrong_type(node, what, "a whole number");
                    return None;
                }
            },
            _ => {
                self.wrong_type(node, what, "a whole number");
                return None;
            }
        };
        if value > most {
            let message = format!("{what} is at most {most}, not {value}");
            self.error(codes::BAD_QUANTITY, node.span, message, "");
            return None;
        }
        Some(value)
    }

    /// A number of 32 bits.
    pub fn small(&mut self, node: &Node, what: &str) -> Option<u32> {
        self.integer(node, what, u32::MAX.into()).map(|value| value as u32)
    }

    /// A number of 64 bits.
    pub fn long(&mut self, node: &Node, what: &str) -> Option<u64> {
        self.integer(node, what, u64::MAX.into()).map(|value| value as u64)
    }

    /// A number with a fraction.
    pub fn float(&mut self, node: &Node, what: &str) -> Option<f64> {
        let value = match &node.kind {
            Kind::Int(value) => Some(*value as f64),
            Kind::Float(value) => Some(*value),
            Kind::Text(text) => text.trim().parse().ok().filter(|value: &f64| value.is_finite()),
            _ => None,
        };
        if value.is_none() {
            self.wrong_type(node, what, "a number");
        }
        value
    }

    /// A text.
    pub fn text<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n str> {
        match &node.kind {
            Kind::Text(text) => Some(text),
            _ => {
                self.wrong_type(node, what, "a text");
                None
            }
        }
    }

    /// A truth value.
    pub fn truth(&mut self, node: &Node, what: &str) -> Option<bool> {
        match &node.kind {
            Kind::Bool(value) => Some(*value),
            _ => {
                self.wrong_type(node, what, "true or false");
                None
            }
        }
    }

    /// A list.
    pub fn list<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Node]> {
        match &node.kind {
            Kind::List(list) => Some(list),
            _ => {
                self.wrong_type(node, what, "a list");
                None
            }
        }
    }

    /// Picoseconds.
    pub fn time(&mut self, node: &Node, what: &str) -> Option<u64> {
        let time = match &node.kind {
            Kind::Int(_) | Kind::Float(_) | Kind::Text(_) => quantities::time_ps(&node.kind),
            _ => Err(QuantityError::Form),
        };
        self.quantity(node, what, time, "a time: a number of nanoseconds, or \"100ns\", \"5us\"")
    }

    /// Bits a second.
    pub fn rate(&mut self, node: &Node, what: &str) -> Option<u64> {
        let rate = quantities::rate_bps(&node.kind);
        self.quantity(node, what, rate, "a rate: a number of bits a second, or \"10Gbps\"")
    }

    fn quantity<T>(
        &mut self,
        node: &Node,
        what: &str,
        read: Result<T, QuantityError>,
        wanted: &str,
    ) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(QuantityError::Form) => {
                match &node.kind {
                    Kind::Text(text) => {
                        let message = format!("{what} is {wanted}, not {text:?}");
                        self.error(codes::BAD_QUANTITY, node.span, message, "");
                    }
                    _ => self.wrong_type(node, what, wanted),
                }
                None
            }
            Err(QuantityError::Unit { unit, known }) => {
                let message = format!("{what} has the unknown unit `{unit}`");
                let help = format!("units are {known}");
                self.error(codes::BAD_QUANTITY, node.span, message, &help);
                None
            }
            Err(QuantityError::Large) => {
                let message = format!("{what} is too large");
                self.error(codes::BAD_QUANTITY, node.span, message, "");
                None
            }
            Err(QuantityError::Negative) => {
                let message = format!("{what} is negative");
                self.error(codes::BAD_QUANTITY, node.span, message, "");
                None
            }
        }
    }

    /// An argument of an event or an action.
    pub fn argument(&mut self, node: &Node) -> Option<Argument> {
        match &node.kind {
            Kind::Int(value) => Some(Argument::Int(*value)),
            Kind::Bool(value) => Some(Argument::Bool(*value)),
            Kind::Text(text) => Some(Argument::Text(text.clone())),
            Kind::List(list) => {
                let parts: Vec<_> = list.iter().map(|part| self.argument(part)).collect();
                parts.into_iter().collect::<Option<Vec<_>>>().map(Argument::List)
            }
            // The fields of a record, in order.
            Kind::Object(fields) => {
                let parts: Vec<_> = fields.iter().map(|part| self.argument(&part.value)).collect();
                parts.into_iter().collect::<Option<Vec<_>>>().map(Argument::List)
            }
            Kind::Float(value) if *value < 0.0 && value.fract() == 0.0 => {
                let message = "an argument is negative, and Lucid's integers are unsigned";
                let help = "write the value of the same bits: -1 in 32 bits is 4294967295";
                self.error(codes::BAD_QUANTITY, node.span, message, help);
                None
            }
            Kind::Null | Kind::Float(_) => {
                self.wrong_type(node, "an argument", "a number, a truth value, a text or a list");
                None
            }
        }
    }

    /// A list of arguments with their places.
    pub fn arguments(&mut self, node: &Node, what: &str) -> Option<(Vec<Argument>, Vec<Span>)> {
        let list = self.list(node, what)?;
        let read: Vec<_> = list.iter().map(|argument| self.argument(argument)).collect();
        let spans = list.iter().map(|argument| argument.span).collect();
        Some((read.into_iter().collect::<Option<Vec<_>>>()?, spans))
    }
}

/// The fields of one object.
pub(super) struct Fields<'n> {
    span: Span,
    fields: &'n [Field],
    used: Vec<bool>,
    asked: Vec<&'static str>,
    /// What has these fields: `a run`, `an event`.
    what: &'static str,
}

/// Names as they are compared: `max_time` is `max time`.
pub(super) fn normal(name: &str) -> String {
    let spaced = |character| if matches!(character, '_' | '-') { ' ' } else { character };
    name.trim().chars().map(spaced).collect::<String>().to_lowercase()
}

impl<'n> Fields<'n> {
    /// Of an object; anything else is reported.
    pub fn of(node: &'n Node, what: &'static str, messages: &mut Messages) -> Option<Fields<'n>> {
        let Kind::Object(fields) = &node.kind else {
            messages.wrong_type(node, what, "an object");
            return None;
        };
        Some(Fields {
            span: node.span,
            fields,
            used: vec![false; fields.len()],
            asked: Vec::new(),
            what,
        })
    }

    /// The value of a field that may have several names, the first of them the proper one.
    pub fn get(&mut self, names: &[&'static str]) -> Option<&'n Node> {
        self.field(names).map(|field| &field.value)
    }

    /// Says that these fields are read, so that they are not reported even if a mistake in another
    /// field keeps them from being looked at.
    pub fn expect(&mut self, names: &[&'static str]) {
        for name in names {
            self.field(&[*name]);
        }
    }

    /// The field itself.
    pub fn field(&mut self, names: &[&'static str]) -> Option<&'n Field> {
        self.asked.extend(names);
        for name in names {
            let found = self.fields.iter().position(|field| normal(&field.name) == *name);
            if let Some(at) = found {
                self.used[at] = true;
                return Some(&self.fields[at]);
            }
        }
        None
    }

    /// A field that has to be there.
    pub fn need(
        &mut self,
        names: &[&'static str],
        example: &str,
        messages: &mut Messages,
    ) -> Option<&'n Node> {
        let found = self.get(names);
        if found.is_none() {
            let message = format!("{} has no `{}`", self.what, names[0]);
            let diagnostic = Diagnostic::error(codes::MISSING, self.span, message);
            messages.list.push(diagnostic.help(format!("such as {example}")));
        }
        found
    }

    /// Reports fields that nobody asked for.
    pub fn finish(mut self, messages: &mut Messages) {
        let mut listed = false;
        for at in 0..self.fields.len() {
            let field = &self.fields[at];
            let name = normal(&field.name);
            let first = self.fields.iter().position(|other| normal(&other.name) == name);
            if let Some(first) = first.filter(|first| *first < at) {
                let earlier = &self.fields[first];
                messages.list.push(
                    Diagnostic::warning(
                        codes::REPEATED_FIELD,
                        field.name_span,
                        format!("`{}` is there twice; the first counts", field.name),
                    )
                    .label(earlier.name_span, "this one counts"),
                );
                continue;
            }
            if self.used[at] || NOTES.contains(&&*name) || name.starts_with(' ') {
                continue;
            }
            let message = format!("{} has no field `{}`; it does nothing", self.what, field.name);
            let mut diagnostic =
                Diagnostic::warning(codes::UNKNOWN_FIELD, field.name_span, message);
            self.asked.sort_unstable();
            self.asked.dedup();
            diagnostic = match source::nearest(&name, self.asked.iter().copied()) {
                Some(near) => diagnostic.help(format!("`{near}` may be meant")),
                None if listed => diagnostic,
                None if self.asked.len() > MOST_LISTED => {
                    diagnostic.note("docs/lucid-runs.md lists its fields")
                }
                None => diagnostic.note(format!("its fields are {}", self.asked.join(", "))),
            };
            listed = true;
            messages.list.push(diagnostic);
        }
    }
}
