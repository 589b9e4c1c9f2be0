// SPDX-License-Identifier: Apache-2.0
//! Packets in memory of their own, side by side, as compiled code takes them: room for packets, what
//! came, and what left. Which port a number means, and when packets run, is decided elsewhere.

use crate::runtime::pass::{OUTPUTS, Pass, Received, Sent, TAILROOM_BYTES};
use crate::runtime::prefetch;
use std::ops::Range;

const CACHE_LINE_BYTES: usize = 64;

/// Memory for so many packets of at most so many bytes, each with room before it for headers to come.
/// It is made once and used again and again.
#[derive(Debug)]
pub struct Packets {
    memory: Vec<u8>,
    /// Where the first byte of packet 0 is.
    first: usize,
    stride_bytes: usize,
    headroom_bytes: usize,
    largest_bytes: usize,
    capacity: usize,
    received: Vec<Received>,
    /// In order of departure, as far as `sent_count`. Compiled code and [`Packets::send_copy`] write it.
    sent: Vec<Sent>,
    sent_count: usize,
    /// What left and was not changed in place.
    copied: Vec<u8>,
}

/// A packet that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPacket<'p> {
    /// Which packet it stems from.
    pub packet: usize,
    /// The unit's outputs of it.
    pub outputs: [u32; OUTPUTS],
    /// Its bytes.
    pub bytes: &'p [u8],
}

impl Packets {
    /// Room for `capacity` packets of at most `largest_bytes`, that may grow by `headroom_bytes`.
    ///
    /// # Panics
    ///
    /// When that is 4 GiB or more.
    pub fn new(capacity: usize, largest_bytes: usize, headroom_bytes: usize) -> Packets {
        // An odd number of cache lines: packets' first bytes then fall into different sets of a cache.
        let room = headroom_bytes + largest_bytes + TAILROOM_BYTES;
        let stride_bytes = (room.div_ceil(CACHE_LINE_BYTES) | 1) * CACHE_LINE_BYTES;
        let memory = vec![0; capacity * stride_bytes + CACHE_LINE_BYTES];
        assert!(u32::try_from(memory.len()).is_ok(), "packets take less than 4 GiB");
        let aligned = memory.as_ptr().align_offset(CACHE_LINE_BYTES).min(CACHE_LINE_BYTES);
        Packets {
            memory,
            first: aligned + headroom_bytes,
            stride_bytes,
            headroom_bytes,
            largest_bytes,
            capacity,
            received: Vec::with_capacity(capacity),
            sent: vec![Sent::default(); capacity + 1],
            sent_count: 0,
            copied: Vec::new(),
        }
    }

    /// Forgets packets, and what left.
    pub fn clear(&mut self) {
        self.received.clear();
        self.forget_sent();
    }

    /// Forgets what left.
    #[inline]
    pub fn forget_sent(&mut self) {
        self.sent_count = 0;
        self.copied.clear();
    }

    /// Adds a packet, with what is input 0 of units for it; returns its number. It has to fit
    /// ([`Packets::capacity`], [`Packets::largest_bytes`]).
    #[inline]
    pub fn push(&mut self, input: u32, bytes: &[u8]) -> usize {
        let packet = self.received.len();
        assert!(packet < self.capacity && bytes.len() <= self.largest_bytes, "the packet fits");
        let start = self.first + packet * self.stride_bytes;
        self.memory[start..start + bytes.len()].copy_from_slice(bytes);
        self.received.push(Received { length_bytes: bytes.len() as u32, input });
        packet
    }

    /// Overwrites the first bytes of a packet where it was pushed to. It has at least as many.
    #[inline]
    pub fn set_first_bytes(&mut self, packet: usize, bytes: &[u8]) {
        let start = self.first + packet * self.stride_bytes;
        self.memory[start..start + bytes.len()].copy_from_slice(bytes);
    }

    /// The same for the first packets, as many as there are arrays.
    #[inline]
    pub fn set_all_first_bytes<const BYTES: usize>(&mut self, all: &[[u8; BYTES]]) {
        assert!(all.len() <= self.received.len(), "there are so many packets");
        let packets = self.memory[self.first..].chunks_mut(self.stride_bytes);
        for (packet, bytes) in packets.zip(all) {
            packet[..BYTES].copy_from_slice(bytes);
        }
    }

    /// Fetches the first bytes of the packets into the cache, for whoever goes to read or write them soon.
    #[inline]
    pub fn fetch(&self) {
        let first = self.memory.as_ptr() as usize + self.first;
        for packet in 0..self.received.len() {
            prefetch(first + packet * self.stride_bytes);
        }
    }

    /// How many packets were pushed.
    pub fn len(&self) -> usize {
        self.received.len()
    }

    /// Whether there are no packets.
    pub fn is_empty(&self) -> bool {
        self.received.is_empty()
    }

    /// How many packets there is room for.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// How long packets may be.
    pub fn largest_bytes(&self) -> usize {
        self.largest_bytes
    }

    /// Input 0 of a packet.
    pub fn input(&self, packet: usize) -> u32 {
        self.received[packet].input
    }

    /// Input 0 and the length in bytes of packets as they came.
    pub fn received(&self, packets: Range<usize>) -> impl ExactSizeIterator<Item = (u32, u32)> {
        self.received[packets].iter().map(Received::numbers)
    }

    /// An output and the length in bytes of what left, from one on.
    pub fn sent_lengths(
        &self,
        first: usize,
        output: usize,
    ) -> impl ExactSizeIterator<Item = (u32, u32)> {
        assert!(output < OUTPUTS, "there are so many outputs");
        self.sent[first..self.sent_count].iter().map(move |sent| sent.numbers(output))
    }

    /// Adds up packets as they came: each adds `one` and its length in bytes to the row of its input 0. A
    /// number's row is its remainder; rows are as many as a power of two.
    #[inline]
    pub fn count_received(&self, packets: Range<usize>, rows: &mut [u64], one: u64) {
        count(&self.received[packets], rows, one, Received::numbers);
    }

    /// The same for what left, from one on, by an output.
    #[inline]
    pub fn count_sent(&self, first: usize, output: usize, rows: &mut [u64], one: u64) {
        assert!(output < OUTPUTS, "there are so many outputs");
        let numbers = |sent: &Sent| sent.numbers(output);
        count(&self.sent[first..self.sent_count], rows, one, numbers);
    }

    /// How many packets left.
    pub fn sent_count(&self) -> usize {
        self.sent_count
    }

    /// A packet as it came, as long as nothing ran on it.
    pub fn bytes(&self, packet: usize) -> &[u8] {
        let start = self.first + packet * self.stride_bytes;
        &self.memory[start..start + self.received[packet].length_bytes as usize]
    }

    /// Notes that something left on behalf of a packet.
    pub fn send_copy(&mut self, packet: usize, outputs: [u32; OUTPUTS], bytes: &[u8]) {
        let start = self.copied.len() as u64;
        self.copied.extend_from_slice(bytes);
        let packet = number_of(self.received.as_ptr().wrapping_add(packet)) | Sent::IS_COPIED;
        self.make_room(1);
        self.sent[self.sent_count] =
            Sent { start, length_bytes: bytes.len() as u32, packet, outputs };
        self.sent_count += 1;
    }

    /// Room to note so many more that leave.
    fn make_room(&mut self, count: usize) {
        let wanted = self.sent_count + count;
        if self.sent.len() < wanted {
            self.sent.resize(wanted.next_power_of_two(), Sent::default());
        }
    }

    /// What left, in order.
    #[inline]
    pub fn sent(&self) -> impl ExactSizeIterator<Item = SentPacket<'_>> {
        let first = number_of(self.received.as_ptr());
        self.sent[..self.sent_count].iter().map(move |sent| {
            let length = sent.length_bytes as usize;
            let bytes = if sent.packet & Sent::IS_COPIED != 0 {
                &self.copied[sent.start as usize..][..length]
            } else {
                let offset = (sent.start as usize).wrapping_sub(self.memory.as_ptr() as usize);
                debug_assert!(offset + length <= self.memory.len(), "packets lie in their memory");
                // SAFETY: compiled code wrote where the packet is, which lies in this memory, and
                // nothing else writes such records.
                unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(offset), length) }
            };
            let distance = (sent.packet & !Sent::IS_COPIED).wrapping_sub(first);
            let packet = distance as usize / size_of::<Received>();
            SentPacket { packet, outputs: sent.outputs, bytes }
        })
    }

    /// What [`Packets::sent`] has last.
    pub fn last_sent(&self) -> Option<[u32; OUTPUTS]> {
        self.sent[..self.sent_count].last().map(|sent| sent.outputs)
    }

    /// Tells a run where these packets are, and where to note what left of them.
    ///
    /// # Panics
    ///
    /// When there are not so many packets.
    pub(crate) fn lend_to(&mut self, pass: &mut Pass, packets: &Range<usize>) {
        assert!(packets.end <= self.received.len(), "there are so many packets");
        // One more than can leave, for the outputs of one that leaves the unit early.
        self.make_room(packets.len() + 1);
        pass.first = self.memory.as_mut_ptr().wrapping_add(self.first);
        pass.stride_bytes = self.stride_bytes as u64;
        pass.headroom_bytes = self.headroom_bytes as u64;
        pass.sent = self.sent.as_mut_ptr().wrapping_add(self.sent_count);
    }

    /// Lets a run go on with these packets.
    #[inline]
    pub(crate) fn point_at(&self, pass: &mut Pass, packets: &Range<usize>) {
        pass.packet = pass.first.wrapping_add(packets.start * self.stride_bytes);
        pass.received = self.received.as_ptr().wrapping_add(packets.start);
        pass.received_end = self.received.as_ptr().wrapping_add(packets.end);
    }

    /// Takes over what a run noted, which these packets were lent to. Returns the outputs of the packet
    /// that left its unit early, if one did.
    pub(crate) fn take_back(&mut self, pass: &Pass) -> [u32; OUTPUTS] {
        self.sent_count = (pass.sent as usize - self.sent.as_ptr() as usize) / size_of::<Sent>();
        self.sent[self.sent_count].outputs
    }
}

impl Received {
    fn numbers(&self) -> (u32, u32) {
        (self.input, self.length_bytes)
    }
}

impl Sent {
    #[inline(always)]
    fn numbers(&self, output: usize) -> (u32, u32) {
        (self.outputs[output], self.length_bytes)
    }
}

/// Adds to the rows of some things, each with the number of its row and a length.
#[inline(always)]
fn count<T>(things: &[T], rows: &mut [u64], one: u64, numbers: impl Fn(&T) -> (u32, u32)) {
    assert!(rows.len().is_power_of_two(), "a number's row is its remainder");
    let mask = rows.len() - 1;
    let rows = &mut rows[..=mask];
    let mut add = |thing: &T| {
        let (row, length_bytes) = numbers(thing);
        rows[row as usize & mask] += one + u64::from(length_bytes);
    };
    let (fours, rest) = things.as_chunks::<4>();
    for four in fours {
        four.iter().for_each(&mut add);
    }
    rest.iter().for_each(add);
}

/// What compiled code notes in [`Sent::packet`].
fn number_of(received: *const Received) -> u32 {
    received as usize as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_stand_apart_and_copies_keep_their_order() {
        let mut packets = Packets::new(2, 100, 256);
        assert_eq!(packets.push(1, &[7; 100]), 0);
        assert_eq!(packets.push(2, &[]), 1);
        packets.set_first_bytes(0, &[1, 2]);
        assert_eq!(packets.bytes(0), [&[1, 2][..], &[7; 98]].concat());
        assert_eq!((packets.bytes(1), packets.input(1)), (&[][..], 2));
        packets.set_all_first_bytes(&[[3, 4, 5]]);
        assert_eq!(packets.bytes(0)[..4], [3, 4, 5, 7]);
        assert_eq!(packets.received(0..2).collect::<Vec<_>>(), [(1, 100), (2, 0)]);
        packets.send_copy(1, [9, 0, 0, 0], &[6, 6]);
        packets.send_copy(0, [8, 1, 0, 0], &[5]);
        let seen: Vec<_> =
            packets.sent().map(|sent| (sent.packet, sent.outputs[0], sent.bytes)).collect();
        assert_eq!(seen, [(1, 9, &[6, 6][..]), (0, 8, &[5])]);
        assert_eq!(packets.last_sent(), Some([8, 1, 0, 0]));
        let mut rows = [0; 2];
        packets.count_received(0..2, &mut rows, 1000);
        packets.count_sent(1, 1, &mut rows, 1_000_000);
        assert_eq!(rows, [1000, 1100 + 1_000_001]);
        assert_eq!(packets.sent_lengths(1, 1).collect::<Vec<_>>(), [(1, 1)]);
        packets.forget_sent();
        assert_eq!((packets.sent().len(), packets.len()), (0, 2));
        packets.clear();
        assert!(packets.is_empty());
    }
}
