// SPDX-License-Identifier: Apache-2.0
//! [`ExternalHost`]: a host whose programs run outside, behind a port of the simulation. It paces the host's frames by the
//! rate of its link, as a network card does.

use device::traffic_manager::transmission_ps;
use hosts::InterfaceStatistics;
use network::frame::Frame;
use network::node::{Node, NodeError, Outbox};
use network_file::model::Network;
use std::collections::VecDeque;

/// Frames that wait before the host's link, as many as Linux lets wait.
const QUEUE_PACKETS: usize = 1000;

/// A host whose programs run outside.
#[derive(Clone, Debug, Default)]
pub struct ExternalHost {
    rate_bps: Option<u64>,
    overhead_bytes: u32,
    /// Frames of the host with their times, that the network has not taken yet.
    offered: VecDeque<(u64, Frame)>,
    /// Frames for the host.
    received: Vec<Frame>,
    /// When the first bits of waiting frames leave.
    starts: VecDeque<u64>,
    busy_until_ps: u64,
    statistics: InterfaceStatistics,
}

impl ExternalHost {
    /// The host with this number in the file, with the rate of its link.
    pub(crate) fn of(network: &Network, number: usize) -> ExternalHost {
        let node = network_file::model::Node::Host(number);
        let direction =
            network.link_at(node, 0).map(|(link, end)| network.links[link].directions[end]);
        ExternalHost {
            rate_bps: direction.and_then(|direction| direction.rate_bps),
            overhead_bytes: direction.map_or(0, |direction| direction.overhead_bytes),
            ..ExternalHost::default()
        }
    }

    /// Takes a frame that the host sends at a time. Times never decrease.
    pub fn offer(&mut self, time_ps: u64, bytes: Vec<u8>) {
        self.offered.push_back((time_ps, bytes.into()));
    }

    /// Returns the frames that arrived at the host since the last call.
    pub fn take_received(&mut self) -> Vec<Frame> {
        std::mem::take(&mut self.received)
    }

    /// Whether frames have arrived since the last call of [`ExternalHost::take_received`].
    pub fn has_received(&self) -> bool {
        !self.received.is_empty()
    }

    /// What passed the port.
    pub fn statistics(&self) -> InterfaceStatistics {
        self.statistics
    }

    /// When the last bit of a frame leaves; `None` if no room is left to wait.
    fn departure_ps(&mut self, now_ps: u64, length_bytes: u64) -> Option<u64> {
        while self.starts.front().is_some_and(|start_ps| *start_ps <= now_ps) {
            self.starts.pop_front();
        }
        if self.starts.len() >= QUEUE_PACKETS {
            return None;
        }
        let start_ps = now_ps.max(self.busy_until_ps);
        if start_ps > now_ps {
            self.starts.push_back(start_ps);
        }
        let bytes = length_bytes + u64::from(self.overhead_bytes);
        self.busy_until_ps = start_ps.saturating_add(transmission_ps(bytes, self.rate_bps));
        Some(self.busy_until_ps)
    }
}

impl Node for ExternalHost {
    fn receive(&mut self, _port: u32, frame: Frame, _: &mut Outbox) -> Result<(), NodeError> {
        self.statistics.received += 1;
        self.statistics.received_bytes += frame.length_bytes();
        self.received.push(frame);
        Ok(())
    }

    fn next_wake_ps(&self) -> Option<u64> {
        self.offered.front().map(|(time_ps, _)| *time_ps)
    }

    fn wake(&mut self, outbox: &mut Outbox) -> Result<(), NodeError> {
        let now_ps = outbox.now_ps();
        while self.offered.front().is_some_and(|(time_ps, _)| *time_ps <= now_ps) {
            let Some((_, frame)) = self.offered.pop_front() else { break };
            match self.departure_ps(now_ps, frame.length_bytes()) {
                Some(leaves_ps) => {
                    self.statistics.sent += 1;
                    self.statistics.sent_bytes += frame.length_bytes();
                    outbox.send(0, leaves_ps, frame);
                }
                None => self.statistics.dropped_queue_full += 1,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_leave_at_the_rate_of_the_link_and_a_full_queue_drops() {
        let mut host = ExternalHost { rate_bps: Some(8_000_000), ..ExternalHost::default() };
        for _ in 0..QUEUE_PACKETS + 3 {
            host.offer(5, vec![0; 1000]);
        }
        assert_eq!(host.next_wake_ps(), Some(5));
        let mut outbox = Outbox::at(5);
        host.wake(&mut outbox).expect("a wake");
        let departures = outbox.take_departures();
        // One frame is on the wire, and the queue is full behind it.
        assert_eq!(departures.len(), QUEUE_PACKETS + 1);
        assert_eq!(host.statistics().dropped_queue_full, 2);
        let millisecond_ps = 1_000_000_000;
        assert_eq!(departures[0].time_ps, 5 + millisecond_ps);
        assert_eq!(departures[1].time_ps, 5 + 2 * millisecond_ps);
        // A millisecond later there is room for one more.
        host.offer(5 + millisecond_ps, vec![0; 1000]);
        let mut outbox = Outbox::at(5 + millisecond_ps);
        host.wake(&mut outbox).expect("a wake");
        assert_eq!(outbox.take_departures().len(), 1);
        assert_eq!((host.statistics().sent, host.next_wake_ps()), (QUEUE_PACKETS as u64 + 2, None));
    }
}
