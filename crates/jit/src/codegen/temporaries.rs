// SPDX-License-Identifier: Apache-2.0
//! Values of temporaries while a function is compiled: computed, or bits of the packet that are read where
//! they are used.

use super::values::Val;
use cranelift_codegen::ir::Value;

/// The value of a temporary at compile time.
#[derive(Clone, Debug)]
pub(crate) enum TempValue {
    /// A computed value.
    Computed(Val),
    /// Bits of the packet, read at each use.
    InPacket(PacketBits),
    /// Whether bits of the packet are equal to a number, tested at each use.
    PacketTest(PacketBits, u64),
}

/// Bits in packet memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketBits {
    /// Address of the packet's or the header's first byte.
    pub address: Value,
    /// First bit, from that byte on.
    pub offset_bits: u32,
    /// Number of bits.
    pub width_bits: u32,
}

impl PacketBits {
    /// Replaces the value that is the packet's address.
    pub fn packet_moved(&mut self, before: Value, after: Value) {
        if self.address == before {
            self.address = after;
        }
    }
}
