// SPDX-License-Identifier: Apache-2.0
//! Recognises what a file describes by its fields: a network, a topology of the P4 tutorials, or a run of a Lucid program.

use crate::fields::node::{HOST, SWITCH};
use crate::format::shape::Section;
use document::{Field, Node, NodeKind, normalized};

/// What a file describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    Network,
    Tutorial,
    LucidRun,
}

/// Fields that only specifications of Lucid runs have.
const LUCID_FIELDS: &[&str] = &[
    "max time",
    "default input gap",
    "generate delay",
    "propagate delay",
    "random delay range",
    "random delay",
    "random propagate range",
    "random seed",
    "drop chance",
    "externs",
    "symbolics",
    "symbolics file",
    "sizes",
    "recirculation ports",
    "delay granularity",
    "stop on out of range",
    "python file",
    "python path",
    "control pipe",
];

/// Fields of an entry of `events` in a specification of a Lucid run.
const LUCID_EVENT_FIELDS: &[&str] = &["name", "type", "args", "bytes", "locations", "timestamp"];

/// Returns the kind of a file.
pub(super) fn of(root: &Node) -> FileKind {
    let NodeKind::Object(fields) = &root.kind else { return FileKind::Network };
    if is_tutorial(fields) {
        return FileKind::Tutorial;
    }
    let value =
        |name: &str| fields.iter().find(|field| field.name == name).map(|field| &field.value);
    if has_network_fields(fields) {
        return FileKind::Network;
    }
    let has_count = matches!(
        value("switches").map(|node| &node.kind),
        Some(NodeKind::Int(_) | NodeKind::Text(_))
    );
    let has_fields = fields.iter().any(|field| LUCID_FIELDS.contains(&&*normalized(&field.name)));
    let has_events = elements(value("events")).any(|event| {
        event.iter().any(|field| LUCID_EVENT_FIELDS.contains(&&*normalized(&field.name)))
    });
    let has_lucid_program = matches!(
        value("program").map(|node| &node.kind),
        Some(NodeKind::Text(name)) if name.to_ascii_lowercase().ends_with(".dpt")
    );
    match has_count || has_fields || has_events || has_lucid_program {
        true => FileKind::LucidRun,
        false => FileKind::Network,
    }
}

/// Whether a file has fields that only networks have.
pub(super) fn is_network(root: &Node) -> bool {
    matches!(&root.kind, NodeKind::Object(fields) if has_network_fields(fields))
}

fn has_network_fields(fields: &[Field]) -> bool {
    fields.iter().any(|field| match &*field.name {
        "base" | "hosts" | "topology" | "controllers" | "until" | "defaults" => true,
        "switches" => matches!(field.value.kind, NodeKind::Object(_)),
        _ => false,
    })
}

/// Whether a file has the shape of the tutorials' `topology.json`: links are lists, and hosts or switches have fields
/// that network files name otherwise.
fn is_tutorial(fields: &[Field]) -> bool {
    let known = ["hosts", "switches", "links"];
    let value =
        |name: &str| fields.iter().find(|field| field.name == name).map(|field| &field.value);
    let objects = |name: &str| match value(name).map(|node| &node.kind) {
        Some(NodeKind::Object(items)) => items.as_slice(),
        _ => &[],
    };
    let has = |name: &str, wanted: &[&str]| {
        objects(name).iter().any(|item| match &item.value.kind {
            NodeKind::Object(fields) => fields.iter().any(|field| wanted.contains(&&*field.name)),
            _ => false,
        })
    };
    let links_are_lists = match value("links").map(|node| &node.kind) {
        Some(NodeKind::List(links)) => {
            links.iter().all(|link| matches!(link.kind, NodeKind::List(_)))
        }
        _ => false,
    };
    let is_marked = has("hosts", &["ip"]) || has("switches", &["runtime_json", "cli_input"]);
    // Fields that the tutorials do not have would be ignored as those of other tools.
    let ours = |section: &'static Section, theirs: &[&str]| -> Vec<&'static str> {
        section.fields().map(|field| field.name).filter(|name| !theirs.contains(name)).collect()
    };
    links_are_lists
        && is_marked
        && !has("hosts", &ours(&HOST, &["mac", "commands"]))
        && !has("switches", &ours(&SWITCH, &["program", "cpu_port", "priority_queues"]))
        && fields.iter().all(|field| known.contains(&&*field.name) || field.name == "description")
}

/// The objects of a list.
fn elements(node: Option<&Node>) -> impl Iterator<Item = &[Field]> {
    let list = match node.map(|node| &node.kind) {
        Some(NodeKind::List(list)) => list.as_slice(),
        _ => &[],
    };
    list.iter().filter_map(|node| match &node.kind {
        NodeKind::Object(fields) => Some(fields.as_slice()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::{Format, Messages};
    use source::FileId;

    #[test]
    fn kinds_of_files() {
        for (text, expected) in [
            ("{}", FileKind::Network),
            ("{\"switches\": 3}", FileKind::LucidRun),
            ("{\"switches\": 3, \"hosts\": {}}", FileKind::Network),
            ("{\"max_time\": 3}", FileKind::LucidRun),
            ("{\"events\": [{\"name\": \"e\"}]}", FileKind::LucidRun),
            ("{\"program\": \"x.dpt\"}", FileKind::LucidRun),
            ("{\"events\": [{\"at\": \"1s\"}]}", FileKind::Network),
            ("{\"switches\": {\"s1\": {\"program\": \"x.dpt\"}}}", FileKind::Network),
            ("{\"switches\": {\"s1\": {\"cli_input\": \"x\"}}, \"links\": []}", FileKind::Tutorial),
            ("{\"hosts\": {\"h1\": {\"ip\": \"x\"}}, \"links\": []}", FileKind::Tutorial),
            (
                "{\"hosts\": {\"h1\": {\"ip\": \"x\"}}, \"links\": [], \"seed\": 1}",
                FileKind::Network,
            ),
            ("{\"hosts\": {\"h1\": {\"ip\": \"x\"}}, \"links\": [{}]}", FileKind::Network),
            (
                "{\"hosts\": {\"h1\": {\"ip\": \"x\", \"arp\": {}}}, \"links\": []}",
                FileKind::Network,
            ),
            (
                "{\"switches\": {\"s1\": {\"cli_input\": \"x\", \"engine\": 1}}, \"links\": []}",
                FileKind::Network,
            ),
            ("[]", FileKind::Network),
        ] {
            let messages = Messages::new(&super::super::CONVENTIONS, Format::Json);
            let root = messages.parse(FileId(0), text).expect("JSON");
            assert_eq!(of(&root), expected, "{text}");
        }
    }
}
