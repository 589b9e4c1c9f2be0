// SPDX-License-Identifier: Apache-2.0
//! The in-process control interface: commands by name, read from entries files of several formats,
//! resolved against a program and carried to targets. No sockets, no files: text comes in.

pub mod checkpoint;
pub mod command;
pub mod command_text;
pub mod entries;
pub mod error;
pub mod latency;
pub mod lookup;
pub mod map;
pub mod names;
pub mod p4info_ids;
pub mod p4runtime_text;
pub mod patterns;
pub mod resolve;
pub mod runtime_json;
pub mod session;
pub mod state_target;
pub mod target;
pub mod values;

pub use error::{ControlError, EXPLANATIONS};
