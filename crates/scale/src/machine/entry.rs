// SPDX-License-Identifier: Apache-2.0
//! The way into the machine: which pipeline takes which packet, address resolution, phantoms (MP5 §3.1 D1 and D4).

use super::Machine;
use super::channel::Message;
use super::flights::{Planned, State};
use super::outcome::Arrival;
use crate::design::{Entry, Touch};
use crate::trace::{Kind, Recorder};
use crate::work::{Access, Work};

impl<P> Machine<P> {
    /// The queue in front of the machine for packets of a port.
    pub(super) fn entry_queue(&self, port: u32) -> usize {
        match self.design.entry {
            Entry::Sprayed | Entry::FirstPipeline => 0,
            Entry::BoundPorts { ports } => {
                let share = (ports as usize / self.settings.pipelines).max(1);
                (port as usize / share).min(self.settings.pipelines - 1)
            }
        }
    }

    /// Lets the packets enter that can in this cycle.
    pub(super) fn enter<W: Work<Packet = P>>(
        &mut self,
        work: &mut W,
        recorder: &mut impl Recorder,
    ) -> bool {
        let pipelines = self.settings.pipelines;
        self.remaps.begin_cycle();
        let mut count = 0;
        match self.design.entry {
            Entry::Sprayed => {
                while count < pipelines
                    && let Some((sequence, arrival)) = self.next_arrival(0)
                {
                    let pipeline = self.spray;
                    self.spray = if pipeline + 1 == pipelines { 0 } else { pipeline + 1 };
                    self.resolve(sequence, arrival, pipeline, work, recorder);
                    count += 1;
                }
            }
            Entry::FirstPipeline => {
                if let Some((sequence, arrival)) = self.next_arrival(0) {
                    self.resolve(sequence, arrival, 0, work, recorder);
                    count = 1;
                }
            }
            Entry::BoundPorts { .. } => {
                let mut entering: Vec<(u64, usize)> = (0..pipelines)
                    .filter_map(|pipeline| {
                        let (sequence, arrival) = self.waiting[pipeline].front()?;
                        (arrival.cycle <= self.cycle).then_some((*sequence, pipeline))
                    })
                    .collect();
                entering.sort_unstable();
                count = entering.len();
                for (_, pipeline) in entering {
                    if let Some((sequence, arrival)) = self.next_arrival(pipeline) {
                        self.resolve(sequence, arrival, pipeline, work, recorder);
                    }
                }
            }
        }
        for (queue, arrived) in self.waiting.iter().zip(&mut self.arrived) {
            while queue.get(*arrived).is_some_and(|(_, arrival)| arrival.cycle <= self.cycle) {
                *arrived += 1;
            }
            self.measures.waiting = self.measures.waiting.max(*arrived);
        }
        count > 0
    }

    /// Takes the next packet of a queue in front of the machine, if it has arrived.
    fn next_arrival(&mut self, queue: usize) -> Option<(u64, Arrival<P>)> {
        let waiting = &mut self.waiting[queue];
        if waiting.front()?.1.cycle > self.cycle {
            return None;
        }
        let arrived = &mut self.arrived[queue];
        *arrived = arrived.saturating_sub(1);
        waiting.pop_front()
    }

    /// Resolves the addresses of a packet, counts them and sends its phantoms.
    fn resolve<W: Work<Packet = P>>(
        &mut self,
        sequence: u64,
        arrival: Arrival<P>,
        pipeline: usize,
        work: &mut W,
        recorder: &mut impl Recorder,
    ) {
        let Arrival { cycle: arrived, mut packet, .. } = arrival;
        recorder.record(self.cycle, Kind::Resolved { packet: sequence, pipeline });
        let mut resolved = std::mem::take(&mut self.resolved);
        resolved.clear();
        work.resolve(&mut packet, &mut resolved);
        debug_assert!(resolved.len() <= 64, "a packet has at most 64 accesses");
        self.measures.passes += 1;
        let slot = self.flights.add(packet, sequence, self.next_stamp, arrived, pipeline as u8);
        self.next_stamp += 1;
        for (index, access) in resolved.iter().enumerate() {
            recorder.record(self.cycle, Kind::Planned { packet: sequence, access: *access });
            if let Some(touch) = self.design.touch {
                self.touch(touch, *access, work, recorder);
            }
            let group = &mut self.groups[access.group as usize];
            group.resolve(access.cell);
            if let Some(scan) = &mut self.remaps.scans[access.group as usize] {
                scan.resolve(access.cell);
            }
            self.flights.get_mut(slot).accesses.push(Planned {
                access: *access,
                stage: group.stage as u16,
                pipeline: group.pipelines[access.cell as usize],
                state: State::Pending,
                is_released: false,
                place: None,
            });
            if self.design.has_phantoms {
                let message = Message { flight: slot, index: index as u8 };
                self.channel.send_phantom(self.cycle, group.stage, message);
            }
        }
        self.resolved = resolved;
        self.flights.get_mut(slot).seek(0);
        self.registers[pipeline] = slot;
    }

    /// Moves a cell to which a packet is resolved, if no packet is in flight for it and another pipeline has less to do.
    fn touch<W: Work<Packet = P>>(
        &mut self,
        touch: Touch,
        access: Access,
        work: &mut W,
        recorder: &mut impl Recorder,
    ) {
        let group = &self.groups[access.group as usize];
        if !group.is_idle(access.cell) {
            return;
        }
        let from = usize::from(group.pipelines[access.cell as usize]);
        let others = group.load.iter().enumerate();
        let Some((to, least)) = others.min_by_key(|(_, load)| **load) else { return };
        if group.load[from] < *least + touch.gain.max(1) {
            return;
        }
        if touch.is_single && !self.remaps.admit_touch(access.group, from, to) {
            return;
        }
        self.measures.touches += 1;
        self.activate(access, from, to, work, recorder);
    }
}
