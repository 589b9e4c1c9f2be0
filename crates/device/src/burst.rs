// SPDX-License-Identifier: Apache-2.0
//! `Burst`: packets in contiguous memory that a device forwards together. The fast path changes a packet in place.
//! `forwarding` runs bursts through a device.

use crate::fast_path::{OUTPUT_PORT, OUTPUT_QUEUE};
use jit::Packets;
use std::fmt;
use std::ops::Range;

/// Headroom before each packet, for headers that programs add.
pub const HEADROOM_BYTES: usize = 256;

/// Why [`Burst::push`] refused a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BurstError {
    /// The burst has reached its capacity.
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

/// A packet that the device transmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output<'b> {
    /// Index of the packet of the burst that caused it, as [`Burst::push`] returned it.
    pub packet: usize,
    /// The egress port.
    pub port: u32,
    /// The transmitted bytes.
    pub bytes: &'b [u8],
}

/// Packets that arrive together, and the packets transmitted for them. Reuse a burst to avoid allocations.
#[derive(Debug)]
pub struct Burst {
    packets: Packets,
    /// Number of packets that a device has taken.
    forwarded: usize,
}

impl Burst {
    /// Makes a burst for `capacity` packets of at most `buffer_bytes` bytes each.
    pub fn new(capacity: usize, buffer_bytes: usize) -> Burst {
        let packets = Packets::new(capacity, buffer_bytes, HEADROOM_BYTES);
        Burst { packets, forwarded: 0 }
    }

    /// Removes packets and outputs.
    pub fn clear(&mut self) {
        self.packets.clear();
        self.forwarded = 0;
    }

    /// Adds a packet and returns its index.
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

    /// Adds a packet with bytes behind the given ones that nobody reads or writes. It has to fit.
    pub(crate) fn push_short(&mut self, ingress_port: u32, bytes: &[u8], absent_bytes: u32) {
        self.packets.push_short(ingress_port, bytes, absent_bytes);
    }

    /// Sets the bytes behind the first ones of a packet that the fast path has not overwritten to zero.
    pub(crate) fn clear_behind(&mut self, packet: usize, first_bytes: usize) {
        self.packets.clear_behind(packet, first_bytes);
    }

    /// Removes outputs so that the packets can be forwarded again. The fast path has overwritten packets in place;
    /// [`Burst::set_first_bytes`] restores them.
    #[inline]
    pub fn rewind(&mut self) {
        self.packets.forget_sent();
        self.forwarded = 0;
    }

    /// Overwrites the first bytes of a packet at the place where it was pushed. The packet has at least that length.
    #[inline]
    pub fn set_first_bytes(&mut self, packet: usize, bytes: &[u8]) {
        self.packets.set_first_bytes(packet, bytes);
    }

    /// Overwrites the first bytes of consecutive packets, from `packet` on, one array each.
    #[inline]
    pub fn set_all_first_bytes<const BYTES: usize>(&mut self, packet: usize, all: &[[u8; BYTES]]) {
        self.packets.set_all_first_bytes(packet, all);
    }

    /// Prefetches the first bytes of packets into the cache, for a caller that forwards the burst soon. A processor
    /// stalls when too many fetches are outstanding.
    #[inline]
    pub fn fetch(&self, packets: Range<usize>) {
        self.packets.fetch(packets);
    }

    /// Returns the number of packets.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Returns whether the burst has no packets.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Returns the largest number of packets.
    pub fn capacity(&self) -> usize {
        self.packets.capacity()
    }

    /// Returns the largest length of a packet.
    pub fn largest_bytes(&self) -> usize {
        self.packets.largest_bytes()
    }

    /// Returns the transmitted packets in order of departure.
    #[inline]
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = Output<'_>> {
        self.packets.sent().map(|sent| Output {
            packet: sent.packet,
            port: sent.outputs[OUTPUT_PORT],
            bytes: sent.bytes,
        })
    }

    /// Returns the first packet that no device has taken yet.
    pub(crate) fn next(&self) -> Option<usize> {
        (self.forwarded < self.packets.len()).then_some(self.forwarded)
    }

    /// Marks the packets before this one as taken.
    pub(crate) fn set_next(&mut self, packet: usize) {
        self.forwarded = packet;
    }

    /// Returns the first packet from `first` on whose port is above `largest`.
    pub(crate) fn first_beyond(&self, first: usize, largest: u32) -> Option<usize> {
        if self.packets.largest_input() <= largest {
            return None;
        }
        (first..self.packets.len()).find(|&packet| self.port(packet) > largest)
    }

    /// Returns the ingress port of a packet.
    pub(crate) fn port(&self, packet: usize) -> u32 {
        self.packets.input(packet)
    }

    /// Returns the received bytes of a packet that the fast path has not overwritten.
    pub(crate) fn bytes(&self, packet: usize) -> &[u8] {
        self.packets.bytes(packet)
    }

    /// Returns the packets as compiled code takes them.
    pub(crate) fn packets(&self) -> &Packets {
        &self.packets
    }

    /// Returns the packets for a run of compiled code.
    pub(crate) fn packets_mut(&mut self) -> &mut Packets {
        &mut self.packets
    }

    /// Returns the number of transmitted packets.
    #[inline]
    pub(crate) fn sent_count(&self) -> usize {
        self.packets.sent_count()
    }

    /// Adds a packet that the slow path transmitted.
    pub(crate) fn send_copy(&mut self, packet: usize, port: u32, queue: u32, bytes: &[u8]) {
        let mut outputs = [0; jit::MAX_OUTPUTS];
        (outputs[OUTPUT_PORT], outputs[OUTPUT_QUEUE]) = (port, queue);
        self.packets.send_copy(packet, outputs, bytes);
    }

    /// Returns the unit's outputs of the last transmitted packet.
    #[inline]
    pub(crate) fn last_outputs(&self) -> [u32; jit::MAX_OUTPUTS] {
        self.packets.last_sent().unwrap_or_default()
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
        assert_eq!(burst.last_outputs()[OUTPUT_QUEUE], 3);
    }
}
