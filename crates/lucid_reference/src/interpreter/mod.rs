// SPDX-License-Identifier: Apache-2.0
//! The interpreter: runs handlers of a core program at one switch. It is the reference semantics of handlers,
//! and compiled programs are compared with it. A handler is atomic and has the effects of its statements in
//! order (see [`lucid::core`]); [`crate::simulation`] decides which handler runs when.
//!
//! A core program is prepared once and shared by all switches. Integers and booleans are words of
//! 128 bits without bits above their width; events, groups and payloads are [`Value`]s. A handler
//! of integers allocates nothing.

mod arguments;
mod evaluate;
mod packets;
mod prepare;
mod prepared;
mod run;
mod state;
mod value;

pub use state::{Cells, Entry, GlobalState, MatchTable, State, bytes_of_state};
pub use value::*;

pub use arguments::{Arguments, Slot, slots};
pub use evaluate::SwitchContext;
pub use packets::{Parsed, from_wire, has_wire_form, packet_bytes, parse, to_wire};
pub use prepare::prepare;
pub use prepared::{Prepared, PreparedBody};
pub use run::{CallArgument, Generated, Interpreter, LogRecord, RandomSource, SendTo};
