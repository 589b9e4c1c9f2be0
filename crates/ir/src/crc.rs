// SPDX-License-Identifier: Apache-2.0
//! Cyclic redundancy checks with parameters: what defines one, and the calculations of a program whose
//! parameters a control plane may set. How a check is computed is the engines' business.

use crate::OriginId;
use std::sync::Arc;

/// The widths that a CRC with parameters may have, in bits.
pub const CRC_WIDTHS_BITS: std::ops::RangeInclusive<u32> = 8..=32;

/// What defines a CRC of a given width. The numbers stand in the notation with the most significant
/// bit first, as in the published catalogues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CrcParameters {
    /// Polynomial without its leading one.
    pub polynomial: u32,
    /// First value of the remainder.
    pub initial: u32,
    /// What the remainder is exclusive-ored with at the end.
    pub final_xor: u32,
    /// Whether each byte is taken with its least significant bit first.
    pub reflect_input: bool,
    /// Whether the remainder is reversed at the end.
    pub reflect_output: bool,
}

impl CrcParameters {
    /// CRC-16/ARC, which a custom CRC-16 of v1model is until it is changed.
    pub const CRC16: CrcParameters = CrcParameters {
        polynomial: 0x8005,
        initial: 0,
        final_xor: 0,
        reflect_input: true,
        reflect_output: true,
    };

    /// CRC-32/ISO-HDLC, which a custom CRC-32 of v1model is until it is changed.
    pub const CRC32: CrcParameters = CrcParameters {
        polynomial: 0x04c1_1db7,
        initial: 0xffff_ffff,
        final_xor: 0xffff_ffff,
        reflect_input: true,
        reflect_output: true,
    };

    /// Whether all numbers have at most so many bits.
    pub fn fit(&self, width_bits: u32) -> bool {
        let fits = |value: u32| width_bits >= 32 || value >> width_bits == 0;
        [self.polynomial, self.initial, self.final_xor].into_iter().all(fits)
    }
}

/// A CRC at a place of the program, with parameters of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Calculation {
    /// The name that a control plane sets its parameters by.
    pub name: Arc<str>,
    /// Width of the CRC, in [`CRC_WIDTHS_BITS`].
    pub width_bits: u32,
    /// Parameters until they are set.
    pub parameters: CrcParameters,
    /// The call, or the object's declaration.
    pub origin: OriginId,
}
