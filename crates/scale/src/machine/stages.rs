// SPDX-License-Identifier: Apache-2.0
//! What a stage does in a cycle: crossbar, queues, the choice of one packet for each pipeline, processing (MP5 §3.2, §3.4).

use super::channel::Message;
use super::flights::{NONE, State};
use super::outcome::{Cause, Departure, Made};
use super::queue::{Content, Entry, Popped};
use super::{Conveyor, MAX_PIPELINES, Machine, Part};
use crate::design::{Remap, Steering, View};
use crate::trace::{Kind, Recorder};
use crate::work::{Access, Work};

impl<P> Machine<P> {
    /// Phantoms and cancellations reach their stages.
    pub(super) fn deliver_messages(&mut self, recorder: &mut impl Recorder) -> bool {
        if self.channel.is_empty() {
            return false;
        }
        let mut count = 0;
        for part in 0..self.parts.len() {
            let Part::Stateful(stage) = self.parts[part] else { continue };
            if self.design.mechanisms.tie_order {
                while let Some(message) = self.channel.take_phantom(self.cycle, stage) {
                    self.queue_phantom(stage, message, recorder);
                    count += 1;
                }
            } else {
                let mut messages = Vec::new();
                while let Some(message) = self.channel.take_phantom(self.cycle, stage) {
                    messages.push(message);
                }
                messages.sort_by_key(|message| self.flights.get(message.flight).lane);
                count += messages.len();
                for message in messages {
                    self.queue_phantom(stage, message, recorder);
                }
            }
        }
        let cancellations = self.channel.take_cancellations(self.cycle);
        count += cancellations.len();
        for Message { flight: slot, index } in cancellations {
            let flight = self.flights.get_mut(slot);
            flight.cancellations -= 1;
            let planned = &mut flight.accesses[usize::from(index)];
            if !planned.is_released {
                planned.is_released = true;
                if let Some(place) = planned.place.take()
                    && let Some(queues) = &mut self.banks[usize::from(planned.stage)]
                {
                    // The cell is in flight until the entry has left: a pipeline lowers counters for what leaves its queue,
                    // one a cycle, while cancellations come several at once.
                    queues.bank.cancel(place);
                } else {
                    self.groups[planned.access.group as usize].release(planned.access.cell);
                }
            }
            self.flights.free(slot);
        }
        count > 0
    }

    /// Puts a phantom into the queue of its cell. If the ring is full, the access will not happen.
    fn queue_phantom(&mut self, stage: usize, message: Message, recorder: &mut impl Recorder) {
        let Some(queues) = &mut self.banks[stage] else { return };
        let flight = self.flights.get_mut(message.flight);
        let planned = &mut flight.accesses[usize::from(message.index)];
        let group = &mut self.groups[planned.access.group as usize];
        let pipeline = match self.design.remap {
            Remap::Fly { .. } => usize::from(group.pipelines[planned.access.cell as usize]),
            _ => usize::from(planned.pipeline),
        };
        let entry = Entry {
            stamp: flight.stamp,
            flight: message.flight,
            index: message.index,
            ring: flight.lane,
            content: Content::Phantom,
            access: planned.access,
        };
        planned.place = queues.bank.push(pipeline, entry);
        if planned.place.is_none() {
            if planned.state == State::Pending {
                planned.state = State::Lost;
            }
            planned.is_released = true;
            group.release(planned.access.cell);
        } else {
            let packet = flight.sequence;
            recorder.record(self.cycle, Kind::PhantomQueued { packet, stage, pipeline });
        }
        let entries = queues.bank.len(pipeline);
        self.measures.stage_entries[stage] = self.measures.stage_entries[stage].max(entries);
    }

    /// Runs stages without queues, each for the packets that reach it in this cycle. Says whether they had anything to do.
    pub(super) fn run_stages_one_by_one<W: Work<Packet = P>>(
        &mut self,
        conveyor: &Conveyor,
        work: &mut W,
        recorder: &mut impl Recorder,
    ) -> bool {
        let pipelines = self.settings.pipelines;
        let mut has_moved = false;
        for stage in (conveyor.first..conveyor.first + conveyor.len).rev() {
            for pipeline in 0..pipelines {
                let register = &mut self.registers[stage * pipelines + pipeline];
                let slot = std::mem::replace(register, NONE);
                if slot != NONE {
                    has_moved = true;
                    self.cross(slot, stage, pipeline, pipeline, false, recorder);
                    self.process(slot, stage, pipeline, None, work, recorder);
                }
            }
        }
        has_moved
    }

    /// Lets packets enter stages without queues and runs all these stages for them, and lets those leave that are done in this cycle. A
    /// cancellation is as fast as a packet, so it reaches its stage in the same cycle wherever it is sent.
    pub(super) fn run_conveyor<W: Work<Packet = P>>(
        &mut self,
        conveyor: &mut Conveyor,
        work: &mut W,
        recorder: &mut impl Recorder,
    ) -> bool {
        let pipelines = self.settings.pipelines;
        let Conveyor { first, len, .. } = *conveyor;
        let row = |cycle: u64| (cycle % len as u64) as usize * pipelines;
        let (entry, exit) = (row(self.cycle), row(self.cycle + 1));
        for pipeline in 0..pipelines {
            let register = &mut self.registers[first * pipelines + pipeline];
            let slot = std::mem::replace(register, NONE);
            if slot == NONE {
                continue;
            }
            conveyor.count += 1;
            conveyor.packets[entry + pipeline] = slot;
            for stage in first..first + len {
                let flight = self.flights.get_mut(slot);
                let Some(packet) = &mut flight.packet else { break };
                let outcome = work.run(stage, pipeline, packet);
                let ahead = (stage - first) as u64;
                if outcome.is_dropped {
                    conveyor.count -= 1;
                    conveyor.packets[entry + pipeline] = NONE;
                    self.drop_packet(slot, stage, ahead, Cause::Program, recorder);
                    break;
                }
                if outcome.cancelled != 0 {
                    let sends = self.design.mechanisms.cancel;
                    self.cancel_accesses(slot, stage, ahead, outcome.cancelled, sends, recorder);
                    self.flights.get_mut(slot).seek(stage as u16 + 1);
                }
            }
        }
        if conveyor.count == 0 {
            return false;
        }
        for pipeline in 0..pipelines {
            let slot = std::mem::replace(&mut conveyor.packets[exit + pipeline], NONE);
            conveyor.count -= usize::from(slot != NONE);
            self.registers[(first + len) * pipelines + pipeline] = slot;
        }
        true
    }

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
        let mut slots = [NONE; MAX_PIPELINES];
        let mut free = [(NONE, 0_u8); MAX_PIPELINES];
        let mut free_count = 0;
        let mut arriving = 0_u64;
        for (pipeline, place) in slots.iter_mut().enumerate().take(pipelines) {
            let slot = std::mem::replace(&mut self.registers[first + pipeline], NONE);
            if slot == NONE {
                continue;
            }
            has_moved = true;
            if usize::from(self.flights.get(slot).next_stage) == stage {
                arriving |= self.queue_packet(slot, stage, pipeline, recorder);
            } else if self.design.steering == Steering::Lane {
                self.cross(slot, stage, pipeline, pipeline, false, recorder);
                *place = slot;
            } else {
                free[free_count] = (slot, pipeline as u8);
                free_count += 1;
            }
        }
        if free_count > 0 {
            self.steer(&free[..free_count], stage, arriving, &mut slots, recorder);
        }
        for (pipeline, slot) in slots.iter().enumerate().take(pipelines) {
            if *slot != NONE {
                has_moved = true;
                if !self.is_starving(stage, pipeline) {
                    self.process(*slot, stage, pipeline, None, work, recorder);
                    continue;
                }
                self.drop_packet(*slot, stage, 0, Cause::Starvation, recorder);
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
    fn cross(
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

    /// Gives each stateless packet the slot of a pipeline: first of pipelines without a stateful packet to process, their own if it is
    /// one, then of those with the shortest queue.
    fn steer(
        &mut self,
        packets: &[(u32, u8)],
        stage: usize,
        arriving: u64,
        slots: &mut [u32; MAX_PIPELINES],
        recorder: &mut impl Recorder,
    ) {
        let pipelines = self.settings.pipelines;
        let Some(queues) = &self.banks[stage] else { return };
        let Steering::Free(view) = self.design.steering else { return };
        let (busy, lengths) = match view {
            View::Immediate => {
                let mut busy = 0;
                let mut lengths = [0; MAX_PIPELINES];
                for (pipeline, length) in lengths.iter_mut().enumerate().take(pipelines) {
                    busy |= u64::from(queues.bank.is_ready(pipeline)) << pipeline;
                    *length = queues.bank.len(pipeline);
                }
                (busy, lengths)
            }
            View::Late => (queues.seen_ready, queues.seen_lengths),
            View::LateWithArrivals => (queues.seen_ready | arriving, queues.seen_lengths),
        };
        let all = u64::MAX >> (MAX_PIPELINES - pipelines);
        let mut taken = 0_u64;
        let mut rest = [(NONE, 0_u8); MAX_PIPELINES];
        let mut rest_count = 0;
        let mut place = |slot: u32, from: u8, to: usize| {
            slots[to] = slot;
            self.cross(slot, stage, usize::from(from), to, false, recorder);
        };
        for (slot, from) in packets {
            let bit = 1 << from;
            if busy & bit == 0 {
                taken |= bit;
                place(*slot, *from, usize::from(*from));
            } else {
                rest[rest_count] = (*slot, *from);
                rest_count += 1;
            }
        }
        for (slot, from) in &rest[..rest_count] {
            let idle = all & !busy & !taken;
            let to = if idle != 0 {
                idle.trailing_zeros() as usize
            } else {
                let open = (0..pipelines).filter(|pipeline| taken >> pipeline & 1 == 0);
                let Some(to) = open.min_by_key(|pipeline| lengths[*pipeline]) else { continue };
                to
            };
            taken |= 1 << to;
            place(*slot, *from, to);
        }
    }

    /// Says whether a stateful packet has waited so long that it goes before a stateless one.
    fn is_starving(&self, stage: usize, pipeline: usize) -> bool {
        let Some(threshold) = self.design.starvation_threshold else { return false };
        let Some(queues) = &self.banks[stage] else { return false };
        let waited = |since| u64::from((self.cycle as u32).wrapping_sub(since));
        queues.bank.waits_since(pipeline).is_some_and(|since| waited(since) > threshold)
    }

    /// Processes a packet in a stage of a pipeline.
    #[inline]
    fn process<W: Work<Packet = P>>(
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

    /// Cancels those of a packet's pending accesses behind a stage that are bits of `which`, over the channel. The packet is in the
    /// stage `ahead` cycles from now.
    pub(super) fn cancel_accesses(
        &mut self,
        slot: u32,
        stage: usize,
        ahead: u64,
        which: u64,
        sends: bool,
        recorder: &mut impl Recorder,
    ) {
        let flight = self.flights.get_mut(slot);
        for (index, planned) in flight.accesses.iter_mut().enumerate() {
            let target = usize::from(planned.stage);
            let is_open = matches!(planned.state, State::Pending | State::Lost);
            if which >> index & 1 == 0 || !is_open || target <= stage {
                continue;
            }
            planned.state = State::Cancelled;
            let (packet, access) = (flight.sequence, planned.access);
            recorder.record(self.cycle + ahead, Kind::Cancelled { packet, access });
            if sends && !planned.is_released {
                flight.cancellations += 1;
                let message = Message { flight: slot, index: index as u8 };
                self.channel.cancel(self.cycle, ahead as usize + target - stage, message);
            }
        }
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
