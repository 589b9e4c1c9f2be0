// SPDX-License-Identifier: Apache-2.0
//! [`Packets`]: what is known of the packets in a device, by the device's number of the packet.

use std::collections::VecDeque;

/// What is known of a packet from its arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// The event of its arrival, or [`super::events::NONE`].
    pub(crate) event: u32,
    /// The port at which it arrived, by number, or [`super::events::NONE`].
    pub(crate) port: u32,
    pub(crate) flow: u32,
    pub(crate) length_bytes: u32,
}

impl Known {
    /// A packet of unknown origin, such as one that the device generated.
    pub(crate) const NOTHING: Known =
        Known { event: super::events::NONE, port: super::events::NONE, flow: 0, length_bytes: 0 };
}

/// How many packets are remembered; of older ones nothing is known.
const MAX_PACKETS: usize = 1 << 13;

/// The latest packets of a device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packets {
    /// The device's number of the first one.
    first: u64,
    known: VecDeque<Known>,
}

impl Packets {
    /// Remembers a packet.
    pub(crate) fn insert(&mut self, number: u64, known: Known) {
        // A switch that returns counts from the beginning.
        let is_near = number
            .checked_sub(self.first)
            .is_some_and(|at| at < (self.known.len() + MAX_PACKETS) as u64);
        if self.known.is_empty() || !is_near {
            self.known.clear();
            self.first = number;
        }
        let at = (number - self.first) as usize;
        if at >= self.known.len() {
            self.known.resize(at + 1, Known::NOTHING);
        }
        self.known[at] = known;
        while self.known.len() > MAX_PACKETS {
            self.known.pop_front();
            self.first += 1;
        }
    }

    /// What is known of a packet.
    pub(crate) fn get(&self, number: u64) -> Known {
        let at = number.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| self.known.get(at)).copied().unwrap_or(Known::NOTHING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_packets_are_forgotten() {
        let mut packets = Packets::default();
        let of = |flow| Known { flow, ..Known::NOTHING };
        for number in [5, 6, 9] {
            packets.insert(number, of(number as u32));
        }
        let flows = |packets: &Packets, numbers: [u64; 6]| numbers.map(|one| packets.get(one).flow);
        assert_eq!(flows(&packets, [4, 5, 6, 7, 9, 10]), [0, 5, 6, 0, 9, 0]);
        let late = 5 + MAX_PACKETS as u64;
        packets.insert(late, of(7));
        assert_eq!(flows(&packets, [5, 6, 9, late, late + 1, 0]), [0, 6, 9, 7, 0, 0]);
        packets.insert(1 << 40, of(8));
        assert_eq!(flows(&packets, [6, 9, late, 1 << 40, 0, 1]), [0, 0, 0, 8, 0, 0]);
        packets.insert(1, of(3));
        assert_eq!(flows(&packets, [0, 1, 2, late, 1 << 40, 0]), [0, 3, 0, 0, 0, 0]);
    }
}
