// SPDX-License-Identifier: Apache-2.0
//! Reads the lines of a controller program: commands, packets, and the end of its turn.

use super::mistakes::Mistake;
use super::packet_header::one_of;
use serde_json::{Map, Value};

/// What a line of a program asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    /// A command or packet for a switch.
    Request(Request),
    /// The turn is over.
    Done,
    /// The turn is over, and the timer is set to this time in picoseconds; `None` stops it.
    Wake(Option<u64>),
}

/// A command or packet for a switch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request {
    /// The switch; `None` stands for the only one of the controller.
    pub switch: Option<String>,
    /// What to do.
    pub body: Body,
    /// What the result repeats.
    pub id: Option<Value>,
}

/// What a request asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    /// A control command.
    Command {
        /// Its text.
        text: String,
        /// The idle timeout of the entry that it adds.
        idle_timeout_ms: Option<u64>,
    },
    /// A packet for the CPU port.
    PacketOut {
        /// The packet behind the controller's header.
        bytes: Vec<u8>,
        /// Fields of the header; `None`: the bytes have the header.
        metadata: Option<Map<String, Value>>,
    },
}

const FIELDS: [&str; 8] =
    ["switch", "command", "idle_timeout_ms", "packet_out", "metadata", "id", "done", "wake_ps"];

const EXAMPLES: &str =
    "such as {\"switch\": \"s1\", \"command\": \"table_add t a 1 => 2\"} or {\"done\": true}";

/// Reads a line.
pub(super) fn read(line: &str) -> Result<Reply, Mistake> {
    let value: Value = serde_json::from_str(line).map_err(|error| {
        let why = error.to_string();
        let why = why.split(" at line ").next().unwrap_or_default().to_string();
        let what = format!("a line is not JSON: {why}, column {}", error.column());
        let help =
            "write one JSON object a line; what is meant for people belongs to standard error";
        Mistake::new(what, help)
    })?;
    let Value::Object(mut object) = value else {
        return Err(Mistake::new("a line is JSON, but no object", EXAMPLES));
    };
    if let Some(unknown) = object.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        let what = format!("an object has the unknown field `{unknown}`");
        return Err(Mistake::new(what, one_of(unknown, FIELDS.into_iter())));
    }
    let kinds = ["command", "packet_out", "done", "wake_ps"];
    let has: Vec<&str> = kinds.into_iter().filter(|kind| object.contains_key(*kind)).collect();
    let kind = match has[..] {
        [kind] => kind,
        [] => {
            let what = "an object has none of `command`, `packet_out`, `done` and `wake_ps`";
            return Err(Mistake::new(what, EXAMPLES));
        }
        [one, other, ..] => {
            let what = format!("an object has both `{one}` and `{other}`");
            return Err(Mistake::new(what, "write two lines; the end of the turn is the last one"));
        }
    };
    let allowed: &[&str] = match kind {
        "command" => &["switch", "command", "id", "idle_timeout_ms"],
        "packet_out" => &["switch", "packet_out", "id", "metadata"],
        _ => &[kind],
    };
    if let Some(other) = object.keys().find(|name| !allowed.contains(&name.as_str())) {
        let what = format!("an object with `{kind}` has no field `{other}`");
        return Err(Mistake::new(what, "leave it out"));
    }
    match kind {
        "done" => match object["done"] {
            Value::Bool(true) => Ok(Reply::Done),
            _ => Err(Mistake::new("`done` is not `true`", "write {\"done\": true}")),
        },
        "wake_ps" => match &object["wake_ps"] {
            Value::Null => Ok(Reply::Wake(None)),
            value => whole(value).map(|time_ps| Reply::Wake(Some(time_ps))).ok_or_else(|| {
                let help = "write a whole number of picoseconds; null stops the timer";
                Mistake::new(format!("`wake_ps` is not a time: {value}"), help)
            }),
        },
        _ => request(&mut object).map(Reply::Request),
    }
}

/// A whole number, also as a text or with a fraction of zero.
fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64().or_else(|| {
            let number = value.as_f64()?;
            (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64)
        }),
    }
}

fn text(object: &mut Map<String, Value>, name: &str) -> Result<Option<String>, Mistake> {
    match object.remove(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => {
            Err(Mistake::new(format!("`{name}` is not a text: {other}"), "write it in quotes"))
        }
    }
}

fn request(object: &mut Map<String, Value>) -> Result<Request, Mistake> {
    let (switch, id) = (text(object, "switch")?, object.remove("id"));
    let body = match text(object, "command")? {
        Some(text) => {
            let timeout = object.remove("idle_timeout_ms");
            let idle_timeout_ms = match timeout {
                None => None,
                Some(value) => Some(whole(&value).ok_or_else(|| {
                    let what = format!("`idle_timeout_ms` is not a whole number: {value}");
                    Mistake::new(what, "such as 3000")
                })?),
            };
            Body::Command { text, idle_timeout_ms }
        }
        None => {
            let digits = text(object, "packet_out")?.unwrap_or_default();
            let bytes = bytes(&digits).ok_or_else(|| {
                let what = "`packet_out` is not a packet in hexadecimal digits";
                Mistake::new(what, "write two digits a byte, such as \"0800000002220800\"")
            })?;
            let metadata = match object.remove("metadata") {
                None => None,
                Some(Value::Object(metadata)) => Some(metadata),
                Some(other) => {
                    let what = format!("`metadata` is not an object: {other}");
                    return Err(Mistake::new(what, "such as {\"egress_port\": 2}"));
                }
            };
            Body::PacketOut { bytes, metadata }
        }
    };
    Ok(Request { switch, body, id })
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines_of_the_protocol() {
        assert_eq!(read(r#"{"done": true}"#), Ok(Reply::Done));
        assert_eq!(read(r#"{"wake_ps": 2e6}"#), Ok(Reply::Wake(Some(2_000_000))));
        assert_eq!(read(r#"{"wake_ps": "9223372036854775808"}"#), Ok(Reply::Wake(Some(1 << 63))));
        assert_eq!(read(r#"{"wake_ps": null}"#), Ok(Reply::Wake(None)));
        let text = "register_read r 1".to_string();
        let body = Body::Command { text, idle_timeout_ms: None };
        let request = Request { switch: Some("s1".to_string()), body, id: Some(json!([1])) };
        let line = r#"{"switch": "s1", "command": "register_read r 1", "id": [1]}"#;
        assert_eq!(read(line), Ok(Reply::Request(request)));
        let body = Body::PacketOut { bytes: vec![0x0a, 0xFF], metadata: Some(Map::new()) };
        let request = Request { switch: None, body, id: None };
        let line = r#"{"packet_out": "0aFF", "metadata": {}}"#;
        assert_eq!(read(line), Ok(Reply::Request(request)));
    }

    #[test]
    fn mistakes_say_what_is_wrong() {
        let check = |line: &str, what: &str, help: &str| {
            let mistake = read(line).expect_err(line);
            assert_eq!(mistake.what, what, "{line}");
            assert!(mistake.help.contains(help), "{help} in {}", mistake.help);
        };
        check("hello", "a line is not JSON: expected value, column 1", "standard error");
        check("{\"done\": ", "a line is not JSON: EOF while parsing a value, column 9", "");
        check("[1]", "a line is JSON, but no object", "such as");
        check(r#"{"comand": "x"}"#, "an object has the unknown field `comand`", "`command` may be");
        check(
            r#"{"id": 1}"#,
            "an object has none of `command`, `packet_out`, `done` and `wake_ps`",
            "",
        );
        check(r#"{"done": true, "wake_ps": 1}"#, "an object has both `done` and `wake_ps`", "");
        check(r#"{"done": 1}"#, "`done` is not `true`", "{\"done\": true}");
        check(
            r#"{"done": true, "switch": "s1"}"#,
            "an object with `done` has no field `switch`",
            "",
        );
        check(r#"{"wake_ps": -1}"#, "`wake_ps` is not a time: -1", "whole number");
        check(r#"{"wake_ps": 0.5}"#, "`wake_ps` is not a time: 0.5", "whole number");
        check(r#"{"command": 5}"#, "`command` is not a text: 5", "quotes");
        check(r#"{"packet_out": "0"}"#, "`packet_out` is not a packet in hexadecimal digits", "");
        check(r#"{"packet_out": "0g"}"#, "`packet_out` is not a packet in hexadecimal digits", "");
        check(r#"{"packet_out": "", "metadata": 1}"#, "`metadata` is not an object: 1", "");
        check(
            r#"{"command": "x", "idle_timeout_ms": -5}"#,
            "`idle_timeout_ms` is not a whole number: -5",
            "",
        );
    }
}
