// SPDX-License-Identifier: Apache-2.0
//! What a run should be: switches, links, inputs, commands, expectations. Read from the reference
//! implementation's JSON and from YAML and TOML of the same shape.

mod argument;
mod run;

pub use argument::{NotBytes, bytes, integer};
pub use run::*;
