// SPDX-License-Identifier: Apache-2.0
//! A pass of a packet through ingress or egress, from where it begins to where it is finished: an owned value
//! that may be run on other threads meanwhile. Architectures begin and finish passes; an executor runs the
//! blocks between.

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

/// In which pass of which packet a block runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassInfo {
    pub packet: u64,
    pub pass_number: u64,
    /// What counters and meters count.
    pub counted_bytes: u32,
    /// Where the trace goes.
    pub pass: Option<PassId>,
}

/// Which passes a device gives to its caller when they begin, in place of running them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallerPasses {
    /// Passes through ingress.
    pub ingress: bool,
    /// Passes through egress.
    pub egress: bool,
}

/// The same, with where an egress pass leads.
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

/// Where a packet leaves by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Departure {
    pub port: u32,
    /// The queue of the port that it was in.
    pub queue: u32,
    /// When it left the queue.
    pub dequeued_ps: u64,
    /// From the queue to the wire, in picoseconds.
    pub time_to_wire_ps: u64,
}

/// The loading of a program: equal for its passes and executors, and held by them as long as they are there.
#[derive(Debug)]
pub(crate) struct ProgramLease {
    /// The number of the code.
    pub id: ProgramId,
    /// The number that users know the program by.
    pub name: ProgramId,
}

/// What all passes of a program hold that are in a caller's hands.
#[derive(Debug)]
pub(crate) struct PassHold;

/// How a pass ended before its finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PassEnd {
    Dropped(DropReason),
    /// By an error that the caller has.
    Failed,
}

/// What blocks of a pass left for the device: it takes it when the pass is finished, or after each block.
#[derive(Clone, Debug, Default)]
pub(crate) struct PassRecord {
    pub log: Vec<LogLine>,
    /// Where the device has a tap.
    pub tap: Option<Tap>,
    pub trace: Vec<TraceNode>,
    /// Who set the drop port last.
    pub last_store: Option<StoreSite>,
}

/// A pass of a packet through ingress or egress that has begun and is not finished.
///
/// It owns what it needs (bytes, headers and metadata, what was requested, the version of the configuration
/// that it began with), so it may be kept, and its blocks may be run by several [`crate::Executor`]s on any
/// threads, until [`crate::Device::finish`]. One that is dropped is a packet that is gone without a trace in
/// the statistics; [`Pass::end`] and finish count it.
#[derive(Debug)]
pub struct Pass {
    pub(crate) half: Half,
    pub(crate) run: PassInfo,
    pub(crate) packet: Box<QueuedPacket>,
    /// Bytes of the packet's headers before the control changed them.
    pub(crate) header_bytes: u32,
    /// Those that run between beginning and finish, in order.
    pub(crate) blocks: Arc<[usize]>,
    /// How many of them have run.
    pub(crate) blocks_run: usize,
    /// What it reads as configuration; `None` where each access reads the version of its moment.
    pub(crate) view: Option<ConfigurationView>,
    pub(crate) lease: Arc<ProgramLease>,
    pub(crate) began_ps: u64,
    pub(crate) record: PassRecord,
    pub(crate) ended: Option<PassEnd>,
    /// Where the device does not know where it is.
    pub(crate) hold: Option<Arc<PassHold>>,
}

impl Pass {
    /// Number of the received packet that it is of, or of which it is a copy.
    pub fn packet(&self) -> u64 {
        self.run.packet
    }

    /// Its number among the passes of the packet and its copies, from 0.
    pub fn number(&self) -> u64 {
        self.run.pass_number
    }

    /// Through which half of the pipeline it goes.
    pub fn gress(&self) -> Gress {
        self.half.gress()
    }

    /// The port that the packet came to ingress by.
    pub fn ingress_port(&self) -> u32 {
        self.packet.ingress_port
    }

    /// The port that the packet leaves by, in egress.
    pub fn egress_port(&self) -> Option<u32> {
        match self.half {
            Half::Ingress => None,
            Half::Egress(departure) => Some(departure.port),
        }
    }

    /// The program that it meets.
    pub fn program(&self) -> ProgramId {
        self.lease.name
    }

    /// When it began, in picoseconds.
    pub fn began_ps(&self) -> u64 {
        self.began_ps
    }

    /// The blocks that its architecture runs between beginning and finish, in order, as places in
    /// [`ir::Program::blocks`].
    pub fn blocks(&self) -> &[usize] {
        &self.blocks
    }

    /// The first of them that has not run. A caller may run others in place of it.
    pub fn next_block(&self) -> Option<usize> {
        match self.ended {
            None => self.blocks.get(self.blocks_run).copied(),
            Some(_) => None,
        }
    }

    /// The packet's bytes and storage.
    pub fn context(&self) -> &PacketContext {
        &self.packet.context
    }

    /// Whether it ended: blocks that are run on it do nothing, and its finish counts the drop.
    pub fn is_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Ends it: the packet is dropped when the pass is finished. A pass that has ended stays as it is.
    pub fn end(&mut self, reason: DropReason) {
        self.ended.get_or_insert(PassEnd::Dropped(reason));
    }

    /// Ends it by an error, if nothing has ended it.
    pub(crate) fn fail(&mut self) {
        self.ended.get_or_insert(PassEnd::Failed);
    }

    /// Another pass of equal state with a number of its own.
    pub(crate) fn copy(&self, run: PassInfo) -> Pass {
        let tap = self.record.tap.as_ref().map(|_| {
            let mut tap = Tap::default();
            tap.at(run.packet, run.pass_number);
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
