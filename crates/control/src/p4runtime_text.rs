// SPDX-License-Identifier: Apache-2.0
//! P4Runtime messages in protobuf text format: a `WriteRequest`, or its `updates`, `entities`, `table_entry` and so on
//! alone. Reads the fields that an entries file needs. Ids of tables, actions, fields and parameters become names of
//! the form `#number`, which `lookup` resolves; a name in quotes may replace an id.

use crate::command::{
    Arguments, Command, EntryAction, Located, MatchText, Matches, Origin, Priority,
};
use crate::error::{ControlError, SYNTAX};

/// A field's value in text format.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    /// A number, a truth value or an enum's name.
    Word(String),
    /// A string or bytes, escapes resolved.
    Bytes(Vec<u8>),
    /// A message.
    Message(Message),
}

/// Fields in order, with the line each stands in.
#[derive(Clone, Debug, Default, PartialEq)]
struct Message {
    fields: Vec<(String, usize, Value)>,
}

/// Deepest nesting of messages.
const MAX_DEPTH: usize = 64;

/// Reads a whole file.
pub fn read(file: &str, text: &str) -> (Vec<Located>, Vec<ControlError>) {
    let mut commands = Vec::new();
    let mut errors = Vec::new();
    let origin = |line: usize| Origin { file: file.to_string(), place: line.to_string() };
    let mut scanner = Scanner { text: text.as_bytes(), at: 0, line: 1 };
    match scanner.message(0) {
        Ok(message) => {
            for (line, read) in entities(&message) {
                match read {
                    Ok(command) => commands.push(Located { origin: origin(line), command }),
                    Err(why) => errors.push(ControlError::new(SYNTAX, &origin(line), why)),
                }
            }
        }
        Err((line, why)) => errors.push(ControlError::new(SYNTAX, &origin(line), why)),
    }
    (commands, errors)
}

/// Whether a text looks like a P4Runtime message.
pub fn looks_like(text: &str) -> bool {
    text.lines()
        .map(|line| line.split('#').next().unwrap_or("").trim())
        .find(|line| !line.is_empty())
        .is_some_and(|line| {
            let word = line.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
            let rest = line[word.len()..].trim_start();
            (rest.starts_with(['{', ':']) || (rest.is_empty() && !word.is_empty()))
                && matches!(
                    word,
                    "updates"
                        | "entities"
                        | "entity"
                        | "table_entry"
                        | "device_id"
                        | "election_id"
                        | "multicast_group_entry"
                        | "clone_session_entry"
                        | "role_id"
                        | "packet_replication_engine_entry"
                        | "register_entry"
                        | "counter_entry"
                        | "action_profile_member"
                        | "action_profile_group"
                        | "role"
                        | "atomicity"
                )
        })
}

type Problem = (usize, String);

/// Reads text format from left to right.
struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl Scanner<'_> {
    fn skip(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\n' => self.line += 1,
                b'#' => {
                    while self.text.get(self.at + 1).is_some_and(|next| *next != b'\n') {
                        self.at += 1;
                    }
                }
                b' ' | b'\t' | b'\r' | b',' | b';' => {}
                _ => return,
            }
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.skip();
        self.text.get(self.at).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self) -> String {
        self.skip();
        let start = self.at;
        let part =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'+');
        while self.text.get(self.at).is_some_and(part) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.text[start..self.at]).into_owned()
    }

    fn message(&mut self, depth: usize) -> Result<Message, Problem> {
        if depth > MAX_DEPTH {
            return Err((self.line, "messages nest too deeply".to_string()));
        }
        let mut message = Message::default();
        loop {
            match self.peek() {
                None if depth == 0 => return Ok(message),
                None => return Err((self.line, "a `}` is missing at the end".to_string())),
                Some(b'}' | b'>') if depth > 0 => {
                    self.at += 1;
                    return Ok(message);
                }
                Some(_) => {}
            }
            let line = self.line;
            let name = self.word();
            if name.is_empty() {
                let found = self.text.get(self.at).map_or(' ', |byte| *byte as char);
                return Err((line, format!("expected a field's name, found `{found}`")));
            }
            let colon = self.accept(b':');
            let value = match self.peek() {
                Some(b'{' | b'<') => {
                    self.at += 1;
                    Value::Message(self.message(depth + 1)?)
                }
                Some(quote @ (b'"' | b'\'')) if colon => Value::Bytes(self.string(quote)?),
                Some(_) if colon => match self.word() {
                    word if word.is_empty() => {
                        return Err((line, format!("`{name}` has no value")));
                    }
                    word => Value::Word(word),
                },
                _ => return Err((line, format!("expected `:` or `{{` after `{name}`"))),
            };
            message.fields.push((name, line, value));
        }
    }

    fn string(&mut self, quote: u8) -> Result<Vec<u8>, Problem> {
        let line = self.line;
        let mut bytes = Vec::new();
        // Neighbouring strings are one, as in C.
        while self.accept(quote) {
            loop {
                let next = self.text.get(self.at).copied();
                self.at += 1;
                match next {
                    None | Some(b'\n') => return Err((line, "a string does not end".to_string())),
                    Some(byte) if byte == quote => break,
                    Some(b'\\') => bytes.push(self.escape(line)?),
                    Some(byte) => bytes.push(byte),
                }
            }
        }
        Ok(bytes)
    }

    fn escape(&mut self, line: usize) -> Result<u8, Problem> {
        let byte = self.text.get(self.at).copied();
        self.at += 1;
        let digits = |scanner: &mut Self, radix: u32, most: usize| {
            let mut value: u32 = 0;
            for _ in 0..most {
                let digit = scanner.text.get(scanner.at).and_then(|b| (*b as char).to_digit(radix));
                let Some(digit) = digit else { break };
                value = value * radix + digit;
                scanner.at += 1;
            }
            value as u8
        };
        Ok(match byte {
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'v') => 11,
            Some(b'x' | b'X') => digits(self, 16, 2),
            Some(b'0'..=b'7') => {
                self.at -= 1;
                digits(self, 8, 3)
            }
            Some(byte @ (b'\\' | b'"' | b'\'' | b'?')) => byte,
            _ => return Err((line, "a string has an unknown escape".to_string())),
        })
    }
}

impl Message {
    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Value> {
        self.fields.iter().filter(move |(field, _, _)| field == name).map(|(_, _, value)| value)
    }

    fn message<'a>(&'a self, name: &str) -> Option<&'a Message> {
        self.messages(name).next()
    }

    fn messages<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Message> + use<'a> {
        let named = self.fields.iter().filter(|(field, _, _)| field == name);
        let all: Vec<&'a Value> = named.map(|(_, _, value)| value).collect();
        all.into_iter().filter_map(|value| match value {
            Value::Message(message) => Some(message),
            _ => None,
        })
    }

    fn number(&self, name: &str) -> Result<Option<u64>, String> {
        match self.all(name).next() {
            None => Ok(None),
            Some(Value::Word(word)) => crate::command_text::number(word)
                .map(Some)
                .ok_or_else(|| format!("`{name}` must be a number, not `{word}`")),
            Some(_) => Err(format!("`{name}` must be a number")),
        }
    }

    fn required(&self, name: &str) -> Result<u64, String> {
        self.number(name)?.ok_or_else(|| format!("`{name}` is missing"))
    }

    /// Returns the name of an object for `lookup`: `#number` for an id, or the name that stands in its place.
    fn id(&self, name: &str) -> Result<String, String> {
        match self.all(name).next() {
            Some(Value::Bytes(bytes)) if !bytes.is_empty() => {
                Ok(String::from_utf8_lossy(bytes).into_owned())
            }
            Some(Value::Word(word)) => match crate::command_text::number(word) {
                Some(number) => Ok(format!("#{number}")),
                None => Err(format!("`{name}` must be a number or a name in quotes, not `{word}`")),
            },
            Some(_) => Err(format!("`{name}` must be a number or a name in quotes")),
            None => Err(format!("`{name}` is missing")),
        }
    }

    /// Returns a byte string as a hexadecimal number, which `values` reads.
    fn bytes(&self, name: &str) -> Result<String, String> {
        match self.all(name).next() {
            Some(Value::Bytes(bytes)) if !bytes.is_empty() => {
                let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                Ok(format!("0x{}", digits.concat()))
            }
            Some(Value::Bytes(_)) => Err(format!("`{name}` is empty")),
            Some(_) => Err(format!("`{name}` must be a byte string in quotes")),
            None => Err(format!("`{name}` is missing")),
        }
    }

    fn only_knows(&self, known: &[&str]) -> Result<(), String> {
        match self.fields.iter().find(|(name, _, _)| !known.contains(&name.as_str())) {
            Some((name, line, _)) => Err(match source::nearest(name, known.iter().copied()) {
                Some(near) => {
                    format!("line {line}: unknown field `{name}`; did you mean `{near}`?")
                }
                None => format!("line {line}: unknown field `{name}`"),
            }),
            None => Ok(()),
        }
    }
}

/// Reads all entities, at any depth of the messages around them.
fn entities(top: &Message) -> Vec<(usize, Result<Command, String>)> {
    let mut found = Vec::new();
    for (name, line, value) in &top.fields {
        match (name.as_str(), value) {
            ("updates", Value::Message(update)) => {
                let kind = update.all("type").find_map(|value| match value {
                    Value::Word(word) => Some(word.as_str()),
                    _ => None,
                });
                // P4Runtime changes default entries only by MODIFY.
                let entry =
                    update.message("entity").and_then(|entity| entity.message("table_entry"));
                let is_allowed = |kind: &&str| match *kind {
                    "INSERT" | "1" => true,
                    "MODIFY" | "2" => entry.is_some_and(is_default),
                    _ => false,
                };
                if let Some(kind) = kind.filter(|kind| !is_allowed(kind)) {
                    found.push((
                        *line,
                        Err(format!(
                            "an entries file inserts entries and modifies default entries; `type: {kind}` is not supported"
                        )),
                    ));
                    continue;
                }
                match update.message("entity") {
                    Some(entity) => found.extend(entities(entity)),
                    None => found.push((*line, Err("an update needs an `entity`".to_string()))),
                }
            }
            ("entity" | "entities" | "packet_replication_engine_entry", Value::Message(inner)) => {
                found.extend(entities(inner));
            }
            ("table_entry", Value::Message(entry)) => found.push((*line, table_entry(entry))),
            ("multicast_group_entry", Value::Message(entry)) => {
                found.push((*line, multicast_group(entry)));
            }
            ("clone_session_entry", Value::Message(entry)) => {
                found.push((*line, clone_session(entry)));
            }
            ("register_entry", Value::Message(entry)) => found.push((*line, register(entry))),
            ("counter_entry", Value::Message(entry)) => found.push((*line, counter(entry))),
            ("device_id" | "election_id" | "role" | "role_id" | "atomicity" | "type", _) => {}
            _ => found.push((*line, Err(format!("entries files do not support `{name}`")))),
        }
    }
    found
}

fn table_entry(entry: &Message) -> Result<Command, String> {
    entry.only_knows(&[
        "table_id",
        "match",
        "action",
        "priority",
        "is_default_action",
        "idle_timeout_ns",
        "metadata",
        "controller_metadata",
    ])?;
    let table = entry.id("table_id")?;
    let target = match entry.message("action") {
        Some(action) => target(action)?,
        None => EntryAction::Missing,
    };
    if is_default(entry) {
        if entry.messages("match").next().is_some() {
            return Err("a default entry applies where no entry matches: it has no `match`".into());
        }
        if entry.number("priority")?.is_some_and(|priority| priority != 0) {
            return Err("a default entry has no `priority`".into());
        }
        return Ok(match target {
            EntryAction::Missing => Command::TableResetDefault { table },
            target => Command::TableSetDefault { table, target },
        });
    }
    let mut matches = Vec::new();
    for field in entry.messages("match") {
        let name = field.id("field_id")?;
        matches.push((name, field_match(field)?));
    }
    let priority = match entry.number("priority")? {
        None | Some(0) => Priority::Absent,
        Some(priority) => {
            Priority::LargestWins(i64::try_from(priority).map_err(|_| "`priority` is too large")?)
        }
    };
    let timeout_ms = entry.number("idle_timeout_ns")?.map(|ns| ns.div_ceil(1_000_000));
    let matches = Matches::Named(matches);
    Ok(Command::TableAdd { table, matches, target, priority, timeout_ms, label: None })
}

fn is_default(entry: &Message) -> bool {
    entry.all("is_default_action").any(|value| *value == Value::Word("true".into()))
}

fn target(action: &Message) -> Result<EntryAction, String> {
    if let Some(member) = action.number("action_profile_member_id")? {
        return Ok(EntryAction::Member(member));
    }
    if let Some(group) = action.number("action_profile_group_id")? {
        return Ok(EntryAction::Group(group));
    }
    let action = action.message("action").ok_or("`action { action { ... } }` is missing")?;
    let name = action.id("action_id")?;
    let mut arguments = Vec::new();
    for parameter in action.messages("params") {
        arguments.push((parameter.id("param_id")?, parameter.bytes("value")?));
    }
    Ok(EntryAction::Action(name, Arguments::Named(arguments)))
}

fn field_match(field: &Message) -> Result<MatchText, String> {
    if let Some(exact) = field.message("exact").or_else(|| field.message("optional")) {
        return Ok(MatchText::Value(exact.bytes("value")?));
    }
    if let Some(lpm) = field.message("lpm") {
        let length = u32::try_from(lpm.required("prefix_len")?);
        let length = length.map_err(|_| "`prefix_len` is too large")?;
        return Ok(MatchText::Prefix(lpm.bytes("value")?, length));
    }
    if let Some(ternary) = field.message("ternary") {
        return Ok(MatchText::Masked(ternary.bytes("value")?, ternary.bytes("mask")?));
    }
    if let Some(range) = field.message("range") {
        return Ok(MatchText::Range(range.bytes("low")?, range.bytes("high")?));
    }
    Err("a match needs `exact`, `lpm`, `ternary`, `range` or `optional`".to_string())
}

fn replicas(entry: &Message) -> Result<Vec<(u64, u64)>, String> {
    let one = |replica: &Message| {
        Ok((replica.required("egress_port")?, replica.number("instance")?.unwrap_or(0)))
    };
    entry.messages("replicas").map(one).collect()
}

fn multicast_group(entry: &Message) -> Result<Command, String> {
    entry.only_knows(&["multicast_group_id", "replicas", "metadata"])?;
    let group = entry.required("multicast_group_id")?;
    Ok(Command::MulticastGroup { group, replicas: replicas(entry)? })
}

fn clone_session(entry: &Message) -> Result<Command, String> {
    entry.only_knows(&["session_id", "replicas", "packet_length_bytes"])?;
    let truncate = entry.number("packet_length_bytes")?.unwrap_or(0);
    Ok(Command::CloneSession {
        session: entry.required("session_id")?,
        replicas: replicas(entry)?,
        group: None,
        truncate_bytes: u32::try_from(truncate)
            .map_err(|_| "`packet_length_bytes` is too large")?,
    })
}

fn index(entry: &Message) -> Result<Option<u64>, String> {
    match entry.message("index") {
        Some(index) => Ok(Some(index.number("index")?.unwrap_or(0))),
        None => Ok(None),
    }
}

fn register(entry: &Message) -> Result<Command, String> {
    let register = entry.id("register_id")?;
    let data = entry.message("data").ok_or("`data` is missing")?;
    Ok(Command::RegisterWrite { register, index: index(entry)?, value: data.bytes("bitstring")? })
}

fn counter(entry: &Message) -> Result<Command, String> {
    let data = entry.message("data").ok_or("`data` is missing")?;
    Ok(Command::CounterWrite {
        counter: entry.id("counter_id")?,
        index: index(entry)?.ok_or("`index` is missing")?,
        packets: data.number("packet_count")?.unwrap_or(0),
        bytes: data.number("byte_count")?.unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_request() {
        let text = r#"
            device_id: 1
            updates { type: INSERT entity { table_entry {
                table_id: 37375156  # ipv4_lpm
                match { field_id: 1 lpm { value: "\n\000\x01\001" prefix_len: 32 } }
                action { action { action_id: 28792405
                    params { param_id: 1 value: "\010\000\000\000\001\021" }
                    params { param_id: 2 value: "\001" } } } } } }
            updates { entity { packet_replication_engine_entry { multicast_group_entry {
                multicast_group_id: 1 replicas { egress_port: 2 instance: 1 } } } } }
        "#;
        assert!(looks_like(text));
        let (commands, errors) = read("w.txtpb", text);
        assert_eq!(errors, []);
        let matches = vec![("#1".to_string(), MatchText::Prefix("0x0a000101".into(), 32))];
        let arguments =
            vec![("#1".to_string(), "0x080000000111".into()), ("#2".to_string(), "0x01".into())];
        assert_eq!(
            commands[0].command,
            Command::TableAdd {
                table: "#37375156".into(),
                matches: Matches::Named(matches),
                target: EntryAction::Action("#28792405".into(), Arguments::Named(arguments)),
                priority: Priority::Absent,
                timeout_ms: None,
                label: None,
            }
        );
        assert_eq!(
            commands[1].command,
            Command::MulticastGroup { group: 1, replicas: vec![(2, 1)] }
        );
    }

    #[test]
    fn mistakes() {
        let shown = |text: &str| {
            let (_, errors) = read("w.txtpb", text);
            errors.iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(
            shown("table_entry { table_id: x }\ntable_entry { table_idd: 1 }\nfoo: 1"),
            "error[CTL-E0101]: w.txtpb:1: `table_id` must be a number or a name in quotes, not `x`\n\
             error[CTL-E0101]: w.txtpb:2: line 2: unknown field `table_idd`; did you mean `table_id`?\n\
             error[CTL-E0101]: w.txtpb:3: entries files do not support `foo`"
        );
        assert_eq!(
            shown("table_entry { table_id: 1"),
            "error[CTL-E0101]: w.txtpb:1: a `}` is missing at the end"
        );
        assert_eq!(shown("a: \"x"), "error[CTL-E0101]: w.txtpb:1: a string does not end");
        assert!(shown(&"a {".repeat(1000)).contains("nest too deeply"));
    }
}
