// SPDX-License-Identifier: Apache-2.0
//! Statements by which a program tells what cannot be seen from outside ([`crate::options::Options::observed`]): lines
//! of the log. Where they stand is each target's; the network that runs the program reads them.

use super::wire::USER_LOG;

/// Logs values behind what a line begins with.
pub(super) fn told(line: &str, values: &[String]) -> String {
    format!("log_msg(\"{line}:{}\", {{ {} }});", " {}".repeat(values.len()), values.join(", "))
}

/// A header and its fields.
pub(super) struct Header {
    name: String,
    fields: Vec<String>,
}

impl Header {
    pub(super) fn new(name: &str, fields: impl Iterator<Item = String>) -> Header {
        Header { name: name.into(), fields: fields.collect() }
    }
}

/// What a packet is and where it goes, as long as controls of the user's run on it.
pub(super) struct Around {
    /// The number of its event, and whatever else is always there.
    pub(super) event: Vec<String>,
    pub(super) headers: Vec<Header>,
    /// Ports, groups, queues.
    pub(super) way: Vec<String>,
}

impl Around {
    /// The call of a control of the user's, with lines that tell what was before it and what is after it.
    pub(super) fn call(&self, hook: &str, call: &str) -> String {
        let told = |when: &str| {
            let line = |what: &str, values: &[String]| {
                told(&format!("{USER_LOG}{hook} {when} {what}"), values)
            };
            let mut text = line("way", &self.way) + &line("packet", &self.event);
            for Header { name, fields } in &self.headers {
                let values: Vec<String> =
                    fields.iter().map(|field| format!("{name}.{field}")).collect();
                let line = line(&format!("packet {name}"), &values);
                text.push_str(&format!("if ({name}.isValid()) {{ {line} }}"));
            }
            text
        };
        format!("{} {call} {}", told("in"), told("out"))
    }
}
