// SPDX-License-Identifier: Apache-2.0
//! Decoded values: what a document says, each with its place. A [`Record`] gives the fields of an object by name.

use super::address::{Mac, Prefix};
use super::condition::Range;
use super::shape::Section;
use source::Span;
use std::net::IpAddr;

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// The place.
    pub span: Span,
}

/// The length of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Waiting packets.
    Packets(u32),
    /// Bytes of waiting packets.
    Bytes(u64),
}

/// A decoded value.
#[derive(Clone, Debug)]
pub struct Value {
    /// The place.
    pub span: Span,
    /// The value.
    pub kind: ValueKind,
}

/// What a decoded value is. Quantities are in their smallest unit.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each is the value of the shape of its name")]
pub enum ValueKind {
    /// A time, rate, size or count.
    Number(u64),
    /// A number per second.
    Frequency(u64),
    /// A probability or decimal.
    Decimal(f64),
    Truth(bool),
    Text(String),
    Word(&'static str),
    Interface(Prefix),
    Ip(IpAddr),
    Prefix(Prefix),
    Mac(Mac),
    Bytes(Vec<u8>),
    Queue(QueueLimit),
    Condition(Range),
    List(Vec<Value>),
    Record(Record),
    Named(Vec<NamedValue>),
    Tagged {
        kind: Located<&'static str>,
        value: Box<Value>,
    },
}

/// A value with the name that its author chose.
#[derive(Clone, Debug)]
pub struct NamedValue {
    /// The name.
    pub name: Located<String>,
    /// The value.
    pub value: Value,
}

/// The fields of an object.
#[derive(Clone, Debug)]
pub struct Record {
    /// The place of the object.
    pub span: Span,
    section: &'static Section,
    fields: Vec<(&'static str, Value)>,
    /// Fields that are there with a wrong value.
    wrong: Vec<&'static str>,
}

impl Record {
    /// No fields.
    pub fn empty(section: &'static Section, span: Span) -> Record {
        Record { span, section, fields: Vec::new(), wrong: Vec::new() }
    }

    /// Adds a field; `None` stands for a wrong value, which is reported.
    pub fn insert(&mut self, name: &'static str, value: Option<Value>) {
        match value {
            Some(value) => self.fields.push((name, value)),
            None => self.wrong.push(name),
        }
    }

    /// Adds the fields of another record that this one lacks, where both sections have them.
    pub fn or(mut self, defaults: &Record) -> Record {
        for (name, value) in &defaults.fields {
            if self.is_known(name) && !self.is_written(name) {
                self.fields.push((name, value.clone()));
            }
        }
        self
    }

    /// Removes fields.
    pub fn without(mut self, names: &[&str]) -> Record {
        self.fields.retain(|(name, _)| !names.contains(name));
        self
    }

    fn is_known(&self, name: &str) -> bool {
        self.section.fields().any(|field| field.name == name)
    }

    /// Whether the document has the field, even with a wrong value.
    pub fn is_written(&self, name: &str) -> bool {
        self.get(name).is_some() || self.wrong.contains(&name)
    }

    /// Whether a field has a wrong value, which is reported.
    pub fn is_wrong(&self) -> bool {
        !self.wrong.is_empty()
    }

    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        debug_assert!(self.is_known(name), "{} has no field {name}", self.section.what);
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// The place of a field's value, or of the object.
    pub fn span_of(&self, name: &str) -> Span {
        self.get(name).map_or(self.span, |value| value.span)
    }

    /// The fields that have values.
    pub fn written(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.fields.iter().map(|(name, value)| (*name, value))
    }

    /// A time, rate, frequency, size or count.
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.get(name)?.kind {
            ValueKind::Number(number) | ValueKind::Frequency(number) => Some(number),
            _ => None,
        }
    }

    /// A probability or decimal.
    pub fn decimal(&self, name: &str) -> Option<f64> {
        match self.get(name)?.kind {
            ValueKind::Decimal(number) => Some(number),
            _ => None,
        }
    }

    /// A truth value.
    pub fn truth(&self, name: &str) -> Option<bool> {
        match self.get(name)?.kind {
            ValueKind::Truth(value) => Some(value),
            _ => None,
        }
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<Located<String>> {
        self.get(name)?.text()
    }

    /// A word.
    pub fn word(&self, name: &str) -> Option<&'static str> {
        match self.get(name)?.kind {
            ValueKind::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The elements of a list; none if the field is not there.
    pub fn list(&self, name: &str) -> &[Value] {
        match self.get(name).map(|value| &value.kind) {
            Some(ValueKind::List(list)) => list,
            _ => &[],
        }
    }

    /// The texts of a list.
    pub fn texts(&self, name: &str) -> Vec<Located<String>> {
        self.list(name).iter().filter_map(Value::text).collect()
    }

    /// The values of an object whose names the author chose.
    pub fn named(&self, name: &str) -> &[NamedValue] {
        match self.get(name).map(|value| &value.kind) {
            Some(ValueKind::Named(list)) => list,
            _ => &[],
        }
    }

    /// An object.
    pub fn record(&self, name: &str) -> Option<&Record> {
        self.get(name)?.record()
    }
}

impl Value {
    /// The text, with its place.
    pub fn text(&self) -> Option<Located<String>> {
        match &self.kind {
            ValueKind::Text(text) => Some(Located { value: text.clone(), span: self.span }),
            _ => None,
        }
    }

    /// The object.
    pub fn record(&self) -> Option<&Record> {
        match &self.kind {
            ValueKind::Record(record) => Some(record),
            _ => None,
        }
    }
}
