// SPDX-License-Identifier: Apache-2.0
//! Traces of packets: every pass of a received packet and of its copies, nested in the pass that
//! made them. What happens inside a block is the interpreter's trace, taken over as it is.
//!
//! The steps of a device are: `packet` (the root, one a received packet), `ingress` and `egress` (a
//! pass each), and inside them, after the blocks: `digest`, `clone`, `multicast`, `resubmit`,
//! `recirculate`, `enqueue`, `drop` and `transmit`, then the passes that followed.

pub use interpreter::trace::TraceNode;

use interpreter::trace::{render_text, to_json};
use std::collections::BTreeMap;

/// The trace of one received packet: a `packet` node with everything that followed inside it.
pub type PacketTrace = TraceNode;

/// A trace for people: one line a step, steps inside it indented.
pub fn text(node: &TraceNode) -> String {
    render_text(node)
}

/// A trace for programs, on one line: one JSON object, as [`interpreter::trace`] documents it.
pub fn json(node: &TraceNode) -> String {
    to_json(node).to_string()
}

/// A pass of the recording, numbered over the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PassId(u64);

#[derive(Debug)]
struct Recorded {
    parent: Option<PassId>,
    packet: u64,
    node: TraceNode,
}

/// Collects passes as they happen.
#[derive(Debug, Default)]
pub(crate) struct PassRecorder {
    passes: BTreeMap<PassId, Recorded>,
    next: u64,
}

impl PassRecorder {
    pub fn begin(&mut self, parent: Option<PassId>, packet: u64, node: TraceNode) -> PassId {
        let pass = PassId(self.next);
        self.next += 1;
        self.passes.insert(pass, Recorded { parent, packet, node });
        pass
    }

    pub fn add(&mut self, pass: PassId, steps: impl IntoIterator<Item = TraceNode>) {
        if let Some(recorded) = self.passes.get_mut(&pass) {
            recorded.node.steps.extend(steps);
        }
    }

    /// Nests every pass into its parent, and the first passes into a node for their packet. Passes
    /// have larger numbers than their parents, so going backwards each is complete when it is moved.
    pub fn drain(&mut self) -> Vec<TraceNode> {
        let mut roots = Vec::new();
        let mut nested: BTreeMap<PassId, Vec<TraceNode>> = BTreeMap::new();
        while let Some((pass, mut recorded)) = self.passes.pop_last() {
            let mut steps = nested.remove(&pass).unwrap_or_default();
            steps.reverse();
            recorded.node.steps.extend(steps);
            match recorded.parent.filter(|parent| self.passes.contains_key(parent)) {
                Some(parent) => nested.entry(parent).or_default().push(recorded.node),
                None => roots.push(
                    TraceNode::new("packet", recorded.packet.to_string())
                        .with_steps(vec![recorded.node]),
                ),
            }
        }
        roots.reverse();
        roots
    }
}
