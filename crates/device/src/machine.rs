// SPDX-License-Identifier: Apache-2.0
//! What all programs of a device share: its clock, events, traffic manager, counters and outputs.
//! Which block runs when is the architecture's business, not this file's.

use crate::options::DeviceOptions;
use crate::output::{DigestMessage, LogLine, Transmitted};
use crate::packet::{Arrival, Entrance, Generation, Queued, Reception, Traveller};
use crate::statistics::{DropReason, Statistics, StraightStatistics};
use crate::trace::{Cause, PassId, PassRecorder};
use crate::traffic_manager::{OutputPath, Refusal, TrafficManager};
use interpreter::trace::TraceNode;
use std::collections::BTreeMap;
use std::sync::Arc;

/// So many packets' memory is kept for later packets.
const MOST_FREE_BYTES: usize = 64;

/// Something that happens at a time.
#[derive(Debug)]
pub(crate) enum Event {
    /// A neighbour, or a user, pauses a queue or lets it go on.
    FlowControl { path: OutputPath, queue: Option<u32>, paused: bool },
    /// A packet comes out of the ingress pipeline.
    Enqueue(Generation, u32, Box<Traveller>),
    /// A packet comes back to ingress.
    Reentry(Generation, Box<Arrival>),
    /// A packet comes back by the port that it was sent by, to whatever program runs then.
    Loopback(Box<Arrival>),
    /// A packet comes from a port, to whatever program runs then.
    Reception(Box<Arrival>),
}

/// Time, class (as the variants of [`Event`] are ordered; ways back to ingress are one class), port,
/// sequence.
pub(crate) type EventKey = (u64, u8, u32, u64);

#[derive(Debug)]
pub(crate) struct Machine {
    pub options: DeviceOptions,
    pub now_ps: u64,
    pub traffic: TrafficManager<Queued>,
    pub events: BTreeMap<EventKey, Event>,
    pub statistics: Statistics,
    /// What is counted of packets that go straight through.
    pub straight: StraightStatistics,
    pub transmitted: Vec<Transmitted>,
    pub digests: Vec<DigestMessage>,
    pub log: Vec<LogLine>,
    pub recorder: Option<PassRecorder>,
    sequence: u64,
    /// Packets sent so far.
    pub sent: u64,
    /// Memory of packets that are gone, for the next ones.
    free_bytes: Vec<Vec<u8>>,
}

impl Machine {
    pub fn new(options: DeviceOptions) -> Machine {
        Machine {
            now_ps: 0,
            traffic: TrafficManager::new(options.traffic_manager.clone()),
            events: BTreeMap::new(),
            statistics: Statistics::default(),
            straight: StraightStatistics::default(),
            transmitted: Vec::new(),
            digests: Vec::new(),
            log: Vec::new(),
            recorder: options.trace.then(PassRecorder::default),
            sequence: 0,
            sent: 0,
            free_bytes: Vec::new(),
            options,
        }
    }

    /// Whether copies of a packet that may go straight through may do so too, each to a port of its own:
    /// queues that all wait for a moment share no buffer then.
    pub fn lets_copies_through(&self) -> bool {
        self.options.traffic_manager.shared_buffer_bytes.is_none()
    }

    /// A copy of these bytes, in memory that was used before.
    pub fn copy_of(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut copy = self.free_bytes.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(bytes);
        copy
    }

    /// Takes memory to be used again. It may as well be dropped.
    pub fn recycle_bytes(&mut self, bytes: Vec<u8>) {
        if self.free_bytes.len() < MOST_FREE_BYTES {
            self.free_bytes.push(bytes);
        }
    }

    /// The clock as BMv2's metadata shows it: whole microseconds since the start.
    pub fn now_us(&self) -> u64 {
        self.now_ps / 1_000_000
    }

    pub fn schedule(&mut self, time_ps: u64, event: Event) {
        let (class, port) = match &event {
            Event::FlowControl { .. } => (0, 0),
            Event::Enqueue(_, port, _) => (1, *port),
            Event::Reentry(_, arrival) | Event::Loopback(arrival) => (2, arrival.port),
            Event::Reception(arrival) => (3, arrival.port),
        };
        self.events.insert((time_ps, class, port, self.sequence), event);
        self.sequence += 1;
    }

    /// Counts a drop and notes it in the trace, with who set the drop port where that is why.
    pub fn drop_packet(&mut self, reason: DropReason, pass: Option<PassId>) {
        self.statistics.dropped(reason);
        let (Some(recorder), Some(pass)) = (&mut self.recorder, pass) else { return };
        let node = TraceNode::new("drop", reason.name()).with("text", reason.sentence());
        let is_by_program = matches!(reason, DropReason::IngressDrop | DropReason::EgressDrop);
        let site = recorder.last_store(pass).filter(|_| is_by_program);
        let node = match site {
            Some(site) => {
                let node = node.at(site.origin);
                match site.table_and_action {
                    Some((table, action)) => node.with("table", &*table).with("action", &*action),
                    None => node,
                }
            }
            None => node,
        };
        recorder.add(pass, [node]);
    }

    /// Begins a pass of the trace, when there is one. `number` is that of the packet's pass, from 0.
    pub fn begin_pass(
        &mut self,
        packet: u64,
        number: u64,
        origin: (Cause, Option<PassId>),
        node: impl FnOnce() -> TraceNode,
    ) -> Option<PassId> {
        let now_ps = self.now_ps;
        self.recorder.as_mut().map(|recorder| {
            recorder.begin(packet, number, origin, || node().with("time_ps", now_ps))
        })
    }

    /// Adds a step to a pass of the trace.
    pub fn note(&mut self, pass: Option<PassId>, node: impl FnOnce() -> TraceNode) {
        if let (Some(recorder), Some(pass)) = (&mut self.recorder, pass) {
            recorder.add(pass, [node()]);
        }
    }

    /// Puts something into a queue; a refusal is counted as a drop. Returns whether it is there.
    pub fn enqueue(
        &mut self,
        path: OutputPath,
        queue: u32,
        length_bytes: u64,
        item: Queued,
    ) -> bool {
        let Err((refusal, item)) =
            self.traffic.enqueue(path, queue, length_bytes, self.now_ps, item)
        else {
            return true;
        };
        let reason = match refusal {
            Refusal::NoSuchQueue => DropReason::NoSuchQueue,
            Refusal::QueueFull => DropReason::QueueFull,
            Refusal::BufferFull => DropReason::BufferFull,
        };
        let pass = match item {
            Queued::Traveller(_, traveller) => traveller.parent,
            Queued::Arrival(_, arrival) => arrival.parent,
        };
        self.drop_packet(reason, pass);
        false
    }

    /// Sends a packet by a port: out of the device, or back into it by a loopback port.
    pub fn transmit(
        &mut self,
        port: u32,
        queue: u32,
        reception: Arc<Reception>,
        bytes: Vec<u8>,
        pass: Option<PassId>,
    ) {
        let path = OutputPath::Port(port);
        let arrives_ps = self.traffic.transmit(path, bytes.len() as u64, self.now_ps);
        let time_ps = arrives_ps.saturating_add(self.options.egress_latency_ps);
        self.statistics.sent(port, bytes.len());
        let length = bytes.len();
        self.note(pass, || {
            TraceNode::new("transmit", "")
                .with("port", u64::from(port))
                .with("time_ps", time_ps)
                .with("length_bytes", length as u64)
        });
        if self.options.traffic_manager.is_loopback(port) {
            let arrival = Arrival {
                reception,
                entrance: Entrance::Loopback,
                port,
                arrived_ps: time_ps,
                bytes,
                preserved: Vec::new(),
                parent: pass,
            };
            return self.schedule(time_ps, Event::Loopback(Box::new(arrival)));
        }
        let packet = reception.number;
        let sequence = self.sent;
        self.sent += 1;
        self.transmitted.push(Transmitted { port, time_ps, bytes, packet, queue, sequence });
    }
}
