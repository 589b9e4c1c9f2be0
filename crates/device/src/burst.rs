// SPDX-License-Identifier: Apache-2.0
//! Bursts: packets in memory of their own, side by side, that go through a device together. A packet
//! that goes straight through is changed where it is. How a device forwards them is in `forwarding`.

use crate::architecture::{EXIT_INGRESS_DROP, OUTPUT_PORT, OUTPUT_QUEUE};
use crate::statistics::StraightStatistics;
use jit::Descriptor;
use std::fmt;
use std::ops::Range;

/// Room before each packet, for headers that it gets.
pub const HEADROOM_BYTES: usize = 256;

const CACHE_LINE_BYTES: usize = 64;

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

#[derive(Clone, Copy, Debug)]
struct Sent {
    packet: u32,
    port: u32,
    queue: u32,
    /// In the arena, or in what was copied.
    start: u32,
    length_bytes: u32,
    is_copied: bool,
}

/// Packets that arrive together, and what became of them. It is made once and used again and again.
#[derive(Debug)]
pub struct Burst {
    arena: Vec<u8>,
    first_cell: usize,
    cell_bytes: usize,
    largest_bytes: usize,
    capacity: usize,
    largest_port: u32,
    /// What came, and what compiled code says of it.
    received: Vec<Descriptor>,
    sent: Vec<Sent>,
    /// Outputs of packets that did not go straight through.
    copied: Vec<u8>,
    /// Packets that a device has taken.
    forwarded: usize,
}

impl Burst {
    /// Room for so many packets of at most so many bytes each.
    pub fn new(capacity: usize, buffer_bytes: usize) -> Burst {
        // An odd number of cache lines: packets' first bytes then fall into different sets of a cache.
        let room = HEADROOM_BYTES + buffer_bytes + jit::TAILROOM_BYTES;
        let cell_bytes = (room.div_ceil(CACHE_LINE_BYTES) | 1) * CACHE_LINE_BYTES;
        let arena = vec![0; capacity * cell_bytes + CACHE_LINE_BYTES];
        let first_cell = arena.as_ptr().align_offset(CACHE_LINE_BYTES).min(CACHE_LINE_BYTES);
        assert!(u32::try_from(arena.len()).is_ok(), "a burst takes less than 4 GiB");
        Burst {
            arena,
            first_cell,
            cell_bytes,
            largest_bytes: buffer_bytes,
            capacity,
            largest_port: 0,
            received: Vec::with_capacity(capacity),
            sent: Vec::with_capacity(capacity),
            copied: Vec::new(),
            forwarded: 0,
        }
    }

    /// Forgets packets and outputs.
    pub fn clear(&mut self) {
        self.largest_port = 0;
        self.received.clear();
        self.sent.clear();
        self.copied.clear();
        self.forwarded = 0;
    }

    /// Adds a packet; returns its place in the burst, from 0.
    #[inline]
    pub fn push(&mut self, ingress_port: u32, bytes: &[u8]) -> Result<usize, BurstError> {
        let packet = self.received.len();
        if packet >= self.capacity {
            return Err(BurstError::Full);
        }
        if bytes.len() > self.largest_bytes {
            let (length_bytes, largest_bytes) = (bytes.len(), self.largest_bytes);
            return Err(BurstError::TooLong { length_bytes, largest_bytes });
        }
        let start = self.cell(packet).start + HEADROOM_BYTES;
        self.arena[start..start + bytes.len()].copy_from_slice(bytes);
        self.largest_port = self.largest_port.max(ingress_port);
        let (input, length_bytes) = (ingress_port, bytes.len() as u32);
        self.received.push(Descriptor { input, length_bytes, ..Descriptor::default() });
        Ok(packet)
    }

    /// Forgets what became of the packets, to forward them again. Their bytes are what forwarding made of
    /// them: [`Burst::set_first_bytes`] sets headers back. For measurements.
    pub fn rewind(&mut self) {
        self.sent.clear();
        self.copied.clear();
        self.forwarded = 0;
    }

    /// Overwrites the first bytes of a packet where it was pushed to. It has at least as many bytes.
    #[inline]
    pub fn set_first_bytes(&mut self, packet: usize, bytes: &[u8]) {
        let start = self.cell(packet).start + HEADROOM_BYTES;
        self.arena[start..start + bytes.len()].copy_from_slice(bytes);
    }

    /// How many packets were pushed.
    pub fn len(&self) -> usize {
        self.received.len()
    }

    /// Whether there are no packets.
    pub fn is_empty(&self) -> bool {
        self.received.is_empty()
    }

    /// How many packets it holds.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// How long the packets may be.
    pub fn largest_bytes(&self) -> usize {
        self.largest_bytes
    }

    /// What left the device, in order of departure.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = Output<'_>> {
        self.sent.iter().map(|sent| {
            let memory = if sent.is_copied { &self.copied } else { &self.arena };
            let start = sent.start as usize;
            Output {
                packet: sent.packet as usize,
                port: sent.port,
                bytes: &memory[start..start + sent.length_bytes as usize],
            }
        })
    }

    fn cell(&self, packet: usize) -> Range<usize> {
        let start = self.first_cell + packet * self.cell_bytes;
        start..start + self.cell_bytes
    }

    /// The first packet that no device has taken yet.
    pub(crate) fn next(&self) -> Option<usize> {
        (self.forwarded < self.received.len()).then_some(self.forwarded)
    }

    /// Packets from here on are still to be taken.
    pub(crate) fn set_next(&mut self, packet: usize) {
        self.forwarded = packet;
    }

    /// The first packet from this one on that came from a port beyond `largest`.
    pub(crate) fn first_beyond(&self, first: usize, largest: u32) -> Option<usize> {
        if self.largest_port <= largest {
            return None;
        }
        (first..self.received.len()).find(|&packet| self.port(packet) > largest)
    }

    /// The port that a packet came from.
    pub(crate) fn port(&self, packet: usize) -> u32 {
        self.received[packet].input
    }

    /// A packet as it came, as long as nothing went through.
    pub(crate) fn bytes(&self, packet: usize) -> &[u8] {
        let start = self.cell(packet).start + HEADROOM_BYTES;
        &self.arena[start..start + self.received[packet].length_bytes as usize]
    }

    /// The packets up to this one as compiled code takes them.
    pub(crate) fn packets(&mut self, end: usize) -> jit::Packets<'_> {
        jit::Packets {
            first: self.first_cell + HEADROOM_BYTES,
            stride_bytes: self.cell_bytes,
            headroom_bytes: HEADROOM_BYTES,
            memory: &mut self.arena,
            descriptors: &mut self.received[..end],
        }
    }

    /// What compiled code says of a packet.
    pub(crate) fn descriptor(&self, packet: usize) -> &Descriptor {
        &self.received[packet]
    }

    /// Notes what compiled code says of packets that it is done with. Returns how many were sent.
    pub(crate) fn take_done(
        &mut self,
        packets: Range<usize>,
        straight: &mut StraightStatistics,
    ) -> u64 {
        let arena = self.arena.as_ptr() as u64;
        let already = self.sent.len();
        // Neighbours often come from one port.
        let mut port = 0;
        let (mut count, mut bytes) = (0, 0);
        for (descriptor, packet) in
            self.received[packets.clone()].iter().zip(packets.start as u32..)
        {
            if descriptor.input != port {
                straight.received(port, count, bytes);
                (port, count, bytes) = (descriptor.input, 0, 0);
            }
            count += 1;
            bytes += u64::from(descriptor.length_bytes);
            match descriptor.code {
                0 => {
                    let (port, queue) = (
                        descriptor.outputs[OUTPUT_PORT] as u32,
                        descriptor.outputs[OUTPUT_QUEUE] as u32,
                    );
                    let length_bytes = descriptor.outgoing_bytes;
                    straight.sent(port, length_bytes);
                    let start = descriptor.start.wrapping_sub(arena) as u32;
                    self.sent.push(Sent {
                        packet,
                        port,
                        queue,
                        start,
                        length_bytes,
                        is_copied: false,
                    });
                }
                EXIT_INGRESS_DROP => straight.dropped(false),
                _ => straight.dropped(true),
            }
        }
        straight.received(port, count, bytes);
        (self.sent.len() - already) as u64
    }

    /// Notes that something left on behalf of a packet.
    pub(crate) fn send_copy(&mut self, packet: usize, port: u32, queue: u32, bytes: &[u8]) {
        let start = self.copied.len() as u32;
        self.copied.extend_from_slice(bytes);
        self.sent.push(Sent {
            packet: packet as u32,
            port,
            queue,
            start,
            length_bytes: bytes.len() as u32,
            is_copied: true,
        });
    }

    /// The queue of the last output.
    pub(crate) fn last_queue(&self) -> u32 {
        self.sent.last().map_or(0, |sent| sent.queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says of a packet, as compiled code would, that it leaves by port 8 without its first bytes.
    fn leave_in_place(burst: &mut Burst, packet: usize, skipped: usize, length_bytes: u32) {
        let start = burst.cell(packet).start + HEADROOM_BYTES + skipped;
        burst.received[packet].start = burst.arena[start..].as_ptr() as u64;
        burst.received[packet].outgoing_bytes = length_bytes;
        burst.received[packet].outputs[OUTPUT_PORT] = 8;
        burst.take_done(packet..packet + 1, &mut StraightStatistics::default());
    }

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
        leave_in_place(&mut burst, 0, 0, 3);
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
        burst.send_copy(1, 9, 0, &[6, 6]);
        leave_in_place(&mut burst, 0, 1, 2);
        burst.send_copy(0, 7, 0, &[7]);
        let seen: Vec<_> =
            burst.outputs().map(|sent| (sent.packet, sent.port, sent.bytes)).collect();
        assert_eq!(seen, [(1, 9, &[6, 6][..]), (0, 8, &[2, 3]), (0, 7, &[7])]);
    }
}
