// SPDX-License-Identifier: Apache-2.0
//! [`PortSeries`]: what a port did over time: frames and bytes sent, how long its wire was busy, frames lost and dropped,
//! and how many packets waited.

use super::series::{Merge, Scale, Series};
use std::collections::VecDeque;

/// What a port did in a bucket of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PortBucket {
    /// Frames whose last bit left.
    pub(crate) frames: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// For how long the wire was busy, in picoseconds.
    pub(crate) busy_ps: u64,
    /// Frames lost on the link.
    pub(crate) lost: u64,
    /// Frames that the node dropped: those that found the queue full at this port, others where they came in.
    pub(crate) dropped: u64,
    /// The number of waiting packets, integrated over time.
    pub(crate) waiting_ps: u64,
    /// The least and the largest number of packets that waited for any time, if it is known.
    pub(crate) depths: Option<(u32, u32)>,
}

impl Merge for PortBucket {
    fn merge(&mut self, next: &PortBucket) {
        self.frames += next.frames;
        self.bytes += next.bytes;
        self.busy_ps += next.busy_ps;
        self.lost += next.lost;
        self.dropped += next.dropped;
        self.waiting_ps += next.waiting_ps;
        self.depths = match (self.depths, next.depths) {
            (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
            (one, other) => one.or(other),
        };
    }
}

/// A port over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortSeries {
    pub(crate) series: Series<PortBucket>,
    /// Packets that wait in each queue.
    queues: Vec<u32>,
    /// When the number last changed.
    since_ps: u64,
    /// When packets of a host will stop waiting.
    starts: VecDeque<u64>,
}

impl PortSeries {
    /// How many packets wait.
    pub(crate) fn depth(&self) -> u32 {
        self.queues.iter().sum()
    }

    /// Accounts for the time until now, in which as many packets waited as now.
    fn account(&mut self, scale: &Scale, now_ps: u64) {
        let (since_ps, depth) = (self.since_ps, self.depth());
        if now_ps <= since_ps {
            return;
        }
        self.since_ps = now_ps;
        let cover = |bucket: &mut PortBucket, part_ps: u64| {
            bucket.waiting_ps += u64::from(depth) * part_ps;
            let known = bucket.depths.get_or_insert((depth, depth));
            *known = (known.0.min(depth), known.1.max(depth));
        };
        match depth {
            // Buckets without anything stand for an empty queue.
            0 => {
                cover(self.series.at(scale, since_ps), 0);
                cover(self.series.at(scale, now_ps - 1), 0);
            }
            _ => self.series.spread(scale, (since_ps, now_ps), cover),
        }
    }

    /// The number of packets in a queue changes. Returns whether it had been another one for some time.
    pub(crate) fn change_queue(
        &mut self,
        scale: &Scale,
        now_ps: u64,
        queue: u32,
        change: impl FnOnce(u32) -> u32,
    ) -> bool {
        let has_lasted = now_ps > self.since_ps;
        self.account(scale, now_ps);
        let at = queue as usize;
        if self.queues.len() <= at {
            self.queues.resize(at + 1, 0);
        }
        self.queues[at] = change(self.queues[at]);
        has_lasted
    }

    /// A host's frame waits from now until its first bit leaves.
    pub(crate) fn wait_until(&mut self, scale: &Scale, now_ps: u64, start_ps: u64) {
        self.pass(scale, now_ps);
        if start_ps > now_ps {
            self.change_queue(scale, now_ps, 0, |depth| depth + 1);
            self.starts.push_back(start_ps);
        }
    }

    /// Lets the waiting frames of a host go whose time has come.
    pub(crate) fn pass(&mut self, scale: &Scale, now_ps: u64) {
        while let Some(start_ps) = self.starts.front().copied().filter(|start| *start <= now_ps) {
            self.starts.pop_front();
            self.change_queue(scale, start_ps, 0, |depth| depth.saturating_sub(1));
        }
    }

    /// A frame leaves whose bits have been on the wire since `begun_ps`.
    pub(crate) fn send(&mut self, scale: &Scale, (begun_ps, now_ps): (u64, u64), bytes: u64) {
        let bucket = self.series.at(scale, now_ps);
        bucket.frames += 1;
        bucket.bytes += bytes;
        self.series.spread(scale, (begun_ps, now_ps), |bucket, part_ps| bucket.busy_ps += part_ps);
    }

    /// Accounts for everything until the end of the run.
    pub(crate) fn finish(&mut self, scale: &Scale, end_ps: u64) {
        self.pass(scale, end_ps);
        self.account(scale, end_ps);
        self.series.widen(scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue's integral is the sum of the times that packets waited, whatever the width of the buckets.
    #[test]
    fn the_integral_of_the_depth_is_the_time_waited() {
        for max_buckets in [2, 16, 1024] {
            let mut scale = Scale::new(max_buckets);
            let mut port = PortSeries::default();
            // Two packets come at 1 us, one at 3 us; they leave at 2, 5 and 9 us. Another one does not wait.
            for (time_us, change) in
                [(1, 1_i32), (1, 1), (2, -1), (3, 1), (5, -1), (7, 1), (7, -1), (9, -1)]
            {
                let now_ps = time_us * 1_000_000;
                scale.reach(now_ps);
                port.change_queue(&scale, now_ps, 0, |depth| depth.saturating_add_signed(change));
            }
            scale.reach(20_000_000);
            port.finish(&scale, 20_000_000);
            let buckets: Vec<&PortBucket> = port.series.buckets().1.collect();
            let waited_ps: u64 = buckets.iter().map(|bucket| bucket.waiting_ps).sum();
            assert_eq!(waited_ps, (1 + 4 + 6) * 1_000_000);
            let depths = buckets.iter().filter_map(|bucket| bucket.depths);
            assert_eq!(depths.clone().map(|(_, most)| most).max(), Some(2));
            assert_eq!(depths.map(|(least, _)| least).min(), Some(0));
        }
    }

    #[test]
    fn frames_of_a_host_wait_until_their_first_bit_leaves() {
        let mut scale = Scale::new(64);
        scale.reach(100_000);
        let mut port = PortSeries::default();
        port.wait_until(&scale, 0, 0);
        port.wait_until(&scale, 0, 10_000);
        port.wait_until(&scale, 0, 20_000);
        assert_eq!(port.depth(), 2);
        port.wait_until(&scale, 15_000, 30_000);
        assert_eq!(port.depth(), 2);
        port.finish(&scale, 50_000);
        let waited_ps: u64 = port.series.buckets().1.map(|bucket| bucket.waiting_ps).sum();
        assert_eq!((port.depth(), waited_ps), (0, 10_000 + 20_000 + 15_000));
    }
}
