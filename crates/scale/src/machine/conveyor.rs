// SPDX-License-Identifier: Apache-2.0
//! Stages without queues, one after the other. Nothing that happens there depends on other packets, so without a recorder the machine
//! runs all of them for a packet when it enters the first.

use super::Machine;
use super::flights::NONE;
use super::outcome::Cause;
use crate::trace::Recorder;
use crate::work::Work;

/// Stages without queues: a packet leaves them so many cycles after it entered, in its pipeline.
pub(super) struct Conveyor {
    /// The first stage.
    first: usize,
    /// The number of stages.
    len: usize,
    /// Packets that have run the stages, by the cycle in which they entered, modulo `len`, and by pipeline.
    packets: Vec<u32>,
    /// The number of packets.
    count: usize,
}

impl Conveyor {
    /// One stage without packets.
    pub(super) fn new(stage: usize, pipelines: usize) -> Conveyor {
        Conveyor { first: stage, len: 1, packets: vec![NONE; pipelines], count: 0 }
    }

    /// Adds the next stage.
    pub(super) fn extend(&mut self, pipelines: usize) {
        self.len += 1;
        self.packets.extend(vec![NONE; pipelines]);
    }
}

impl<P> Machine<P> {
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
}
