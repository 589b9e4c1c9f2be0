// SPDX-License-Identifier: Apache-2.0
//! A calculation's CRC as it is set: its parameters, and a table of remainders for engines that compute
//! it a byte at a time. Computing it is the engines' business.

use ir::{Calculation, CrcParameters};
use std::fmt;
use std::sync::Arc;

/// A CRC with its parameters.
#[derive(Clone, PartialEq)]
pub struct Crc {
    width_bits: u32,
    parameters: CrcParameters,
    table: Arc<[u32; 256]>,
    reflected: Option<Arc<[[u32; 256]; 8]>>,
}

impl fmt::Debug for Crc {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Crc({}, {:?})", self.width_bits, self.parameters)
    }
}

impl Crc {
    /// A CRC of so many bits ([`ir::CRC_WIDTHS_BITS`]), with parameters that fit.
    pub fn new(width_bits: u32, parameters: CrcParameters) -> Crc {
        let polynomial = parameters.polynomial.wrapping_shl(32 - width_bits);
        let remainder = |byte: usize| {
            (0..8).fold((byte as u32) << 24, |remainder, _| {
                let carry = remainder >> 31;
                (remainder << 1) ^ (carry * polynomial)
            })
        };
        let is_reflected = parameters.reflect_input && parameters.reflect_output;
        let reflected = is_reflected.then(|| Arc::new(reflected_tables(polynomial.reverse_bits())));
        Crc { width_bits, parameters, table: Arc::new(std::array::from_fn(remainder)), reflected }
    }

    /// As the program has it.
    pub(crate) fn of(calculation: &Calculation) -> Crc {
        Crc::new(calculation.width_bits, calculation.parameters)
    }

    /// Its width in bits.
    pub fn width_bits(&self) -> u32 {
        self.width_bits
    }

    /// What defines it.
    pub fn parameters(&self) -> CrcParameters {
        self.parameters
    }

    /// Remainders of single bytes, most significant bit first, at the top of 32 bits whatever the width.
    pub fn table(&self) -> &[u32; 256] {
        &self.table
    }

    /// [`reflected_tables`], where input and output are reflected.
    pub fn reflected_tables(&self) -> Option<&[[u32; 256]; 8]> {
        self.reflected.as_deref()
    }
}

/// For a reflected polynomial: remainders of single bytes, then of bytes with one to seven zero bytes
/// behind them.
pub const fn reflected_tables(polynomial: u32) -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            let carry = remainder & 1;
            remainder >>= 1;
            if carry != 0 {
                remainder ^= polynomial;
            }
            bit += 1;
        }
        tables[0][byte] = remainder;
        byte += 1;
    }
    let mut behind = 1;
    while behind < 8 {
        byte = 0;
        while byte < 256 {
            let before = tables[behind - 1][byte];
            tables[behind][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        behind += 1;
    }
    tables
}
