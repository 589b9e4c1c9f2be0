// SPDX-License-Identifier: Apache-2.0
//! Values of temporaries while a function is compiled: computed, or bits of the packet that are read where
//! they are used.

use super::values::Val;
use cranelift_codegen::ir::Value;

/// A temporary's value, which may not be there yet.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// Computed.
    Val(Val),
    /// Bits of the packet that are read when they are needed.
    Packet(PacketBits),
    /// Whether bits of the packet are this number, found out when it is needed.
    Test(PacketBits, u64),
}

/// Bits in packet memory: a field that nobody has written since its header was extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketBits {
    /// Address of the packet's or the header's first byte.
    pub address: Value,
    /// First bit, counted from there.
    pub offset_bits: u32,
    /// How many.
    pub width_bits: u32,
}

impl PacketBits {
    /// The packet's address is known as another value from now on.
    pub fn packet_moved(&mut self, before: Value, after: Value) {
        if self.address == before {
            self.address = after;
        }
    }
}
