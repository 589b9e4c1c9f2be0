// SPDX-License-Identifier: Apache-2.0
//! Typed values of nodes, with a diagnostic for each value of another type or out of range.

use crate::conventions::Conventions;
use crate::node::{Format, Node, NodeKind, Place};
use crate::{json, toml, yaml};
use source::quantity::{self, Notation, QuantityError};
use source::{Code, Diagnostic, Diagnostics, FileId, Span};
use std::cell::RefCell;
use std::ops::RangeInclusive;

/// The diagnostics about one document. A `what` of its methods names the value as messages do:
/// `` `max time` `` or `the seed`.
#[derive(Debug)]
pub struct Messages {
    pub(crate) conventions: &'static Conventions,
    pub(crate) format: Format,
    list: RefCell<Diagnostics>,
}

impl Messages {
    /// Creates an empty list for a document of this kind and notation.
    pub fn new(conventions: &'static Conventions, format: Format) -> Messages {
        Messages { conventions, format, list: RefCell::default() }
    }

    /// Reads a text into a tree; returns `None`, with diagnostics, if it is not of its notation.
    pub fn parse(&self, file: FileId, text: &str) -> Option<Node> {
        self.parse_as(self.format, file, text)
    }

    /// Parses another document, in a format of its own.
    pub fn parse_as(&self, format: Format, file: FileId, text: &str) -> Option<Node> {
        let place = Place::new(file, text, format, self.conventions.syntax);
        let parsed = match format {
            Format::Json => json::read(&place),
            Format::Yaml => yaml::read(&place),
            Format::Toml => toml::read(&place),
        };
        let help = self.conventions.syntax_help;
        let report = |problem: Diagnostic| match help {
            "" => self.push(problem),
            help => self.push(problem.help(help)),
        };
        parsed.map_err(|problems| problems.into_iter().for_each(report)).ok()
    }

    /// Adds a diagnostic.
    pub fn push(&self, diagnostic: Diagnostic) {
        self.list.borrow_mut().push(diagnostic);
    }

    /// Whether a field of this name holds the author's notes, which are not read.
    pub fn is_note(&self, name: &str) -> bool {
        self.conventions.note_fields.contains(&name)
    }

    /// Adds an error; an empty `help` is left out.
    pub fn error(&self, code: Code, span: Span, message: impl Into<String>, help: &str) {
        let diagnostic = Diagnostic::error(code, span, message);
        self.push(if help.is_empty() { diagnostic } else { diagnostic.help(help) });
    }

    /// Whether any diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.list.borrow().has_errors()
    }

    /// All diagnostics in the order of the document.
    pub fn into_diagnostics(self) -> Diagnostics {
        let mut list: Vec<Diagnostic> = self.list.into_inner().into_iter().collect();
        list.sort_by_key(|diagnostic| diagnostic.primary.span.start);
        let mut sorted = Diagnostics::new();
        for diagnostic in list {
            sorted.push(diagnostic);
        }
        sorted
    }

    /// Adds the error that a value is of another type than the one that its field takes.
    pub fn wrong_type(&self, node: &Node, what: &str, expected: &str) {
        self.push(self.wrong(self.conventions.wrong_type, node, what, expected));
    }

    /// Adds the error that a value of the right type is not one of those that its field takes.
    pub fn wrong_value(&self, node: &Node, what: &str, expected: &str) {
        self.push(self.wrong(self.conventions.wrong_value, node, what, expected));
    }

    fn wrong(&self, code: Code, node: &Node, what: &str, expected: &str) -> Diagnostic {
        let message = format!("{what} must be {expected}, not {}", node.kind.described());
        Diagnostic::error(code, node.span, message)
    }

    /// Reads a whole number of at most `max`.
    pub fn integer(&self, node: &Node, what: &str, max: u128) -> Option<u128> {
        let number = match &node.kind {
            NodeKind::Int(value) => Some(*value),
            NodeKind::Text(text) => self.conventions.number_in_text.and_then(|read| read(text)),
            _ => None,
        };
        let Some(value) = number else {
            self.wrong_type(node, what, "a whole number");
            return None;
        };
        if value > max {
            let message = format!("{what} must be at most {max}, not {value}");
            self.error(self.conventions.wrong_value, node.span, message, "");
            return None;
        }
        Some(value)
    }

    /// Reads a whole number of 32 bits.
    pub fn integer_u32(&self, node: &Node, what: &str) -> Option<u32> {
        self.integer(node, what, u32::MAX.into()).map(|value| value as u32)
    }

    /// Reads a whole number of 64 bits.
    pub fn integer_u64(&self, node: &Node, what: &str) -> Option<u64> {
        self.integer(node, what, u64::MAX.into()).map(|value| value as u64)
    }

    /// Reads a whole number of this range.
    pub fn number(&self, node: &Node, what: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let number = match &node.kind {
            NodeKind::Int(value) => u64::try_from(*value).ok(),
            NodeKind::Text(text) => {
                let read = self.conventions.number_in_text.and_then(|read| read(text));
                read.and_then(|value| u64::try_from(value).ok())
            }
            _ => None,
        };
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            let expected = format!("a whole number from {} to {}", range.start(), range.end());
            self.wrong_value(node, what, &expected);
        }
        number
    }

    /// Reads a text.
    pub fn text<'n>(&self, node: &'n Node, what: &str) -> Option<&'n str> {
        match &node.kind {
            NodeKind::Text(text) => Some(text),
            _ => {
                let diagnostic = self.wrong(self.conventions.wrong_type, node, what, "a text");
                let is_bare =
                    matches!(node.kind, NodeKind::Int(_) | NodeKind::Float(_) | NodeKind::Bool(_));
                self.push(match is_bare {
                    true => diagnostic.help("put it in quotes"),
                    false => diagnostic,
                });
                None
            }
        }
    }

    /// Reads a truth value.
    pub fn truth(&self, node: &Node, what: &str) -> Option<bool> {
        match &node.kind {
            NodeKind::Bool(value) => Some(*value),
            _ => {
                self.wrong_type(node, what, "true or false");
                None
            }
        }
    }

    /// Reads a list.
    pub fn list<'n>(&self, node: &'n Node, what: &str) -> Option<&'n [Node]> {
        match &node.kind {
            NodeKind::List(list) => Some(list),
            _ => {
                self.wrong_type(node, what, "a list");
                None
            }
        }
    }

    /// Reads one of several words.
    pub fn choice<T: Copy>(&self, node: &Node, what: &str, choices: &[(&str, T)]) -> Option<T> {
        if let NodeKind::Text(text) = &node.kind
            && let Some((_, choice)) = choices.iter().find(|(word, _)| word == text)
        {
            return Some(*choice);
        }
        let words: Vec<String> = choices.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let expected = match words.as_slice() {
            [words @ .., last] if !words.is_empty() => format!("{} or {last}", words.join(", ")),
            _ => words.concat(),
        };
        self.wrong_value(node, what, &expected);
        None
    }

    /// Reads a quantity: a text of this notation or, where `number_scale` gives one, a number of so many of
    /// the smallest unit. Messages say what is `expected`.
    pub fn quantity(
        &self,
        node: &Node,
        what: &str,
        notation: &Notation,
        number_scale: Option<u64>,
        expected: &str,
    ) -> Option<u64> {
        let is_text = matches!(node.kind, NodeKind::Text(_));
        let problem = match quantity_of(&node.kind, notation, number_scale) {
            Ok(value) => return Some(value),
            Err(problem) => problem,
        };
        let (message, help) = match problem {
            QuantityError::Form if is_text => {
                self.wrong_value(node, what, expected);
                return None;
            }
            QuantityError::Form => {
                self.wrong_type(node, what, expected);
                return None;
            }
            QuantityError::Unit { unit, .. } if unit.is_empty() => {
                self.wrong_value(node, what, expected);
                return None;
            }
            QuantityError::Unit { unit, known } => {
                let written = match &node.kind {
                    NodeKind::Text(text) => text.trim().strip_suffix(&unit),
                    _ => None,
                };
                let help = match (written, nearest_unit(&unit, known)) {
                    (Some(number), Some(near)) => {
                        format!("write \"{}{near}\"; units are {known}", number.trim())
                    }
                    _ => format!("units are {known}"),
                };
                (format!("{what} has the unknown unit `{unit}`"), help)
            }
            QuantityError::Large => (format!("{what} is too large"), String::new()),
            QuantityError::Negative => (format!("{what} is negative"), String::new()),
        };
        self.error(self.conventions.wrong_value, node.span, message, &help);
        None
    }
}

/// Returns the known unit that another spelling means: `Kbps` is `kb/s`, `usec` is `us`.
fn nearest_unit<'k>(unit: &str, known: &'k str) -> Option<&'k str> {
    let plain = |unit: &str| {
        let unit = unit.to_lowercase().replace("it", "").replace("/s", "ps");
        let unit = unit.strip_suffix("seconds").map(|rest| format!("{rest}s")).unwrap_or(unit);
        unit.strip_suffix("sec").map(|rest| format!("{rest}s")).unwrap_or(unit)
    };
    known.split(", ").find(|name| plain(name) == plain(unit))
}

fn quantity_of(
    kind: &NodeKind,
    notation: &Notation,
    number_scale: Option<u64>,
) -> Result<u64, QuantityError> {
    match (kind, number_scale) {
        (NodeKind::Int(value), Some(scale)) => {
            let value = u64::try_from(*value).ok().and_then(|value| value.checked_mul(scale));
            value.ok_or(QuantityError::Large)
        }
        (NodeKind::Float(value), Some(scale)) => quantity::scaled(*value, scale),
        (NodeKind::Text(text), _) => notation.parse(text),
        _ => Err(QuantityError::Form),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::quantity::TIME;

    #[test]
    fn other_spellings_of_units() {
        let rates = "b/s, kb/s, Mb/s, Gb/s, Tb/s";
        for (unit, known, expected) in [
            ("Kbps", rates, Some("kb/s")),
            ("Gbit/s", rates, Some("Gb/s")),
            ("mbps", rates, Some("Mb/s")),
            ("usec", TIME.unit_list, Some("us")),
            ("MS", TIME.unit_list, Some("ms")),
            ("seconds", TIME.unit_list, Some("s")),
            ("parsecs", TIME.unit_list, None),
            ("furlongs", rates, None),
        ] {
            assert_eq!(nearest_unit(unit, known), expected, "{unit}");
        }
    }

    #[test]
    fn numbers_and_texts_as_times() {
        let text = |text: &str| NodeKind::Text(text.to_string());
        let unit = QuantityError::Unit { unit: "parsecs".to_string(), known: TIME.unit_list };
        for (kind, expected) in [
            (NodeKind::Int(5), Ok(5_000)),
            (NodeKind::Float(1.5), Ok(1_500)),
            (NodeKind::Float(-1.0), Err(QuantityError::Negative)),
            (NodeKind::Int(u128::MAX), Err(QuantityError::Large)),
            (NodeKind::Int(u64::MAX.into()), Err(QuantityError::Large)),
            (text("5"), Ok(5_000)),
            (text("5us"), Ok(5_000_000)),
            (text("5 parsecs"), Err(unit)),
            (text("soon"), Err(QuantityError::Form)),
            (NodeKind::Bool(true), Err(QuantityError::Form)),
        ] {
            assert_eq!(quantity_of(&kind, &TIME, Some(1_000)), expected, "{kind:?}");
        }
        assert_eq!(quantity_of(&NodeKind::Int(5), &TIME, None), Err(QuantityError::Form));
    }
}
