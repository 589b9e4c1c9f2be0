// SPDX-License-Identifier: Apache-2.0
//! Values of a fixed width in bits, and the arithmetic of the IR on them.

/// An unsigned number of a fixed width, 0 to [`crate::MAX_WIDTH_BITS`] bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bits {
    width_bits: u32,
    value: u128,
}

impl Bits {
    /// Zero.
    pub fn zero(width_bits: u32) -> Bits {
        Bits { width_bits, value: 0 }
    }
}
