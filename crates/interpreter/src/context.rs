// SPDX-License-Identifier: Apache-2.0
//! The state of one packet in flight: storage, bytes, emitted bits and requests. Engines change it;
//! `ir::storage_layout` says where the slots are.

use crate::bit_string::BitString;
use crate::observer::Slots;
use crate::random::DrawCounts;
use ir::{Bits, ExternId, Program, RequestId, SlotId, StorageLayout};
use state::externs::PacketAction;
use std::sync::Arc;

/// A packet in flight. It can be reused for the next packet, with its memory.
///
/// The values of the program's slots are words at the offsets of the [`StorageLayout`]. Methods that take a
/// slot panic unless it is a slot of the layout's program.
#[derive(Clone, Debug)]
pub struct PacketContext {
    layout: Arc<StorageLayout>,
    storage: Vec<u64>,
    /// Bytes of the packet that entered the parser.
    pub packet: Vec<u8>,
    /// The parser's cursor.
    pub cursor_bits: usize,
    /// The bits that the deparser emitted.
    pub emitted: BitString,
    /// Requests of the program, in order.
    pub requests: Vec<(RequestId, Vec<Bits>)>,
    /// Actions on packets that externs request, in order.
    pub actions: Vec<(ExternId, PacketAction)>,
    /// Counts of the random numbers drawn in this pass.
    pub draws: DrawCounts,
    /// Temporaries of the running regions, the innermost last.
    pub(crate) temps: Vec<Bits>,
    /// Keys of a table being applied.
    pub(crate) keys: Vec<Bits>,
}

impl PacketContext {
    /// A context with all slots zero and an empty packet, with a layout of its own.
    pub fn new(program: &Program) -> PacketContext {
        PacketContext::with_layout(Arc::new(StorageLayout::new(program)))
    }

    /// A context with all slots zero and an empty packet.
    pub fn with_layout(layout: Arc<StorageLayout>) -> PacketContext {
        PacketContext {
            storage: vec![0; layout.words()],
            layout,
            packet: Vec::new(),
            cursor_bits: 0,
            emitted: BitString::new(),
            requests: Vec::new(),
            actions: Vec::new(),
            draws: DrawCounts::default(),
            temps: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Resets everything for a new packet.
    pub fn reset(&mut self) {
        self.storage.fill(0);
        self.packet.clear();
        self.begin_pass();
    }

    /// Becomes a copy of another context of the same layout, in the memory that it has.
    pub fn copy_from(&mut self, other: &PacketContext) {
        debug_assert_eq!(self.storage.len(), other.storage.len(), "of one layout");
        self.storage.copy_from_slice(&other.storage);
        self.packet.clone_from(&other.packet);
        self.cursor_bits = other.cursor_bits;
        self.emitted.clone_from(&other.emitted);
        self.requests.clone_from(&other.requests);
        self.actions.clone_from(&other.actions);
        self.draws.clone_from(&other.draws);
    }

    /// Forgets what an earlier pass emitted, requested and drew, and reads the packet from its start
    /// again. Slots and bytes stay.
    pub fn begin_pass(&mut self) {
        self.cursor_bits = 0;
        self.emitted.clear();
        self.requests.clear();
        self.actions.clear();
        self.draws.clear();
    }

    /// Takes these bytes as the packet, to be read from the start.
    pub fn set_packet(&mut self, bytes: &[u8]) {
        self.packet.clear();
        self.packet.extend_from_slice(bytes);
        self.cursor_bits = 0;
    }

    /// The layout of the slots.
    pub fn layout(&self) -> &Arc<StorageLayout> {
        &self.layout
    }

    /// The words of all slots.
    pub fn storage(&self) -> &[u64] {
        &self.storage
    }

    /// The words of all slots, for engines that write them directly. The invariant of [`StorageLayout`] has to
    /// hold: no bits above a width.
    pub fn storage_mut(&mut self) -> &mut [u64] {
        &mut self.storage
    }

    /// A slot's value, in the slot's width; of a varbit as wide as its length.
    pub fn value(&self, slot: SlotId) -> Bits {
        self.layout.value(&self.storage, slot)
    }

    /// Stores a value in a slot, in the slot's width. A varbit takes over the length of the value, at
    /// most its declared one.
    pub fn set_slot(&mut self, slot: SlotId, value: &Bits) {
        self.layout.set_value(&mut self.storage, slot, value);
    }

    /// The lowest 64 bits of a slot.
    pub fn number(&self, slot: SlotId) -> u64 {
        self.layout.number(&self.storage, slot)
    }

    /// Stores a number in a slot, modulo 2 to the slot's width. A varbit keeps its length.
    pub fn set_number(&mut self, slot: SlotId, number: u64) {
        self.layout.set_number(&mut self.storage, slot, number);
    }

    /// Whether the number in a slot of at most 64 bits is not 0: a header's validity, a `bool`.
    pub fn flag(&self, slot: SlotId) -> bool {
        self.number(slot) != 0
    }

    /// The current length of a varbit in bits; of another slot its width.
    pub fn varbit_length_bits(&self, slot: SlotId) -> u32 {
        self.layout.width_bits(&self.storage, slot)
    }

    /// The slots, for reading.
    pub fn slots(&self) -> Slots<'_> {
        Slots::new(&self.layout, &self.storage)
    }

    /// Copies a slot's value to another slot of the same type.
    pub(crate) fn copy_slot(&mut self, from: SlotId, to: SlotId) {
        self.layout.copy(&mut self.storage, from, to);
    }

    /// The packet's bytes that the parser has not read; the bits of a byte it has half read come
    /// first, with zeros at the end.
    pub fn payload(&self) -> Vec<u8> {
        let mut rest = BitString::new();
        rest.push_rest(&self.packet, self.cursor_bits);
        rest.into_bytes()
    }

    /// Appends the outgoing packet, as [`PacketContext::outgoing_packet`] gives it, to bytes.
    pub fn append_outgoing(&self, bytes: &mut Vec<u8>) {
        let is_whole =
            self.cursor_bits.is_multiple_of(8) && self.emitted.length_bits().is_multiple_of(8);
        match self.packet.get(self.cursor_bits / 8..) {
            Some(rest) if is_whole => {
                bytes.extend_from_slice(self.emitted.as_bytes());
                bytes.extend_from_slice(rest);
            }
            _ => bytes.extend_from_slice(&self.outgoing_packet()),
        }
    }

    /// The outgoing packet: what was emitted, then what the parser has not read.
    pub fn outgoing_packet(&self) -> Vec<u8> {
        let rest_bytes = self.packet.len().saturating_sub(self.cursor_bits / 8);
        let mut whole = BitString::with_capacity(self.emitted.as_bytes().len() + rest_bytes);
        whole.push_string(&self.emitted);
        whole.push_rest(&self.packet, self.cursor_bits);
        whole.into_bytes()
    }
}

/// Zero-extends or truncates a value.
pub(crate) fn in_width(value: &Bits, width_bits: u32) -> Bits {
    use ir::ResizeKind::{Truncate, ZeroExtend};
    use std::cmp::Ordering::*;
    match value.width_bits().cmp(&width_bits) {
        Equal => value.clone(),
        Less => value.resize(ZeroExtend, width_bits),
        Greater => value.resize(Truncate, width_bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appended_packets_are_outgoing_packets() {
        let mut context = PacketContext::new(&Program::default());
        context.packet = vec![0x12, 0x34, 0x56];
        for cursor_bits in [0, 4, 8, 24, 30] {
            for emitted_bits in [0, 3, 16] {
                context.cursor_bits = cursor_bits;
                context.emitted.clear();
                context.emitted.push_number(0x5, emitted_bits);
                let mut bytes = vec![0xff];
                context.append_outgoing(&mut bytes);
                let expected = [vec![0xff], context.outgoing_packet()].concat();
                assert_eq!(bytes, expected, "{cursor_bits} {emitted_bits}");
            }
        }
    }
}
