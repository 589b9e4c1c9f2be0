// SPDX-License-Identifier: Apache-2.0
//! Traces of packets: every pass of a received packet and of its copies, one after the other. What
//! happens inside a block is the interpreter's trace, taken over as it is.
//!
//! The steps of a device are: `packet` (the root, one a received packet; its name is the packet's
//! number), and in it the passes, `ingress` and `egress`. A pass has a number (`pass`, from 1 for each
//! packet), a `cause` (`port`, `loopback`, `generator`, `queue`, `clone`, `replica`, `resubmission`, `recirculation`), the pass
//! it came from (`from_pass`), `port` and `queue` where it has them, `time_ps`, and `waited_ps` if it had
//! to wait for ingress. Inside it are,
//! after the blocks: `digest`, `clone`, `multicast`, `resubmit`, `recirculate`, `enqueue`, `drop` (its
//! name is the reason, `text` a sentence, `table` and `action` who set the drop port) and `transmit`.
//! Steps of a pass whose trace was already taken are in a step `continued` of the next trace.
//!
//! **A trace is bounded:** the device keeps at most [`PASSES_KEPT_PER_PACKET`] passes of a packet, and fewer if they have
//! more than [`STEPS_KEPT_PER_PACKET`] steps. A step `not_shown` has the number of missing passes (`count`), and the
//! numbers of packets that they dropped, by reason, and transmitted.

mod recorder;
mod wording;

pub use interpreter::trace::{Places, TraceNode};
pub use recorder::{PASSES_KEPT_PER_PACKET, STEPS_KEPT_PER_PACKET};

pub(crate) use recorder::{Cause, PassId, PassRecorder};

use interpreter::trace::{render_text_with, to_json_with_places};

/// The trace of one received packet: a `packet` node with everything that followed inside it.
pub type PacketTrace = TraceNode;

/// A trace for people: one line a step, steps inside it indented.
pub fn text(node: &TraceNode) -> String {
    text_with_places(node, &|_| None)
}

/// A trace for people, with places in the source where they help: `places` gives an origin of the
/// program as people write it, such as `router.p4:173`.
pub fn text_with_places(node: &TraceNode, places: Places<'_>) -> String {
    render_text_with(node, places, &wording::words_of)
}

/// A trace for programs, on one line: one JSON object, as [`interpreter::trace`] documents it.
pub fn json(node: &TraceNode) -> String {
    json_with_places(node, &|_| None)
}

/// A trace for programs in which every step that has a place in the source says it.
pub fn json_with_places(node: &TraceNode, places: Places<'_>) -> String {
    to_json_with_places(node, places).to_string()
}
