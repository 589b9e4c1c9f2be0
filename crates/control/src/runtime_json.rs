// SPDX-License-Identifier: Apache-2.0
//! The P4 tutorials' `sN-runtime.json`: `table_entries`, `multicast_group_entries` and
//! `clone_session_entries`. Reads the form only; `session` checks names and values.

use crate::command::{
    Arguments, Command, EntryAction, Located, MatchText, Matches, Origin, Priority,
};
use crate::command_text;
use crate::error::{ControlError, SYNTAX};
use document::{Conventions, FieldNames, Fields, Format, Messages, Node, NodeKind};
use source::{Diagnostic, Severity, SourceMap, Span};

static CONVENTIONS: Conventions = Conventions {
    syntax: SYNTAX,
    syntax_help: "",
    wrong_type: SYNTAX,
    wrong_value: SYNTAX,
    missing: SYNTAX,
    unknown_field: SYNTAX,
    repeated_field: SYNTAX,
    unused_fields: Severity::Error,
    field_names: FieldNames::Exact,
    note_fields: &[],
    reference: "",
    number_in_text: Some(|text| command_text::number(text).map(u128::from)),
};

/// Reads a whole file. All mistakes are reported; the commands that could be read are returned too.
pub fn read(file: &str, text: &str) -> (Vec<Located>, Vec<ControlError>) {
    let mut map = SourceMap::new();
    let id = map.add(file, text);
    let messages = Messages::new(&CONVENTIONS, Format::Json);
    let document = messages.parse(id, text);
    let root = document.as_ref().and_then(|node| Fields::of(node, "a runtime file", &messages));
    let read = root.map(commands).unwrap_or_default();
    let origin = |span: Span| {
        let place = map.location(span).map(|at| format!("{}:{}", at.line, at.column));
        Origin { file: file.to_string(), place: place.unwrap_or_default() }
    };
    let error = |diagnostic: Diagnostic| ControlError {
        code: diagnostic.code,
        origin: origin(diagnostic.primary.span),
        message: diagnostic.message,
        help: diagnostic.help.into_iter().chain(diagnostic.notes).collect::<Vec<_>>().join("; "),
    };
    let located =
        read.into_iter().map(|(span, command)| Located { origin: origin(span), command }).collect();
    (located, messages.into_diagnostics().into_iter().map(error).collect())
}

/// Reads the commands of a file with their places.
fn commands(mut root: Fields<'_>) -> Vec<(Span, Command)> {
    root.expect(&["target", "p4info", "bmv2_json", "tofino_bin", "tofino_cxt_json"]);
    let mut commands = Vec::new();
    for (name, read) in [
        ("table_entries", table_entry as fn(Fields<'_>) -> Option<Command>),
        ("multicast_group_entries", multicast_group),
        ("clone_session_entries", clone_session),
    ] {
        for entry in root.list(name) {
            let span = entry.span();
            commands.extend(read(entry).map(|command| (span, command)));
        }
    }
    root.finish();
    commands
}

fn table_entry(mut entry: Fields<'_>) -> Option<Command> {
    let messages = entry.messages();
    let table = entry.need(&["table"], "`\"table\": \"MyIngress.ipv4_lpm\"`");
    let action = entry.need(&["action_name"], "`\"action_name\": \"MyIngress.drop\"`");
    let arguments = entry.section("action_params").all().iter();
    let arguments: Option<Vec<(String, String)>> = arguments
        .map(|field| Some((field.name.clone(), scalar(&field.value, messages)?)))
        .collect();
    let is_default = entry.truth("default_action");
    let matches = entry.section("match");
    let match_span = matches.span();
    let matches = matches.all().iter();
    let matches: Option<Vec<(String, MatchText)>> = matches
        .map(|field| Some((field.name.clone(), match_value(&field.value, messages)?)))
        .collect();
    let priority = entry.get(&["priority"]).map_or(Some(Priority::Absent), |node| {
        let priority = match node.kind {
            NodeKind::Null => Some(0),
            NodeKind::Int(number) => i64::try_from(number).ok(),
            NodeKind::Float(number) => Some(number as i64).filter(|whole| *whole as f64 == number),
            _ => None,
        };
        match priority {
            Some(0) => Some(Priority::Absent),
            Some(priority) => Some(Priority::LargestWins(priority)),
            None => {
                messages.wrong_type(node, "`priority`", "a whole number");
                None
            }
        }
    });
    let timeout_ms = entry.get(&["idle_timeout_ns"]).map(|node| {
        messages.integer_u64(node, "`idle_timeout_ns`").map(|ns| ns.div_ceil(1_000_000))
    });
    entry.finish();
    let table = messages.text(table?, "`table`")?.to_string();
    let action = messages.text(action?, "`action_name`")?.to_string();
    let target = EntryAction::Action(action, Arguments::Named(arguments?));
    if is_default == Some(true) {
        if matches.as_ref().is_none_or(|matches| !matches.is_empty()) {
            let message = "a default entry applies where no entry matches: it has no `match`";
            messages.error(SYNTAX, match_span, message, "remove `match` or `default_action`");
            return None;
        }
        return Some(Command::TableSetDefault { table, target });
    }
    Some(Command::TableAdd {
        table,
        matches: Matches::Named(matches?),
        target,
        priority: priority?,
        timeout_ms: match timeout_ms {
            None => None,
            Some(timeout_ms) => Some(timeout_ms?),
        },
        label: None,
    })
}

fn multicast_group(mut entry: Fields<'_>) -> Option<Command> {
    let group = number(&mut entry, "multicast_group_id");
    let replicas = replicas(&mut entry);
    Some(Command::MulticastGroup { group: group?, replicas: replicas? })
}

fn clone_session(mut entry: Fields<'_>) -> Option<Command> {
    let session = number(&mut entry, "clone_session_id");
    let replicas = replicas(&mut entry);
    let truncate_bytes = match entry.get(&["packet_length_bytes"]) {
        None => 0,
        Some(node) => entry.messages().integer_u32(node, "`packet_length_bytes`")?,
    };
    Some(Command::CloneSession {
        session: session?,
        replicas: replicas?,
        group: None,
        truncate_bytes,
    })
}

/// The ports and instances of `replicas`.
fn replicas(entry: &mut Fields<'_>) -> Option<Vec<(u64, u64)>> {
    entry.need(&["replicas"], "`\"replicas\": [{\"egress_port\": 1, \"instance\": 1}]`")?;
    let replica = |mut replica: Fields<'_>| {
        let instance = match replica.get(&["instance"]) {
            None => Some(0),
            Some(node) => replica.messages().integer_u64(node, "`instance`"),
        };
        Some((number(&mut replica, "egress_port")?, instance?))
    };
    entry.list("replicas").into_iter().map(replica).collect()
}

fn number(fields: &mut Fields<'_>, name: &'static str) -> Option<u64> {
    let node = fields.need(&[name], &format!("`\"{name}\": 1`"))?;
    fields.messages().integer_u64(node, &format!("`{name}`"))
}

fn scalar(node: &Node, messages: &Messages) -> Option<String> {
    match &node.kind {
        NodeKind::Text(text) => Some(text.clone()),
        NodeKind::Int(_) | NodeKind::Float(_) | NodeKind::Bool(_) => Some(node.kind.described()),
        NodeKind::Null | NodeKind::List(_) | NodeKind::Object(_) => {
            messages.wrong_type(node, "a value", "a number or a text");
            None
        }
    }
}

fn match_value(node: &Node, messages: &Messages) -> Option<MatchText> {
    match &node.kind {
        NodeKind::Null => Some(MatchText::Any),
        NodeKind::Text(text) => Some(command_text::match_text(text)),
        NodeKind::List(list) => match list.as_slice() {
            [one] => Some(MatchText::Value(scalar(one, messages)?)),
            [first, second] => {
                Some(MatchText::Pair(scalar(first, messages)?, scalar(second, messages)?))
            }
            _ => {
                let expected = "a value, [value, length], [value, mask] or [low, high]";
                messages.wrong_type(node, "a match", expected);
                None
            }
        },
        _ => scalar(node, messages).map(MatchText::Value),
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
        assert_eq!(commands[0].origin.to_string(), "s1.json:2:13");
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
            "error[CTL-E0101]: s1.json:1:2: a runtime file has no field `table_entrys`\n  \
               help: `table_entries` may be meant\n\
             error[CTL-E0101]: s1.json:1:40: `table_entries` has no `table`\n  \
               help: such as `\"table\": \"MyIngress.ipv4_lpm\"`\n\
             error[CTL-E0101]: s1.json:1:62: `table_entries` must be a list of objects, not 5\n\
             error[CTL-E0101]: s1.json:2:71: a value must be a number or a text, not a list\n\
             error[CTL-E0101]: s1.json:3:41: `multicast_group_entries` has no `replicas`\n  \
               help: such as `\"replicas\": [{\"egress_port\": 1, \"instance\": 1}]`\n\
             error[CTL-E0101]: s1.json:3:64: `multicast_group_id` must be a whole number, not -1"
        );
        assert_eq!(read("s1.json", "{").1.len(), 1);
    }
}
