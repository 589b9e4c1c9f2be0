// SPDX-License-Identifier: Apache-2.0
//! The switch core: clock, event queue, traffic manager, counters and outputs, which all programs of a device
//! share. Independent of the loaded programs; their architectures decide which blocks run when.

use crate::circulation::CirculatingPackets;
use crate::control_request::ControlWork;
use crate::drop_reason::DropReason;
use crate::event::{Event, EventKey, INGRESS_SLOT_CLASS, LOOPBACK_CLASS, NextEvent};
use crate::flow_control::{PauseFrame, pause_end_ps};
use crate::ingress_source::IngressSource;
use crate::options::{DeviceOptions, TimestampUnit};
use crate::output::{DigestMessage, LogLine, Transmitted};
use crate::packet::{Arrival, PassEpoch, ProgramId, Queued, Reception};
use crate::packet_generator::{GeneratorApplication, Sources, TrainTarget};
use crate::pass::{CallerPasses, Departure, Gress, Pass};
use crate::statistics::{FastPathStatistics, Statistics};
use crate::tap::{Tap, TappedEvent};
use crate::trace::{Cause, PassId, PassRecorder, TraceNode};
use crate::traffic_manager::{Refusal, TrafficManager};
use crate::wire::OutputPath;
use interpreter::trace::StoreSite;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Weak};

/// Packet buffers kept for reuse.
const PACKET_POOL_SIZE: usize = 64;

#[derive(Debug)]
pub(crate) struct SwitchCore {
    pub options: DeviceOptions,
    pub now_ps: u64,
    pub traffic: TrafficManager<Queued>,
    pub events: BTreeMap<EventKey, Event>,
    pub statistics: Statistics,
    /// Counters of the fast path.
    pub fast_path: FastPathStatistics,
    pub transmitted: Vec<Transmitted>,
    /// Indexes in [`SwitchCore::transmitted`] of packets for the CPU port, with the programs that sent them.
    pub cpu_packets: Vec<(usize, ProgramId)>,
    pub digests: Vec<DigestMessage>,
    /// The programs that sent the digests.
    pub digest_programs: Vec<ProgramId>,
    pub log: Vec<LogLine>,
    pub recorder: Option<PassRecorder>,
    pub tap: Option<Tap>,
    /// The passes that the caller runs.
    pub caller_passes: CallerPasses,
    /// The packet whose next ingress pass goes to the caller.
    pub awaited_packet: Option<u64>,
    /// Begun passes that the caller has not taken yet, in order.
    pub handed_out: Vec<Pass>,
    has_flow_control: bool,
    /// Whether some port has had a rate or a latency.
    pub wires_take_time: bool,
    /// Looped-back packets in order of arrival. Packets that arrive out of order are in `events`.
    pub looped_back: VecDeque<(EventKey, Box<Arrival>)>,
    pub circulating: CirculatingPackets,
    /// Time at which ingress takes the next waiting packet.
    pub next_slot_ps: Option<u64>,
    /// Time from which ingress may take a packet.
    ingress_free_ps: u64,
    /// Packets that wait for ingress, in order, with their programs if they belong to one.
    waiting: VecDeque<(Option<ProgramId>, Box<Arrival>)>,
    /// The sources of the packet generator.
    generator: Sources,
    /// Number of events for which [`SwitchCore::is_endless`] holds.
    endless_events: usize,
    sequence: u64,
    /// The token of passes that begin now.
    pass_epoch: Arc<PassEpoch>,
    /// Number of packets transmitted so far.
    pub sent: u64,
    /// Packet buffers for reuse.
    free_bytes: Vec<Vec<u8>>,
    /// The memory of the last packet that completed the fast path.
    spare_arrival: Option<Box<Arrival>>,
}

impl SwitchCore {
    pub fn new(options: DeviceOptions) -> SwitchCore {
        let mut core = SwitchCore {
            now_ps: 0,
            has_flow_control: options.traffic_manager.has_flow_control(),
            wires_take_time: options.traffic_manager.wires_take_time(),
            looped_back: VecDeque::new(),
            circulating: CirculatingPackets::default(),
            next_slot_ps: None,
            ingress_free_ps: 0,
            waiting: VecDeque::new(),
            generator: Sources::new(&options.packet_generator),
            endless_events: 0,
            pass_epoch: Arc::default(),
            traffic: TrafficManager::new(options.traffic_manager.clone()),
            events: BTreeMap::new(),
            statistics: Statistics::default(),
            fast_path: FastPathStatistics::default(),
            transmitted: Vec::new(),
            cpu_packets: Vec::new(),
            digests: Vec::new(),
            digest_programs: Vec::new(),
            log: Vec::new(),
            caller_passes: CallerPasses::default(),
            awaited_packet: None,
            handed_out: Vec::new(),
            recorder: options.trace.then(PassRecorder::default),
            tap: options.tap.then(Tap::default),
            sequence: 0,
            sent: 0,
            free_bytes: Vec::new(),
            spare_arrival: None,
            options,
        };
        for number in core.generator.numbers() {
            core.schedule_generation(number);
        }
        for application in core.options.generator_applications.clone() {
            core.set_generator_application(application);
        }
        core
    }

    /// Returns whether copies of a packet on the fast path, each to a different port, may take it too: queues share no
    /// buffer and wires take no time.
    pub fn can_replicate_now(&mut self) -> bool {
        self.options.traffic_manager.shared_buffer_bytes.is_none()
            && self.traffic.can_bypass_queues(0, self.now_ps)
    }

    /// Copies bytes into reused memory.
    pub fn copy_of(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut copy = self.free_bytes.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(bytes);
        copy
    }

    /// Keeps memory for reuse, up to the size of the pool.
    pub fn recycle_bytes(&mut self, bytes: Vec<u8>) {
        if self.free_bytes.len() < PACKET_POOL_SIZE {
            self.free_bytes.push(bytes);
        }
    }

    /// Returns the clock in v1model's unit of time stamps: whole microseconds or nanoseconds since the start.
    pub fn timestamp(&self) -> u64 {
        self.timestamp_of(self.now_ps)
    }

    /// Converts a time to v1model's unit of time stamps.
    pub fn timestamp_of(&self, time_ps: u64) -> u64 {
        // The compiler turns divisions by constants into multiplications.
        match self.options.timestamp_unit {
            TimestampUnit::Microseconds => time_ps / TimestampUnit::Microseconds.picoseconds(),
            TimestampUnit::Nanoseconds => time_ps / TimestampUnit::Nanoseconds.picoseconds(),
        }
    }

    /// Returns the token that a pass which begins now holds until it ends.
    pub fn pass_epoch(&self) -> Arc<PassEpoch> {
        self.pass_epoch.clone()
    }

    /// Returns whether a pass of this epoch has not ended.
    pub fn has_passes_in_epoch(&self) -> bool {
        Arc::strong_count(&self.pass_epoch) > 1
    }

    /// Begins a new epoch. The returned reference to the old one expires when its last pass ends.
    pub fn next_pass_epoch(&mut self) -> Weak<PassEpoch> {
        let before = std::mem::take(&mut self.pass_epoch);
        Arc::downgrade(&before)
    }

    pub fn schedule(&mut self, time_ps: u64, event: Event) {
        let port = match &event {
            Event::IngressDone { port, .. } | Event::Emission { port, .. } => *port,
            Event::Reentry { arrival, .. }
            | Event::Loopback(arrival)
            | Event::Reception(arrival) => arrival.port,
            Event::Generation(source) => self.generator.port(*source),
            Event::Control(_)
            | Event::FlowControl { .. }
            | Event::Pass { .. }
            | Event::Release { .. }
            | Event::FlowControlEnd { .. } => 0,
        };
        let class = event.class();
        let sequence = match &event {
            Event::Pass { pass, .. } => pass.order,
            _ => self.next_sequence(),
        };
        self.endless_events += usize::from(self.is_endless(&event));
        self.events.insert(EventKey { time_ps, class, port, sequence }, event);
    }

    /// Returns the next sequence number.
    pub fn next_sequence(&mut self) -> u64 {
        let sequence = self.sequence;
        self.sequence += 1;
        sequence
    }

    /// Sets the packet, in its last pass, of the tapped events that follow.
    pub fn tap_last_pass(&mut self, reception: &Reception) {
        if let Some(tap) = &mut self.tap {
            tap.set_pass(reception.number, reception.passes().saturating_sub(1));
        }
    }

    /// Returns whether arriving packets may have to wait for ingress.
    #[inline]
    pub fn limits_ingress_rate(&self) -> bool {
        self.options.ingress_interval_ps > 0
    }

    /// Returns whether some port has flow control.
    #[inline]
    pub fn has_flow_control(&self) -> bool {
        self.has_flow_control
    }

    /// Returns whether a packet is a flow control frame that the MAC of its port consumes.
    pub fn ends_at_mac(&self, port: u32, bytes: &[u8]) -> bool {
        self.options.traffic_manager.port(port).flow_control.is_some()
            && PauseFrame::read(bytes).is_some()
    }

    /// Takes an event from the queue.
    pub fn take_event(&mut self, key: &EventKey) -> Option<Event> {
        let event = self.events.remove(key)?;
        self.endless_events -= usize::from(self.is_endless(&event));
        Some(event)
    }

    /// Returns whether an event alone does not keep a run going: packets of endless trains, checks of idle entries, and
    /// ends of pauses, which matter only to queued packets.
    fn is_endless(&self, event: &Event) -> bool {
        match event {
            Event::Generation(source) => self.generator.is_endless(*source),
            Event::FlowControlEnd { .. } | Event::Control(ControlWork::IdleCheck) => true,
            _ => false,
        }
    }

    /// Returns whether only endless events are left and no packet waits for one of them.
    pub fn has_only_endless_events(&self) -> bool {
        self.endless_events > 0
            && self.endless_events == self.events.len()
            && self.looped_back.is_empty()
            && self.next_slot_ps.is_none()
            && self.traffic.next_ready().is_none()
            && !self.traffic.holds_flow_paused()
    }

    fn schedule_generation(&mut self, source: usize) {
        if let Some(time_ps) = self.generator.next_ps(source) {
            self.schedule(time_ps, Event::Generation(source));
        }
    }

    /// Makes the due packet of a source and schedules its next one.
    pub fn generate(&mut self, source: usize) -> Option<(Box<Arrival>, TrainTarget)> {
        let made = self.generator.make(source)?;
        let arrival = Arrival {
            reception: Reception::new(made.number),
            source: IngressSource::Generator,
            port: made.port,
            arrived_ps: self.now_ps,
            bytes: made.bytes,
            absent_bytes: 0,
            preserved: Vec::new(),
            parent: None,
            circulating: None,
        };
        self.schedule_generation(source);
        Some((Box::new(arrival), made.target))
    }

    /// Sets an application of the packet generator and restarts it.
    pub fn set_generator_application(&mut self, application: GeneratorApplication) {
        self.stop_generator_application(application.id);
        let source = self.generator.set(application, self.now_ps);
        self.schedule_generation(source);
    }

    /// Returns whether an application of the packet generator is set.
    pub fn has_generator_application(&self, id: u8) -> bool {
        self.generator.has(id)
    }

    /// Stops an application of the packet generator. Returns whether it was set.
    pub fn stop_generator_application(&mut self, id: u8) -> bool {
        let source = Sources::number_of(id);
        let is_its = |event: &Event| matches!(event, Event::Generation(of) if *of == source);
        let due = self.events.iter().find(|(_, event)| is_its(event)).map(|(key, _)| *key);
        due.and_then(|key| self.take_event(&key));
        self.generator.remove(id)
    }

    /// Applies a flow control frame at the MAC of a port with flow control. Returns whether the packet was such a frame.
    pub fn obey_flow_control(&mut self, arrival: &Arrival) -> bool {
        if !self.has_flow_control {
            return false;
        }
        let Some(options) = &self.options.traffic_manager.port(arrival.port).flow_control else {
            return false;
        };
        let Some(frame) = PauseFrame::read(&arrival.bytes) else { return false };
        let queue_of_class = options.queue_of_class;
        let path = OutputPath::Port(arrival.port);
        let rate_bps = self.traffic.rate_bps(path);
        self.statistics.received(arrival.port, arrival.bytes.len());
        self.statistics.flow_control_frames += 1;
        for (queue, quanta) in queue_of_class.into_iter().zip(frame.quanta) {
            let Some(quanta) = quanta else { continue };
            let until_ps = pause_end_ps(quanta, rate_bps, self.now_ps);
            let exists = self.traffic.set_flow_paused(path, queue, until_ps, self.now_ps);
            if let Some(end_ps) = until_ps.filter(|end_ps| exists && *end_ps != u64::MAX) {
                self.schedule(end_ps, Event::FlowControlEnd { path, queue });
            }
        }
        true
    }

    /// Returns the packet if it may enter ingress now; else appends it to the waiting packets.
    pub fn wait_for_ingress(
        &mut self,
        program: Option<ProgramId>,
        arrival: Box<Arrival>,
    ) -> Option<Box<Arrival>> {
        let interval_ps = self.options.ingress_interval_ps;
        if interval_ps == 0 {
            return Some(arrival);
        }
        if self.is_ingress_free(self.now_ps) {
            self.ingress_free_ps = self.now_ps.saturating_add(interval_ps);
            return Some(arrival);
        }
        if self.waiting.is_empty() {
            self.next_slot_ps = Some(self.ingress_free_ps);
        }
        self.waiting.push_back((program, arrival));
        None
    }

    /// Returns whether a packet that arrives now may enter ingress.
    pub fn is_ingress_free(&self, now_ps: u64) -> bool {
        self.options.ingress_interval_ps == 0
            || self.waiting.is_empty() && self.ingress_free_ps <= now_ps
    }

    /// Returns the packets that wait for ingress, in order, with their programs if they belong to one.
    pub fn waiting_for_ingress(&self) -> &VecDeque<(Option<ProgramId>, Box<Arrival>)> {
        &self.waiting
    }

    /// Delays ingress and what waits for it.
    pub fn delay_ingress(&mut self, by_ps: u64, mut each: impl FnMut(&mut Arrival)) {
        self.ingress_free_ps += by_ps;
        self.next_slot_ps = self.next_slot_ps.map(|slot_ps| slot_ps + by_ps);
        self.waiting.iter_mut().for_each(|(_, arrival)| each(arrival));
    }

    /// Returns the first waiting packet.
    pub fn first_waiting(&self) -> Option<&(Option<ProgramId>, Box<Arrival>)> {
        self.waiting.front()
    }

    /// Takes the first waiting packet and sets the time of the next ingress slot.
    pub fn take_waiting(&mut self) -> Option<(Option<ProgramId>, Box<Arrival>)> {
        let first = self.waiting.pop_front()?;
        self.ingress_free_ps = self.now_ps.saturating_add(self.options.ingress_interval_ps);
        self.next_slot_ps = (!self.waiting.is_empty()).then_some(self.ingress_free_ps);
        Some(first)
    }

    /// Counts a drop and adds its step to the trace, with the statement that set the drop slot if that is the reason.
    pub fn drop_packet(&mut self, reason: DropReason, pass: Option<PassId>) {
        self.drop_at(reason, pass, None);
    }

    fn drop_at(
        &mut self,
        reason: DropReason,
        pass: Option<PassId>,
        refused_by: Option<OutputPath>,
    ) {
        self.statistics.dropped(reason);
        if let Some(tap) = &mut self.tap {
            tap.record(self.now_ps, TappedEvent::Dropped { reason, refused_by });
        }
        let (Some(recorder), Some(pass)) = (&mut self.recorder, pass) else { return };
        let node = TraceNode::new("drop", reason.name()).with("text", reason.sentence());
        let is_by_program = matches!(
            reason,
            DropReason::IngressDrop | DropReason::EgressDrop | DropReason::DropControl
        );
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

    /// Begins a pass of the trace, if the device records traces. `number` is the number of the pass, from 0.
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

    /// Adds the recorded steps of a block to a pass of the trace.
    pub fn add_trace(
        &mut self,
        pass: Option<PassId>,
        trees: Vec<TraceNode>,
        last_store: Option<StoreSite>,
    ) {
        if let (Some(recorder), Some(pass)) = (&mut self.recorder, pass) {
            recorder.add(pass, trees);
            recorder.note_store(pass, last_store);
        }
    }

    /// Takes the log, tapped events and trace of a pass's blocks, and sets the pass of the tapped events that follow.
    pub fn take_record(&mut self, pass: &mut Pass) {
        let record = &mut pass.record;
        if !record.log.is_empty() {
            self.log.append(&mut record.log);
        }
        if let Some(tap) = &mut self.tap {
            tap.set_pass(pass.run.packet, pass.run.pass_number);
            if let Some(seen) = &mut record.tap {
                tap.append(seen);
            }
        }
        if self.recorder.is_some() {
            let trees = std::mem::take(&mut record.trace);
            self.add_trace(pass.run.pass, trees, record.last_store.take());
        }
    }

    /// Returns whether the caller takes some of the passes that begin now.
    #[inline]
    pub fn caller_takes_any(&self) -> bool {
        self.caller_passes != CallerPasses::default() || self.awaited_packet.is_some()
    }

    /// Returns whether the caller takes this pass.
    pub fn caller_takes(&mut self, pass: &Pass) -> bool {
        match pass.gress() {
            Gress::Ingress => {
                let is_awaited = self.awaited_packet == Some(pass.run.packet);
                if is_awaited {
                    self.awaited_packet = None;
                }
                is_awaited || self.caller_passes.ingress
            }
            Gress::Egress => self.caller_passes.egress,
        }
    }

    /// Puts an item into a queue. Counts a refusal as a drop. Returns whether the item is queued.
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
            if let Some(tap) = &mut self.tap {
                tap.record(self.now_ps, TappedEvent::Queued { path, queue, length_bytes });
            }
            return true;
        };
        let reason = match refusal {
            Refusal::NoSuchQueue => DropReason::NoSuchQueue,
            Refusal::QueueFull => DropReason::QueueFull,
            Refusal::BufferFull => DropReason::BufferFull,
        };
        let pass = match item {
            Queued::Packet(_, packet) => packet.parent,
            Queued::Arrival(_, arrival) => arrival.parent,
            Queued::Emitted(_, packet) => packet.parent,
        };
        self.drop_at(reason, pass, Some(path));
        false
    }

    /// Transmits a packet that completed the fast path. Unlike [`SwitchCore::transmit`] it does not count the packet:
    /// compiled code has counted it. A packet with a planned departure has the length for its queue.
    pub fn transmit_completed(
        &mut self,
        program: ProgramId,
        port: u32,
        queue: u32,
        mut arrival: Box<Arrival>,
        queued_bytes: Option<u32>,
    ) {
        let comes_back = self.traffic.is_loopback(port);
        let length = arrival.length_bytes() as u64;
        let time_ps = match (queued_bytes, self.wires_take_time) {
            (Some(queued), _) => self.traffic.plan(port, queued.into(), length, self.now_ps),
            (None, true) => self.traffic.transmit(OutputPath::Port(port), length, self.now_ps),
            (None, false) => self.now_ps,
        };
        let time_ps = time_ps.saturating_add(self.options.egress_latency_ps);
        if comes_back {
            arrival.port = port;
            arrival.arrived_ps = time_ps;
            arrival.source = IngressSource::Loopback;
            return self.send_back_by_loopback(arrival);
        }
        let bytes = (std::mem::take(&mut arrival.bytes), arrival.absent_bytes);
        self.list_sent(program, port, time_ps, bytes, arrival.reception.number, queue);
        self.spare_arrival = Some(arrival);
    }

    /// Makes an arrival from outside, now.
    pub fn arrival(&mut self, number: u64, port: u32, mut bytes: (Vec<u8>, u32)) -> Box<Arrival> {
        if let Some(mut spare) = self.spare_arrival.take()
            && spare.reuse(number, port, self.now_ps, &mut bytes)
        {
            return spare;
        }
        Box::new(Arrival::from_wire(number, port, self.now_ps, bytes))
    }

    /// Adds a packet to the transmitted ones.
    pub fn list_sent(
        &mut self,
        program: ProgramId,
        port: u32,
        time_ps: u64,
        (bytes, absent_bytes): (Vec<u8>, u32),
        packet: u64,
        queue: u32,
    ) {
        if self.options.cpu_port == Some(port) {
            self.cpu_packets.push((self.transmitted.len(), program));
        }
        let sequence = self.sent;
        self.sent += 1;
        self.transmitted.push(Transmitted {
            port,
            time_ps,
            bytes,
            absent_bytes,
            packet,
            queue,
            sequence,
        });
    }

    /// Adds a digest.
    pub fn send_digest(&mut self, program: ProgramId, digest: DigestMessage) {
        self.digests.push(digest);
        self.digest_programs.push(program);
    }

    /// Schedules the arrival of a looped-back packet.
    pub fn send_back_by_loopback(&mut self, mut arrival: Box<Arrival>) {
        let key = EventKey {
            time_ps: arrival.arrived_ps,
            class: LOOPBACK_CLASS,
            port: arrival.port,
            sequence: self.next_sequence(),
        };
        if self.looped_back.back().is_none_or(|(last, _)| *last < key) {
            self.looped_back.push_back((key, arrival));
        } else {
            self.end_circulation(&mut arrival);
            self.events.insert(key, Event::Loopback(arrival));
        }
    }

    /// Returns whether there is no event; dequeues are not events.
    #[inline]
    pub fn has_no_event(&self) -> bool {
        self.events.is_empty() && self.looped_back.is_empty() && self.next_slot_ps.is_none()
    }

    /// Returns the next event; dequeues are not events.
    pub fn next_event(&self) -> Option<(EventKey, NextEvent)> {
        let event = self.events.first_key_value().map(|(key, _)| (*key, NextEvent::Listed));
        let back = self.looped_back.front().map(|(key, _)| (*key, NextEvent::LoopedBack));
        let slot = self.next_slot_ps.map(|time_ps| {
            let key = EventKey { time_ps, class: INGRESS_SLOT_CLASS, port: 0, sequence: 0 };
            (key, NextEvent::IngressSlot)
        });
        [event, back, slot].into_iter().flatten().min_by_key(|(key, _)| *key)
    }

    /// Returns whether there is no event now or later except endless ones later. Queues do not count.
    #[inline]
    pub fn is_idle(&self) -> bool {
        match self.events.first_key_value() {
            None => self.looped_back.is_empty() && self.next_slot_ps.is_none(),
            Some((key, _)) => key.time_ps > self.now_ps && self.has_only_endless_events(),
        }
    }

    /// Transmits a packet by a port: out of the device, or back into it by a loopback port.
    pub fn transmit(
        &mut self,
        program: ProgramId,
        departure: Departure,
        reception: Arc<Reception>,
        bytes: Vec<u8>,
        pass: Option<PassId>,
    ) {
        let Departure { port, queue, dequeued_ps, time_to_wire_ps } = departure;
        let path = OutputPath::Port(port);
        let arrives_ps = self.traffic.transmit(path, bytes.len() as u64, dequeued_ps);
        let time_ps = arrives_ps.saturating_add(time_to_wire_ps);
        self.statistics.sent(port, bytes.len());
        let comes_back = self.options.traffic_manager.is_loopback(port);
        if let Some(tap) = &mut self.tap {
            let bytes = bytes.clone();
            let what = TappedEvent::Sent { port, queue, arrives_ps: time_ps, comes_back, bytes };
            tap.record(self.now_ps, what);
        }
        let length = bytes.len();
        self.note(pass, || {
            TraceNode::new("transmit", "")
                .with("port", u64::from(port))
                .with("time_ps", time_ps)
                .with("length_bytes", length as u64)
        });
        if comes_back {
            let mut arrival = Arrival {
                reception,
                source: IngressSource::Loopback,
                port,
                arrived_ps: time_ps,
                bytes,
                absent_bytes: 0,
                preserved: Vec::new(),
                parent: pass,
                circulating: None,
            };
            self.begin_circulation(&mut arrival);
            return self.send_back_by_loopback(Box::new(arrival));
        }
        self.list_sent(program, port, time_ps, (bytes, 0), reception.number, queue);
    }
}
