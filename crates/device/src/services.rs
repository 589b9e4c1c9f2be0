// SPDX-License-Identifier: Apache-2.0
//! `Services`: the operations of an architecture while it begins or finishes a pass (run blocks, allocate storage, enqueue,
//! transmit, drop, trace), on disjoint parts of a loaded program and of the switch core.

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

/// The accounting of a loaded program's packets, and the latencies of its passes.
#[derive(Debug)]
pub(crate) struct Membership {
    pub lease: Arc<ProgramLease>,
    /// Number of the program's packets in queues and events.
    pub in_flight: u64,
    /// The token of passes that a caller has.
    pub hold: Arc<PassHold>,
    /// Time from the finish of an ingress pass to the queues, in picoseconds.
    pub time_to_queues_ps: u64,
    /// Time from a queue to the wire, in picoseconds.
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
    /// Combines the parts of a program with the switch core.
    pub fn new(
        runner: &'s mut BlockRunner,
        core: &'s mut SwitchCore,
        membership: &'s mut Membership,
    ) -> Services<'s> {
        Services { runner, core, membership }
    }
}

impl Services<'_> {
    /// Returns the program.
    pub fn program(&self) -> &Program {
        &self.runner.program
    }

    /// Returns the identity of the loaded program, for its passes.
    pub fn lease(&self) -> Arc<ProgramLease> {
        self.membership.lease.clone()
    }

    /// Returns the device's options.
    pub fn options(&self) -> &DeviceOptions {
        &self.core.options
    }

    /// Returns the device's time in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.core.now_ps
    }

    /// Returns the device's time in its unit of time stamps.
    pub fn timestamp(&self) -> u64 {
        self.core.timestamp()
    }

    /// Converts a time to the device's unit of time stamps.
    pub fn timestamp_of(&self, time_ps: u64) -> u64 {
        self.core.timestamp_of(time_ps)
    }

    /// Returns the time from the finish of an ingress pass to the queues, in picoseconds.
    pub fn time_to_queues_ps(&self) -> u64 {
        self.membership.time_to_queues_ps
    }

    /// Returns the token that a pass which begins now holds until it ends.
    pub fn pass_epoch(&self) -> Arc<PassEpoch> {
        self.core.pass_epoch()
    }

    /// Returns cleared storage for a packet.
    pub fn context(&mut self, bytes: Vec<u8>) -> PacketContext {
        self.runner.context(bytes)
    }

    /// Keeps the storage of a finished packet for reuse.
    pub fn recycle(&mut self, context: PacketContext) {
        self.runner.recycle(context);
    }

    /// Copies bytes into reused memory.
    pub fn copy_of(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.core.copy_of(bytes)
    }

    /// Keeps memory for reuse.
    pub fn recycle_bytes(&mut self, bytes: Vec<u8>) {
        self.core.recycle_bytes(bytes);
    }

    /// Returns the number of a packet's next pass. Drops the packet at the pass limit.
    pub fn next_pass(&mut self, reception: &Reception, parent: Option<PassId>) -> Option<u64> {
        let number = reception.next_pass(self.core.options.pass_limit);
        if number.is_none() {
            self.core.drop_packet(DropReason::PassLimit, parent);
        }
        number
    }

    /// Begins a pass of the trace, if the device records traces.
    pub fn begin_trace(
        &mut self,
        packet: u64,
        number: u64,
        origin: (Cause, Option<PassId>),
        node: impl FnOnce() -> TraceNode,
    ) -> Option<PassId> {
        self.core.begin_pass(packet, number, origin, node)
    }

    /// Makes the tap of a pass, if the device records tapped events.
    pub fn tap_of(&self, run: &PassInfo) -> Option<Tap> {
        self.core.tap.as_ref().map(|_| {
            let mut tap = Tap::default();
            tap.set_pass(run.packet, run.pass_number);
            tap
        })
    }

    /// Makes the message of a digest request and adds its step to the trace.
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

    /// Runs a block while a pass begins or finishes. Counts the drop at the step limit; a failed assertion is an error.
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

    /// Runs a control. Returns whether the packet continues.
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

    /// Makes the departure of a packet that is dequeued now.
    pub fn departure(&self, port: u32, queue: u32) -> Departure {
        let time_to_wire_ps = self.membership.time_to_wire_ps;
        Departure { port, queue, dequeued_ps: self.core.now_ps, time_to_wire_ps }
    }

    /// Returns the number of packets in a queue of a port.
    pub fn queue_depth(&self, port: u32, queue: u32) -> u32 {
        self.core.traffic.depth_packets(OutputPath::Port(port), queue, self.core.now_ps)
    }

    /// Schedules a packet's arrival at the queues of a port.
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

    /// Sends a packet back to ingress by an internal path. If its queue has no room, the packet is dropped.
    pub fn send_back(&mut self, path: OutputPath, length_bytes: u64, arrival: Arrival) {
        let item = Queued::Arrival(self.membership.lease.id, Box::new(arrival));
        self.put_item(path, 0, length_bytes, item);
    }

    fn put_item(&mut self, path: OutputPath, queue: u32, length_bytes: u64, item: Queued) -> bool {
        let is_there = self.core.enqueue(path, queue, length_bytes, item);
        self.membership.in_flight += u64::from(is_there);
        is_there
    }

    /// Transmits a packet by a port: out of the device, or back into it by a loopback port.
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
