// SPDX-License-Identifier: Apache-2.0
//! `PassRecorder`: collects the passes of packets into traces of bounded size.

use crate::ingress_source::IngressSource;
use interpreter::trace::{StoreSite, TraceNode, TraceValue};
use std::collections::BTreeMap;

/// How many passes of a received packet and its copies are kept.
pub const PASSES_KEPT_PER_PACKET: u64 = 100;
/// Number of steps of a packet's passes above which no further pass is kept.
pub const STEPS_KEPT_PER_PACKET: usize = 20_000;
/// How many steps of a device (queued copies, say) are kept of a pass.
const DEVICE_STEPS_KEPT_PER_PASS: usize = 2_000;

/// The cause of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The packet came to ingress.
    Ingress(IngressSource),
    Queue,
    Clone,
    Replica,
}

impl Cause {
    fn name(self) -> &'static str {
        match self {
            Cause::Ingress(source) => source.name(),
            Cause::Queue => "queue",
            Cause::Clone => "clone",
            Cause::Replica => "replica",
        }
    }
}

/// A pass of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PassId {
    packet: u64,
    /// From 0.
    number: u64,
    is_kept: bool,
}

impl PassId {
    /// Returns whether the trace keeps its steps.
    pub fn is_kept(self) -> bool {
        self.is_kept
    }
}

/// A recorded pass.
#[derive(Debug)]
struct Pass {
    node: TraceNode,
    /// The statement that set the drop slot last.
    last_store: Option<StoreSite>,
    further_steps: u64,
}

/// A received packet.
#[derive(Debug, Default)]
struct Packet {
    passes: BTreeMap<u64, Pass>,
    steps: usize,
    /// Of passes that are not kept: how many, what they dropped, how many packets they sent.
    further_passes: u64,
    dropped: BTreeMap<String, u64>,
    transmitted: u64,
}

/// Collects passes as they happen.
#[derive(Debug, Default)]
pub(crate) struct PassRecorder {
    packets: BTreeMap<u64, Packet>,
}

impl PassRecorder {
    pub fn begin(
        &mut self,
        packet: u64,
        number: u64,
        (cause, parent): (Cause, Option<PassId>),
        node: impl FnOnce() -> TraceNode,
    ) -> PassId {
        let known = self.packets.entry(packet).or_default();
        let is_kept = number < PASSES_KEPT_PER_PACKET && known.steps < STEPS_KEPT_PER_PACKET;
        if is_kept {
            let mut node = node();
            let mut details =
                vec![("pass", TraceValue::Number(number + 1)), ("cause", cause.name().into())];
            if let Some(parent) = parent {
                details.push(("from_pass", TraceValue::Number(parent.number + 1)));
            }
            node.details.splice(0..0, details);
            known.steps += 1;
            known.passes.insert(number, Pass { node, last_store: None, further_steps: 0 });
        } else {
            known.further_passes += 1;
        }
        PassId { packet, number, is_kept }
    }

    pub fn add(&mut self, pass: PassId, steps: impl IntoIterator<Item = TraceNode>) {
        let known = self.packets.entry(pass.packet).or_default();
        if !pass.is_kept {
            for step in steps {
                match step.step {
                    "drop" => *known.dropped.entry(step.name).or_default() += 1,
                    "transmit" => known.transmitted += 1,
                    _ => {}
                }
            }
            return;
        }
        let kept = known.passes.entry(pass.number).or_insert_with(|| Pass {
            node: TraceNode::new("continued", "").with("pass", pass.number + 1),
            last_store: None,
            further_steps: 0,
        });
        for step in steps {
            if kept.node.steps.len() < DEVICE_STEPS_KEPT_PER_PASS {
                known.steps += step.step_count();
                kept.node.steps.push(step);
            } else {
                kept.further_steps += 1;
            }
        }
    }

    /// Records the statement that set the drop slot.
    pub fn note_store(&mut self, pass: PassId, site: Option<StoreSite>) {
        let known = self.packets.get_mut(&pass.packet);
        if let (Some(kept), Some(site)) =
            (known.and_then(|known| known.passes.get_mut(&pass.number)), site)
        {
            kept.last_store = Some(site);
        }
    }

    /// Returns the statement that set the drop slot last in a pass.
    pub fn last_store(&self, pass: PassId) -> Option<StoreSite> {
        self.packets.get(&pass.packet)?.passes.get(&pass.number)?.last_store.clone()
    }

    /// Takes the traces of the packets since the last call, in order of reception.
    pub fn drain(&mut self) -> Vec<TraceNode> {
        std::mem::take(&mut self.packets)
            .into_iter()
            .map(|(number, packet)| packet.into_tree(number))
            .collect()
    }
}

impl Packet {
    fn into_tree(self, number: u64) -> TraceNode {
        let mut tree = TraceNode::new("packet", number.to_string());
        for (_, mut pass) in self.passes {
            if pass.further_steps > 0 {
                let rest = TraceNode::new("not_shown", "steps").with("count", pass.further_steps);
                pass.node.steps.push(rest);
            }
            tree.steps.push(pass.node);
        }
        if self.further_passes > 0 || self.transmitted > 0 || !self.dropped.is_empty() {
            let mut rest = TraceNode::new("not_shown", "passes").with("count", self.further_passes);
            if !self.dropped.is_empty() {
                let dropped = self
                    .dropped
                    .into_iter()
                    .map(|(reason, count)| (reason, TraceValue::Number(count)))
                    .collect();
                rest = rest.with("dropped", TraceValue::Record(dropped));
            }
            if self.transmitted > 0 {
                rest = rest.with("transmitted", self.transmitted);
            }
            tree.steps.push(rest);
        }
        tree
    }
}
