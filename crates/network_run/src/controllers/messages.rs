// SPDX-License-Identifier: Apache-2.0
//! Messages to controller programs, an object a line. Numbers from 2^53 on are texts, as in docs/run-json.md.

use super::mistakes::Refusal;
use super::packet_header::PacketHeader;
use super::switch::Switch;
use crate::json_numbers::{integer, number};
use control::p4info::{ActionInfo, CellsExtent, MatchField, P4Info, Parameter, TableInfo};
use control::session::Answer;
use control::target::Notification;
use ir::MatchKind;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::sync::Arc;

/// The version of the protocol.
const VERSION: u64 = 1;

/// A message: its name, when the program gets it, and its other fields.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Message {
    event: &'static str,
    fields: Map<String, Value>,
}

impl Message {
    fn new(event: &'static str, fields: Value) -> Message {
        let fields = match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        Message { event, fields }
    }

    /// As a line for a time.
    pub fn line(self, time_ps: u64) -> String {
        let mut object = Map::new();
        object.insert("event".to_string(), json!(self.event));
        object.insert("time_ps".to_string(), integer(time_ps));
        object.extend(self.fields);
        Value::Object(object).to_string()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The first message: the controller, and the interface of each switch.
pub(super) fn hello(
    controller: &str,
    (latency_ps, seed): (u64, u64),
    switches: Map<String, Value>,
) -> Message {
    let fields = json!({
        "version": VERSION,
        "controller": controller,
        "latency_ps": integer(latency_ps),
        "seed": integer(seed),
        "switches": switches,
    });
    Message::new("hello", fields)
}

/// The interface of a switch.
pub(super) fn interface(info: &P4Info, cpu_port: Option<u32>, ports: &[u32]) -> Value {
    let widths = |fields: &[(Arc<str>, u32)]| -> Value {
        let field = |(name, width_bits): &(Arc<str>, u32)| (name.to_string(), json!(width_bits));
        Value::Object(fields.iter().map(field).collect())
    };
    let header = |name| match PacketHeader::named(info, name) {
        Some(header) => widths(header.fields()),
        None => Value::Null,
    };
    let parameters = |action: &ActionInfo| -> Value {
        let one = |each: &Parameter| (each.name.to_string(), json!(each.width_bits));
        Value::Object(action.parameters.iter().map(one).collect())
    };
    let table = |table: &TableInfo| {
        let key = |field: &MatchField| {
            let shape = json!({"match": field.match_kind.name(), "width_bits": field.width_bits});
            (field.name.to_string(), shape)
        };
        let actions = table.actions.iter().filter_map(|reference| {
            let action = info.actions.iter().find(|one| one.preamble.id == reference.id)?;
            Some((action.preamble.name.to_string(), parameters(action)))
        });
        let shape = json!({
            "keys": table.match_fields.iter().map(key).collect::<Map<_, _>>(),
            "actions": actions.collect::<Map<_, _>>(),
            "size": integer(table.size),
            "idle_timeout": table.idle_timeout,
        });
        (table.preamble.name.to_string(), shape)
    };
    let sizes = |cells: Vec<(&Arc<str>, u64)>| {
        let cells = cells.into_iter().map(|(name, size)| (name.to_string(), integer(size)));
        cells.collect::<Map<String, Value>>()
    };
    let arrays = info.counters.iter().filter_map(|counter| match counter.extent {
        CellsExtent::Array { size, .. } => Some((&counter.preamble.name, size)),
        CellsExtent::Direct { .. } => None,
    });
    let registers = info.registers.iter().map(|register| (&register.preamble.name, register.size));
    json!({
        "architecture": &*info.package.architecture,
        "ports": ports,
        "cpu_port": cpu_port,
        "tables": info.tables.iter().map(table).collect::<Map<_, _>>(),
        "counters": sizes(arrays.collect()),
        "registers": sizes(registers.collect()),
        "digests": info.digests.iter().map(|digest| &*digest.preamble.name).collect::<Vec<_>>(),
        "packet_in": header("packet_in"),
        "packet_out": header("packet_out"),
    })
}

/// A notification of a switch at a time; `None` of those that programs do not get.
pub(super) fn notification(
    switch: &Switch,
    at_ps: u64,
    notification: &Notification,
) -> Option<Message> {
    let at_ps = integer(at_ps);
    let name = &switch.name;
    Some(match notification {
        Notification::Digest { name: digest, fields, .. } => {
            let fields = fields.iter().map(|(name, value)| (name.to_string(), number(value)));
            let fields: Map<String, Value> = fields.collect();
            let object =
                json!({"at_ps": at_ps, "switch": name, "name": &**digest, "fields": fields});
            Message::new("digest", object)
        }
        Notification::PacketIn { bytes, .. } => {
            let header = switch.packet_in.as_ref().and_then(|header| header.decode(bytes));
            let object = match header {
                Some((metadata, payload)) => {
                    json!({"at_ps": at_ps, "switch": name, "metadata": metadata, "bytes": hex(payload)})
                }
                None => json!({"at_ps": at_ps, "switch": name, "bytes": hex(bytes)}),
            };
            Message::new("packet_in", object)
        }
        Notification::IdleTimeout { table, entry, .. } => {
            let program = switch.session.program();
            let declared = &program.tables[table.index()];
            let matched = declared.keys.iter().filter(|key| key.match_kind != MatchKind::Selector);
            let keys: Map<String, Value> = matched
                .zip(&entry.keys)
                .map(|(key, pattern)| (key.name.to_string(), json!(state::pattern_text(pattern))))
                .collect();
            let handle = switch.session.handle_of(*table, &entry.keys, entry.priority);
            let object = json!({
                "at_ps": at_ps,
                "switch": name,
                "table": &*declared.name,
                "keys": keys,
                "handle": handle,
            });
            Message::new("idle_timeout", object)
        }
        Notification::Link { port, is_up, .. } => {
            Message::new("link", json!({"at_ps": at_ps, "switch": name, "port": port, "up": is_up}))
        }
        Notification::Swapped { .. } => return None,
    })
}

/// A switch failed or returned.
pub(super) fn switch_changed(name: &str, at_ps: u64, is_up: bool) -> Message {
    Message::new("switch", json!({"at_ps": integer(at_ps), "switch": name, "up": is_up}))
}

/// The timer that the program set.
pub(super) fn timer() -> Message {
    Message::new("timer", Value::Null)
}

/// The result of a command or packet.
pub(super) fn result(
    switch: &str,
    at_ps: u64,
    id: Option<&Value>,
    result: &Result<Answer, Refusal>,
) -> Message {
    let mut object = Map::new();
    object.insert("at_ps".to_string(), integer(at_ps));
    object.insert("switch".to_string(), json!(switch));
    object.insert("id".to_string(), id.cloned().unwrap_or(Value::Null));
    let mut add = |name: &str, value: Value| object.insert(name.to_string(), value);
    match result {
        Ok(Answer::Done) => {}
        Ok(Answer::Handle(handle)) => drop(add("handle", integer(*handle))),
        Ok(Answer::Registers(values)) => {
            drop(add("values", values.iter().map(number).collect()));
        }
        Ok(Answer::Counter(value)) => {
            add("packets", integer(value.packets));
            add("bytes", integer(value.bytes));
        }
        Err(refusal) => {
            add("error", json!(refusal.why));
            add("code", json!(refusal.code.map(|code| code.0)));
        }
    }
    Message { event: "result", fields: object }
}
