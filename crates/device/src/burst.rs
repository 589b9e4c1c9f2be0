// SPDX-License-Identifier: Apache-2.0
//! Bursts: packets in memory of their own, side by side, that go through a device together. A packet
//! on the fast path is changed where it is. How a device forwards them is in `forwarding`.

use crate::fast_path::{OUTPUT_PORT, OUTPUT_QUEUE};
use jit::Packets;
use std::fmt;
use std::ops::Range;

/// Room before each packet, for headers that it gets.
pub const HEADROOM_BYTES: usize = 256;

/// Why a packet does not fit into a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BurstError {
    /// The burst has as many packets as it holds.
    Full,
    /// The packet is longer than the burst's packets may be.
    TooLong {
        /// Its length in bytes.
        length_bytes: usize,
        /// The longest.
        largest_bytes: usize,
    },
}

impl fmt::Display for BurstError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BurstError::Full => formatter.write_str("the burst is full"),
            BurstError::TooLong { length_bytes, largest_bytes } => write!(
                formatter,
                "a packet of {length_bytes} bytes does not fit: this burst holds packets of up to \
                 {largest_bytes} bytes"
            ),
        }
    }
}

impl std::error::Error for BurstError {}

/// A packet that left by a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output<'b> {
    /// Which packet of the burst it stems from: what [`Burst::push`] returned.
    pub packet: usize,
    /// The port that it left by.
    pub port: u32,
    /// Its bytes.
    pub bytes: &'b [u8],
}

/// Packets that arrive together, and what became of them. It is made once and used again and again.
#[derive(Debug)]
pub struct Burst {
    packets: Packets,
    /// Packets that a device has taken.
    forwarded: usize,
}

impl Burst {
    /// Room for so many packets of at most so many bytes each.
    pub fn new(capacity: usize, buffer_bytes: usize) -> Burst {
        let packets = Packets::new(capacity, buffer_bytes, HEADROOM_BYTES);
        Burst { packets, forwarded: 0 }
    }

    /// Forgets packets and outputs.
    pub fn clear(&mut self) {
        self.packets.clear();
        self.forwarded = 0;
    }

    /// Adds a packet; returns its place in the burst, from 0.
    #[inline]
    pub fn push(&mut self, ingress_port: u32, bytes: &[u8]) -> Result<usize, BurstError> {
        if self.packets.len() >= self.packets.capacity() {
            return Err(BurstError::Full);
        }
        if bytes.len() > self.packets.largest_bytes() {
            let (length_bytes, largest_bytes) = (bytes.len(), self.packets.largest_bytes());
            return Err(BurstError::TooLong { length_bytes, largest_bytes });
        }
        Ok(self.packets.push(ingress_port, bytes))
    }

    /// Forgets outputs and lets packets be forwarded again. A packet that took the fast path has
    /// changed where it is; what was overwritten stays so, until [`Burst::set_first_bytes`].
    #[inline]
    pub fn rewind(&mut self) {
        self.packets.forget_sent();
        self.forwarded = 0;
    }

    /// Overwrites the first bytes of a packet where it was pushed to. It has at least as many bytes.
    #[inline]
    pub fn set_first_bytes(&mut self, packet: usize, bytes: &[u8]) {
        self.packets.set_first_bytes(packet, bytes);
    }

    /// The same for packets from one on, as many as there are arrays. The burst's packets may be so long.
    #[inline]
    pub fn set_all_first_bytes<const BYTES: usize>(&mut self, packet: usize, all: &[[u8; BYTES]]) {
        self.packets.set_all_first_bytes(packet, all);
    }

    /// Fetches the first bytes of packets into the cache, for whoever forwards the burst soon, but has
    /// something else to do before. A processor has only so many fetches under way and waits with more.
    #[inline]
    pub fn fetch(&self, packets: Range<usize>) {
        self.packets.fetch(packets);
    }

    /// How many packets were pushed.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether there are no packets.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// How many packets it holds.
    pub fn capacity(&self) -> usize {
        self.packets.capacity()
    }

    /// How long the packets may be.
    pub fn largest_bytes(&self) -> usize {
        self.packets.largest_bytes()
    }

    /// What left the device, in order of departure.
    #[inline]
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = Output<'_>> {
        self.packets.sent().map(|sent| Output {
            packet: sent.packet,
            port: sent.outputs[OUTPUT_PORT],
            bytes: sent.bytes,
        })
    }

    /// The first packet that no device has taken yet.
    pub(crate) fn next(&self) -> Option<usize> {
        (self.forwarded < self.packets.len()).then_some(self.forwarded)
    }

    /// Packets from here on are still to be taken.
    pub(crate) fn set_next(&mut self, packet: usize) {
        self.forwarded = packet;
    }

    /// The first packet from this one on that came from a port beyond `largest`.
    pub(crate) fn first_beyond(&self, first: usize, largest: u32) -> Option<usize> {
        if self.packets.largest_input() <= largest {
            return None;
        }
        (first..self.packets.len()).find(|&packet| self.port(packet) > largest)
    }

    /// The port that a packet came from.
    pub(crate) fn port(&self, packet: usize) -> u32 {
        self.packets.input(packet)
    }

    /// A packet as it came, as long as nothing went through.
    pub(crate) fn bytes(&self, packet: usize) -> &[u8] {
        self.packets.bytes(packet)
    }

    /// The packets as compiled code takes them.
    pub(crate) fn packets(&self) -> &Packets {
        &self.packets
    }

    /// The same, to run on.
    pub(crate) fn packets_mut(&mut self) -> &mut Packets {
        &mut self.packets
    }

    /// How many packets left.
    #[inline]
    pub(crate) fn sent_count(&self) -> usize {
        self.packets.sent_count()
    }

    /// Notes that something left on behalf of a packet.
    pub(crate) fn send_copy(&mut self, packet: usize, port: u32, queue: u32, bytes: &[u8]) {
        let mut outputs = [0; jit::MAX_OUTPUTS];
        (outputs[OUTPUT_PORT], outputs[OUTPUT_QUEUE]) = (port, queue);
        self.packets.send_copy(packet, outputs, bytes);
    }

    /// The queue of the last output.
    pub(crate) fn last_queue(&self) -> u32 {
        self.packets.last_sent().map_or(0, |outputs| outputs[OUTPUT_QUEUE])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_do_not_fit_are_refused() {
        let mut burst = Burst::new(2, 100);
        let too_long = BurstError::TooLong { length_bytes: 101, largest_bytes: 100 };
        assert_eq!(burst.push(1, &[0; 101]), Err(too_long));
        assert_eq!(burst.push(1, &[7; 100]), Ok(0));
        assert_eq!(burst.push(2, &[]), Ok(1));
        assert_eq!(burst.push(3, &[]), Err(BurstError::Full));
        assert_eq!((burst.bytes(0), burst.bytes(1)), (&[7; 100][..], &[][..]));
        burst.clear();
        assert!(burst.is_empty());
        assert_eq!(burst.push(3, &[1]), Ok(0));
    }

    #[test]
    fn rewound_packets_are_forwarded_again() {
        let mut burst = Burst::new(1, 100);
        burst.push(5, &[1, 2, 3]).expect("it fits");
        burst.set_first_bytes(0, &[7, 8, 9]);
        burst.send_copy(0, 8, 0, &[7, 8, 9]);
        burst.set_next(1);
        burst.rewind();
        burst.set_first_bytes(0, &[1, 2]);
        assert_eq!((burst.next(), burst.outputs().len()), (Some(0), 0));
        assert_eq!((burst.port(0), burst.bytes(0)), (5, &[1, 2, 9][..]));
    }

    #[test]
    fn outputs_are_in_order() {
        let mut burst = Burst::new(2, 100);
        burst.push(1, &[1, 2, 3]).expect("it fits");
        burst.push(1, &[4, 5]).expect("it fits");
        burst.send_copy(1, 9, 2, &[6, 6]);
        burst.send_copy(0, 7, 3, &[7]);
        let seen: Vec<_> =
            burst.outputs().map(|sent| (sent.packet, sent.port, sent.bytes)).collect();
        assert_eq!(seen, [(1, 9, &[6, 6][..]), (0, 7, &[7])]);
        assert_eq!(burst.last_queue(), 3);
    }
}
