// SPDX-License-Identifier: Apache-2.0
//! What a stage does in a cycle: crossbar, queues, the choice of one packet for each pipeline, processing (MP5 §3.2, §3.4).

use super::Machine;
use super::flights::{NONE, State};
use super::outcome::{Cause, Departure, Made};
use super::queue::{Content, Entry, Popped};
use crate::design::{Remap, Steering, View};
use crate::trace::{Kind, Recorder};
use crate::work::{Access, Work};

impl<P> Machine<P> {
    /// Runs a stage of all pipelines. Says whether it had anything to do.
    pub(super) fn run_stage<W: Work<Packet = P>>(
        &mut self,
        stage: usize,
        work: &mut W,
        recorder: &mut impl Recorder,
    ) -> bool {
        let pipelines = self.settings.pipelines;
        let first = stage * pipelines;
        let mut has_moved = false;
        let mut stateless = 0_u64;
        let mut arriving = 0_u64;
        for pipeline in 0..pipelines {
            let slot = self.registers[first + pipeline];
            if slot == NONE {
                continue;
            }
            has_moved = true;
            if usize::from(self.flights.get(slot).next_stage) == stage {
                self.registers[first + pipeline] = NONE;
                arriving |= self.queue_packet(slot, stage, pipeline, recorder);
            } else if self.design.steering == Steering::Lane {
                self.cross(slot, stage, pipeline, pipeline, false, recorder);
            } else {
                stateless |= 1 << pipeline;
            }
        }
        if stateless != 0 {
            self.steer(stateless, stage, arriving, recorder);
        }
        for pipeline in 0..pipelines {
            let slot = std::mem::replace(&mut self.registers[first + pipeline], NONE);
            if slot != NONE {
                has_moved = true;
                if !self.is_starving(stage, pipeline) {
                    self.process(slot, stage, pipeline, None, work, recorder);
                    continue;
                }
                self.drop_packet(slot, stage, 0, Cause::Starvation, recorder);
            }
            let Some(queues) = &mut self.banks[stage] else { continue };
            match queues.bank.pop(pipeline) {
                Some(Popped::Packet(entry)) => {
                    has_moved = true;
                    self.process(entry.flight, stage, pipeline, Some(entry.access), work, recorder);
                }
                Some(Popped::Cancelled(entry)) => {
                    has_moved = true;
                    self.groups[entry.access.group as usize].release(entry.access.cell);
                    self.measures.wasted += 1;
                    recorder.record(self.cycle, Kind::Wasted { stage, pipeline });
                }
                None => {}
            }
        }
        if let Steering::Free(View::Late | View::LateWithArrivals) = self.design.steering
            && let Some(queues) = &mut self.banks[stage]
        {
            queues.seen_ready = 0;
            for pipeline in 0..pipelines {
                queues.seen_ready |= u64::from(queues.bank.is_ready(pipeline)) << pipeline;
                queues.seen_lengths[pipeline] = queues.bank.len(pipeline);
            }
        }
        has_moved
    }

    /// Records that a packet goes over the crossbar in front of a stage.
    #[inline]
    pub(super) fn cross(
        &self,
        slot: u32,
        stage: usize,
        from: usize,
        to: usize,
        is_queued: bool,
        recorder: &mut impl Recorder,
    ) {
        let packet = self.flights.get(slot).sequence;
        recorder.record(self.cycle, Kind::Crossed { packet, stage, from, to, is_queued });
    }

    /// Takes a stateful packet into the queue of its cell, in the place of its phantom if there is one. Returns the pipeline as a bit.
    fn queue_packet(
        &mut self,
        slot: u32,
        stage: usize,
        from: usize,
        recorder: &mut impl Recorder,
    ) -> u64 {
        let flight = self.flights.get(slot);
        let index = flight.next;
        let planned = flight.accesses[usize::from(index)];
        let target = if matches!(self.design.remap, Remap::Fly { .. }) {
            self.groups[planned.access.group as usize].pipelines[planned.access.cell as usize]
        } else {
            planned.pipeline
        };
        let mut to = usize::from(target);
        let lane = flight.lane;
        self.cross(slot, stage, from, to, true, recorder);
        let cycle = self.cycle;
        let Some(queues) = &mut self.banks[stage] else { return 0 };
        let has_place = if !self.design.has_phantoms {
            let content = Content::Packet { since: cycle as u32 };
            let entry = Entry {
                stamp: self.next_stamp,
                flight: slot,
                index,
                ring: from as u8,
                content,
                access: planned.access,
            };
            self.next_stamp += 1;
            let place = queues.bank.push(to, entry);
            self.flights.get_mut(slot).accesses[usize::from(index)].place = place;
            place.is_some()
        } else if self.design.mechanisms.directory {
            match planned.place {
                Some(place) => {
                    to = place.pipeline();
                    queues.bank.insert(place, cycle);
                    true
                }
                None => false,
            }
        } else {
            self.insert_without_directory(slot, stage, to, lane)
        };
        if !has_place {
            if planned.state == State::Pending && !self.design.has_phantoms {
                self.groups[planned.access.group as usize].release(planned.access.cell);
                let planned = &mut self.flights.get_mut(slot).accesses[usize::from(index)];
                (planned.state, planned.is_released) = (State::Lost, true);
            }
            self.drop_packet(slot, stage, 0, Cause::FullRing, recorder);
            return 0;
        }
        let Some(queues) = &self.banks[stage] else { return 0 };
        let (entries, packets) = (queues.bank.len(to), queues.bank.packets(to));
        self.measures.queue_packets = self.measures.queue_packets.max(packets);
        self.measures.stage_entries[stage] = self.measures.stage_entries[stage].max(entries);
        if self.settings.congestion_threshold.is_some_and(|most| entries as usize > most) {
            self.flights.get_mut(slot).is_marked = true;
        }
        1 << to
    }

    /// Inserts a packet at the oldest phantom of its ring: what happens without the directory.
    fn insert_without_directory(&mut self, slot: u32, stage: usize, to: usize, ring: u8) -> bool {
        let Some(queues) = &mut self.banks[stage] else { return false };
        let Some((place, other)) = queues.bank.oldest_phantom(to, ring) else { return false };
        let flight = self.flights.get_mut(slot);
        let index = flight.next;
        let planned = &mut flight.accesses[usize::from(index)];
        let (own, access) = (planned.place, planned.access);
        planned.place = Some(place);
        queues.bank.assign(place, slot, index, access);
        if let Some(own) = own
            && own != place
        {
            queues.bank.assign(own, other.flight, other.index, other.access);
            if other.flight != NONE {
                let accesses = &mut self.flights.get_mut(other.flight).accesses;
                accesses[usize::from(other.index)].place = Some(own);
            }
        }
        queues.bank.insert(place, self.cycle);
        true
    }

    /// Processes a packet in a stage of a pipeline.
    #[inline]
    pub(super) fn process<W: Work<Packet = P>>(
        &mut self,
        slot: u32,
        stage: usize,
        pipeline: usize,
        access: Option<Access>,
        work: &mut W,
        recorder: &mut impl Recorder,
    ) {
        let flight = self.flights.get_mut(slot);
        let Some(packet) = &mut flight.packet else { return };
        let outcome = work.run(stage, pipeline, packet);
        let sequence = flight.sequence;
        if let Some(made) = access {
            let group = &mut self.groups[made.group as usize];
            group.release(made.cell);
            if group.access(made.cell, sequence) && !flight.is_reordered {
                flight.is_reordered = true;
                self.measures.reordered += 1;
            }
            self.measures.accesses += 1;
            if self.settings.logs_accesses {
                self.accesses.push(Made { access: made, sequence });
            }
        }
        recorder.record(self.cycle, Kind::Processed { packet: sequence, stage, pipeline, access });
        if outcome.is_dropped {
            self.drop_packet(slot, stage, 0, Cause::Program, recorder);
            return;
        }
        if outcome.cancelled != 0 {
            let sends = self.design.mechanisms.cancel;
            self.cancel_accesses(slot, stage, 0, outcome.cancelled, sends, recorder);
        }
        if access.is_some() || outcome.cancelled != 0 {
            self.flights.get_mut(slot).seek(stage as u16 + 1);
        }
        self.registers[(stage + 1) * self.settings.pipelines + pipeline] = slot;
    }

    /// Takes the packets behind the last stage out of the machine.
    pub(super) fn depart<W: Work<Packet = P>>(
        &mut self,
        work: &mut W,
        recorder: &mut impl Recorder,
    ) -> bool {
        let pipelines = self.settings.pipelines;
        let mut has_moved = false;
        for pipeline in 0..pipelines {
            let register = &mut self.registers[self.stages * pipelines + pipeline];
            let slot = std::mem::replace(register, NONE);
            if slot == NONE {
                continue;
            }
            has_moved = true;
            let flight = self.flights.get_mut(slot);
            let Some(mut packet) = flight.packet.take() else { continue };
            let (sequence, is_marked) = (flight.sequence, flight.is_marked);
            let cycle = self.cycle + 1;
            let latency = cycle - flight.arrival;
            if is_marked {
                work.mark_congestion(&mut packet);
            }
            recorder.record(self.cycle, Kind::Departed { packet: sequence });
            self.measures.last_departure = cycle;
            self.measures.latency_sum += latency;
            self.measures.latency_max = self.measures.latency_max.max(latency);
            self.departures.push(Departure { sequence, cycle, is_marked, packet });
            self.flights.free(slot);
        }
        has_moved
    }
}
