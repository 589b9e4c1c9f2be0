// SPDX-License-Identifier: Apache-2.0
//! `Pass`: a packet's pass through ingress or egress, an owned value that other threads may run. Architectures begin and
//! finish passes; executors run their blocks.

use crate::configuration_view::ConfigurationView;
use crate::drop_reason::DropReason;
use crate::output::LogLine;
use crate::packet::{ProgramId, QueuedPacket};
use crate::tap::Tap;
use crate::trace::{PassId, TraceNode};
use interpreter::PacketContext;
use interpreter::trace::StoreSite;
pub use ir::architecture::Gress;
use std::sync::Arc;

/// The packet and the pass of a running block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassInfo {
    pub packet: u64,
    pub pass_number: u64,
    /// Length that counters and meters count.
    pub counted_bytes: u32,
    /// The pass in the trace.
    pub pass: Option<PassId>,
}

/// The passes that a device hands to its caller instead of running them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallerPasses {
    /// Passes through ingress.
    pub ingress: bool,
    /// Passes through egress.
    pub egress: bool,
}

/// Ingress, or egress with the packet's departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Ingress,
    Egress(Departure),
}

impl Half {
    pub fn gress(self) -> Gress {
        match self {
            Half::Ingress => Gress::Ingress,
            Half::Egress(_) => Gress::Egress,
        }
    }
}

/// The departure of a packet in egress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Departure {
    pub port: u32,
    /// The queue from which it was dequeued.
    pub queue: u32,
    /// Time of the dequeue, in picoseconds.
    pub dequeued_ps: u64,
    /// Time from the queue to the wire, in picoseconds.
    pub time_to_wire_ps: u64,
}

/// The identity of a loaded program, shared by its passes and executors.
#[derive(Debug)]
pub(crate) struct ProgramLease {
    /// The number of the code.
    pub id: ProgramId,
    /// The program's public number.
    pub name: ProgramId,
}

/// A token that the passes of a program hold while a caller has them.
#[derive(Debug)]
pub(crate) struct PassHold;

/// What egress ahead of a packet's arrival knows of the traffic manager: all queues are empty, and all wires idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EmptyQueues {
    /// The number of queues of each port, at least.
    pub count: u32,
    /// The arrival, in the device's unit of time stamps.
    pub timestamp: u64,
}

/// Egress of a packet whose pass through ingress runs ahead of its arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EgressAhead {
    /// It runs at the arrival.
    #[default]
    No,
    /// It may run behind ingress.
    Allowed(EmptyQueues),
    /// It has run, and the packet leaves.
    Sent { port: u32, queue: u32 },
    /// It has run, and has dropped the packet.
    Dropped(DropReason),
}

/// How a pass ended before its finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PassEnd {
    Dropped(DropReason),
    /// By an error that the caller received.
    Failed,
}

/// Log lines, tapped events and trace steps of a pass's blocks. The device takes them after each block, or at the
/// finish.
#[derive(Clone, Debug, Default)]
pub(crate) struct PassRecord {
    pub log: Vec<LogLine>,
    /// Tapped events, if the device has a tap.
    pub tap: Option<Tap>,
    pub trace: Vec<TraceNode>,
    /// The statement that set the drop slot last.
    pub last_store: Option<StoreSite>,
}

/// A pass of a packet through ingress or egress that has begun and is not finished.
///
/// It owns its bytes, headers, metadata, pending requests and version of the configuration, so a caller may keep it and
/// run its blocks on several [`crate::Executor`]s and threads until [`crate::Device::finish`]. Dropping a pass loses its
/// packet without counting it; end it with [`Pass::end`] and finish it to count a drop.
#[derive(Debug)]
pub struct Pass {
    pub(crate) half: Half,
    pub(crate) run: PassInfo,
    pub(crate) packet: Box<QueuedPacket>,
    /// Bytes of the packet's headers before the control changed them.
    pub(crate) header_bytes: u32,
    /// The blocks that run between its begin and its finish, in order.
    pub(crate) blocks: Arc<[usize]>,
    /// Number of blocks that have run.
    pub(crate) blocks_run: usize,
    /// The version of the configuration that it reads; `None` if each access reads the current version.
    pub(crate) view: Option<ConfigurationView>,
    pub(crate) lease: Arc<ProgramLease>,
    pub(crate) began_ps: u64,
    pub(crate) record: PassRecord,
    pub(crate) ended: Option<PassEnd>,
    pub(crate) egress: EgressAhead,
    /// Set while a caller has the pass.
    pub(crate) hold: Option<Arc<PassHold>>,
}

impl Pass {
    /// Returns the number of its received packet, or of the packet that it is a copy of.
    pub fn packet(&self) -> u64 {
        self.run.packet
    }

    /// Returns its number among the passes of the packet and its copies, from 0.
    pub fn number(&self) -> u64 {
        self.run.pass_number
    }

    /// Returns whether it is a pass through ingress or egress.
    pub fn gress(&self) -> Gress {
        self.half.gress()
    }

    /// Returns the packet's ingress port.
    pub fn ingress_port(&self) -> u32 {
        self.packet.ingress_port
    }

    /// Returns the packet's egress port, in egress.
    pub fn egress_port(&self) -> Option<u32> {
        match self.half {
            Half::Ingress => None,
            Half::Egress(departure) => Some(departure.port),
        }
    }

    /// Returns the number of its program.
    pub fn program(&self) -> ProgramId {
        self.lease.name
    }

    /// Returns the time of its begin, in picoseconds.
    pub fn began_ps(&self) -> u64 {
        self.began_ps
    }

    /// Returns the blocks that its architecture runs between begin and finish, in order, as indexes into
    /// [`ir::Program::blocks`].
    pub fn blocks(&self) -> &[usize] {
        &self.blocks
    }

    /// Returns the first block that has not run. A caller may run other blocks instead.
    pub fn next_block(&self) -> Option<usize> {
        match self.ended {
            None => self.blocks.get(self.blocks_run).copied(),
            Some(_) => None,
        }
    }

    /// Returns the packet's bytes and storage.
    pub fn context(&self) -> &PacketContext {
        &self.packet.context
    }

    /// Returns the packet's bytes and storage for writing.
    pub fn context_mut(&mut self) -> &mut PacketContext {
        &mut self.packet.context
    }

    /// Copies it under its own number, for a run that is compared with the packet's own. The copy is not to be finished:
    /// its packet would leave twice.
    pub fn twin(&self) -> Pass {
        self.copy(self.run)
    }

    /// Returns whether it has ended: blocks have no effect on it, and its finish counts the drop.
    pub fn is_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Ends it: its finish drops the packet. The first end counts.
    pub fn end(&mut self, reason: DropReason) {
        self.ended.get_or_insert(PassEnd::Dropped(reason));
    }

    /// Ends it by an error, unless it has ended.
    pub(crate) fn fail(&mut self) {
        self.ended.get_or_insert(PassEnd::Failed);
    }

    /// Copies it under another number.
    pub(crate) fn copy(&self, run: PassInfo) -> Pass {
        let tap = self.record.tap.as_ref().map(|_| {
            let mut tap = Tap::default();
            tap.set_pass(run.packet, run.pass_number);
            tap
        });
        Pass {
            half: self.half,
            run,
            packet: self.packet.clone(),
            header_bytes: self.header_bytes,
            blocks: self.blocks.clone(),
            blocks_run: self.blocks_run,
            view: self.view.clone(),
            lease: self.lease.clone(),
            began_ps: self.began_ps,
            record: PassRecord { tap, ..PassRecord::default() },
            ended: self.ended,
            egress: self.egress,
            hold: self.hold.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_owned_and_can_be_sent() {
        fn is_owned_and_sendable<T: Send + 'static>() {}
        is_owned_and_sendable::<Pass>();
    }
}
