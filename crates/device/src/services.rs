// SPDX-License-Identifier: Apache-2.0
//! What an architecture may do while it begins or finishes a pass: run blocks, take and give back storage, queue,
//! send, copy, drop, note. It is made of disjoint parts of a loaded program and of the switch core, and decides
//! nothing itself.

pub(crate) mod replica_run;

use crate::configuration_view::ConfigurationView;
use crate::drop_reason::DropReason;
use crate::engine::{BlockOutputs, BlockRunner};
use crate::event::Event;
use crate::options::DeviceOptions;
use crate::output::{DeviceError, DigestMessage};
use crate::packet::{Arrival, PassEpoch, Queued, QueuedPacket, Reception};
use crate::pass::{Departure, PassHold, PassInfo, ProgramLease};
use crate::switch_core::SwitchCore;
use crate::tap::Tap;
use crate::trace::{Cause, PassId, TraceNode};
use crate::wire::OutputPath;
use interpreter::{Outcome, PacketContext};
use ir::{Bits, Program, RequestId};
use std::sync::Arc;

/// A loaded program's packets inside the device, and what a pass of it takes.
#[derive(Debug)]
pub(crate) struct Membership {
    pub lease: Arc<ProgramLease>,
    /// Packets in queues and events that belong to the program.
    pub in_flight: u64,
    /// What passes hold that are in a caller's hands.
    pub hold: Arc<PassHold>,
    /// From the finish of a pass through ingress to the queues, in picoseconds.
    pub time_to_queues_ps: u64,
    /// From a queue to the wire, in picoseconds.
    pub time_to_wire_ps: u64,
}

/// Services of the device for one program.
#[derive(Debug)]
pub(crate) struct Services<'s> {
    runner: &'s mut BlockRunner,
    core: &'s mut SwitchCore,
    membership: &'s mut Membership,
}

impl<'s> Services<'s> {
    /// The services of a switch core for a program.
    pub fn new(
        runner: &'s mut BlockRunner,
        core: &'s mut SwitchCore,
        membership: &'s mut Membership,
    ) -> Services<'s> {
        Services { runner, core, membership }
    }
}

impl Services<'_> {
    /// The program whose packets these services are for.
    pub fn program(&self) -> &Program {
        &self.runner.program
    }

    /// What a pass of it holds.
    pub fn lease(&self) -> Arc<ProgramLease> {
        self.membership.lease.clone()
    }

    /// How the device was built.
    pub fn options(&self) -> &DeviceOptions {
        &self.core.options
    }

    /// The device's time in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.core.now_ps
    }

    /// The clock in the device's unit of time stamps.
    pub fn timestamp(&self) -> u64 {
        self.core.timestamp()
    }

    /// A time in that unit.
    pub fn timestamp_of(&self, time_ps: u64) -> u64 {
        self.core.timestamp_of(time_ps)
    }

    /// From the finish of a pass through ingress to the queues, in picoseconds.
    pub fn time_to_queues_ps(&self) -> u64 {
        self.membership.time_to_queues_ps
    }

    /// What a pass that begins now holds until it ends.
    pub fn pass_epoch(&self) -> Arc<PassEpoch> {
        self.core.pass_epoch()
    }

    /// Storage for a packet before its parser.
    pub fn context(&mut self, bytes: Vec<u8>) -> PacketContext {
        self.runner.context(bytes)
    }

    /// Takes the storage of a packet that is gone.
    pub fn recycle(&mut self, context: PacketContext) {
        self.runner.recycle(context);
    }

    /// A copy of these bytes, in memory that was used before.
    pub fn copy_of(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.core.copy_of(bytes)
    }

    /// Takes memory to be used again.
    pub fn recycle_bytes(&mut self, bytes: Vec<u8>) {
        self.core.recycle_bytes(bytes);
    }

    /// The number of a packet's next pass; at the pass limit the packet is dropped.
    pub fn next_pass(&mut self, reception: &Reception, parent: Option<PassId>) -> Option<u64> {
        let number = reception.next_pass(self.core.options.pass_limit);
        if number.is_none() {
            self.core.drop_packet(DropReason::PassLimit, parent);
        }
        number
    }

    /// Begins a pass of the trace, when there is one.
    pub fn begin_trace(
        &mut self,
        packet: u64,
        number: u64,
        origin: (Cause, Option<PassId>),
        node: impl FnOnce() -> TraceNode,
    ) -> Option<PassId> {
        self.core.begin_pass(packet, number, origin, node)
    }

    /// What a pass records for a tap, where there is one.
    pub fn tap_of(&self, run: &PassInfo) -> Option<Tap> {
        self.core.tap.as_ref().map(|_| {
            let mut tap = Tap::default();
            tap.at(run.packet, run.pass_number);
            tap
        })
    }

    /// What a request for a digest sends, noted in the trace of the pass.
    pub fn digest(
        &mut self,
        run: &PassInfo,
        request: RequestId,
        values: Vec<Bits>,
    ) -> DigestMessage {
        let declared = &self.runner.program.requests[request.index()];
        let names = declared.fields.iter().map(|field| field.0.clone());
        self.core.note(run.pass, || TraceNode::new("digest", declared.label.to_string()));
        DigestMessage {
            time_ps: self.core.now_ps,
            name: declared.label.clone(),
            fields: names.zip(values).collect(),
            packet: run.packet,
        }
    }

    /// Adds a step to a pass of the trace.
    pub fn note(&mut self, pass: Option<PassId>, node: impl FnOnce() -> TraceNode) {
        self.core.note(pass, node);
    }

    /// Drops a packet.
    pub fn drop_packet(&mut self, reason: DropReason, pass: Option<PassId>) {
        self.core.drop_packet(reason, pass);
    }

    /// Counts a clone of a packet.
    pub fn count_clone(&mut self) {
        self.core.statistics.cloned += 1;
    }

    /// Counts a copy for a multicast group.
    pub fn count_replica(&mut self) {
        self.core.statistics.replicated += 1;
    }

    /// Sends digests to controllers.
    pub fn send_digests(&mut self, digests: Vec<DigestMessage>) {
        self.core.statistics.digests += digests.len() as u64;
        for digest in digests {
            self.core.send_digest(self.membership.lease.id, digest);
        }
    }

    /// Runs a block while a pass begins or is finished. A packet at its step limit is counted as dropped here;
    /// a failed assertion is the error.
    pub fn run(
        &mut self,
        block: usize,
        context: &mut PacketContext,
        view: &ConfigurationView,
        run: &PassInfo,
    ) -> Result<Outcome, DeviceError> {
        let mut recorder = self.runner.recorder(run);
        let core = &mut *self.core;
        let now_ps = core.now_ps;
        let outputs = BlockOutputs { now_ps, log: &mut core.log, tap: core.tap.as_mut() };
        let outcome = self.runner.run(block, context, view, run, outputs, recorder.as_mut())?;
        if let Some(recorder) = recorder {
            let (trees, last_store) = self.runner.trace_of(block, recorder);
            core.add_trace(run.pass, trees, last_store);
        }
        let (dropped, error) = self.runner.consequences(block, &outcome, run, now_ps);
        if let Some(reason) = dropped {
            core.drop_packet(reason, run.pass);
        }
        error.map_or(Ok(outcome), Err)
    }

    /// Runs a control; returns whether the packet goes on.
    pub fn run_control(
        &mut self,
        block: usize,
        context: &mut PacketContext,
        view: &ConfigurationView,
        run: &PassInfo,
    ) -> Result<bool, DeviceError> {
        let outcome = self.run(block, context, view, run)?;
        Ok(matches!(outcome, Outcome::Returned | Outcome::Exited))
    }

    /// How a packet leaves that is dequeued now.
    pub fn departure(&self, port: u32, queue: u32) -> Departure {
        let time_to_wire_ps = self.membership.time_to_wire_ps;
        Departure { port, queue, dequeued_ps: self.core.now_ps, time_to_wire_ps }
    }

    /// How many packets wait in a queue of a port.
    pub fn queue_depth(&self, port: u32, queue: u32) -> u32 {
        self.core.traffic.depth_packets(OutputPath::Port(port), queue)
    }

    /// Lets a packet come to the queues of a port later.
    pub fn enqueue_later(&mut self, latency_ps: u64, port: u32, packet: Box<QueuedPacket>) {
        let time_ps = self.core.now_ps.saturating_add(latency_ps);
        self.membership.in_flight += 1;
        let program = self.membership.lease.id;
        self.core.schedule(time_ps, Event::IngressDone { program, port, packet });
    }

    /// Puts a packet into a queue of a port. If there is no room, the packet is dropped.
    pub fn enqueue(&mut self, port: u32, queue: u32, packet: Box<QueuedPacket>) {
        let (pass, length) = (packet.parent, u64::from(packet.length_bytes));
        let item = Queued::Packet(self.membership.lease.id, packet);
        if self.put_item(OutputPath::Port(port), queue, length, item) {
            self.note(pass, || queue_step("enqueue", port, queue));
        }
    }

    /// Sends a packet of so many bytes back to ingress by one of the internal paths, if there is room.
    pub fn send_back(&mut self, path: OutputPath, length_bytes: u64, arrival: Arrival) {
        let item = Queued::Arrival(self.membership.lease.id, Box::new(arrival));
        self.put_item(path, 0, length_bytes, item);
    }

    fn put_item(&mut self, path: OutputPath, queue: u32, length_bytes: u64, item: Queued) -> bool {
        let is_there = self.core.enqueue(path, queue, length_bytes, item);
        self.membership.in_flight += u64::from(is_there);
        is_there
    }

    /// Sends a packet by a port: out of the device, or back into it by a loopback port.
    pub fn transmit(
        &mut self,
        departure: Departure,
        reception: Arc<Reception>,
        bytes: Vec<u8>,
        pass: Option<PassId>,
    ) {
        let program = self.membership.lease.id;
        self.core.transmit(program, departure, reception, bytes, pass);
    }
}

/// Makes a step of a trace about a queue of a port: `enqueue`, `egress`.
pub(crate) fn queue_step(name: &'static str, port: u32, queue: u32) -> TraceNode {
    TraceNode::new(name, "").with("port", u64::from(port)).with("queue", u64::from(queue))
}
