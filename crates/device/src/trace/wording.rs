// SPDX-License-Identifier: Apache-2.0
//! The text form of the device's steps of a trace. The interpreter formats the steps of blocks.

use interpreter::trace::{TraceNode, TraceValue, count_text};
use source::quantity::seconds;

/// Formats a step of the device.
pub(super) fn words_of(node: &TraceNode) -> Option<String> {
    let name = &node.name;
    let number = |key| match node.detail(key) {
        Some(TraceValue::Number(number)) => Some(*number),
        _ => None,
    };
    let text = |key| match node.detail(key) {
        Some(TraceValue::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let or_zero = |key| number(key).unwrap_or(0);
    Some(match node.step {
        "ingress" | "egress" => {
            let mut words = format!("pass {}: {}", or_zero("pass"), node.step);
            let cause = text("cause").unwrap_or_default();
            if let Some(port) = number("port") {
                let preposition = if node.step == "ingress" { "from" } else { "to" };
                words.push_str(&format!(" {preposition} port {port}"));
            }
            if let Some(queue) = number("queue") {
                words.push_str(&format!(", queue {queue}"));
            }
            if let Some(from) = number("from_pass") {
                let came = match cause {
                    "clone" => "cloned",
                    "replica" => "copied by multicast",
                    "resubmission" => "resubmitted",
                    "recirculation" => "recirculated",
                    "loopback" => "sent back",
                    _ => "after",
                };
                let preposition = if came == "after" { "" } else { " from" };
                words.push_str(&format!(", {came}{preposition} pass {from}"));
            }
            if let Some(waited_ps) = number("waited_ps") {
                words.push_str(&format!(", after {} of waiting", seconds(waited_ps)));
            }
            format!("{words}, at {}", seconds(or_zero("time_ps")))
        }
        "continued" => format!("pass {}, continued", or_zero("pass")),
        "clone" => format!("clone to session {}", or_zero("session")),
        "multicast" => format!("multicast to group {}", or_zero("group")),
        "enqueue" => format!("enqueue for port {}, queue {}", or_zero("port"), or_zero("queue")),
        "digest" => format!("send digest {name}"),
        "drop" => {
            let mut words = format!("drop: {}", text("text").unwrap_or(name));
            if let (Some(table), Some(action)) = (text("table"), text("action")) {
                words.push_str(&format!(", set by action {action} of table {table}"));
            }
            words
        }
        "transmit" => {
            let length = or_zero("length_bytes");
            let unit = if length == 1 { "byte" } else { "bytes" };
            let at = seconds(or_zero("time_ps"));
            format!("transmit to port {} at {at}, {length} {unit}", or_zero("port"))
        }
        "not_shown" if name == "passes" => {
            let mut words = format!("… {} further passes not shown", count_text(or_zero("count")));
            let mut results = Vec::new();
            if let Some(TraceValue::Record(reasons)) = node.detail("dropped") {
                for (reason, count) in reasons {
                    if let TraceValue::Number(count) = count {
                        results.push(format!("{} dropped: {reason}", count_text(*count)));
                    }
                }
            }
            if let Some(sent) = number("transmitted") {
                results.push(format!("{} transmitted", count_text(sent)));
            }
            if !results.is_empty() {
                words.push_str(&format!(" ({})", results.join("; ")));
            }
            words
        }
        _ => return None,
    })
}
