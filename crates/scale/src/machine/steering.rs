// SPDX-License-Identifier: Apache-2.0
//! Free steering: which pipeline a stateless packet takes, and when a stateful one goes before it (MP5 §3.4, starvation).

use super::flights::NONE;
use super::{MAX_PIPELINES, Machine};
use crate::design::{Steering, View};
use crate::trace::Recorder;

impl<P> Machine<P> {
    /// Gives each stateless packet the slot of a pipeline: first of pipelines without a stateful packet to process, their own if it is
    /// one, then of those with the shortest queue. `packets` has the pipelines that they come from, as bits.
    pub(super) fn steer(
        &mut self,
        packets: u64,
        stage: usize,
        arriving: u64,
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
        let first = stage * pipelines;
        let mut slots = [NONE; MAX_PIPELINES];
        let staying = packets & !busy;
        for (from, slot) in slots.iter_mut().enumerate().take(pipelines) {
            if staying >> from & 1 == 1 {
                *slot = self.registers[first + from];
                self.cross(*slot, stage, from, from, false, recorder);
            }
        }
        let mut taken = staying;
        for from in (0..pipelines).filter(|from| (packets & busy) >> from & 1 == 1) {
            let idle = all & !busy & !taken;
            let to = if idle != 0 {
                idle.trailing_zeros() as usize
            } else {
                let open = (0..pipelines).filter(|pipeline| taken >> pipeline & 1 == 0);
                let Some(to) = open.min_by_key(|pipeline| lengths[*pipeline]) else { continue };
                to
            };
            taken |= 1 << to;
            slots[to] = self.registers[first + from];
            self.cross(slots[to], stage, from, to, false, recorder);
        }
        self.registers[first..first + pipelines].copy_from_slice(&slots[..pipelines]);
    }

    /// Says whether a stateful packet has waited so long that it goes before a stateless one.
    pub(super) fn is_starving(&self, stage: usize, pipeline: usize) -> bool {
        let Some(threshold) = self.design.starvation_threshold else { return false };
        let Some(queues) = &self.banks[stage] else { return false };
        let waited = |since| u64::from((self.cycle as u32).wrapping_sub(since));
        queues.bank.waits_since(pipeline).is_some_and(|since| waited(since) > threshold)
    }
}
