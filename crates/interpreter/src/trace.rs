// SPDX-License-Identifier: Apache-2.0
//! Traces: a tree of what happened to a packet, and two renderings of it.
//!
//! A [`TraceNode`] is a step with details and steps inside it. [`Recorder`] makes such a tree of the
//! events of a block; a device puts these trees under its own nodes (passes, replicas, queues).
//! [`render_text`] is for people, [`to_json`] for programs.
//!
//! **A trace is bounded:** of one run of a block at most [`STEPS_KEPT_PER_BLOCK`] steps are kept; a
//! last step `not_shown` says how many more there were.
//!
//! # Text
//!
//! Numbers are decimal up to 16 bits and hexadecimal above; 48 bits in a named place are a MAC address unless
//! the name has a word that begins with `time`; 32 and 128 bits have the IP address behind them where the last
//! part of the name has a word such as `addr`, `ip` or `ipv4`, or is `src` or `dst` of something called so.
//! Only the JSON has plain ends of blocks and stores to slots that lowering made.
//!
//! # JSON
//!
//! A node is an object: `"step"` (what kind of step), `"name"` (of what, when it has a name), its
//! details under their own keys, `"place"` (where in the source, as `router.p4:173`, when asked for and
//! known) and `"steps"` (a list of nodes, when there are any). Values of the program are objects
//! `{"value": "0x0a000001", "width_bits": 32, "text": "0x0a000001"}`, where `value` is always
//! hexadecimal and `text` is what the text rendering shows: the name of an enum member, error or truth
//! value, an address, a number. The steps of a block and their details:
//!
//! | step | name | details |
//! | --- | --- | --- |
//! | `block` | block | `kind` (`parser`, `control`, `deparser`), `role`; `stage` from a device |
//! | `parser_state` | state | steps inside it are the state's |
//! | `extract`, `emit` | header | `fields` |
//! | `advance` | | `bits` |
//! | `parser_error` | | `error` |
//! | `select` | the state, `accept` or `reject` | |
//! | `if` | | `value` |
//! | `switch` | | `value`: an action's name, or the value |
//! | `table` | table | `hit`, `key`, `entry`, `action` (text), `arguments`; steps inside it are the action's |
//! | `store` | slot | `before`, `after`; stores of the value that is there already are left out, and so are those of a table's arguments into the action's parameters |
//! | `shift_stack` | stack | `by` |
//! | `register` | register | `index`, `read`, `written`; `out_of_range` when there is no such cell |
//! | `count`, `meter` | counter, meter | `index` when it is not direct, `colour` |
//! | `value_set` | set | `member`, `key` |
//! | `hash` | algorithm, or calculation of a custom CRC | `result` |
//! | `random` | | `low`, `high`, `result` |
//! | `request` | what is asked | `label`, `arguments` |
//! | `log` | | `text` |
//! | `extern` | extern and method | `arguments`, `results` |
//! | `not_shown` | `steps` | `count` |
//! | `outcome` | | `text` |
//!
//! Accesses to state of a block that takes time also have `time_ps`.

mod decision;
mod json;
mod naming;
mod node;
mod recorder;
mod text;
mod value;

pub use json::{to_json, to_json_with_places};
pub use node::outcome_text;
pub use recorder::{Recorder, STEPS_KEPT_PER_BLOCK, StoreSite};
pub use text::{Wording, render_text, render_text_with};
pub use value::{count_text, entry_text, pattern_text, value_text};

use ir::{Bits, OriginId};

/// Where in the source an origin is, as people write it: `router.p4:173`.
pub type Places<'p> = &'p dyn Fn(OriginId) -> Option<String>;

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

/// A step of a packet's processing.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceNode {
    /// The kind of step, in lower case with underscores.
    pub step: &'static str,
    /// The name of its table, header or port.
    pub name: String,
    /// Details in order.
    pub details: Vec<(&'static str, TraceValue)>,
    /// Its origin in the program.
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

    /// The first detail under this key.
    pub fn detail(&self, key: &str) -> Option<&TraceValue> {
        self.details.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// How many steps it is, itself and all inside it.
    pub fn step_count(&self) -> usize {
        1 + self.steps.iter().map(TraceNode::step_count).sum::<usize>()
    }

    /// Its origin in the program.
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
