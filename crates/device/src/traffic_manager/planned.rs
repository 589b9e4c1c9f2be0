// SPDX-License-Identifier: Apache-2.0
//! Planned departures: a port with one queue in use sends its packets in order, so the departure of a packet is known when
//! it is queued. Such a packet is transmitted at once, for a later time; its queue keeps its length and its times, so that
//! depths, refusals and statistics are those of a packet that waits.

use super::TrafficManager;
use super::gates::GATE_ROWS;
use super::paths::{Path, wire_time_ps};
use super::queue::Planned;
use crate::wire::OutputPath;

/// Columns of [`TrafficManager::plan_rows`], each with [`GATE_ROWS`] words.
const CLOSED: usize = 0;
pub(crate) const DEPTH: usize = 1;
const COLUMNS: usize = 2;

/// What compiled code has to know about ports to plan departures.
#[derive(Debug)]
pub(super) struct Plans {
    rows: Vec<u64>,
    /// Ports with planned packets in their queue.
    ports: Vec<u32>,
    /// When the first of these packets leaves.
    next_start_ps: u64,
    /// The length for which the rows hold.
    length_bytes: u64,
}

/// Returns whether a packet of this length may not be planned for a port: it has to wait for more than the packets before
/// it, has an effect on others, or finds no room.
fn is_closed<T>(path: &Path<T>, length_bytes: u64) -> bool {
    let options = &path.options;
    let queue = &path.queues[0];
    !options.is_prompt()
        || options.congestion.is_some()
        || options.flow_control.is_some()
        || path.paused
        || path.queues.iter().any(|queue| !queue.packets.is_empty())
        || queue.is_held()
        || queue.gap_ps > 0
        || queue.is_full(length_bytes)
}

impl<T> TrafficManager<T> {
    /// Brings the rows up to date for packets of at most `length_bytes`. Returns whether packets may be planned.
    pub(crate) fn refresh_plans(&mut self, length_bytes: u64, now_ps: u64) -> bool {
        if !self.may_plan {
            return false;
        }
        match &self.plans {
            Some(plans) if plans.length_bytes >= length_bytes => {
                if plans.next_start_ps <= now_ps {
                    self.start_planned(now_ps);
                }
            }
            _ => self.make_plans(length_bytes, now_ps),
        }
        true
    }

    /// The rows by port: whether packets may not be planned (bit 0), and the packets in the queue.
    pub(crate) fn plan_rows(&self) -> &[u64] {
        self.plans.as_ref().map_or(&[], |plans| &plans.rows)
    }

    #[cold]
    fn make_plans(&mut self, length_bytes: u64, now_ps: u64) {
        let length_bytes = length_bytes.next_power_of_two();
        self.plans = Some(Box::new(Plans {
            rows: vec![0; COLUMNS * GATE_ROWS as usize],
            ports: Vec::new(),
            next_start_ps: u64::MAX,
            length_bytes,
        }));
        for port in 0..GATE_ROWS {
            let is_new = self.paths.get(OutputPath::Port(port)).is_none();
            if is_new {
                let path = Path::<T>::new(self.options.port(port).clone());
                self.set_row(port, is_closed(&path, length_bytes), 0);
            } else {
                self.update_row(port, now_ps);
            }
        }
    }

    fn set_row(&mut self, port: u32, is_closed: bool, depth: usize) {
        let Some(plans) = &mut self.plans else { return };
        plans.rows[CLOSED * GATE_ROWS as usize + port as usize] = u64::from(is_closed);
        plans.rows[DEPTH * GATE_ROWS as usize + port as usize] = depth as u64;
    }

    /// Updates the row of a port, from which planned packets may have left.
    fn update_row(&mut self, port: u32, now_ps: u64) {
        let Some(plans) = &mut self.plans else { return };
        let Some(path) = self.paths.get_mut(OutputPath::Port(port)) else { return };
        let next_ps = path.queues[0].start_planned(now_ps);
        let is_listed = plans.ports.contains(&port);
        match next_ps {
            Some(next_ps) => {
                plans.next_start_ps = plans.next_start_ps.min(next_ps);
                if !is_listed {
                    plans.ports.push(port);
                }
            }
            None if is_listed => plans.ports.retain(|listed| *listed != port),
            None => {}
        }
        let (is_closed, depth) = (is_closed(path, plans.length_bytes), path.queues[0].depth());
        self.set_row(port, is_closed, depth);
    }

    /// Updates the row of a port after a packet that leaves at this time was planned.
    #[inline]
    fn note_planned(&mut self, port: u32, starts_ps: u64) {
        let (Some(plans), 0..GATE_ROWS) = (&mut self.plans, port) else { return };
        let Some(path) = self.paths.get_mut(OutputPath::Port(port)) else { return };
        let (queue, at) = (&path.queues[0], port as usize);
        plans.rows[CLOSED * GATE_ROWS as usize + at] |=
            u64::from(queue.is_full(plans.length_bytes));
        plans.rows[DEPTH * GATE_ROWS as usize + at] = queue.depth() as u64;
        if queue.depth() == 1 && !plans.ports.contains(&port) {
            plans.ports.push(port);
        }
        plans.next_start_ps = plans.next_start_ps.min(starts_ps);
    }

    fn start_planned(&mut self, now_ps: u64) {
        if let Some(plans) = &mut self.plans {
            plans.next_start_ps = u64::MAX;
        }
        let mut at = 0;
        while let Some(port) = self.planned_port(at) {
            self.update_row(port, now_ps);
            at += usize::from(self.planned_port(at) == Some(port));
        }
    }

    fn planned_port(&self, at: usize) -> Option<u32> {
        self.plans.as_ref()?.ports.get(at).copied()
    }

    /// Updates the row of a path after a change that is none of [`TrafficManager::plan`].
    #[inline]
    pub(super) fn replan(&mut self, path: OutputPath) {
        if self.plans.is_some()
            && let OutputPath::Port(port @ 0..GATE_ROWS) = path
        {
            self.update_row(port, 0);
        }
    }

    /// Forgets the rows after a change of options.
    pub(super) fn forget_plans(&mut self) {
        self.plans = None;
    }

    /// Returns the planned packets that leave later than now, by port, and their bytes on the wire.
    pub(crate) fn leaving_later(&self, now_ps: u64) -> impl Iterator<Item = (u32, (u64, u64))> {
        self.paths.iter().filter_map(move |(path, state)| match path {
            OutputPath::Port(port) => Some((port, state.queues[0].leaving_later(now_ps))),
            _ => None,
        })
    }

    /// Transmits a packet behind the planned ones of a port's first queue. Returns the arrival of its last bit after the
    /// port's latency. `queued_bytes` is its length in the queue.
    pub(crate) fn plan(
        &mut self,
        port: u32,
        queued_bytes: u64,
        sent_bytes: u64,
        now_ps: u64,
    ) -> u64 {
        let path = OutputPath::Port(port);
        let state = self.path(path);
        let starts_ps = now_ps.max(state.busy_until_ps).max(state.wire_idle_ps);
        let sent_ps = starts_ps.saturating_add(wire_time_ps(&state.options, sent_bytes));
        state.wire_idle_ps = sent_ps;
        state.busy_until_ps = sent_ps;
        let arrives_ps = sent_ps.saturating_add(state.options.latency_ps);
        let waits = starts_ps > now_ps;
        if waits {
            let planned =
                Planned { length_bytes: queued_bytes, sent_bytes, enqueued_ps: now_ps, starts_ps };
            state.queues[0].plan(planned);
        }
        self.last_busy_ps = self.last_busy_ps.max(sent_ps);
        if waits {
            self.note_planned(port, starts_ps);
        }
        arrives_ps
    }
}
