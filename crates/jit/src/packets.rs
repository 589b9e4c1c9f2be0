// SPDX-License-Identifier: Apache-2.0
//! Packet memory for compiled code: buffers at equal distances, the received packets and the sent ones. Ports
//! and times belong to the device.

use crate::runtime::pass::{MAX_OUTPUTS, Pass, Received, Sent, TAILROOM_BYTES};
use crate::runtime::prefetch;
use std::ops::Range;

const CACHE_LINE_BYTES: usize = 64;

/// Memory for a number of packets up to a length, each with headroom for added headers. Bursts reuse it.
#[derive(Debug)]
pub struct Packets {
    memory: Vec<u8>,
    /// Offset of packet 0's first byte.
    first: usize,
    stride_bytes: usize,
    headroom_bytes: usize,
    largest_bytes: usize,
    capacity: usize,
    received: Vec<Received>,
    /// The largest input 0 of `received`.
    largest_input: u32,
    /// The first `sent_count` are sent packets, in order of departure. Compiled code and [`Packets::send_copy`]
    /// write it.
    sent: Vec<Sent>,
    sent_count: usize,
    /// Bytes of sent packets that are copies.
    copied: Vec<u8>,
    /// Up to which packet batched lookups were made, and which lookups.
    batched: Option<(BatchKey, usize)>,
}

/// Identifies batched lookups: the version of the tables, and the code.
pub(crate) type BatchKey = (u64, usize);

/// A sent packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPacket<'p> {
    /// Index of the received packet that it is sent for.
    pub packet: usize,
    /// The unit's outputs of it.
    pub outputs: [u32; MAX_OUTPUTS],
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
            largest_input: 0,
            sent: vec![Sent::default(); capacity + 1],
            sent_count: 0,
            copied: Vec::new(),
            batched: None,
        }
    }

    /// Removes all packets, received and sent.
    pub fn clear(&mut self) {
        self.received.clear();
        self.largest_input = 0;
        self.forget_sent();
    }

    /// Removes the sent packets.
    #[inline]
    pub fn forget_sent(&mut self) {
        self.sent_count = 0;
        self.copied.clear();
        self.batched = None;
    }

    /// Adds a packet with its input 0 for units. Returns its index. It has to fit ([`Packets::capacity`],
    /// [`Packets::largest_bytes`]).
    #[inline]
    pub fn push(&mut self, input: u32, bytes: &[u8]) -> usize {
        self.push_short(input, bytes, 0)
    }

    /// The same, with as many bytes behind the given ones, of any content.
    #[inline]
    pub fn push_short(&mut self, input: u32, bytes: &[u8], absent_bytes: u32) -> usize {
        let packet = self.received.len();
        let length = bytes.len() + absent_bytes as usize;
        assert!(packet < self.capacity && length <= self.largest_bytes, "the packet fits");
        let start = self.first + packet * self.stride_bytes;
        self.memory[start..start + bytes.len()].copy_from_slice(bytes);
        let length_bytes = length as u32;
        self.received.push(Received { length_bytes, input, batched_items: Default::default() });
        self.largest_input = self.largest_input.max(input);
        packet
    }

    /// Overwrites the first bytes of a packet, which has at least as many.
    #[inline]
    pub fn set_first_bytes(&mut self, packet: usize, bytes: &[u8]) {
        let start = self.first + packet * self.stride_bytes;
        self.memory[start..start + bytes.len()].copy_from_slice(bytes);
        self.batched = None;
    }

    /// Overwrites the first bytes of successive packets, one for each array.
    #[inline]
    pub fn set_all_first_bytes<const BYTES: usize>(&mut self, packet: usize, all: &[[u8; BYTES]]) {
        let count = self.received.len();
        assert!(packet <= count && all.len() <= count - packet, "the packets exist");
        assert!(BYTES <= self.largest_bytes, "packets may be so long");
        self.batched = None;
        let first = self.memory[self.first + packet * self.stride_bytes..].as_mut_ptr();
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx") {
            // SAFETY: the processor has AVX; the places are as below.
            return unsafe { write_each_by_avx(first, self.stride_bytes, all) };
        }
        // SAFETY: there is room for as many packets at this distance, of at least so many bytes each.
        unsafe { write_each(first, self.stride_bytes, all) };
    }

    /// Sets the bytes behind the first ones of a packet to zero.
    pub fn clear_behind(&mut self, packet: usize, first_bytes: usize) {
        let start = self.first + packet * self.stride_bytes;
        let end = start + self.received[packet].length_bytes as usize;
        self.memory[start + first_bytes..end].fill(0);
    }

    /// Prefetches the first bytes of packets.
    #[inline]
    pub fn fetch(&self, packets: Range<usize>) {
        let first = self.memory.as_ptr() as usize + self.first;
        let mut at = first + packets.start * self.stride_bytes;
        for _ in packets {
            prefetch(at);
            at += self.stride_bytes;
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

    /// Length in bytes up to which packets may grow in place.
    #[inline]
    pub fn largest_changed_bytes(&self) -> usize {
        self.headroom_bytes + self.largest_bytes
    }

    /// The largest input 0 of a packet, 0 without packets.
    #[inline]
    pub fn largest_input(&self) -> u32 {
        self.largest_input
    }

    /// Input 0 of a packet.
    pub fn input(&self, packet: usize) -> u32 {
        self.received[packet].input
    }

    /// Input 0 and length in bytes of received packets.
    pub fn received(&self, packets: Range<usize>) -> impl ExactSizeIterator<Item = (u32, u32)> {
        self.received[packets].iter().map(|received| (received.input, received.length_bytes))
    }

    /// Output 0 and length in bytes of sent packets, from `first` on.
    pub fn sent_lengths(&self, first: usize) -> impl ExactSizeIterator<Item = (u32, u32)> {
        let left = &self.sent[first..self.sent_count];
        left.iter().map(|sent| (sent.outputs[0], sent.length_bytes))
    }

    /// Adds up received packets: each adds its length in bytes, and its input 0 shifted left by 32 bits, to the
    /// row of its input 0.
    ///
    /// # Panics
    ///
    /// When some packet has no row ([`Packets::largest_input`]).
    #[inline]
    pub fn count_received(&self, packets: Range<usize>, rows: &mut [u64]) {
        assert!((self.largest_input as usize) < rows.len(), "every packet has a row");
        let add = |received: &Received| {
            let (input, tally) = received.tally();
            // SAFETY: there are more rows than the largest number.
            let row = unsafe { rows.get_unchecked_mut(input as usize) };
            *row = row.wrapping_add(tally);
        };
        for_each_of_fours(&self.received[packets], add);
    }

    /// Adds up sent packets likewise, from `first` on, by output 0 modulo the number of rows, which is a power
    /// of two.
    #[inline]
    pub fn count_sent(&self, first: usize, rows: &mut [u64]) {
        assert!(rows.len().is_power_of_two(), "a number's row is its remainder");
        let mask = rows.len() - 1;
        let rows = &mut rows[..=mask];
        let add = |sent: &Sent| {
            let (output, tally) = sent.tally();
            let row = &mut rows[output as usize & mask];
            *row = row.wrapping_add(tally);
        };
        for_each_of_fours(&self.sent[first..self.sent_count], add);
    }

    /// The number of sent packets.
    #[inline]
    pub fn sent_count(&self) -> usize {
        self.sent_count
    }

    /// The bytes of a received packet, before any unit ran on it.
    pub fn bytes(&self, packet: usize) -> &[u8] {
        let start = self.first + packet * self.stride_bytes;
        &self.memory[start..start + self.received[packet].length_bytes as usize]
    }

    /// Records a copy that is sent for a packet.
    pub fn send_copy(&mut self, packet: usize, outputs: [u32; MAX_OUTPUTS], bytes: &[u8]) {
        let start = self.copied.len() as u64;
        self.copied.extend_from_slice(bytes);
        let packet = number_of(self.received.as_ptr().wrapping_add(packet)) | Sent::IS_COPIED;
        self.make_room(1);
        self.sent[self.sent_count] =
            Sent { start, length_bytes: bytes.len() as u32, packet, outputs };
        self.sent_count += 1;
    }

    /// Makes room to record more sent packets.
    #[inline]
    fn make_room(&mut self, count: usize) {
        let wanted = self.sent_count + count;
        if self.sent.len() < wanted {
            self.grow_sent(wanted);
        }
    }

    #[cold]
    fn grow_sent(&mut self, wanted: usize) {
        self.sent.resize(wanted.next_power_of_two(), Sent::default());
    }

    /// The sent packets, in order.
    #[inline]
    pub fn sent(&self) -> impl ExactSizeIterator<Item = SentPacket<'_>> {
        let first = number_of(self.received.as_ptr());
        let (memory, copied) = (&self.memory[..], &self.copied[..]);
        self.sent[..self.sent_count].iter().map(move |sent| {
            let length = sent.length_bytes as usize;
            let (memory, offset) = match sent.packet & Sent::IS_COPIED {
                0 => (memory, (sent.start as usize).wrapping_sub(memory.as_ptr() as usize)),
                _ => (copied, sent.start as usize),
            };
            debug_assert!(offset + length <= memory.len(), "packets lie in their memory");
            // The unchecked slice costs callers nothing that do not read the bytes. SAFETY: either compiled
            // code wrote the record of a packet in this memory, or `send_copy` wrote the record of a copy,
            // which lives as long as the record; no other code writes records.
            let bytes = unsafe { memory.get_unchecked(offset..offset.wrapping_add(length)) };
            let distance = (sent.packet & !Sent::IS_COPIED).wrapping_sub(first);
            let packet = distance as usize / size_of::<Received>();
            SentPacket { packet, outputs: sent.outputs, bytes }
        })
    }

    /// The outputs of the last sent packet.
    pub fn last_sent(&self) -> Option<[u32; MAX_OUTPUTS]> {
        self.sent[..self.sent_count].last().map(|sent| sent.outputs)
    }

    /// Gives a run the addresses of these packets and of the records of sent ones.
    ///
    /// # Panics
    ///
    /// When there are fewer packets.
    #[inline]
    pub(crate) fn lend_to(&mut self, pass: &mut Pass, packets: &Range<usize>) {
        assert!(packets.end <= self.received.len(), "the packets exist");
        // One more record than packets, for the outputs of a packet that leaves the unit early.
        self.make_room(packets.len() + 1);
        pass.first = self.memory.as_mut_ptr().wrapping_add(self.first);
        pass.stride_bytes = self.stride_bytes as u64;
        pass.headroom_bytes = self.headroom_bytes as u64;
        pass.sent = self.sent.as_mut_ptr().wrapping_add(self.sent_count);
    }

    /// Points a run at these packets.
    #[inline]
    pub(crate) fn point_at(&mut self, pass: &mut Pass, packets: &Range<usize>) {
        pass.packet = pass.first.wrapping_add(packets.start * self.stride_bytes);
        pass.received = self.received.as_mut_ptr().wrapping_add(packets.start);
        pass.received_end = self.received.as_ptr().wrapping_add(packets.end);
    }

    /// Up to which packet these lookups were batched, if they were the last ones.
    #[inline]
    pub(crate) fn batched_end(&self, lookups: BatchKey) -> usize {
        match self.batched {
            Some((last, end)) if last == lookups => end,
            _ => 0,
        }
    }

    /// Records up to which packet lookups were batched.
    #[inline]
    pub(crate) fn set_batched_end(&mut self, lookups: BatchKey, end: usize) {
        self.batched = Some((lookups, end));
    }

    /// Takes over the sent packets that a run recorded.
    #[inline]
    pub(crate) fn take_back(&mut self, pass: &Pass) {
        self.sent_count = (pass.sent as usize - self.sent.as_ptr() as usize) / size_of::<Sent>();
    }

    /// The outputs of the packet that left its unit early in the last run.
    pub(crate) fn next_outputs(&self) -> [u32; MAX_OUTPUTS] {
        self.sent[self.sent_count].outputs
    }
}

/// Writes arrays of bytes to places at equal distances.
///
/// # Safety
///
/// There is memory for so many bytes at all places, and no other code refers to it.
#[inline(always)]
unsafe fn write_each<const BYTES: usize>(first: *mut u8, stride_bytes: usize, all: &[[u8; BYTES]]) {
    let mut place = first;
    for bytes in all {
        // SAFETY: by the contract.
        unsafe { place.cast::<[u8; BYTES]>().write(*bytes) };
        place = place.wrapping_add(stride_bytes);
    }
}

/// The same with wider loads and stores.
///
/// # Safety
///
/// As for [`write_each`], and the processor has AVX.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn write_each_by_avx<const BYTES: usize>(
    first: *mut u8,
    stride_bytes: usize,
    all: &[[u8; BYTES]],
) {
    // SAFETY: by the contract.
    unsafe { write_each(first, stride_bytes, all) }
}

/// Calls a function with each item, unrolled by four.
#[inline(always)]
fn for_each_of_fours<T>(things: &[T], mut with: impl FnMut(&T)) {
    let (fours, mut rest) = things.as_chunks::<4>();
    for four in fours {
        four.iter().for_each(&mut with);
    }
    // Three at most.
    for _ in 0..3 {
        let Some((thing, after)) = rest.split_first() else { return };
        with(thing);
        rest = after;
    }
}

/// The value of [`Sent::packet`] for a packet.
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
        packets.set_all_first_bytes(0, &[[3, 4, 5]]);
        assert_eq!(packets.bytes(0)[..4], [3, 4, 5, 7]);
        assert_eq!(packets.received(0..2).collect::<Vec<_>>(), [(1, 100), (2, 0)]);
        packets.send_copy(1, [9, 0, 0, 0], &[6, 6]);
        packets.send_copy(0, [8, 1, 0, 0], &[5]);
        let seen: Vec<_> =
            packets.sent().map(|sent| (sent.packet, sent.outputs[0], sent.bytes)).collect();
        assert_eq!(seen, [(1, 9, &[6, 6][..]), (0, 8, &[5])]);
        assert_eq!(packets.last_sent(), Some([8, 1, 0, 0]));
        let word = |number: u64, length_bytes: u64| (number << 32) + length_bytes;
        let mut rows = [0; 4];
        packets.count_received(0..2, &mut rows);
        assert_eq!((packets.largest_input(), rows), (2, [0, word(1, 100), word(2, 0), 0]));
        packets.count_sent(0, &mut rows);
        assert_eq!(rows, [word(8, 1), word(1, 100) + word(9, 2), word(2, 0), 0]);
        assert_eq!(packets.sent_lengths(1).collect::<Vec<_>>(), [(8, 1)]);
        packets.forget_sent();
        assert_eq!((packets.sent().len(), packets.len()), (0, 2));
        packets.clear();
        assert!(packets.is_empty());
    }
}
