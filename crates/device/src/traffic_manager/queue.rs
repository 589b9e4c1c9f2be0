// SPDX-License-Identifier: Apache-2.0
//! `Queue`: a queue of a path with its packets, pauses and statistics. The parent module chooses among the queues of a
//! path.

use super::depth_times::DepthTimes;
use crate::options::PortOptions;
use crate::wire::PICOSECONDS_PER_SECOND;
use std::collections::VecDeque;

/// A packet that waits in a queue, and whose departure is decided ([`super::planned`]).
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    pub length_bytes: u64,
    /// Its length on the wire.
    pub sent_bytes: u64,
    pub enqueued_ps: u64,
    pub starts_ps: u64,
}

/// A packet in a queue.
#[derive(Debug)]
pub(super) struct Waiting<T> {
    pub item: T,
    pub length_bytes: u64,
    pub enqueued_ps: u64,
    pub eligible_ps: u64,
}

/// Statistics of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStatistics {
    /// Packets in it now.
    pub depth_packets: u64,
    /// Bytes in it now.
    pub depth_bytes: u64,
    /// Largest number of packets that were in it for any time; packets that do not wait do not count.
    pub peak_packets: u64,
    /// Largest number of bytes that were in it for any time.
    pub peak_bytes: u64,
    /// Time for which it was paused so far, by users or by flow control, in picoseconds.
    pub paused_ps: u64,
    /// Number of pauses by flow control; a renewed pause counts once.
    pub flow_control_pauses: u64,
    /// Packets that found it or the shared buffer full.
    pub refused_packets: u64,
    /// Time that packets have waited in it, in picoseconds, those in it included. Divided by a time, it is the mean number
    /// of packets in the queue over that time (Little 1961).
    pub waited_ps: u128,
}

/// Returns the time between packets at a rate in packets per second; 0 is no limit, as in BMv2.
pub(super) fn gap_ps(rate_pps: u64) -> u64 {
    if rate_pps == 0 { 0 } else { PICOSECONDS_PER_SECOND.div_ceil(rate_pps) }
}

#[derive(Debug)]
pub(super) struct Queue<T> {
    pub packets: VecDeque<Waiting<T>>,
    /// In front of `packets`.
    planned: VecDeque<Planned>,
    pub depth_limit_packets: u32,
    depth_limit_bytes: Option<u64>,
    pub gap_ps: u64,
    pub last_eligible_ps: Option<u64>,
    pub congested: bool,
    /// Paused by a user.
    paused: bool,
    path_paused: bool,
    flow_paused_until_ps: Option<u64>,
    /// Begin of the current pause.
    paused_since_ps: Option<u64>,
    /// Counters and peaks so far; its current depths are not used.
    counted: QueueStatistics,
    bytes: u64,
    depth_times: DepthTimes,
    /// Until when `depth_times` are complete.
    accounted_ps: u64,
}

impl<T> Queue<T> {
    pub fn new(options: &PortOptions) -> Queue<T> {
        Queue {
            packets: VecDeque::new(),
            planned: VecDeque::new(),
            depth_limit_packets: options.queue_depth_packets,
            depth_limit_bytes: options.queue_depth_bytes,
            gap_ps: gap_ps(options.queue_rate_pps),
            last_eligible_ps: None,
            congested: false,
            paused: false,
            path_paused: false,
            flow_paused_until_ps: None,
            paused_since_ps: None,
            counted: QueueStatistics::default(),
            bytes: 0,
            depth_times: DepthTimes::default(),
            accounted_ps: 0,
        }
    }

    /// Returns whether a packet of this length has no room.
    pub fn is_full(&self, length_bytes: u64) -> bool {
        let fits = |limit: u64| self.bytes.saturating_add(length_bytes) <= limit;
        self.depth() >= self.depth_limit_packets as usize
            || self.depth() > 0 && !self.depth_limit_bytes.is_none_or(fits)
    }

    /// The number of packets in it; planned ones that have left count until [`Queue::start_planned`].
    pub fn depth(&self) -> usize {
        self.packets.len() + self.planned.len()
    }

    /// The number of packets in it at a time.
    pub fn depth_at(&self, now_ps: u64) -> usize {
        self.depth() - self.left_until(now_ps)
    }

    /// The number of planned packets that have left until a time.
    fn left_until(&self, now_ps: u64) -> usize {
        self.planned.partition_point(|one| one.starts_ps <= now_ps)
    }

    /// Adds a packet whose departure is decided.
    pub fn plan(&mut self, planned: Planned) {
        self.start_planned(planned.enqueued_ps);
        self.account(planned.enqueued_ps);
        self.bytes = self.bytes.saturating_add(planned.length_bytes);
        self.planned.push_back(planned);
    }

    /// Returns the planned packets that leave later than now, and their bytes on the wire.
    pub fn leaving_later(&self, now_ps: u64) -> (u64, u64) {
        let later = self.planned.iter().skip(self.left_until(now_ps));
        later.fold((0, 0), |(packets, bytes), one| (packets + 1, bytes + one.sent_bytes))
    }

    /// Removes the planned packets that have left until now. Returns when the next one leaves.
    pub fn start_planned(&mut self, now_ps: u64) -> Option<u64> {
        while let Some(first) = self.planned.front() {
            if first.starts_ps > now_ps {
                return Some(first.starts_ps);
            }
            // It has waited, or it would not be here.
            self.counted.waited_ps += u128::from(first.starts_ps.saturating_sub(first.enqueued_ps));
            let (length_bytes, first_starts_ps) = (first.length_bytes, first.starts_ps);
            self.count_depth();
            self.account(first_starts_ps);
            self.planned.pop_front();
            self.bytes = self.bytes.saturating_sub(length_bytes);
        }
        None
    }

    /// Returns whether the queue itself is paused.
    pub fn is_held(&self) -> bool {
        self.paused || self.flow_paused_until_ps.is_some()
    }

    /// Returns whether a packet would leave the queue at once without an effect on it, if the path may send.
    pub fn is_open(&self, now_ps: u64) -> bool {
        !self.is_held()
            && !self.congested
            && self.gap_ps == 0
            && self.last_eligible_ps.is_none_or(|last| last <= now_ps)
            && self.depth_limit_packets > 0
            && self.depth() == 0
    }

    /// Returns whether only flow control pauses it.
    pub fn is_held_by_flow_control(&self) -> bool {
        !self.paused && !self.path_paused && self.flow_paused_until_ps.is_some()
    }

    pub fn flow_paused_until_ps(&self) -> Option<u64> {
        self.flow_paused_until_ps
    }

    /// Counts a packet that has no room.
    pub fn refuse(&mut self) {
        self.counted.refused_packets += 1;
    }

    pub fn push(&mut self, waiting: Waiting<T>) {
        self.account(waiting.enqueued_ps);
        self.bytes = self.bytes.saturating_add(waiting.length_bytes);
        self.packets.push_back(waiting);
    }

    /// Takes the first packet. If it has waited, all packets in the queue have been there together, so the peak counts
    /// them.
    pub fn pop(&mut self, now_ps: u64) -> Option<Waiting<T>> {
        self.start_planned(now_ps);
        self.account(now_ps);
        let has_waited = self.packets.front().is_some_and(|head| head.enqueued_ps < now_ps);
        if has_waited {
            self.count_depth();
        }
        let waiting = self.packets.pop_front()?;
        self.counted.waited_ps += u128::from(now_ps.saturating_sub(waiting.enqueued_ps));
        self.bytes = self.bytes.saturating_sub(waiting.length_bytes);
        Some(waiting)
    }

    /// Accounts for the time until now, in which the depth was what it is.
    #[inline]
    fn account(&mut self, now_ps: u64) {
        let time_ps = now_ps.saturating_sub(self.accounted_ps);
        self.depth_times.add(self.depth(), time_ps);
        self.accounted_ps += time_ps;
    }

    /// Returns for how long the queue had how many packets, until now.
    pub fn depth_times(&self, now_ps: u64) -> DepthTimes {
        let mut times = self.depth_times.clone();
        let mut accounted_ps = self.accounted_ps;
        let left = self.planned.iter().take(self.left_until(now_ps)).enumerate();
        for (before, planned) in left {
            let time_ps = planned.starts_ps.saturating_sub(accounted_ps);
            times.add(self.depth() - before, time_ps);
            accounted_ps += time_ps;
        }
        times.add(self.depth_at(now_ps), now_ps.saturating_sub(accounted_ps));
        times
    }

    fn count_depth(&mut self) {
        let depth = self.depth() as u64;
        let counted = &mut self.counted;
        counted.peak_packets = counted.peak_packets.max(depth);
        counted.peak_bytes = counted.peak_bytes.max(self.bytes);
    }

    pub fn set_paused(&mut self, paused: bool, now_ps: u64) {
        self.paused = paused;
        self.count_pause(now_ps);
    }

    pub fn set_path_paused(&mut self, paused: bool, now_ps: u64) {
        self.path_paused = paused;
        self.count_pause(now_ps);
    }

    pub fn set_flow_paused(&mut self, until_ps: Option<u64>, now_ps: u64) {
        if self.flow_paused_until_ps.is_none() && until_ps.is_some() {
            self.counted.flow_control_pauses += 1;
        }
        self.flow_paused_until_ps = until_ps;
        self.count_pause(now_ps);
    }

    fn count_pause(&mut self, now_ps: u64) {
        let is_paused = self.is_held() || self.path_paused;
        match (self.paused_since_ps, is_paused) {
            (None, true) => self.paused_since_ps = Some(now_ps),
            (Some(since_ps), false) => {
                self.counted.paused_ps += now_ps.saturating_sub(since_ps);
                self.paused_since_ps = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }

    /// Returns the statistics at a time.
    pub fn statistics(&self, now_ps: u64) -> QueueStatistics {
        let counted = self.counted;
        let waits_ps = |one: &Waiting<T>| u128::from(now_ps.saturating_sub(one.enqueued_ps));
        let planned_ps =
            |one: &Planned| u128::from(now_ps.min(one.starts_ps).saturating_sub(one.enqueued_ps));
        let waiting_ps: u128 = self.packets.iter().map(waits_ps).sum();
        let waiting_ps = waiting_ps + self.planned.iter().map(planned_ps).sum::<u128>();
        let left = self.planned.iter().take(self.left_until(now_ps));
        let left_bytes: u64 = left.map(|one| one.length_bytes).sum();
        let paused_now_ps = self.paused_since_ps.map_or(0, |since| now_ps.saturating_sub(since));
        QueueStatistics {
            depth_packets: self.depth_at(now_ps) as u64,
            depth_bytes: self.bytes - left_bytes,
            // Planned packets that have left meanwhile were in it together.
            peak_packets: counted.peak_packets.max(self.depth() as u64),
            peak_bytes: counted.peak_bytes.max(self.bytes),
            paused_ps: counted.paused_ps + paused_now_ps,
            flow_control_pauses: counted.flow_control_pauses,
            refused_packets: counted.refused_packets,
            waited_ps: counted.waited_ps + waiting_ps,
        }
    }
}
