// SPDX-License-Identifier: Apache-2.0
//! What belongs to one packet in flight: its storage, its bytes, what was emitted and requested. Code
//! that changes it lives in the engine.

use crate::bit_string::BitString;
use ir::{Bits, Program, RequestId, SlotId, ValueType};

/// A packet in flight. It can be used again for the next packet, which saves its memory.
#[derive(Clone, Debug, Default)]
pub struct PacketContext {
    /// Values of the program's slots. A varbit's length is the width of its value.
    pub slots: Vec<Bits>,
    /// Bytes of the packet as it came into the parser.
    pub packet: Vec<u8>,
    /// How far the parser has read.
    pub cursor_bits: usize,
    /// What the deparser emitted.
    pub emitted: BitString,
    /// What the program asked of the device, in order.
    pub requests: Vec<(RequestId, Vec<Bits>)>,
    /// How many random numbers were drawn in this pass.
    pub draw_count: u64,
    /// Temporaries of the running regions, the innermost last.
    pub(crate) temps: Vec<Bits>,
    /// Keys of a table being applied.
    pub(crate) keys: Vec<Bits>,
}

impl PacketContext {
    /// A context with all slots zero and an empty packet.
    pub fn new(program: &Program) -> PacketContext {
        let mut context = PacketContext::default();
        context.reset(program);
        context
    }

    /// Sets everything back for a new packet.
    pub fn reset(&mut self, program: &Program) {
        self.slots.clear();
        self.slots.extend(program.slots.iter().map(|slot| zero_of(slot.ty)));
        self.packet.clear();
        self.begin_pass();
    }

    /// Forgets what an earlier pass emitted, requested and drew, and reads the packet from its start
    /// again. Slots and bytes stay.
    pub fn begin_pass(&mut self) {
        self.cursor_bits = 0;
        self.emitted.clear();
        self.requests.clear();
        self.draw_count = 0;
    }

    /// Takes these bytes as the packet, to be read from the start.
    pub fn set_packet(&mut self, bytes: &[u8]) {
        self.packet.clear();
        self.packet.extend_from_slice(bytes);
        self.cursor_bits = 0;
    }

    /// A slot's value.
    pub fn slot(&self, slot: SlotId) -> Option<&Bits> {
        self.slots.get(slot.index())
    }

    /// Stores a value in a slot, in the slot's width if that is fixed; nothing happens without such a
    /// slot.
    pub fn set_slot(&mut self, program: &Program, slot: SlotId, value: &Bits) {
        if let (Some(place), Some(declared)) =
            (self.slots.get_mut(slot.index()), program.slots.get(slot.index()))
        {
            *place = match declared.ty {
                ValueType::Bits(width_bits) => in_width(value, width_bits),
                ValueType::Varbit(_) => value.clone(),
            };
        }
    }

    /// Stores a number in a slot, modulo 2 to the slot's width.
    pub fn set_slot_number(&mut self, program: &Program, slot: SlotId, number: u64) {
        self.set_slot(program, slot, &Bits::from_u64(64, number));
    }

    /// The packet's bytes that the parser has not read; the bits of a byte it has half read come
    /// first, with zeros at the end.
    pub fn payload(&self) -> Vec<u8> {
        let mut rest = BitString::new();
        rest.push_rest(&self.packet, self.cursor_bits);
        rest.into_bytes()
    }

    /// The outgoing packet: what was emitted, then what the parser has not read.
    pub fn outgoing_packet(&self) -> Vec<u8> {
        let mut whole = self.emitted.clone();
        whole.push_rest(&self.packet, self.cursor_bits);
        whole.into_bytes()
    }
}

/// The value at the start of a packet.
pub(crate) fn zero_of(ty: ValueType) -> Bits {
    match ty {
        ValueType::Bits(width_bits) => Bits::zero(width_bits),
        ValueType::Varbit(_) => Bits::zero(0),
    }
}

/// The value zero-extended or truncated.
pub(crate) fn in_width(value: &Bits, width_bits: u32) -> Bits {
    use ir::ResizeKind::{Truncate, ZeroExtend};
    use std::cmp::Ordering::*;
    match value.width_bits().cmp(&width_bits) {
        Equal => value.clone(),
        Less => value.resize(ZeroExtend, width_bits),
        Greater => value.resize(Truncate, width_bits),
    }
}
