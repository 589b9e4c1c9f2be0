// SPDX-License-Identifier: Apache-2.0
//! `Path` and `Paths`: the state of an output path, the time at which it may send, and all paths by number. The parent
//! module schedules them.

use super::queue::Queue;
use crate::options::PortOptions;
use crate::wire::{OutputPath, transmission_ps};
use std::collections::BTreeMap;

/// Ports below this number are in a flat array; other ports and internal paths are in a map.
const FLAT_PORTS: u32 = 512;

#[derive(Debug)]
pub(super) struct Path<T> {
    pub options: PortOptions,
    pub queues: Vec<Queue<T>>,
    pub paused: bool,
    /// No packet leaves a queue before this time.
    pub busy_until_ps: u64,
    /// End of the last transmission.
    pub wire_idle_ps: u64,
    /// The time of this path in the schedule.
    pub scheduled_ps: Option<u64>,
}

/// Returns the time that a packet takes on a wire.
pub(super) fn wire_time_ps(options: &PortOptions, length_bytes: u64) -> u64 {
    let on_wire_bytes = length_bytes.saturating_add(options.overhead_bytes.into());
    transmission_ps(on_wire_bytes, options.rate_bps)
}

impl<T> Path<T> {
    pub fn new(options: PortOptions) -> Path<T> {
        let queues = (0..options.queue_count.max(1)).map(|_| Queue::new(&options)).collect();
        Path {
            options,
            queues,
            paused: false,
            busy_until_ps: 0,
            wire_idle_ps: 0,
            scheduled_ps: None,
        }
    }

    /// Returns whether a packet would leave any queue at once, if the wire is idle.
    pub fn has_open_queues(&self, now_ps: u64) -> bool {
        !self.paused && self.queues.iter().all(|queue| queue.is_open(now_ps))
    }

    /// Returns the earliest time at which some queue may send.
    pub fn ready_ps(&self) -> Option<u64> {
        if self.paused {
            return None;
        }
        self.queues
            .iter()
            .filter(|queue| !queue.is_held())
            .filter_map(|queue| queue.packets.front())
            .map(|waiting| waiting.eligible_ps.max(self.busy_until_ps))
            .min()
    }
}

/// Paths that have been used.
#[derive(Debug)]
pub(super) struct Paths<T> {
    /// Ports below [`FLAT_PORTS`] by number, up to the largest used one.
    ports: Vec<Option<Box<Path<T>>>>,
    others: BTreeMap<OutputPath, Path<T>>,
}

impl<T> Paths<T> {
    pub fn new() -> Paths<T> {
        Paths { ports: Vec::new(), others: BTreeMap::new() }
    }

    #[inline]
    pub fn get(&self, path: OutputPath) -> Option<&Path<T>> {
        match path {
            OutputPath::Port(port @ 0..FLAT_PORTS) => self.ports.get(port as usize)?.as_deref(),
            path => self.others.get(&path),
        }
    }

    #[inline]
    pub fn get_mut(&mut self, path: OutputPath) -> Option<&mut Path<T>> {
        match path {
            OutputPath::Port(port @ 0..FLAT_PORTS) => {
                self.ports.get_mut(port as usize)?.as_deref_mut()
            }
            path => self.others.get_mut(&path),
        }
    }

    /// Returns a path, created by `new` on first use.
    #[inline]
    pub fn get_or_insert(
        &mut self,
        path: OutputPath,
        new: impl FnOnce() -> Path<T>,
    ) -> &mut Path<T> {
        match path {
            OutputPath::Port(port @ 0..FLAT_PORTS) => {
                let at = port as usize;
                if self.ports.len() <= at {
                    self.ports.resize_with(at + 1, || None);
                }
                self.ports[at].get_or_insert_with(|| Box::new(new()))
            }
            path => self.others.entry(path).or_insert_with(new),
        }
    }

    /// Returns all paths in order.
    pub fn iter(&self) -> impl Iterator<Item = (OutputPath, &Path<T>)> {
        let flat = (0..)
            .zip(&self.ports)
            .filter_map(|(port, path)| path.as_deref().map(|path| (OutputPath::Port(port), path)));
        let first = self.others.range(..OutputPath::Port(0));
        let last = self.others.range(OutputPath::Port(0)..);
        first
            .map(|(path, state)| (*path, state))
            .chain(flat)
            .chain(last.map(|(path, state)| (*path, state)))
    }
}
