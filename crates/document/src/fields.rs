// SPDX-License-Identifier: Apache-2.0
//! The fields of one object: readers ask for each by name, and `finish` reports the ones that no reader asked
//! for, and those that are there twice.

use crate::conventions::FieldNames;
use crate::messages::Messages;
use crate::node::{Field, Format, Node, NodeKind};
use source::quantity::Notation;
use source::{Diagnostic, Severity, Span, printable};
use std::ops::RangeInclusive;

/// A message lists the fields of an object if they are no more than this.
const MAX_LISTED: usize = 14;

/// The fields of one object. A section that a document leaves out has no fields.
pub struct Fields<'n> {
    messages: &'n Messages,
    /// The object as messages name it: `an event`, `` `default_port` ``.
    name: String,
    /// The path of a field's name: empty, or with a dot at the end.
    path: String,
    span: Span,
    /// `None` if the document leaves the section out.
    fields: Option<&'n [Field]>,
    used: Vec<bool>,
    asked: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    /// The fields of a document or of an object in it; reports any other value.
    pub fn of(node: &'n Node, name: &str, messages: &'n Messages) -> Option<Fields<'n>> {
        Fields::at(node, name, String::new(), "an object", messages)
    }

    fn at(
        node: &'n Node,
        name: &str,
        path: String,
        expected: &str,
        messages: &'n Messages,
    ) -> Option<Fields<'n>> {
        let NodeKind::Object(fields) = &node.kind else {
            messages.wrong_type(node, name, expected);
            return None;
        };
        Some(Fields {
            messages,
            name: name.to_string(),
            path,
            span: node.span,
            fields: Some(fields),
            used: vec![false; fields.len()],
            asked: Vec::new(),
        })
    }

    /// The diagnostics about the document.
    pub fn messages(&self) -> &'n Messages {
        self.messages
    }

    /// The place of the object, or the start of its parent if the document leaves it out.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Whether the document has the object.
    pub fn is_there(&self) -> bool {
        self.fields.is_some()
    }

    /// A field's path from the document: `default_port.rate`.
    pub fn path_of(&self, name: &str) -> String {
        format!("{}{name}", self.path)
    }

    /// A field's path as messages show it: `` `default_port.rate` ``.
    pub fn name_of(&self, name: &str) -> String {
        format!("`{}`", self.path_of(name))
    }

    /// The place of a field's value, or of the object if it has no such field.
    pub fn span_of(&self, name: &str) -> Span {
        let fields = self.fields.unwrap_or_default();
        let found = fields.iter().find(|field| self.spelling(&field.name) == name);
        found.map_or(self.span, |field| field.value.span)
    }

    fn spelling(&self, name: &str) -> String {
        match self.messages.conventions.field_names {
            FieldNames::Exact => name.to_string(),
            FieldNames::Loose => normalized(name),
        }
    }

    /// Returns the value of a field that may have several names, the first of them the proper one.
    pub fn get(&mut self, names: &[&'static str]) -> Option<&'n Node> {
        self.field(names).map(|field| &field.value)
    }

    /// Marks these fields as read: they are not reported even if a mistake in another field keeps a reader
    /// from asking for them.
    pub fn expect(&mut self, names: &[&'static str]) {
        for name in names {
            self.field(&[*name]);
        }
    }

    /// Returns a field with the place of its name.
    pub fn field(&mut self, names: &[&'static str]) -> Option<&'n Field> {
        self.asked.extend(names);
        let fields = self.fields?;
        for name in names {
            let found = fields.iter().position(|field| self.spelling(&field.name) == *name);
            if let Some(at) = found {
                self.used[at] = true;
                return Some(&fields[at]);
            }
        }
        None
    }

    /// Returns the value of a required field; reports its absence with an example.
    pub fn need(&mut self, names: &[&'static str], example: &str) -> Option<&'n Node> {
        let found = self.get(names);
        if found.is_none() {
            let message = format!("{} has no `{}`", self.name, names[0]);
            let missing = self.messages.conventions.missing;
            let diagnostic = Diagnostic::error(missing, self.span, message);
            self.messages.push(diagnostic.help(format!("such as {example}")));
        }
        found
    }

    /// Reports that a field's value is not one of those that it takes.
    pub fn wrong_value(&self, name: &str, expected: &str) {
        let fields = self.fields.unwrap_or_default();
        if let Some(field) = fields.iter().find(|field| self.spelling(&field.name) == name) {
            self.messages.wrong_value(&field.value, &self.name_of(name), expected);
        }
    }

    /// Reads a whole number of this range.
    pub fn number(&mut self, name: &'static str, range: RangeInclusive<u64>) -> Option<u64> {
        let node = self.get(&[name])?;
        self.messages.number(node, &self.name_of(name), range)
    }

    /// Reads a required whole number of this range.
    pub fn need_number(
        &mut self,
        name: &'static str,
        range: RangeInclusive<u64>,
        example: &str,
    ) -> Option<u64> {
        let node = self.need(&[name], example)?;
        self.messages.number(node, &self.name_of(name), range)
    }

    /// Reads a text.
    pub fn text(&mut self, name: &'static str) -> Option<&'n str> {
        let node = self.get(&[name])?;
        self.messages.text(node, &self.name_of(name))
    }

    /// Reads a truth value.
    pub fn truth(&mut self, name: &'static str) -> Option<bool> {
        let node = self.get(&[name])?;
        self.messages.truth(node, &self.name_of(name))
    }

    /// Reads one of several words.
    pub fn choice<T: Copy>(&mut self, name: &'static str, choices: &[(&str, T)]) -> Option<T> {
        let node = self.get(&[name])?;
        self.messages.choice(node, &self.name_of(name), choices)
    }

    /// Reads a quantity that is a text of this notation.
    pub fn quantity(
        &mut self,
        name: &'static str,
        notation: &Notation,
        expected: &str,
    ) -> Option<u64> {
        let node = self.get(&[name])?;
        self.messages.quantity(node, &self.name_of(name), notation, None, expected)
    }

    /// Returns the fields of an object in this one; none where the document leaves it out.
    pub fn section(&mut self, name: &'static str) -> Fields<'n> {
        let (shown, path) = (self.name_of(name), format!("{}{name}.", self.path));
        let expected = self.section_called(&self.path_of(name));
        let section = self
            .get(&[name])
            .and_then(|node| Fields::at(node, &shown, path.clone(), &expected, self.messages));
        section.unwrap_or(Fields {
            messages: self.messages,
            name: shown,
            path,
            span: Span { end: self.span.start, ..self.span },
            fields: None,
            used: Vec::new(),
            asked: Vec::new(),
        })
    }

    fn section_called(&self, path: &str) -> String {
        match self.messages.format {
            Format::Toml => format!("a section `[{path}]`"),
            Format::Json | Format::Yaml => "an object".to_string(),
        }
    }

    /// Returns the sections of a section whose names the author chooses: `[port.1]`.
    pub fn sections(&mut self, name: &'static str) -> Vec<(&'n Field, Fields<'n>)> {
        let all = self.section(name);
        let of_field = |field: &'n Field| {
            let name = format!("{}{}", all.path, printable(&field.name, 40));
            let (shown, expected) = (format!("`{name}`"), all.section_called(&name));
            let path = format!("{name}.");
            Some((field, Fields::at(&field.value, &shown, path, &expected, self.messages)?))
        };
        all.fields.unwrap_or_default().iter().filter_map(of_field).collect()
    }

    /// Returns the sections of a list: `[[generator]]`.
    pub fn list(&mut self, name: &'static str) -> Vec<Fields<'n>> {
        let shown = self.name_of(name);
        let expected = match self.messages.format {
            Format::Toml => format!("a list of sections `[[{}]]`", self.path_of(name)),
            Format::Json | Format::Yaml => "a list of objects".to_string(),
        };
        let Some(node) = self.get(&[name]) else { return Vec::new() };
        let NodeKind::List(list) = &node.kind else {
            self.messages.wrong_type(node, &shown, &expected);
            return Vec::new();
        };
        let path = format!("{}{name}.", self.path);
        let elements = list.iter();
        elements
            .filter_map(|node| Fields::at(node, &shown, path.clone(), &expected, self.messages))
            .collect()
    }

    /// Returns all fields, whose names the author chooses.
    pub fn all(&self) -> &'n [Field] {
        self.fields.unwrap_or_default()
    }

    /// Reports fields that no reader asked for, and those that are there twice.
    pub fn finish(mut self) {
        let (fields, conventions) = (self.fields.unwrap_or_default(), self.messages.conventions);
        let is_error = conventions.unused_fields == Severity::Error;
        let mut is_listed = false;
        self.asked.sort_unstable();
        self.asked.dedup();
        for (at, field) in fields.iter().enumerate() {
            let name = self.spelling(&field.name);
            let shown = printable(&field.name, 40);
            let earlier = fields[..at].iter().find(|other| self.spelling(&other.name) == name);
            let report = |code, message: String| Diagnostic {
                severity: conventions.unused_fields,
                ..Diagnostic::error(code, field.name_span, message)
            };
            if let Some(earlier) = earlier {
                let message = match is_error {
                    true => format!("`{shown}` is there twice"),
                    false => format!("`{shown}` is there twice; the first counts"),
                };
                let label = if is_error { "the first one" } else { "this one counts" };
                let repeated = report(conventions.repeated_field, message);
                self.messages.push(repeated.label(earlier.name_span, label));
                continue;
            }
            let is_note = conventions.note_fields.contains(&&*name) || name.starts_with(' ');
            if self.used[at] || is_note {
                continue;
            }
            let effect = if is_error { "" } else { "; it does nothing" };
            let message = format!("{} has no field `{shown}`{effect}", self.name);
            let unknown = report(conventions.unknown_field, message);
            self.messages.push(match source::nearest(&name, self.asked.iter().copied()) {
                Some(near) => unknown.help(format!("`{near}` may be meant")),
                None if is_listed => unknown,
                None if self.asked.len() > MAX_LISTED && !conventions.reference.is_empty() => {
                    unknown.note(format!("{} lists its fields", conventions.reference))
                }
                None => unknown.note(format!("its fields are {}", self.asked.join(", "))),
            });
            is_listed = true;
        }
    }
}

/// A name as [`FieldNames::Loose`] compares it: `max_time` is `max time`.
pub fn normalized(name: &str) -> String {
    let spaced = |character| if matches!(character, '_' | '-') { ' ' } else { character };
    name.trim().chars().map(spaced).collect::<String>().to_lowercase()
}
