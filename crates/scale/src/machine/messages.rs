// SPDX-License-Identifier: Apache-2.0
//! Phantoms and cancellations of accesses: sent over the channel, taken in at their stages (MP5 §3.1 D4, §3.3).

use super::channel::Message;
use super::flights::State;
use super::queue::{Content, Entry};
use super::{Machine, Part};
use crate::design::Remap;
use crate::trace::{Kind, Recorder};

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
}
