// SPDX-License-Identifier: Apache-2.0
//! A trace as JSON, in the form that the parent module documents.

use super::value::hexadecimal;
use super::{Places, TraceNode, TraceValue};
use serde_json::{Map, Value, json};

/// A trace for programs: one object with everything inside it.
pub fn to_json(node: &TraceNode) -> Value {
    to_json_with_places(node, &|_| None)
}

/// A trace for programs, with the place in the source at each step that has one.
pub fn to_json_with_places(node: &TraceNode, places: Places<'_>) -> Value {
    let mut object = Map::new();
    object.insert("step".into(), node.step.into());
    if !node.name.is_empty() {
        object.insert("name".into(), node.name.as_str().into());
    }
    for (key, value) in &node.details {
        object.insert((*key).into(), value_to_json(value));
    }
    if let Some(place) = node.origin.and_then(places) {
        object.insert("place".into(), place.into());
    }
    if !node.steps.is_empty() {
        let steps = node.steps.iter().map(|step| to_json_with_places(step, places));
        object.insert("steps".into(), steps.collect());
    }
    Value::Object(object)
}

fn value_to_json(value: &TraceValue) -> Value {
    match value {
        TraceValue::Text(text) => text.as_str().into(),
        TraceValue::Number(number) => (*number).into(),
        TraceValue::Flag(flag) => (*flag).into(),
        TraceValue::Value(bits, text) => {
            json!({"value": hexadecimal(bits), "width_bits": bits.width_bits(), "text": text})
        }
        TraceValue::Record(fields) => Value::Object(
            fields.iter().map(|(key, value)| (key.clone(), value_to_json(value))).collect(),
        ),
        TraceValue::List(values) => values.iter().map(value_to_json).collect(),
    }
}
