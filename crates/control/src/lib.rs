// SPDX-License-Identifier: Apache-2.0
//! The in-process control interface: targets and batches, control maps, checkpoints, and commands by name, read from
//! entries files of several formats and resolved against a program. Opens no sockets and no files.

pub mod checkpoint;
pub mod command;
pub mod command_text;
pub mod entries;
mod entry_handles;
pub mod error;
mod free_numbers;
pub mod latency;
pub mod lookup;
pub mod map;
pub mod names;
pub mod p4info;
pub mod p4info_ids;
pub mod p4runtime_text;
pub mod patterns;
pub mod recording;
pub mod resolve;
pub mod runtime_json;
pub mod session;
pub mod state_target;
pub mod target;
pub mod values;

pub use error::{ControlError, EXPLANATIONS};
