// SPDX-License-Identifier: Apache-2.0
//! `TrafficManager`: output paths with rates, latencies, priority queues, pause states and a shared buffer. It stores
//! packets of any type and schedules which path may send when.

mod depth_times;
mod gates;
mod paths;
mod planned;
mod queue;

pub use crate::wire::{OutputPath, PICOSECONDS_PER_SECOND, transmission_ps};
pub use depth_times::DepthTimes;
pub(crate) use gates::{GATE_ROWS, GateKind};
pub(crate) use planned::DEPTH;
pub use queue::QueueStatistics;

use crate::options::{PortOptions, TrafficManagerOptions};
use gates::Gates;
use paths::{Path, Paths, wire_time_ps};
use planned::Plans;
use queue::{Queue, Waiting, gap_ps};
use std::collections::BTreeSet;

/// Why a packet was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The path has no queue of that number.
    NoSuchQueue,
    /// The queue holds as many packets as it may.
    QueueFull,
    /// The shared buffer has no room for the packet's bytes.
    BufferFull,
}

/// A dequeued packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dequeued<T> {
    /// The packet.
    pub item: T,
    /// The queue it was in.
    pub queue: u32,
    /// When it was queued, in picoseconds.
    pub enqueued_ps: u64,
    /// Number of packets that remain in its queue.
    pub depth_packets: u32,
}

/// A signal that a queue became congested or relieved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionSignal {
    /// When, in picoseconds.
    pub time_ps: u64,
    /// Which path.
    pub path: OutputPath,
    /// Which of its queues.
    pub queue: u32,
    /// Whether senders should pause (`true`) or may resume (`false`).
    pub congested: bool,
}

/// Output paths with their queues.
///
/// Within a path the highest numbered queue that may send goes first (strict priority). Among paths
/// that may send at the same time the lower path in the order of [`OutputPath`] goes first.
#[derive(Debug)]
pub struct TrafficManager<T> {
    options: TrafficManagerOptions,
    paths: Paths<T>,
    schedule: BTreeSet<(u64, OutputPath)>,
    buffered_bytes: u64,
    /// Largest number of bytes so far that stayed for any time.
    peak_buffered_bytes: u64,
    signals: Vec<CongestionSignal>,
    /// Whether every port transmits packets at once; `None` after a change of a path.
    ports_are_ideal: Option<bool>,
    /// Whether every port transmits a single packet at once if nothing else waits; `None` after a change of a path.
    ports_are_prompt: Option<bool>,
    /// Time at which the last busy wire is idle again.
    last_busy_ps: u64,
    /// Number of packets in all queues.
    waiting_packets: u64,
    /// Created on first use.
    gates: Option<Box<Gates>>,
    /// Whether departures may be planned: queues share no buffer, and no port is in loopback.
    may_plan: bool,
    /// Created on first use.
    plans: Option<Box<Plans>>,
    /// Time of the last refresh of the gates.
    now_ps: u64,
}

impl<T> TrafficManager<T> {
    /// Makes a traffic manager; paths are created on first use.
    pub fn new(options: TrafficManagerOptions) -> TrafficManager<T> {
        let all = options.ports.values().chain([&options.default_port]);
        let has_loopback = all.into_iter().any(|port| port.loopback);
        TrafficManager {
            may_plan: options.shared_buffer_bytes.is_none() && !has_loopback,
            options,
            paths: Paths::new(),
            schedule: BTreeSet::new(),
            buffered_bytes: 0,
            peak_buffered_bytes: 0,
            signals: Vec::new(),
            ports_are_ideal: None,
            ports_are_prompt: None,
            last_busy_ps: 0,
            waiting_packets: 0,
            gates: None,
            plans: None,
            now_ps: 0,
        }
    }

    #[inline]
    fn has_room(&self, length_bytes: u64) -> bool {
        match self.options.shared_buffer_bytes {
            None => true,
            Some(limit) => self.buffered_bytes.saturating_add(length_bytes) <= limit,
        }
    }

    /// Invalidates the cached summaries of ports after a change of a path.
    fn invalidate_port_checks(&mut self) {
        self.ports_are_ideal = None;
        self.ports_are_prompt = None;
    }

    /// Returns whether a packet of at most `length_bytes`, queued now for any port, would leave its queue at once to an idle
    /// wire, without an effect on queues and signals. The wire may take time.
    pub fn can_transmit_now(&mut self, length_bytes: u64, now_ps: u64) -> bool {
        self.waiting_packets == 0
            && self.last_busy_ps <= now_ps
            && self.has_room(length_bytes)
            && self.has_open_ports(now_ps)
    }

    /// Returns whether a packet would leave any queue of any port at once, if the wire is idle.
    pub(crate) fn has_open_ports(&mut self, now_ps: u64) -> bool {
        match self.ports_are_prompt {
            Some(true) => true,
            Some(false) | None => {
                let is_open = |path: &Path<T>| path.has_open_queues(now_ps);
                let is_prompt = self.are_ports(PortOptions::is_prompt, is_open);
                self.ports_are_prompt = Some(is_prompt);
                is_prompt
            }
        }
    }

    /// Returns whether a packet of at most `length_bytes`, queued now for any port, would leave the device at once, without
    /// an effect on queues and signals: its wire is idle and takes no time. Ignores the internal paths.
    #[inline]
    pub fn can_bypass_queues(&mut self, length_bytes: u64, now_ps: u64) -> bool {
        self.has_room(length_bytes)
            && self.next_ready().is_none_or(|(time_ps, _)| time_ps > now_ps)
            && match self.ports_are_ideal {
                Some(true) => true,
                Some(false) | None => self.find_ideal(now_ps),
            }
    }

    #[cold]
    fn find_ideal(&mut self, now_ps: u64) -> bool {
        // A busy wire becomes idle later, so it does not count as ideal now.
        let is_open = |path: &Path<T>| path.busy_until_ps <= now_ps && path.has_open_queues(now_ps);
        let is_ideal = self.are_ports(PortOptions::is_ideal, is_open);
        self.ports_are_ideal = Some(is_ideal);
        is_ideal
    }

    /// Brings the gates up to date. Returns whether a packet of at most `length_bytes` may use them
    /// ([`TrafficManager::gates`]).
    pub(crate) fn refresh_gates(&mut self, length_bytes: u64, now_ps: u64) -> bool {
        if !self.has_room(length_bytes)
            || self.next_ready().is_some_and(|(time_ps, _)| time_ps <= now_ps)
        {
            return false;
        }
        self.now_ps = now_ps;
        let new = || Box::new(Gates::new(&self.options, &self.paths, now_ps));
        self.gates.get_or_insert_with(new).advance_to(now_ps, &self.paths);
        true
    }

    /// Returns the gates by port, after [`TrafficManager::refresh_gates`]: a packet whose gate is open leaves its queue at
    /// once to an idle wire, without an effect on queues and signals.
    pub(crate) fn gates(&self, kind: GateKind) -> &[u64] {
        self.gates.as_ref().map_or(&[], |gates| gates.words(kind))
    }

    /// Returns whether gates are in use, because packets had to wait before.
    pub(crate) fn has_gates(&self) -> bool {
        self.gates.is_some()
    }

    /// Returns whether a port is in loopback.
    pub fn is_loopback(&mut self, port: u32) -> bool {
        self.path(OutputPath::Port(port)).options.loopback
    }

    /// Returns whether most ports transmit packets at once.
    pub(crate) fn is_mostly_ideal(&self) -> bool {
        self.options.default_port.is_ideal()
    }

    fn are_ports(
        &self,
        are_so: fn(&PortOptions) -> bool,
        is_open: impl Fn(&Path<T>) -> bool,
    ) -> bool {
        let options =
            std::iter::once(&self.options.default_port).chain(self.options.ports.values());
        options.into_iter().all(|options| are_so(options) && options.queue_depth_packets > 0)
            && self
                .paths
                .iter()
                .filter(|(path, _)| matches!(path, OutputPath::Port(_)))
                .all(|(_, path)| are_so(&path.options) && is_open(path))
    }

    fn path(&mut self, path: OutputPath) -> &mut Path<T> {
        let options = &self.options;
        self.paths.get_or_insert(path, || Path::new(options.of(path).clone()))
    }

    /// Updates the schedule and the gates after a change of a path.
    fn reschedule(&mut self, path: OutputPath) {
        let Some(state) = self.paths.get_mut(path) else { return };
        if let Some(gates) = &mut self.gates {
            gates.update(path, state, self.now_ps);
        }
        let ready = state.ready_ps();
        if ready != state.scheduled_ps {
            if let Some(old) = state.scheduled_ps {
                self.schedule.remove(&(old, path));
            }
            if let Some(new) = ready {
                self.schedule.insert((new, path));
            }
            state.scheduled_ps = ready;
        }
        self.replan(path);
    }

    /// Returns the number of packets in a queue.
    pub fn depth_packets(&self, path: OutputPath, queue: u32, now_ps: u64) -> u32 {
        self.paths
            .get(path)
            .and_then(|state| state.queues.get(queue as usize))
            .map_or(0, |queue| u32::try_from(queue.depth_at(now_ps)).unwrap_or(u32::MAX))
    }

    /// Returns the number of queues of a path.
    pub fn queue_count(&self, path: OutputPath) -> u32 {
        let declared = self.options.of(path).queue_count.max(1);
        self.paths.get(path).map_or(declared, |state| state.queues.len() as u32)
    }

    /// Returns the number of bytes in all queues.
    pub fn buffered_bytes(&self) -> u64 {
        self.buffered_bytes
    }

    /// Puts a packet into a queue, or returns it with the reason of the refusal.
    pub fn enqueue(
        &mut self,
        path: OutputPath,
        queue: u32,
        length_bytes: u64,
        now_ps: u64,
        item: T,
    ) -> Result<(), (Refusal, T)> {
        let buffer_limit = self.options.shared_buffer_bytes;
        let buffered = self.buffered_bytes;
        let state = self.path(path);
        let thresholds = state.options.congestion;
        let Some(waiting) = state.queues.get_mut(queue as usize) else {
            return Err((Refusal::NoSuchQueue, item));
        };
        waiting.start_planned(now_ps);
        if waiting.is_full(length_bytes) {
            waiting.refuse();
            return Err((Refusal::QueueFull, item));
        }
        if buffer_limit.is_some_and(|limit| buffered.saturating_add(length_bytes) > limit) {
            waiting.refuse();
            return Err((Refusal::BufferFull, item));
        }
        let eligible_ps = match waiting.last_eligible_ps {
            Some(last) => now_ps.max(last.saturating_add(waiting.gap_ps)),
            None => now_ps,
        };
        if waiting.gap_ps > 0 {
            waiting.last_eligible_ps = Some(eligible_ps);
        }
        waiting.push(Waiting { item, length_bytes, enqueued_ps: now_ps, eligible_ps });
        let crossed = !waiting.congested
            && thresholds.is_some_and(|at| waiting.packets.len() >= at.pause_packets as usize);
        waiting.congested |= crossed;
        self.buffered_bytes = buffered.saturating_add(length_bytes);
        self.waiting_packets += 1;
        if crossed {
            self.signals.push(CongestionSignal { time_ps: now_ps, path, queue, congested: true });
        }
        self.reschedule(path);
        Ok(())
    }

    /// Returns the next time at which a path may send, and the path.
    #[inline]
    pub fn next_ready(&self) -> Option<(u64, OutputPath)> {
        self.schedule.first().copied()
    }

    /// Dequeues the packet that a path sends now, if it may send.
    pub fn dequeue(&mut self, path: OutputPath, now_ps: u64) -> Option<Dequeued<T>> {
        let state = self.paths.get_mut(path)?;
        if state.paused || state.busy_until_ps > now_ps {
            return None;
        }
        let thresholds = state.options.congestion;
        let (number, queue) = state.queues.iter_mut().enumerate().rev().find(|(_, queue)| {
            !queue.is_held() && queue.packets.front().is_some_and(|head| head.eligible_ps <= now_ps)
        })?;
        let waiting = queue.pop(now_ps)?;
        if waiting.enqueued_ps < now_ps {
            self.peak_buffered_bytes = self.peak_buffered_bytes.max(self.buffered_bytes);
        }
        let depth = queue.packets.len();
        let relieved =
            queue.congested && thresholds.is_none_or(|at| depth <= at.resume_packets as usize);
        if relieved {
            queue.congested = false;
        }
        let queue = number as u32;
        self.buffered_bytes = self.buffered_bytes.saturating_sub(waiting.length_bytes);
        self.waiting_packets -= 1;
        if relieved {
            self.signals.push(CongestionSignal { time_ps: now_ps, path, queue, congested: false });
        }
        self.reschedule(path);
        Some(Dequeued {
            item: waiting.item,
            queue,
            enqueued_ps: waiting.enqueued_ps,
            depth_packets: u32::try_from(depth).unwrap_or(u32::MAX),
        })
    }

    /// Reserves the wire of a path for the transmission time of a packet that reaches the wire later.
    pub fn reserve(&mut self, path: OutputPath, length_bytes: u64, now_ps: u64) {
        let state = self.path(path);
        let until_ps = now_ps.saturating_add(wire_time_ps(&state.options, length_bytes));
        state.busy_until_ps = state.busy_until_ps.max(until_ps);
        self.last_busy_ps = self.last_busy_ps.max(until_ps);
        self.reschedule(path);
    }

    /// Transmits a packet on a path's wire, at the earliest when the wire is idle. Returns the arrival of its last bit after
    /// the path's latency. For packets that take time from the queue to the wire, all times are those at the queue.
    pub fn transmit(&mut self, path: OutputPath, length_bytes: u64, now_ps: u64) -> u64 {
        let state = self.path(path);
        let begins_ps = now_ps.max(state.wire_idle_ps);
        let sent_ps = begins_ps.saturating_add(wire_time_ps(&state.options, length_bytes));
        state.wire_idle_ps = sent_ps;
        state.busy_until_ps = state.busy_until_ps.max(sent_ps);
        let arrives_ps = sent_ps.saturating_add(state.options.latency_ps);
        let matters = sent_ps > now_ps || state.scheduled_ps.is_some();
        self.last_busy_ps = self.last_busy_ps.max(sent_ps);
        if matters {
            self.reschedule(path);
        }
        arrives_ps
    }

    /// Pauses or resumes a queue, or the whole path if `queue` is `None`. A paused queue still accepts packets, and a packet
    /// on the wire is not interrupted. Returns whether the queue exists.
    pub fn set_paused(
        &mut self,
        path: OutputPath,
        queue: Option<u32>,
        paused: bool,
        now_ps: u64,
    ) -> bool {
        self.invalidate_port_checks();
        let state = self.path(path);
        match queue {
            None => {
                state.paused = paused;
                state.queues.iter_mut().for_each(|queue| queue.set_path_paused(paused, now_ps));
            }
            Some(number) => match state.queues.get_mut(number as usize) {
                Some(queue) => queue.set_paused(paused, now_ps),
                None => return false,
            },
        }
        if !paused {
            // No packet may leave before the time of the resumption.
            state.busy_until_ps = state.busy_until_ps.max(now_ps);
        }
        self.reschedule(path);
        true
    }

    /// Pauses a queue by flow control until a time, or resumes it. This pause is independent of
    /// [`TrafficManager::set_paused`]: a queue sends when neither pauses it. Returns whether the queue exists.
    pub fn set_flow_paused(
        &mut self,
        path: OutputPath,
        queue: u32,
        until_ps: Option<u64>,
        now_ps: u64,
    ) -> bool {
        self.invalidate_port_checks();
        let state = self.path(path);
        let Some(found) = state.queues.get_mut(queue as usize) else { return false };
        found.set_flow_paused(until_ps, now_ps);
        if until_ps.is_none() {
            state.busy_until_ps = state.busy_until_ps.max(now_ps);
        }
        self.reschedule(path);
        true
    }

    /// Ends the flow control pause of a queue, unless a later frame has changed its end.
    pub fn end_flow_pause(&mut self, path: OutputPath, queue: u32, now_ps: u64) {
        let found = self.paths.get(path).and_then(|state| state.queues.get(queue as usize));
        if found.is_some_and(|found| found.flow_paused_until_ps() == Some(now_ps)) {
            self.set_flow_paused(path, queue, None, now_ps);
        }
    }

    /// Returns whether packets wait only for the end of a flow control pause.
    pub fn holds_flow_paused(&self) -> bool {
        let is_one =
            |queue: &Queue<T>| queue.is_held_by_flow_control() && !queue.packets.is_empty();
        self.paths.iter().any(|(_, path)| path.queues.iter().any(is_one))
    }

    /// Returns the statistics of a queue; `None` if it does not exist.
    pub fn queue_statistics(
        &self,
        path: OutputPath,
        queue: u32,
        now_ps: u64,
    ) -> Option<QueueStatistics> {
        match self.paths.get(path) {
            Some(state) => Some(state.queues.get(queue as usize)?.statistics(now_ps)),
            None => (queue < self.queue_count(path)).then(QueueStatistics::default),
        }
    }

    /// Returns for how long a queue had how many packets; `None` if it does not exist.
    pub fn depth_times(&self, path: OutputPath, queue: u32, now_ps: u64) -> Option<DepthTimes> {
        match self.paths.get(path) {
            Some(state) => Some(state.queues.get(queue as usize)?.depth_times(now_ps)),
            None => (queue < self.queue_count(path)).then(DepthTimes::default),
        }
    }

    /// Returns the rate of a path in bits per second; `None` is infinite.
    pub fn rate_bps(&self, path: OutputPath) -> Option<u64> {
        match self.paths.get(path) {
            Some(state) => state.options.rate_bps,
            None => self.options.of(path).rate_bps,
        }
    }

    /// Returns the largest number of bytes that all queues held for any time so far.
    pub fn peak_buffered_bytes(&self) -> u64 {
        self.peak_buffered_bytes.max(self.buffered_bytes)
    }

    /// Sets the capacity of a queue, or of every queue of the path, in packets. Packets above a smaller limit stay. Returns
    /// whether the queue exists.
    pub fn set_depth_limit(&mut self, path: OutputPath, queue: Option<u32>, packets: u32) -> bool {
        self.for_queues(path, queue, |queue| queue.depth_limit_packets = packets)
    }

    /// Sets the rate of a queue, or of every queue of the path, in packets per second; 0 is no limit. The rate applies to
    /// packets queued from now on. Returns whether the queue exists.
    pub fn set_queue_rate(&mut self, path: OutputPath, queue: Option<u32>, rate_pps: u64) -> bool {
        self.for_queues(path, queue, |queue| queue.gap_ps = gap_ps(rate_pps))
    }

    /// Sets a path's rate in bits per second for packets sent from now on; `None` is infinite.
    pub fn set_rate_bps(&mut self, path: OutputPath, rate_bps: Option<u64>) {
        self.invalidate_port_checks();
        self.gates = None;
        self.forget_plans();
        self.path(path).options.rate_bps = rate_bps;
    }

    fn for_queues(
        &mut self,
        path: OutputPath,
        queue: Option<u32>,
        mut change: impl FnMut(&mut Queue<T>),
    ) -> bool {
        self.invalidate_port_checks();
        self.gates = None;
        self.forget_plans();
        let queues = &mut self.path(path).queues;
        match queue {
            None => queues.iter_mut().for_each(change),
            Some(number) => match queues.get_mut(number as usize) {
                Some(queue) => change(queue),
                None => return false,
            },
        }
        true
    }

    /// Returns whether there are congestion signals.
    pub fn has_signals(&self) -> bool {
        !self.signals.is_empty()
    }

    /// Takes the congestion signals since the last call, in order of time.
    pub fn drain_signals(&mut self) -> Vec<CongestionSignal> {
        std::mem::take(&mut self.signals)
    }

    /// Returns the ports in use so far, in order.
    pub fn ports(&self) -> impl Iterator<Item = u32> + '_ {
        self.paths.iter().filter_map(|(path, _)| match path {
            OutputPath::Port(port) => Some(port),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests;
