// SPDX-License-Identifier: Apache-2.0
//! A document as a tree of values with places. Libraries parse the three notations; `json`, `yaml` and
//! `toml` make the tree of what they return.

use source::{Code, Diagnostic, FileId, Span, printable};

/// The notation of a document.
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
    /// Returns the notation that the end of a file's name gives: YAML for `.yaml` and `.yml`, TOML for
    /// `.toml`, else JSON.
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
pub struct Node {
    /// The place.
    pub span: Span,
    /// The value.
    pub kind: NodeKind,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// `null`.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number that is not negative.
    Int(u128),
    /// Any other number; a whole number over 128 bits is [`f64::MAX`].
    Float(f64),
    /// A text; TOML's dates too.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// An object, in TOML a table, with its fields in the order of the document.
    Object(Vec<Field>),
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The place of the name.
    pub name_span: Span,
    /// The value.
    pub value: Node,
}

impl NodeKind {
    /// Describes the value in messages: a number or a text as it is, the others by their type.
    pub fn described(&self) -> String {
        match self {
            NodeKind::Null => "`null`".to_string(),
            NodeKind::Bool(value) => value.to_string(),
            NodeKind::Int(value) => value.to_string(),
            NodeKind::Float(f64::MAX) => "a number over 128 bits".to_string(),
            NodeKind::Float(value) => value.to_string(),
            NodeKind::Text(text) => format!("\"{}\"", printable(text, 40)),
            NodeKind::List(_) => "a list".to_string(),
            NodeKind::Object(_) => "an object".to_string(),
        }
    }
}

/// The text being parsed and its file, for spans.
pub(crate) struct Place<'a> {
    text: &'a str,
    file: FileId,
    start: usize,
    format: Format,
    code: Code,
}

impl<'a> Place<'a> {
    /// The place of a text of this notation; mistakes of notation get this code.
    pub fn new(file: FileId, text: &'a str, format: Format, code: Code) -> Place<'a> {
        // A byte order mark is no part of the text, but counts in places.
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Place { text, file, start, format, code }
    }

    /// The text that libraries parse.
    pub fn text(&self) -> &'a str {
        &self.text[self.start..]
    }

    /// The whole text, whose bytes spans count.
    pub fn source(&self) -> &'a str {
        self.text
    }

    /// Returns the span of these bytes of [`Place::text`], extended to whole characters.
    pub fn span(&self, start: usize, end: usize) -> Span {
        let inside =
            |at: usize| self.text.floor_char_boundary((at + self.start).min(self.text.len()));
        let start = inside(start);
        Span::new(self.file, start as u32, inside(end).max(start) as u32)
    }

    /// Returns the diagnostic of a mistake of notation.
    pub fn syntax(&self, span: Span, message: &str) -> Diagnostic {
        let message = printable(message.trim_end_matches('.'), 80);
        let mut shown = message.chars();
        let first = shown.next().map(|first| first.to_ascii_lowercase());
        let message: String = first.into_iter().chain(shown).collect();
        Diagnostic::error(self.code, span, format!("this is not {}: {message}", self.format.name()))
    }
}

/// Reads a number in any notation's spelling.
pub(crate) fn number(text: &str) -> Option<NodeKind> {
    let text = text.replace('_', "");
    let unsigned = text.strip_prefix('+').unwrap_or(&text);
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = unsigned.strip_prefix(prefix) {
            let sound = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
            return sound.then(|| {
                u128::from_str_radix(digits, radix).map_or(NodeKind::Float(f64::MAX), NodeKind::Int)
            });
        }
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|digit| digit.is_ascii_digit()) {
        return Some(unsigned.parse().map_or(NodeKind::Float(f64::MAX), NodeKind::Int));
    }
    let plain = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    if !unsigned.bytes().all(plain) || !unsigned.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    unsigned.parse().ok().map(|value: f64| match value {
        // 1e6 is a whole number; above 2^53 a number with an exponent is not exact.
        value if value >= 0.0 && value.fract() == 0.0 && value < 9e15 => {
            NodeKind::Int(value as u128)
        }
        value => NodeKind::Float(value),
    })
}

impl NodeKind {
    /// Reads a probability: a number from 0 to 1, or a text with a percent sign.
    pub fn probability(&self) -> Option<f64> {
        let value = match self {
            NodeKind::Int(value) => *value as f64,
            NodeKind::Float(value) => *value,
            NodeKind::Text(text) => match text.trim().strip_suffix('%') {
                Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
                None => text.trim().parse().ok()?,
            },
            _ => return None,
        };
        (0.0..=1.0).contains(&value).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (text, expected) in [
            ("5", Some(NodeKind::Int(5))),
            ("1_000", Some(NodeKind::Int(1000))),
            ("0xFf", Some(NodeKind::Int(255))),
            ("0b11", Some(NodeKind::Int(3))),
            ("+7", Some(NodeKind::Int(7))),
            ("1e6", Some(NodeKind::Int(1_000_000))),
            ("1.5", Some(NodeKind::Float(1.5))),
            ("-5", Some(NodeKind::Float(-5.0))),
            ("340282366920938463463374607431768211456", Some(NodeKind::Float(f64::MAX))),
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
