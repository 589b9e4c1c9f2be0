// SPDX-License-Identifier: Apache-2.0
//! Structured documents: JSON, YAML or TOML as one tree whose values have places, and typed access to its
//! fields that reports every mistake. Which fields a kind of document has is known to its reader alone.

mod conventions;
mod fields;
mod json;
mod messages;
mod node;
mod toml;
mod yaml;

pub use conventions::{Conventions, FieldNames};
pub use fields::{Fields, normalized};
pub use messages::Messages;
pub use node::{Field, Format, Node, NodeKind};
