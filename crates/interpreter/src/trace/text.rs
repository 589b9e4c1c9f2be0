// SPDX-License-Identifier: Apache-2.0
//! A trace as an indented text for people: the wording of each step of a block, and the steps that the text
//! leaves out. The device words its own steps.

use super::naming::{header_of_validity, is_internal};
use super::value::count_text;
use super::{Places, TraceNode, TraceValue};
use source::quantity::seconds;

/// Words a step, or leaves it to this module.
pub type Wording<'w> = &'w dyn Fn(&TraceNode) -> Option<String>;

/// A trace for people: one line a step, two spaces deeper for steps inside it.
pub fn render_text(node: &TraceNode) -> String {
    render_text_with(node, &|_| None, &|_| None)
}

/// A trace for people, with places in the source at states, tables, decisions and similar steps, and with
/// wording of steps outside blocks.
pub fn render_text_with(node: &TraceNode, places: Places<'_>, wording: Wording<'_>) -> String {
    let mut writer = Writer { text: String::new(), places, wording };
    writer.node(node, 0);
    writer.text
}

struct Writer<'w> {
    text: String,
    places: Places<'w>,
    wording: Wording<'w>,
}

impl Writer<'_> {
    fn node(&mut self, node: &TraceNode, depth: usize) {
        if is_left_out(node) {
            return;
        }
        for _ in 0..depth {
            self.text.push_str("  ");
        }
        let place = match node.origin {
            Some(origin) if shows_place(node.step) => (self.places)(origin),
            _ => None,
        };
        let line = match (node.step, &place) {
            // The place says which condition it is.
            ("if", Some(place)) => format!("if ({place}): {}", detail_text(node, "value")),
            _ => {
                let mut line = (self.wording)(node).unwrap_or_else(|| words_with_time(node));
                if let Some(place) = place {
                    line.push_str(&format!(" ({place})"));
                }
                line
            }
        };
        // What the program logs may have line ends in it.
        self.text.push_str(&line.replace('\n', "\\n"));
        self.text.push('\n');
        for step in &node.steps {
            self.node(step, depth + 1);
        }
    }
}

fn is_left_out(node: &TraceNode) -> bool {
    match node.step {
        "store" => is_internal(&node.name),
        // A plain end needs no line.
        "outcome" => detail_text(node, "text") == "end",
        _ => false,
    }
}

fn shows_place(step: &str) -> bool {
    matches!(
        step,
        "parser_state"
            | "table"
            | "if"
            | "select"
            | "switch"
            | "parser_error"
            | "register"
            | "request"
            | "log"
            | "extern"
            | "outcome"
            | "drop"
    )
}

/// A detail as text, empty if it is missing.
fn detail_text(node: &TraceNode, key: &str) -> String {
    node.detail(key).map(value_in_words).unwrap_or_default()
}

/// `, index 3` and the like: all details but these.
fn other_details(node: &TraceNode, without: &[&str]) -> String {
    let mut text = String::new();
    for (key, value) in &node.details {
        if without.contains(key) || *key == "time_ps" {
            continue;
        }
        text.push_str(if text.is_empty() { ": " } else { ", " });
        let key = key.replace('_', " ");
        match value {
            TraceValue::Flag(true) => text.push_str(&key),
            TraceValue::Flag(false) => text.push_str(&format!("no {key}")),
            value => text.push_str(&format!("{key} {}", value_in_words(value))),
        }
    }
    text
}

fn words_with_time(node: &TraceNode) -> String {
    let words = words_of(node);
    match node.detail("time_ps") {
        Some(TraceValue::Number(time_ps)) => format!("{words}, at {}", seconds(*time_ps)),
        _ => words,
    }
}

fn words_of(node: &TraceNode) -> String {
    let name = &node.name;
    let detail = |key| detail_text(node, key);
    match node.step {
        "block" => {
            let kind = detail("kind");
            let stage = [detail("stage"), detail("role")].into_iter().find(|text| !text.is_empty());
            match stage {
                Some(stage) if kind == "control" && stage != *name => {
                    format!("{kind} {name} ({stage})")
                }
                _ => format!("{kind} {name}"),
            }
        }
        "parser_state" => format!("state {name}"),
        "parser_error" => format!("parser error {}", detail("error")),
        "select" => format!("select -> {name}"),
        "switch" => format!("switch -> {}", detail("value")),
        "if" => format!("if: {}", detail("value")),
        "extract" | "emit" => format!("{} {name} {}", node.step, detail("fields")),
        "advance" => format!("advance by {} bits", detail("bits")),
        "table" => table_in_words(node),
        "store" => match (header_of_validity(name), node.detail("after")) {
            (Some(header), Some(TraceValue::Value(bits, _))) => {
                let state = if bits.is_true() { "valid" } else { "invalid" };
                format!("{header}: set {state}")
            }
            _ => format!("{name}: {} -> {}", detail("before"), detail("after")),
        },
        "shift_stack" => format!("shift stack {name} by {}", detail("by")),
        "register" => {
            let what = match (node.detail("out_of_range"), node.detail("written")) {
                (Some(_), _) => "out of range, reads 0 and keeps nothing".to_owned(),
                (None, Some(_)) => format!("{} -> {}", detail("read"), detail("written")),
                (None, None) => format!("reads {}", detail("read")),
            };
            format!("register {name}[{}]: {what}", detail("index"))
        }
        "count" => match node.detail("index") {
            Some(_) => format!("count {name}[{}]", detail("index")),
            None => format!("count {name}"),
        },
        "meter" => match node.detail("index") {
            Some(_) => format!("meter {name}[{}]: {}", detail("index"), detail("colour")),
            None => format!("meter {name}: {}", detail("colour")),
        },
        "value_set" => {
            let verb = if node.detail("member") == Some(&TraceValue::Flag(true)) {
                "contains"
            } else {
                "does not contain"
            };
            format!("value set {name} {verb} {}", detail("key"))
        }
        "hash" => format!("hash {name}: {}", detail("result")),
        "random" => {
            format!("random {} .. {}: {}", detail("low"), detail("high"), detail("result"))
        }
        "request" => {
            let label = detail("label");
            let gap = if label.is_empty() { "" } else { " " };
            format!("request {name}{gap}{label} {}", detail("arguments"))
        }
        "log" => format!("log: {}", detail("text")),
        "outcome" => format!("outcome: {}", detail("text")),
        "not_shown" => match node.detail("count") {
            Some(TraceValue::Number(count)) => {
                format!("… {} further {name} not shown", count_text(*count))
            }
            _ => format!("… further {name} not shown"),
        },
        step => {
            let gap = if name.is_empty() { "" } else { " " };
            format!("{}{gap}{name}{}", step.replace('_', " "), other_details(node, &[]))
        }
    }
}

fn table_in_words(node: &TraceNode) -> String {
    let mut text = format!("table {}: ", node.name);
    if node.detail("key").is_some() {
        text.push_str(&format!("key {}, ", detail_text(node, "key")));
    }
    if node.detail("hit") == Some(&TraceValue::Flag(true)) {
        text.push_str(&format!("hit {}, action ", detail_text(node, "entry")));
    } else if node.detail("key").is_some() {
        text.push_str("miss, default action ");
    } else {
        text.push_str("default action ");
    }
    text.push_str(&detail_text(node, "action"));
    text
}

fn value_in_words(value: &TraceValue) -> String {
    match value {
        TraceValue::Text(text) | TraceValue::Value(_, text) => text.clone(),
        TraceValue::Number(number) => number.to_string(),
        TraceValue::Flag(flag) => flag.to_string(),
        TraceValue::Record(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(key, value)| format!("{key} = {}", value_in_words(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        TraceValue::List(values) => {
            let values: Vec<String> = values.iter().map(value_in_words).collect();
            format!("[{}]", values.join(", "))
        }
    }
}
