// SPDX-License-Identifier: Apache-2.0
//! Gates: a bit for each queue of each port, set while a packet that comes to the queue would not leave it
//! at once without a trace. Compiled code looks at them ([`jit::Gate`]). The traffic manager keeps them as
//! its paths change; nothing here decides when a path may send.

use super::paths::{Path, Paths};
use crate::options::{PortOptions, TrafficManagerOptions};
use crate::wire::OutputPath;

/// Ports below this have gates.
pub(crate) const GATE_ROWS: u32 = 512;

/// Queues from here on have no gates.
const GATE_BITS: usize = u64::BITS as usize;

/// What an open gate promises to a packet on the fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GateKind {
    /// The wire is idle; it may take time to transmit the packet.
    IdleWire,
    /// The wire is idle and takes no time: the packet leaves the device at once.
    InstantWire,
}

/// The gates of all ports, of both kinds.
#[derive(Debug)]
pub(super) struct Gates {
    prompt: Vec<u64>,
    gone: Vec<u64>,
    /// Ports whose wire is busy, and until when.
    busy: Vec<(u64, u32)>,
    /// When the first of them is idle again.
    first_idle_ps: u64,
}

/// The bits of queues that are closed whatever happens, depths aside: those that a port lacks, and all of a
/// port that never lets a packet pass.
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

/// The bits of a path's closed queues, but for what its options say and a busy wire.
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

    /// A path is another than before. What it does is as of the last time that it was busy.
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

    /// Opens gates of ports whose wire is idle by now.
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

    /// The words, one a port.
    pub fn words(&self, kind: GateKind) -> &[u64] {
        match kind {
            GateKind::IdleWire => &self.prompt,
            GateKind::InstantWire => &self.gone,
        }
    }
}
