// SPDX-License-Identifier: Apache-2.0
//! The P4 tutorials' `sN-runtime.json`: `table_entries`, `multicast_group_entries` and
//! `clone_session_entries`. This only reads the form; names and values are checked by `session`.

use crate::command::{Arguments, Command, Located, MatchText, Matches, Origin, Priority, Target};
use crate::error::{ControlError, SYNTAX};
use serde_json::{Map, Value};

/// Reads a whole file. All mistakes are reported; the commands that could be read are returned too.
pub fn read(file: &str, text: &str) -> (Vec<Located>, Vec<ControlError>) {
    let mut reader = Reader { file, commands: Vec::new(), errors: Vec::new() };
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(top)) => reader.top(&top),
        Ok(_) => reader.error("", "the file must be a JSON object with `table_entries`"),
        Err(error) => {
            // Columns count from 1; behind the end of a line it counts from 0.
            let place = format!("{}:{}", error.line(), error.column().max(1));
            reader.error(&place, &format!("not JSON: {}", without_place(&error)));
        }
    }
    (reader.commands, reader.errors)
}

/// What is wrong with a text that is no JSON; the place is told besides.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let words = text.rsplit_once(" at line ").map_or(text.as_str(), |(words, _)| words);
    words.replace("EOF while parsing", "the file ends inside")
}

/// Reads one object at a place.
type ReadOne<'a> = fn(&mut Reader<'a>, &str, &Map<String, Value>) -> Result<Command, String>;

struct Reader<'a> {
    file: &'a str,
    commands: Vec<Located>,
    errors: Vec<ControlError>,
}

impl<'a> Reader<'a> {
    fn origin(&self, place: &str) -> Origin {
        Origin { file: self.file.to_string(), place: place.to_string() }
    }

    fn error(&mut self, place: &str, message: &str) {
        let origin = self.origin(place);
        self.errors.push(ControlError::new(SYNTAX, &origin, message));
    }

    fn push(&mut self, place: &str, command: Command) {
        let origin = self.origin(place);
        self.commands.push(Located { origin, command });
    }

    fn top(&mut self, top: &Map<String, Value>) {
        const KNOWN: &[&str] = &[
            "target",
            "p4info",
            "bmv2_json",
            "table_entries",
            "multicast_group_entries",
            "clone_session_entries",
            "tofino_bin",
            "tofino_cxt_json",
        ];
        for name in top.keys().filter(|name| !KNOWN.contains(&name.as_str())) {
            let near = source::nearest(name, KNOWN.iter().copied());
            let advice = near.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            self.error(name, &format!("`{name}` is not a part of a runtime file{advice}"));
        }
        self.each(top, "table_entries", Reader::table_entry);
        self.each(top, "multicast_group_entries", Reader::multicast_group);
        self.each(top, "clone_session_entries", Reader::clone_session);
    }

    fn each(&mut self, top: &Map<String, Value>, name: &str, one: ReadOne<'a>) {
        let list = match top.get(name) {
            None => return,
            Some(Value::Array(list)) => list,
            Some(_) => return self.error(name, &format!("`{name}` must be a list")),
        };
        for (number, value) in list.iter().enumerate() {
            let place = format!("{name}[{number}]");
            let read = match value {
                Value::Object(fields) => one(self, &place, fields),
                _ => Err("an entry must be an object".to_string()),
            };
            match read {
                Ok(command) => self.push(&place, command),
                Err(message) => self.error(&place, &message),
            }
        }
    }

    fn table_entry(&mut self, place: &str, fields: &Map<String, Value>) -> Result<Command, String> {
        const KNOWN: &[&str] = &[
            "table",
            "match",
            "action_name",
            "action_params",
            "priority",
            "default_action",
            "idle_timeout_ns",
        ];
        for name in fields.keys().filter(|name| !KNOWN.contains(&name.as_str())) {
            self.error(place, &format!("`{name}` is not a part of a table entry"));
        }
        let table = text_field(fields, "table")?;
        let action = text_field(fields, "action_name")?;
        let mut arguments = Vec::new();
        if let Some(value) = fields.get("action_params") {
            let object = value.as_object().ok_or("`action_params` must be an object")?;
            for (name, value) in object {
                arguments.push((name.clone(), scalar(value)?));
            }
        }
        let target = Target::Action(action, Arguments::Named(arguments));
        let is_default = match fields.get("default_action") {
            None => false,
            Some(value) => value.as_bool().ok_or("`default_action` must be true or false")?,
        };
        if is_default {
            return Ok(Command::TableSetDefault { table, target });
        }
        let mut matches = Vec::new();
        if let Some(value) = fields.get("match") {
            let object = value.as_object().ok_or("`match` must be an object")?;
            for (name, value) in object {
                matches.push((name.clone(), match_value(value)?));
            }
        }
        let priority = match fields.get("priority") {
            None | Some(Value::Null) => Priority::Absent,
            Some(value) => match value.as_i64() {
                Some(0) => Priority::Absent,
                Some(priority) => Priority::LargestWins(priority),
                None => return Err("`priority` must be a whole number".to_string()),
            },
        };
        let timeout_ms = match fields.get("idle_timeout_ns") {
            None => None,
            Some(_) => Some(number_field(fields, "idle_timeout_ns")?.div_ceil(1_000_000)),
        };
        let matches = Matches::Named(matches);
        Ok(Command::TableAdd { table, matches, target, priority, timeout_ms, label: None })
    }

    fn multicast_group(
        &mut self,
        _place: &str,
        fields: &Map<String, Value>,
    ) -> Result<Command, String> {
        let group = number_field(fields, "multicast_group_id")?;
        Ok(Command::MulticastGroup { group, replicas: replicas(fields)? })
    }

    fn clone_session(
        &mut self,
        _place: &str,
        fields: &Map<String, Value>,
    ) -> Result<Command, String> {
        let session = number_field(fields, "clone_session_id")?;
        let truncate = match fields.get("packet_length_bytes") {
            None => 0,
            Some(_) => number_field(fields, "packet_length_bytes")?,
        };
        let truncate_bytes =
            u32::try_from(truncate).map_err(|_| "`packet_length_bytes` is too large")?;
        let replicas = replicas(fields)?;
        Ok(Command::CloneSession { session, replicas, group: None, truncate_bytes })
    }
}

fn replicas(fields: &Map<String, Value>) -> Result<Vec<(u64, u64)>, String> {
    let list = fields
        .get("replicas")
        .and_then(Value::as_array)
        .ok_or("`replicas` must be a list of objects with `egress_port` and `instance`")?;
    list.iter()
        .map(|replica| {
            let fields = replica.as_object().ok_or("a replica must be an object")?;
            let instance = match fields.get("instance") {
                None => 0,
                Some(_) => number_field(fields, "instance")?,
            };
            Ok((number_field(fields, "egress_port")?, instance))
        })
        .collect()
}

fn text_field(fields: &Map<String, Value>, name: &str) -> Result<String, String> {
    match fields.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("`{name}` must be a string")),
        None => Err(format!("`{name}` is missing")),
    }
}

fn number_field(fields: &Map<String, Value>, name: &str) -> Result<u64, String> {
    match fields.get(name) {
        Some(value) => value
            .as_u64()
            .or_else(|| value.as_str().and_then(crate::command_text::number))
            .ok_or_else(|| format!("`{name}` must be a number of 0 or more")),
        None => Err(format!("`{name}` is missing")),
    }
}

fn scalar(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(truth) => Ok(truth.to_string()),
        other => Err(format!("`{other}` is no value: write a number or a string")),
    }
}

fn match_value(value: &Value) -> Result<MatchText, String> {
    match value {
        Value::Null => Ok(MatchText::Any),
        Value::Array(list) => match list.as_slice() {
            [one] => Ok(MatchText::Value(scalar(one)?)),
            [first, second] => Ok(MatchText::Pair(scalar(first)?, scalar(second)?)),
            _ => Err("a match is a value, [value, length], [value, mask] or [low, high]".into()),
        },
        Value::String(text) => Ok(crate::command_text::match_text(text)),
        other => Ok(MatchText::Value(scalar(other)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_groups_and_sessions() {
        let text = r#"{"target": "bmv2", "table_entries": [
            {"table": "t", "match": {"hdr.a": ["10.0.1.1", 32], "b": 5}, "action_name": "f",
             "action_params": {"port": 2}, "priority": 3},
            {"table": "t", "default_action": true, "action_name": "d", "action_params": {}}],
          "multicast_group_entries": [{"multicast_group_id": 1,
             "replicas": [{"egress_port": 1, "instance": 1}, {"egress_port": 2}]}],
          "clone_session_entries": [{"clone_session_id": 5, "replicas": [{"egress_port": 3}]}]}"#;
        let (commands, errors) = read("s1.json", text);
        assert_eq!(errors, []);
        assert_eq!(commands.len(), 4);
        assert_eq!(commands[0].origin.to_string(), "s1.json:table_entries[0]");
        let Command::TableAdd { matches, priority, .. } = &commands[0].command else {
            panic!("not an entry");
        };
        assert_eq!(*priority, Priority::LargestWins(3));
        let pair = MatchText::Pair("10.0.1.1".into(), "32".into());
        let value = MatchText::Value("5".into());
        assert_eq!(*matches, Matches::Named(vec![("hdr.a".into(), pair), ("b".into(), value)]));
        assert_eq!(
            commands[2].command,
            Command::MulticastGroup { group: 1, replicas: vec![(1, 1), (2, 0)] }
        );
    }

    #[test]
    fn mistakes_are_all_reported() {
        let text = r#"{"table_entrys": [], "table_entries": [{"action_name": "x"}, 5,
            {"table": "t", "action_name": "x", "action_params": {"p": []}}],
            "multicast_group_entries": [{"multicast_group_id": -1}]}"#;
        let (_, errors) = read("s1.json", text);
        let shown: Vec<String> = errors.iter().map(|error| error.to_string()).collect();
        assert_eq!(
            shown.join("\n"),
            "error[CTL-E0101]: s1.json:table_entrys: `table_entrys` is not a part of a runtime file; did you mean `table_entries`?\n\
             error[CTL-E0101]: s1.json:table_entries[0]: `table` is missing\n\
             error[CTL-E0101]: s1.json:table_entries[1]: an entry must be an object\n\
             error[CTL-E0101]: s1.json:table_entries[2]: `[]` is no value: write a number or a string\n\
             error[CTL-E0101]: s1.json:multicast_group_entries[0]: `multicast_group_id` must be a number of 0 or more"
        );
        assert_eq!(read("s1.json", "{").1.len(), 1);
    }
}
