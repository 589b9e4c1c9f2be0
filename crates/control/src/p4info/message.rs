// SPDX-License-Identifier: Apache-2.0
//! A protobuf message as a tree, with its renderings: protobuf text format, and protobuf's JSON.

use std::fmt::Write;

/// A message: fields in order. Fields with the default value of proto3 are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Message(Vec<(&'static str, Content)>);

#[derive(Clone, Debug, PartialEq)]
enum Content {
    One(Value),
    Repeated(Vec<Value>),
    Map(Vec<(String, Message)>),
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A number of at most 32 bits.
    Number(u32),
    /// A number of 64 bits, which JSON has as text.
    Long(i64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A truth value.
    Bool(bool),
    /// A member of an enum.
    Name(&'static str),
    /// A message.
    Message(Message),
}

impl Message {
    /// Adds a field.
    pub fn set(&mut self, name: &'static str, value: Value) {
        self.0.push((name, Content::One(value)));
    }

    /// Adds a message.
    pub fn message(&mut self, name: &'static str, message: Message) {
        self.set(name, Value::Message(message));
    }

    /// Adds a number, unless it is 0.
    pub fn number(&mut self, name: &'static str, number: u32) {
        if number != 0 {
            self.set(name, Value::Number(number));
        }
    }

    /// Adds a number of 64 bits, unless it is 0.
    pub fn long(&mut self, name: &'static str, number: u64) {
        if number != 0 {
            self.set(name, Value::Long(i64::try_from(number).unwrap_or(i64::MAX)));
        }
    }

    /// Adds a text, unless it is empty.
    pub fn text(&mut self, name: &'static str, text: &str) {
        if !text.is_empty() {
            self.set(name, Value::Text(text.to_string()));
        }
    }

    /// Adds a truth value, unless it is false.
    pub fn flag(&mut self, name: &'static str, flag: bool) {
        if flag {
            self.set(name, Value::Bool(true));
        }
    }

    /// Adds a repeated field, unless it is empty.
    pub fn repeated(&mut self, name: &'static str, values: Vec<Value>) {
        if !values.is_empty() {
            self.0.push((name, Content::Repeated(values)));
        }
    }

    /// Adds repeated messages, unless there are none.
    pub fn messages(&mut self, name: &'static str, messages: Vec<Message>) {
        self.repeated(name, messages.into_iter().map(Value::Message).collect());
    }

    /// Adds a map from texts to messages, unless it is empty.
    pub fn map(&mut self, name: &'static str, entries: Vec<(String, Message)>) {
        if !entries.is_empty() {
            self.0.push((name, Content::Map(entries)));
        }
    }

    /// Whether all fields have their defaults.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the protobuf text format.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.write_text(&mut text, 0);
        text
    }

    fn write_text(&self, text: &mut String, depth: usize) {
        for (name, content) in &self.0 {
            match content {
                Content::One(value) => value.write_text(text, name, depth),
                Content::Repeated(values) => {
                    values.iter().for_each(|value| value.write_text(text, name, depth));
                }
                Content::Map(entries) => {
                    for (key, value) in entries {
                        let mut entry = Message::default();
                        entry.set("key", Value::Text(key.clone()));
                        entry.message("value", value.clone());
                        Value::Message(entry).write_text(text, name, depth);
                    }
                }
            }
        }
    }

    /// Returns protobuf's JSON, indented.
    pub fn to_json(&self) -> String {
        let mut text = String::new();
        self.write_json(&mut text, 0);
        text.push('\n');
        text
    }

    fn write_json(&self, text: &mut String, depth: usize) {
        let fields = self.0.iter().map(|(name, content)| (camel_case(name), content));
        let write = |text: &mut String, content: &&Content, depth| match content {
            Content::One(value) => value.write_json(text, depth),
            Content::Repeated(values) => {
                write_list(text, ('[', ']'), depth, values.iter(), |text, value| {
                    value.write_json(text, depth + 1);
                });
            }
            Content::Map(entries) => {
                write_list(text, ('{', '}'), depth, entries.iter(), |text, (key, value)| {
                    let _ = write!(text, "{}: ", json_text(key));
                    value.write_json(text, depth + 1);
                });
            }
        };
        write_list(text, ('{', '}'), depth, fields, |text, (name, content)| {
            let _ = write!(text, "\"{name}\": ");
            write(text, &content, depth + 1);
        });
    }
}

fn write_list<T>(
    text: &mut String,
    (open, close): (char, char),
    depth: usize,
    items: impl Iterator<Item = T>,
    mut write_item: impl FnMut(&mut String, T),
) {
    text.push(open);
    let mut is_empty = true;
    for item in items {
        text.push_str(if is_empty { "\n" } else { ",\n" });
        is_empty = false;
        let _ = write!(text, "{:1$}", "", 2 * (depth + 1));
        write_item(text, item);
    }
    if !is_empty {
        let _ = write!(text, "\n{:1$}", "", 2 * depth);
    }
    text.push(close);
}

impl Value {
    fn write_text(&self, text: &mut String, name: &str, depth: usize) {
        let _ = write!(text, "{:1$}{name}", "", 2 * depth);
        let _ = match self {
            Value::Message(message) => {
                text.push_str(" {\n");
                message.write_text(text, depth + 1);
                writeln!(text, "{:1$}}}", "", 2 * depth)
            }
            Value::Number(number) => writeln!(text, ": {number}"),
            Value::Long(number) => writeln!(text, ": {number}"),
            Value::Bool(value) => writeln!(text, ": {value}"),
            Value::Name(name) => writeln!(text, ": {name}"),
            Value::Text(value) => writeln!(text, ": \"{}\"", escaped(value.as_bytes())),
            Value::Bytes(bytes) => writeln!(text, ": \"{}\"", escaped(bytes)),
        };
    }

    fn write_json(&self, text: &mut String, depth: usize) {
        let _ = match self {
            Value::Message(message) => {
                message.write_json(text, depth);
                Ok(())
            }
            Value::Number(number) => write!(text, "{number}"),
            Value::Long(number) => write!(text, "\"{number}\""),
            Value::Bool(value) => write!(text, "{value}"),
            Value::Name(name) => write!(text, "\"{name}\""),
            Value::Text(value) => write!(text, "{}", json_text(value)),
            Value::Bytes(bytes) => write!(text, "\"{}\"", base64(bytes)),
        };
    }
}

/// Escapes a string of the text format; bytes that are not printable ASCII become octal numbers.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        match byte {
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b'"' | b'\'' | b'\\' => text.extend(['\\', char::from(*byte)]),
            0x20..=0x7e => text.push(char::from(*byte)),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text
}

fn json_text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            character if (character as u32) < 0x20 => {
                let _ = write!(quoted, "\\u{:04x}", character as u32);
            }
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

fn camel_case(name: &str) -> String {
    let mut text = String::new();
    for (at, word) in name.split('_').enumerate() {
        let mut characters = word.chars();
        if at > 0
            && let Some(first) = characters.next()
        {
            text.push(first.to_ascii_uppercase());
        }
        text.extend(characters);
    }
    text
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = [0, 1, 2].map(|at| u32::from(chunk.get(at).copied().unwrap_or(0)));
        let word = word[0] << 16 | word[1] << 8 | word[2];
        for digit in 0..4 {
            let value = word >> (18 - 6 * digit) & 63;
            text.push(if digit > chunk.len() { '=' } else { DIGITS[value as usize] as char });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_as_text_and_json() {
        let mut inner = Message::default();
        inner.number("id", 7);
        inner.number("size", 0);
        inner.long("max_size", 1024);
        inner.text("name", "a\"b");
        inner.set("value", Value::Bytes(vec![0, 10, 255, b'1']));
        let mut message = Message::default();
        message.messages("tables", vec![inner.clone(), Message::default()]);
        message.map("type_names", vec![("x".to_string(), Message::default())]);
        message.set("match_type", Value::Name("LPM"));
        assert_eq!(
            message.to_text(),
            "tables {\n  id: 7\n  max_size: 1024\n  name: \"a\\\"b\"\n  value: \"\\000\\n\\3771\"\n}\n\
             tables {\n}\ntype_names {\n  key: \"x\"\n  value {\n  }\n}\nmatch_type: LPM\n"
        );
        assert_eq!(
            message.to_json(),
            "{\n  \"tables\": [\n    {\n      \"id\": 7,\n      \"maxSize\": \"1024\",\n      \
             \"name\": \"a\\\"b\",\n      \"value\": \"AAr/MQ==\"\n    },\n    {}\n  ],\n  \
             \"typeNames\": {\n    \"x\": {}\n  },\n  \"matchType\": \"LPM\"\n}\n"
        );
    }
}
