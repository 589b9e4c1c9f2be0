// SPDX-License-Identifier: Apache-2.0
//! Formats values and events as text for people and as JSON for programs. All reports use these functions.

use crate::interpreter::{CallArgument, EventValue, Group, Place, Value};
use crate::simulation::commands::group_json;
pub(super) use crate::simulation::hexadecimal;
use crate::simulation::{DropReason, Stage};
use crate::specification::LifecycleStep;
use lucid::core::NO_PORT;
use lucid::core::Program;
use serde_json::{Map, json};
use std::fmt::Write;

/// An integer for programs: a number up to 64 bits, a text in hexadecimal above.
pub fn integer_json(value: u128) -> serde_json::Value {
    match u64::try_from(value) {
        Ok(value) => json!(value),
        Err(_) => json!(format!("{value:#x}")),
    }
}

/// An event's name.
pub fn event_name<'p>(program: &'p Program, event: &EventValue) -> &'p str {
    program.events.get(event.event.0 as usize).map_or("?", |event| &event.name)
}

/// A global's name.
pub fn global_name(program: &Program, global: lucid::core::GlobalId) -> &str {
    program.globals.get(global.0 as usize).map_or("?", |global| &global.name)
}

/// The participle for what happened to an event: `handled`.
pub(super) fn happening_text(happening: LifecycleStep) -> &'static str {
    match happening {
        LifecycleStep::Handled => "handled",
        LifecycleStep::Generated => "generated",
        LifecycleStep::Left => "left",
        LifecycleStep::Dropped => "dropped",
    }
}

/// The values of a cell as text: `5`, or `(5, 7)` in a pair array.
pub(super) fn cell_text(values: &[u128]) -> String {
    match values {
        [value] => value.to_string(),
        values => {
            let values: Vec<String> = values.iter().map(u128::to_string).collect();
            format!("({})", values.join(", "))
        }
    }
}

/// How many bytes of a payload or packet a text shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShownBytes {
    /// The first 16, after the length of all.
    #[default]
    First,
    /// All.
    All,
}

/// Bytes that [`ShownBytes::First`] shows.
const FIRST_BYTES: usize = 16;

/// Bytes in hexadecimal; if some are left out, their number comes first: `46 bytes 0001...`.
fn payload_text(bytes: &[u8], shown: ShownBytes) -> String {
    match shown {
        ShownBytes::First if bytes.len() > FIRST_BYTES => {
            format!("{} bytes {}...", bytes.len(), hexadecimal(&bytes[..FIRST_BYTES]))
        }
        _ => hexadecimal(bytes),
    }
}

/// A packet with its length: `2 bytes 0001`.
pub(super) fn packet_text(bytes: &[u8], shown: ShownBytes) -> String {
    match shown {
        _ if bytes.is_empty() => "0 bytes".to_string(),
        ShownBytes::First if bytes.len() > FIRST_BYTES => payload_text(bytes, shown),
        _ => {
            let plural = if bytes.len() == 1 { "" } else { "s" };
            format!("{} byte{plural} {}", bytes.len(), hexadecimal(bytes))
        }
    }
}

/// An event with its arguments by name: `request(src=1, dst=2)`.
pub fn event_text(program: &Program, event: &EventValue) -> String {
    event_text_with(program, event, ShownBytes::All)
}

/// The same with payloads of so many bytes.
pub(super) fn event_text_with(program: &Program, event: &EventValue, shown: ShownBytes) -> String {
    let mut text = event_name(program, event).to_string();
    text.push('(');
    for (at, argument) in event.arguments.iter().enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        if let Some(name) = parameter_name(program, event, at) {
            let _ = write!(text, "{name}=");
        }
        match argument {
            Value::Payload(bytes) if !bytes.is_empty() => {
                text.push_str(&payload_text(bytes, shown));
            }
            argument => text.push_str(&value_text(program, argument)),
        }
    }
    text.push(')');
    text
}

fn parameter_name<'p>(program: &'p Program, event: &EventValue, at: usize) -> Option<&'p str> {
    let event = program.events.get(event.event.0 as usize)?;
    event.parameters.get(at).map(|parameter| &*parameter.name)
}

/// A value for people.
pub fn value_text(program: &Program, value: &Value) -> String {
    match value {
        Value::Int(value) => value.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Event(event) => {
            let mut text = event_text(program, event);
            if event.delay_ns > 0 {
                let _ = write!(text, " after {} ns", event.delay_ns);
            }
            match &event.place {
                Place::Here => {}
                Place::Switch(switch) => {
                    let _ = write!(text, " at switch {switch}");
                }
                Place::Switches(group) => {
                    let _ = write!(text, " at switches {}", group_text(group));
                }
            }
            text
        }
        Value::Group(group) => group_text(group),
        Value::Payload(bytes) => match bytes.len() {
            0 => "no payload".to_string(),
            _ => hexadecimal(bytes),
        },
    }
}

fn group_text(group: &Group) -> String {
    match group {
        Group::Members(members) => {
            let members: Vec<String> = members.iter().map(u32::to_string).collect();
            format!("{{{}}}", members.join(", "))
        }
        Group::AllBut(port) => format!("{{all but {port}}}"),
    }
}

/// Arguments by name for programs.
pub fn arguments_json(program: &Program, event: &EventValue) -> serde_json::Value {
    let mut object = Map::new();
    for (at, argument) in event.arguments.iter().enumerate() {
        let name =
            parameter_name(program, event, at).map_or_else(|| at.to_string(), str::to_string);
        object.insert(name, value_json(program, argument));
    }
    serde_json::Value::Object(object)
}

/// A value for programs: integers as numbers, groups as lists, payloads as texts in hexadecimal.
pub fn value_json(program: &Program, value: &Value) -> serde_json::Value {
    match value {
        Value::Int(value) => integer_json(*value),
        Value::Bool(value) => json!(value),
        Value::Event(event) => {
            let mut object = json!({
                "event": event_name(program, event),
                "args": arguments_json(program, event),
            });
            if event.delay_ns > 0 {
                object["delay_ns"] = json!(event.delay_ns);
            }
            match &event.place {
                Place::Here => {}
                Place::Switch(switch) => object["switch"] = json!(switch),
                Place::Switches(group) => object["switches"] = group_json(group),
            }
            object
        }
        Value::Group(group) => group_json(group),
        Value::Payload(bytes) => json!(hexadecimal(bytes)),
    }
}

/// An argument of a call for people.
pub fn call_argument_text(program: &Program, argument: &CallArgument) -> String {
    match argument {
        CallArgument::Value(value) => value_text(program, value),
        CallArgument::Text(text) => format!("{text:?}"),
    }
}

/// An argument of a call for programs.
pub fn call_argument_json(program: &Program, argument: &CallArgument) -> serde_json::Value {
    match argument {
        CallArgument::Value(value) => value_json(program, value),
        CallArgument::Text(text) => json!(**text),
    }
}

/// Why an event was lost, for people.
pub fn reason_text(reason: DropReason) -> &'static str {
    match reason {
        DropReason::Loss => "lost on the link",
        DropReason::LinkDown => "the link is down",
        DropReason::Unreachable => "nothing leads there",
        DropReason::Parser => "the parser dropped it",
        DropReason::QueueFull => "the queue is full",
    }
}

/// Why an event was lost, for programs.
pub fn reason_name(reason: DropReason) -> &'static str {
    match reason {
        DropReason::Loss => "loss",
        DropReason::LinkDown => "link_down",
        DropReason::Unreachable => "unreachable",
        DropReason::Parser => "parser",
        DropReason::QueueFull => "queue_full",
    }
}

/// The port, unless it is [`NO_PORT`].
pub fn real_port(port: u32) -> Option<u32> {
    (port != NO_PORT).then_some(port)
}

/// Which handler ran.
pub fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Ingress => "ingress",
        Stage::Egress => "egress",
        Stage::Control => "control",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use lucid::core::EventId;
    use std::sync::Arc;

    #[test]
    fn values() {
        let program = example::program();
        let inner = EventValue {
            event: EventId(1),
            arguments: vec![Value::Int(7)],
            delay_ns: 5,
            place: Place::Switches(Group::Members(Arc::from([1, 2]))),
        };
        for (value, text, json) in [
            (Value::Int(5), "5", json!(5)),
            (Value::Int(1 << 70), "1180591620717411303424", json!("0x400000000000000000")),
            (Value::Bool(true), "true", json!(true)),
            (Value::Group(Group::AllBut(3)), "{all but 3}", json!({"all_but": 3})),
            (Value::Group(Group::Members(Arc::from([1, 2]))), "{1, 2}", json!([1, 2])),
            (Value::Payload(Arc::from([0, 0xff])), "00ff", json!("00ff")),
            (Value::Payload(Arc::from([])), "no payload", json!("")),
            (
                Value::Event(Arc::new(inner)),
                "reply(value=7) after 5 ns at switches {1, 2}",
                json!({"event": "reply", "args": {"value": 7}, "delay_ns": 5, "switches": [1, 2]}),
            ),
        ] {
            assert_eq!(value_text(&program, &value), text);
            assert_eq!(value_json(&program, &value), json);
        }
    }

    #[test]
    fn events_the_program_does_not_have_make_no_panic() {
        let event = EventValue {
            event: EventId(99),
            arguments: vec![Value::Int(1)],
            delay_ns: 0,
            place: Place::Here,
        };
        let program = example::program();
        assert_eq!(event_text(&program, &event), "?(1)");
        assert_eq!(arguments_json(&program, &event), json!({"0": 1}));
    }
}
