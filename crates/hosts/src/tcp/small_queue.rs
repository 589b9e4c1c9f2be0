// SPDX-License-Identifier: Apache-2.0
//! [`SmallQueue`]: the segments of a connection in its host's port, whose bytes Linux limits (TCP small queues), so that
//! other packets of the host do not wait behind a window of bulk data. `Sender` says the limit.

use std::collections::VecDeque;

/// Segments with payload that have not left the port.
#[derive(Debug, Default)]
pub(crate) struct SmallQueue {
    /// When the last bit of each leaves, and its bytes of payload.
    segments: VecDeque<(u64, u64)>,
    bytes: u64,
}

impl SmallQueue {
    /// Adds a segment that leaves at a time.
    #[inline]
    pub(crate) fn push(&mut self, leaves_ps: u64, bytes: u64) {
        self.segments.push_back((leaves_ps, bytes));
        self.bytes += bytes;
    }

    /// Returns when there is less than `limit_bytes` in the port; `None` if there is now.
    #[inline]
    pub(crate) fn blocked_until_ps(&mut self, now_ps: u64, limit_bytes: u64) -> Option<u64> {
        while let Some((leaves_ps, bytes)) = self.segments.front().copied()
            && leaves_ps <= now_ps
        {
            self.segments.pop_front();
            self.bytes -= bytes;
        }
        let mut left = self.bytes;
        let mut blocked_until_ps = None;
        for (leaves_ps, bytes) in &self.segments {
            if left < limit_bytes {
                break;
            }
            left -= bytes;
            blocked_until_ps = Some(*leaves_ps);
        }
        blocked_until_ps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_is_open_again_when_enough_has_left() {
        let mut queue = SmallQueue::default();
        assert_eq!(queue.blocked_until_ps(0, 2_000), None);
        for leaves_ps in [10, 20, 30] {
            queue.push(leaves_ps, 1_000);
        }
        // 3,000 bytes are in the port, then 2,000 and 1,000.
        assert_eq!(queue.blocked_until_ps(0, 2_000), Some(20));
        assert_eq!(queue.blocked_until_ps(10, 2_000), Some(20));
        assert_eq!(queue.blocked_until_ps(10, 2_001), None);
        assert_eq!(queue.blocked_until_ps(20, 2_000), None);
        // A limit that grew does not wait; one that shrank waits longer.
        assert_eq!(queue.blocked_until_ps(20, 1_000), Some(30));
        assert_eq!(queue.blocked_until_ps(30, 1), None);
    }
}
