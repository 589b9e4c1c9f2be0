// SPDX-License-Identifier: Apache-2.0
//! The tree of values of a document (JSON, YAML or TOML), with the place of every part. `json`, `yaml` and
//! `toml` build it; `reader` gives the values their meaning for a run.

use super::codes;
use source::{Diagnostic, FileId, SourceMap, Span};

/// The notation of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON with comments and trailing commas.
    Json,
    /// YAML 1.2, one document.
    Yaml,
    /// TOML 1.1.
    Toml,
}

impl Format {
    /// By the end of a file's name: `.yaml` and `.yml`, `.toml`, and JSON for all others (`.json`,
    /// `.symb`).
    pub fn of_name(name: &str) -> Format {
        let end = name.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
        match end.as_str() {
            "yaml" | "yml" => Format::Yaml,
            "toml" => Format::Toml,
            _ => Format::Json,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Format::Json => "JSON",
            Format::Yaml => "YAML",
            Format::Toml => "TOML",
        }
    }
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub span: Span,
    pub kind: Kind,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    /// A whole number that is not negative.
    Int(u128),
    /// Any other number; whole numbers over 128 bits too.
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Object(Vec<Field>),
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub name: String,
    pub name_span: Span,
    pub value: Node,
}

impl Kind {
    /// What it is, for people.
    pub fn described(&self) -> &'static str {
        match self {
            Kind::Null => "nothing (`null`)",
            Kind::Bool(_) => "a truth value",
            Kind::Int(_) => "a number",
            Kind::Float(value) if *value < 0.0 => "a negative number",
            Kind::Float(value) if value.fract() == 0.0 => "a number over 128 bits",
            Kind::Float(_) => "a number with a fraction",
            Kind::Text(_) => "a text",
            Kind::List(_) => "a list",
            Kind::Object(_) => "an object",
        }
    }
}

/// The text that is read and its place in the source map, for spans.
pub(super) struct Place<'a> {
    text: &'a str,
    file: FileId,
    start: usize,
}

impl<'a> Place<'a> {
    pub fn new(map: &'a SourceMap, file: FileId) -> Place<'a> {
        let text = map.text(file);
        // A byte order mark is not part of the text, but counts in places.
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Place { text, file, start }
    }

    /// What libraries read.
    pub fn text(&self) -> &'a str {
        &self.text[self.start..]
    }

    /// The whole text, which spans count in.
    pub fn source(&self) -> &'a str {
        self.text
    }

    /// The span of these bytes of [`Place::text`], whole characters of it.
    pub fn span(&self, start: usize, end: usize) -> Span {
        let inside =
            |at: usize| self.text.floor_char_boundary((at + self.start).min(self.text.len()));
        let start = inside(start);
        Span::new(self.file, start as u32, inside(end).max(start) as u32)
    }

    /// A mistake of notation.
    pub fn syntax(&self, format: Format, span: Span, message: &str) -> Diagnostic {
        let message = message.trim_end_matches('.');
        let mut shown = message.chars();
        let first = shown.next().map(|first| first.to_ascii_lowercase());
        let message: String = first.into_iter().chain(shown).collect();
        let message = format!("this is not {}: {message}", format.name());
        Diagnostic::error(codes::SYNTAX, span, message)
    }
}

/// A number's text as a value.
pub(super) fn number(text: &str) -> Option<Kind> {
    let text = text.replace('_', "");
    let unsigned = text.strip_prefix('+').unwrap_or(&text);
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = unsigned.strip_prefix(prefix) {
            let sound = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
            return sound.then(|| {
                u128::from_str_radix(digits, radix).map_or(Kind::Float(f64::MAX), Kind::Int)
            });
        }
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|digit| digit.is_ascii_digit()) {
        return Some(unsigned.parse().map_or(Kind::Float(f64::MAX), Kind::Int));
    }
    let plain = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    if !unsigned.bytes().all(plain) || !unsigned.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    unsigned.parse().ok().map(|value: f64| match value {
        // 1e6 is a whole number; above 2^53 a number with an exponent is not exact.
        value if value >= 0.0 && value.fract() == 0.0 && value < 9e15 => Kind::Int(value as u128),
        value => Kind::Float(value),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (text, expected) in [
            ("5", Some(Kind::Int(5))),
            ("1_000", Some(Kind::Int(1000))),
            ("0xFf", Some(Kind::Int(255))),
            ("0b11", Some(Kind::Int(3))),
            ("+7", Some(Kind::Int(7))),
            ("1e6", Some(Kind::Int(1_000_000))),
            ("1.5", Some(Kind::Float(1.5))),
            ("-5", Some(Kind::Float(-5.0))),
            ("340282366920938463463374607431768211456", Some(Kind::Float(f64::MAX))),
            ("0x", None),
            ("abc", None),
            ("1.2.3", None),
            ("-", None),
            (".", None),
            ("", None),
        ] {
            assert_eq!(number(text), expected, "{text:?}");
        }
    }
}
