// SPDX-License-Identifier: Apache-2.0
//! `Gates`: a bit for each queue of each port, set (closed) while a packet could not leave the queue at once without an
//! effect on queues and signals. Compiled code reads them ([`jit::Gate`]); the traffic manager updates them when a path
//! changes.

use super::paths::{Path, Paths};
use crate::options::{PortOptions, TrafficManagerOptions};
use crate::wire::OutputPath;

/// Number of ports with gates.
pub(crate) const GATE_ROWS: u32 = 512;

/// Number of queues of a port with gates.
const GATE_BITS: usize = u64::BITS as usize;

/// What an open gate promises to a packet on the fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GateKind {
    /// The wire is idle; it may take time to transmit the packet.
    IdleWire,
    /// The wire is idle and takes no time: the packet leaves the device at once.
    InstantWire,
}

/// The gates of all ports.
#[derive(Debug)]
pub(super) struct Gates {
    prompt: Vec<u64>,
    gone: Vec<u64>,
    /// Times at which busy wires become idle, with their ports.
    busy: Vec<(u64, u32)>,
    /// The first of these times.
    first_idle_ps: u64,
}

/// Returns the bits of queues that are always closed: queues that the port does not have, or all queues of a port whose
/// options make packets wait. Ignores depths.
fn closed_by_options(options: &PortOptions, kind: GateKind) -> u64 {
    let passes = match kind {
        GateKind::IdleWire => options.is_prompt(),
        GateKind::InstantWire => options.is_ideal(),
    };
    match options.queue_count.max(1) as usize {
        _ if !passes => u64::MAX,
        count if count >= GATE_BITS => 0,
        count => u64::MAX << count,
    }
}

/// Returns the bits of queues that are closed by their state, apart from options and a busy wire.
fn closed_by_state<T>(path: &Path<T>, now_ps: u64) -> u64 {
    if path.paused {
        return u64::MAX;
    }
    let queues = path.queues.iter().take(GATE_BITS).enumerate();
    queues.fold(0, |bits, (at, queue)| bits | u64::from(!queue.is_open(now_ps)) << at)
}

impl Gates {
    pub fn new<T>(options: &TrafficManagerOptions, paths: &Paths<T>, now_ps: u64) -> Gates {
        let of = |kind| {
            let unused = |options: &PortOptions| match options.queue_depth_packets {
                0 => u64::MAX,
                _ => closed_by_options(options, kind),
            };
            let otherwise = unused(&options.default_port);
            let mut words = vec![otherwise; GATE_ROWS as usize];
            for (port, options) in options.ports.range(..GATE_ROWS) {
                words[*port as usize] = unused(options);
            }
            words
        };
        let (prompt, gone) = (of(GateKind::IdleWire), of(GateKind::InstantWire));
        let mut gates = Gates { prompt, gone, busy: Vec::new(), first_idle_ps: u64::MAX };
        for (path, state) in paths.iter() {
            gates.update(path, state, now_ps);
        }
        gates
    }

    /// Updates the gates of a path after a change.
    pub fn update<T>(&mut self, path: OutputPath, state: &Path<T>, now_ps: u64) {
        let OutputPath::Port(port @ 0..GATE_ROWS) = path else { return };
        let at = port as usize;
        if state.busy_until_ps > now_ps {
            (self.prompt[at], self.gone[at]) = (u64::MAX, u64::MAX);
            if !self.busy.iter().any(|(_, busy)| *busy == port) {
                self.busy.push((state.busy_until_ps, port));
                self.first_idle_ps = self.first_idle_ps.min(state.busy_until_ps);
            }
            return;
        }
        let by_state = closed_by_state(state, now_ps);
        self.prompt[at] = by_state | closed_by_options(&state.options, GateKind::IdleWire);
        self.gone[at] = by_state | closed_by_options(&state.options, GateKind::InstantWire);
    }

    /// Opens the gates of ports whose wire has become idle.
    pub fn advance_to<T>(&mut self, now_ps: u64, paths: &Paths<T>) {
        if self.first_idle_ps > now_ps {
            return;
        }
        let due = std::mem::take(&mut self.busy);
        self.first_idle_ps = u64::MAX;
        for (until_ps, port) in due {
            let path = OutputPath::Port(port);
            match paths.get(path) {
                Some(state) if until_ps <= now_ps => self.update(path, state, now_ps),
                _ => {
                    self.busy.push((until_ps, port));
                    self.first_idle_ps = self.first_idle_ps.min(until_ps);
                }
            }
        }
    }

    /// Returns the gates as words, one for each port.
    pub fn words(&self, kind: GateKind) -> &[u64] {
        match kind {
            GateKind::IdleWire => &self.prompt,
            GateKind::InstantWire => &self.gone,
        }
    }
}
