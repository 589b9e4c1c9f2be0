// SPDX-License-Identifier: Apache-2.0
//! Runs the handlers of a core program at one switch: the reference semantics of handlers, against
//! which compiled programs are judged. A handler is atomic; its effects are those of its statements
//! in order (see [`lucid::core`]). Which handler runs when is decided in [`crate::simulation`].
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
