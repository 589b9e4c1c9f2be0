// SPDX-License-Identifier: Apache-2.0
//! Packets in memory of their own, side by side, as compiled code takes them: room for packets, what
//! came, and what left. Which port a number means, and when packets run, is decided elsewhere.

use crate::runtime::pass::{OUTPUTS, Pass, Received, Sent, TAILROOM_BYTES, Tally};
use crate::runtime::prefetch;
use crate::unit::Tallying;
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

    /// How long a packet was as it came.
    pub fn length_bytes(&self, packet: usize) -> u32 {
        self.received[packet].length_bytes
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
        let packet = packet as u32 | Sent::IS_COPIED;
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
        self.sent[..self.sent_count].iter().map(|sent| {
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
            let packet = (sent.packet & !Sent::IS_COPIED) as usize;
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
        pass.received = self.received.as_ptr();
        pass.sent = self.sent.as_mut_ptr().wrapping_add(self.sent_count);
    }

    /// Takes over what a run noted, which these packets were lent to, and counts what left in these
    /// rows. Returns the outputs of the packet that left its unit early, if one did.
    pub(crate) fn take_back(
        &mut self,
        pass: &Pass,
        tallying: Option<Tallying>,
        rows: &mut [Tally],
    ) -> [u32; OUTPUTS] {
        let before = self.sent_count;
        self.sent_count = (pass.sent as usize - self.sent.as_ptr() as usize) / size_of::<Sent>();
        if let Some(Tallying { output, .. }) = tallying {
            // Not while the packets run: a row is known at the end of what a packet does, and the processor
            // would take back again and again what it did of the next ones, which may count there too.
            tally(rows, &self.sent[before..self.sent_count], output);
        }
        self.sent[self.sent_count].outputs
    }
}

fn tally(rows: &mut [Tally], sent: &[Sent], output: usize) {
    assert!(rows.len().is_power_of_two() && output < OUTPUTS, "a number's row is its remainder");
    let mask = rows.len() - 1;
    let rows = &mut rows[..=mask];
    for sent in sent {
        let row = &mut rows[sent.outputs[output] as usize & mask];
        row.sent_packets += 1;
        row.sent_bytes += u64::from(sent.length_bytes);
    }
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
        packets.send_copy(1, [9, 0, 0, 0], &[6, 6]);
        packets.send_copy(0, [8, 1, 0, 0], &[5]);
        let seen: Vec<_> =
            packets.sent().map(|sent| (sent.packet, sent.outputs[0], sent.bytes)).collect();
        assert_eq!(seen, [(1, 9, &[6, 6][..]), (0, 8, &[5])]);
        assert_eq!(packets.last_sent(), Some([8, 1, 0, 0]));
        packets.forget_sent();
        assert_eq!((packets.sent().len(), packets.len()), (0, 2));
        packets.clear();
        assert!(packets.is_empty());
    }
}
