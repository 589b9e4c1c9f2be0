// SPDX-License-Identifier: Apache-2.0
//! Traces: a tree of what happened to a packet, and two renderings of it.
//!
//! A [`TraceNode`] is a step with details and steps inside it. [`Recorder`] makes such a tree of the
//! events of a block; a device puts these trees under its own nodes (passes, replicas, queues).
//! [`render_text`] is for people, [`to_json`] for programs.
//!
//! # JSON
//!
//! A node is an object: `"step"` (what kind of step), `"name"` (of what, when it has a name), its
//! details under their own keys, and `"steps"` (a list of nodes, when there are any). Values of the
//! program are objects `{"value": "0x0a000001", "width_bits": 32, "text": "0x0a000001"}`, where `value`
//! is always hexadecimal and `text` is the name of an enum member, error or truth value where there is
//! one. The steps of a block are: `block`, `parser_state`, `extract`, `advance`, `parser_error`,
//! `table`, `action`, `store`, `emit`, `shift_stack`, `register`, `count`, `meter`, `value_set`,
//! `hash`, `random`, `request`, `log`, `extern` and `outcome`.

mod json;
mod recorder;
mod text;
mod value;

pub use json::to_json;
pub use recorder::{Recorder, outcome_text};
pub use text::render_text;
pub use value::{entry_text, pattern_text, value_text};

use ir::{Bits, OriginId};

/// A detail of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceValue {
    /// Text.
    Text(String),
    /// A plain number.
    Number(u64),
    /// A truth value.
    Flag(bool),
    /// A value of the program, and how it is shown.
    Value(Bits, String),
    /// Named details.
    Record(Vec<(String, TraceValue)>),
    /// Details in order.
    List(Vec<TraceValue>),
}

/// A step of a packet's way.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceNode {
    /// What kind of step, in lower case with underscores.
    pub step: &'static str,
    /// Of what: a table, a header, a port.
    pub name: String,
    /// Details in order.
    pub details: Vec<(&'static str, TraceValue)>,
    /// Where in the program it comes from.
    pub origin: Option<OriginId>,
    /// Steps inside it.
    pub steps: Vec<TraceNode>,
}

impl TraceNode {
    /// A step without details.
    pub fn new(step: &'static str, name: impl Into<String>) -> TraceNode {
        TraceNode { step, name: name.into(), details: Vec::new(), origin: None, steps: Vec::new() }
    }

    /// With one more detail.
    pub fn with(mut self, key: &'static str, value: impl Into<TraceValue>) -> TraceNode {
        self.details.push((key, value.into()));
        self
    }

    /// Where in the program it comes from.
    pub fn at(mut self, origin: Option<OriginId>) -> TraceNode {
        self.origin = origin;
        self
    }

    /// With these steps inside it.
    pub fn with_steps(mut self, steps: Vec<TraceNode>) -> TraceNode {
        self.steps.extend(steps);
        self
    }
}

impl From<&str> for TraceValue {
    fn from(text: &str) -> TraceValue {
        TraceValue::Text(text.to_owned())
    }
}

impl From<String> for TraceValue {
    fn from(text: String) -> TraceValue {
        TraceValue::Text(text)
    }
}

impl From<u64> for TraceValue {
    fn from(number: u64) -> TraceValue {
        TraceValue::Number(number)
    }
}

impl From<bool> for TraceValue {
    fn from(flag: bool) -> TraceValue {
        TraceValue::Flag(flag)
    }
}

#[cfg(test)]
mod tests;
