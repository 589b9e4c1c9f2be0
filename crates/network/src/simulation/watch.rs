// SPDX-License-Identifier: Apache-2.0
//! [`Watcher`]: sees the frames of a run, for captures, counters and time lines.

use crate::frame::Frame;
use crate::links::{End, Loss};
use crate::node::Note;

/// What happens to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Movement {
    /// Its last bit left a port with a link.
    Sent {
        /// The sending port.
        from: End,
        /// When the node handed it over. A host hands over frames that wait for their turn.
        accepted_ps: u64,
    },
    /// It was lost on the link behind a port.
    Lost {
        /// The sending port.
        from: End,
        /// Why.
        loss: Loss,
        /// When its last bit left the port.
        departed_ps: u64,
    },
    /// It left a port without a link.
    Undelivered {
        /// The sending port.
        from: End,
    },
    /// It arrived at a port.
    Received {
        /// The receiving port.
        at: End,
        /// The sending port.
        from: End,
        /// When its last bit left that port.
        departed_ps: u64,
    },
}

/// Sees a run. Times are in picoseconds; that of a frame sent may lie ahead.
pub trait Watcher {
    /// Something happens to a frame.
    fn moved(&mut self, time_ps: u64, movement: Movement, frame: &Frame);

    /// A link goes down or comes up, named by one end.
    fn link_changed(&mut self, time_ps: u64, end: End, is_up: bool);

    /// Whether nodes report what happens to packets inside them ([`Watcher::noted`]).
    fn wants_notes(&self) -> bool {
        false
    }

    /// Something happened to a packet inside a node. Notes come before the frames that the node sends in the same call.
    fn noted(&mut self, _time_ps: u64, _node: u32, _note: &Note) {}
}

/// Sees nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn moved(&mut self, _: u64, _: Movement, _: &Frame) {}

    fn link_changed(&mut self, _: u64, _: End, _: bool) {}
}
