// SPDX-License-Identifier: Apache-2.0
//! Controllers of a simulated network: commands at times, and programs of the user's that read notifications and write
//! commands as JSON lines (docs/networks.md). `plane` has the order of time, `switch` the switches, `messages` and `replies`
//! the two directions of the protocol. The caller starts programs ([`Programs`]).

mod interface;
mod journal;
mod messages;
mod mistakes;
mod packet_header;
mod plane;
mod replies;
mod switch;

pub use interface::{ControlInputs, Conversation, NoLine, OwnControl, Programs, TimedCommands};
pub(crate) use mistakes::EXPLANATIONS;
pub(crate) use plane::{ControlPlane, Stop};
