// SPDX-License-Identifier: Apache-2.0
//! The specification of a run: switches, links, inputs, commands, expectations, in the reference
//! implementation's JSON, or in YAML and TOML of the same shape. `simulation::resolve` looks up the names of
//! events and arrays in the program.

mod argument;
pub mod codes;
mod commands;
mod expectations;
mod inputs;
mod names;
mod network;
mod quantities;
mod reader;
mod roots;
mod run;
mod values;

pub use argument::{BytesError, bytes, integer};
pub use codes::EXPLANATIONS;
pub use document::Format;
pub use expectations::COUNTERS;
pub use names::{find_member, find_name};
pub use reader::{
    LiveEntry, MAX_SWITCHES, has_expectations, read, read_entry, read_symbolics, read_until,
};
pub use roots::roots;
pub use run::*;
