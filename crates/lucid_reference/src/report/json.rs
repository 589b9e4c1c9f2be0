// SPDX-License-Identifier: Apache-2.0
//! Observations as JSON lines. Names of fields are stable; docs/lucid-runs.md lists them.

use super::values::{
    arguments_json, call_argument_json, event_name, global_name, hexadecimal, integer_json,
    real_port, reason_name, stage_name,
};
use crate::interpreter::EventValue;
use crate::simulation::{Destination, Observation, ObservationKind, Observer};
use lucid::core::Program;
use serde_json::{Map, Value, json};

/// Writes lines, with their line ends, to the given sink.
pub struct JsonLines<'p, W> {
    program: &'p Program,
    accesses: bool,
    write: W,
}

impl<'p, W: FnMut(&str)> JsonLines<'p, W> {
    /// Lines about runs of this program, with each access to an array or table if wanted.
    pub fn new(program: &'p Program, accesses: bool, write: W) -> JsonLines<'p, W> {
        JsonLines { program, accesses, write }
    }
}

impl<W: FnMut(&str)> Observer for JsonLines<'_, W> {
    fn wants_accesses(&self) -> bool {
        self.accesses
    }

    fn observe(&mut self, observation: Observation) {
        let mut line = object(self.program, &observation).to_string();
        line.push('\n');
        (self.write)(&line);
    }
}

/// One observation as an object.
pub fn object(program: &Program, observation: &Observation) -> Value {
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| {
        object.insert(name.to_string(), value);
    };
    put("kind", json!(kind_name(&observation.kind)));
    put("time_ps", json!(observation.time_ps));
    put("switch", json!(observation.switch));
    let event = |put: &mut dyn FnMut(&str, Value), event: &EventValue| {
        put("event", json!(event_name(program, event)));
        put("args", arguments_json(program, event));
    };
    match &observation.kind {
        ObservationKind::Handled {
            occurrence,
            cause,
            event: handled,
            port,
            stage,
            is_packet,
            draws,
            dequeue_depth,
        } => {
            put("occurrence", json!(occurrence.0));
            put("cause", json!(cause.map(|cause| cause.0)));
            event(&mut put, handled);
            put("port", json!(port));
            put("stage", json!(stage_name(*stage)));
            put("packet", json!(is_packet));
            if !draws.is_empty() {
                put("draws", draws.iter().map(|draw| integer_json(*draw)).collect());
            }
            if *dequeue_depth != 0 {
                put("dequeue_depth", json!(dequeue_depth));
            }
        }
        ObservationKind::Generated { occurrence, by, event: generated, destination } => {
            put("occurrence", json!(occurrence.0));
            put("by", json!(by.0));
            event(&mut put, generated);
            put("to", destination_json(destination));
        }
        ObservationKind::Printed { by, text } => {
            put("by", json!(by.0));
            put("text", json!(text));
        }
        ObservationKind::LeftAsBytes { port, bytes } => {
            put("port", json!(real_port(*port)));
            put("bytes", json!(hexadecimal(bytes)));
        }
        ObservationKind::Left { occurrence, event: left, port, bytes, frame } => {
            put("occurrence", json!(occurrence.0));
            event(&mut put, left);
            put("port", json!(real_port(*port)));
            if let Some(bytes) = bytes {
                put("bytes", json!(hexadecimal(bytes)));
            }
            if let Some(frame) = frame {
                put("frame", json!(hexadecimal(frame)));
            }
        }
        ObservationKind::Dropped { occurrence, event: dropped, reason } => {
            put("occurrence", json!(occurrence.0));
            if let Some(dropped) = dropped {
                event(&mut put, dropped);
            }
            put("reason", json!(reason_name(*reason)));
        }
        ObservationKind::Commanded { text, result } => {
            put("command", json!(text));
            if let Some(result) = result {
                put("result", result.clone());
            }
        }
        ObservationKind::OutOfRange { by, global, index } => {
            put("by", json!(by.0));
            put("array", json!(global_name(program, *global)));
            put("index", integer_json(*index));
        }
        ObservationKind::TableFull { by, table } => {
            put("by", json!(by.0));
            put("table", json!(global_name(program, *table)));
        }
        ObservationKind::Accessed { by, global, index, before, after, result } => {
            put("by", json!(by.0));
            put("array", json!(global_name(program, *global)));
            put("index", integer_json(*index));
            put("before", before.iter().map(|value| integer_json(*value)).collect());
            put("after", after.iter().map(|value| integer_json(*value)).collect());
            put("result", result.map_or(Value::Null, integer_json));
        }
        ObservationKind::LookedUp { by, table, key, action, hit } => {
            put("by", json!(by.0));
            put("table", json!(global_name(program, *table)));
            put("key", key.iter().map(|value| integer_json(*value)).collect());
            let action = program.actions.get(action.0 as usize);
            put("action", json!(action.map(|action| &*action.name)));
            put("hit", json!(hit));
        }
        ObservationKind::Called { by, function, arguments } => {
            put("by", json!(by.0));
            put("function", json!(**function));
            let arguments = arguments.iter().map(|each| call_argument_json(program, each));
            put("args", arguments.collect());
        }
        ObservationKind::Link { ends, up } => {
            let end = |(switch, port): (u32, u32)| format!("{switch}:{port}");
            put("link", json!([end(ends[0]), end(ends[1])]));
            put("state", json!(if *up { "up" } else { "down" }));
        }
    }
    Value::Object(object)
}

/// The stable name of a kind of observation.
pub fn kind_name(kind: &ObservationKind) -> &'static str {
    match kind {
        ObservationKind::Handled { .. } => "handled",
        ObservationKind::Generated { .. } => "generated",
        ObservationKind::Printed { .. } => "printed",
        ObservationKind::Left { .. } => "left",
        ObservationKind::LeftAsBytes { .. } => "left_as_bytes",
        ObservationKind::Dropped { .. } => "dropped",
        ObservationKind::Commanded { .. } => "command",
        ObservationKind::OutOfRange { .. } => "out_of_range",
        ObservationKind::TableFull { .. } => "table_full",
        ObservationKind::Accessed { .. } => "access",
        ObservationKind::LookedUp { .. } => "lookup",
        ObservationKind::Called { .. } => "call",
        ObservationKind::Link { .. } => "link",
    }
}

fn destination_json(destination: &Destination) -> Value {
    match destination {
        Destination::Recirculated { due_ps } => json!({ "recirculated": true, "due_ps": due_ps }),
        Destination::Switch { switch, arrives_ps } => {
            json!({ "switch": switch, "arrives_ps": arrives_ps })
        }
        Destination::Port { port, to: Some((switch, at)), arrives_ps } => {
            json!({ "port": port, "switch": switch, "at_port": at, "arrives_ps": arrives_ps })
        }
        Destination::Port { port, to: None, arrives_ps } => {
            json!({ "port": real_port(*port), "arrives_ps": arrives_ps })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn lines() {
        let program = example::program();
        let mut text = String::new();
        let mut lines = JsonLines::new(&program, true, |line: &str| text.push_str(line));
        for observation in example::observations() {
            lines.observe(observation);
        }
        for line in text.lines() {
            assert!(serde_json::from_str::<Value>(line).is_ok_and(|value| value.is_object()));
        }
        testing::assert_snapshot!(text);
    }

    /// Every kind of observation is among the examples, so none goes untested.
    #[test]
    fn the_examples_have_every_kind() {
        let observations = example::observations();
        let mut kinds: Vec<&str> =
            observations.iter().map(|observation| kind_name(&observation.kind)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), 12, "{kinds:?}");
    }
}
