// SPDX-License-Identifier: Apache-2.0
//! What a run should be: switches, links, inputs, commands, expectations. Read from the reference
//! implementation's JSON and from YAML and TOML of the same shape. Names of events and arrays are
//! looked up in the program elsewhere.

mod argument;
pub mod codes;
mod commands;
mod document;
mod expectations;
mod fields;
mod inputs;
mod json;
mod names;
mod network;
mod quantities;
mod reader;
mod roots;
mod run;
mod toml;
mod yaml;

pub use argument::{NotBytes, bytes, integer};
pub use codes::EXPLANATIONS;
pub use document::Format;
pub use expectations::COUNTERS;
pub use names::{find_member, find_name};
pub use reader::{MOST_SWITCHES, read, read_symbolics, read_until};
pub use roots::roots;
pub use run::*;
