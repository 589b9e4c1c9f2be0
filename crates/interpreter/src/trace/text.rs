// SPDX-License-Identifier: Apache-2.0
//! A trace as an indented text. Stores are written as `name: before -> after`, everything else as the
//! step, its name and its details.

use super::{TraceNode, TraceValue};
use std::fmt::Write;

/// A trace for people: one line a step, two spaces deeper for steps inside it.
pub fn render_text(node: &TraceNode) -> String {
    let mut text = String::new();
    write_node(&mut text, node, 0);
    text
}

fn write_node(text: &mut String, node: &TraceNode, depth: usize) {
    let _ = write!(text, "{:1$}", "", depth * 2);
    match node.step {
        "store" => {
            let detail = |wanted| {
                node.details.iter().find(|(key, _)| *key == wanted).map(|(_, value)| value)
            };
            let _ = write!(text, "{}: ", node.name);
            if let (Some(before), Some(after)) = (detail("before"), detail("after")) {
                write_value(text, before);
                text.push_str(" -> ");
                write_value(text, after);
            }
        }
        step => {
            text.push_str(&step.replace('_', " "));
            if !node.name.is_empty() {
                text.push(' ');
                text.push_str(&node.name);
            }
            for (at, (key, value)) in node.details.iter().enumerate() {
                text.push_str(if at == 0 { ": " } else { ", " });
                match value {
                    // What only names the value again is left out.
                    TraceValue::Text(_) | TraceValue::Record(_) if *key == "text" => {}
                    TraceValue::Flag(flag) => {
                        text.push_str(if *flag { "" } else { "no " });
                        text.push_str(&key.replace('_', " "));
                        continue;
                    }
                    _ => {
                        text.push_str(&key.replace('_', " "));
                        text.push(' ');
                    }
                }
                write_value(text, value);
            }
        }
    }
    text.push('\n');
    for step in &node.steps {
        write_node(text, step, depth + 1);
    }
}

fn write_value(text: &mut String, value: &TraceValue) {
    match value {
        TraceValue::Text(value) | TraceValue::Value(_, value) => text.push_str(value),
        TraceValue::Number(number) => {
            let _ = write!(text, "{number}");
        }
        TraceValue::Flag(flag) => {
            let _ = write!(text, "{flag}");
        }
        TraceValue::Record(fields) => {
            text.push('{');
            for (at, (key, value)) in fields.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                text.push_str(key);
                text.push_str(" = ");
                write_value(text, value);
            }
            text.push('}');
        }
        TraceValue::List(values) => {
            text.push('[');
            for (at, value) in values.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                write_value(text, value);
            }
            text.push(']');
        }
    }
}
