// SPDX-License-Identifier: Apache-2.0
//! Cyclic redundancy checks (CRCs): the parameters that define one, its value bit by bit as the catalogues
//! define it, and [`Crc`], which computes the same values from tables.

use std::fmt;
use std::sync::Arc;

/// The parameters that define a CRC, in the terms of the catalogues of CRCs: numbers have their most
/// significant bit first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CrcParameters {
    /// Width in bits: 1 to 64. No other number is wider.
    pub width_bits: u32,
    /// Polynomial without its highest term, the coefficient of 1 in the lowest bit.
    pub polynomial: u64,
    /// First value of the register.
    pub initial: u64,
    /// The final value of the register is exclusive-ored with this.
    pub final_xor: u64,
    /// Whether each byte enters with its least significant bit first.
    pub reflect_input: bool,
    /// Whether the register is reversed at the end.
    pub reflect_output: bool,
}

impl CrcParameters {
    /// CRC-16/ARC.
    pub const CRC16: CrcParameters = CrcParameters {
        width_bits: 16,
        polynomial: 0x8005,
        initial: 0,
        final_xor: 0,
        reflect_input: true,
        reflect_output: true,
    };

    /// CRC-32/ISO-HDLC, the CRC of Ethernet.
    pub const CRC32: CrcParameters = CrcParameters {
        width_bits: 32,
        polynomial: 0x04c1_1db7,
        initial: 0xffff_ffff,
        final_xor: 0xffff_ffff,
        reflect_input: true,
        reflect_output: true,
    };

    /// CRC-32/ISCSI, also called CRC-32C (Castagnoli).
    pub const CRC32C: CrcParameters =
        CrcParameters { polynomial: 0x1edc_6f41, ..CrcParameters::CRC32 };

    /// Whether the width is from 1 to 64 bits and no parameter is wider.
    pub fn is_valid(&self) -> bool {
        let widest = self.polynomial | self.initial | self.final_xor;
        (1..=64).contains(&self.width_bits) && 64 - widest.leading_zeros() <= self.width_bits
    }

    /// Whether input and output are reflected: the register can then be held in reverse, so that bytes enter at
    /// its low end.
    pub fn is_reflected(&self) -> bool {
        self.reflect_input && self.reflect_output
    }

    /// The CRC of bytes by its definition, one bit at a time.
    pub fn compute(&self, bytes: &[u8]) -> u64 {
        // At the top of 64 bits, so that all widths are computed alike.
        let unused_bits = 64 - self.width_bits;
        let polynomial = self.polynomial << unused_bits;
        let mut register = self.initial << unused_bits;
        for &byte in bytes {
            let byte = if self.reflect_input { byte.reverse_bits() } else { byte };
            for at in (0..8).rev() {
                let carry = register >> 63 ^ u64::from(byte >> at & 1);
                register = (register << 1) ^ (carry * polynomial);
            }
        }
        let value = match self.reflect_output {
            true => register.reverse_bits(),
            false => register >> unused_bits,
        };
        value ^ self.final_xor
    }

    /// The first value of the reversed register of a reflected CRC of at most 32 bits.
    pub fn reversed_initial(&self) -> u32 {
        self.reversed(self.initial)
    }

    /// The polynomial of the reversed register of a reflected CRC of at most 32 bits.
    pub fn reversed_polynomial(&self) -> u32 {
        self.reversed(self.polynomial)
    }

    fn reversed(&self, number: u64) -> u32 {
        (number << (64 - self.width_bits)).reverse_bits() as u32
    }
}

/// Tables of a reflected CRC: remainders of single bytes, then of bytes with one to seven zero bytes behind them.
pub type ReflectedTables = [[u32; 256]; 8];

/// Remainders of groups of bits for a reversed polynomial: `N` is two to the length of a group.
pub fn reflected_table<const N: usize>(reversed_polynomial: u32) -> [u32; N] {
    std::array::from_fn(|group| {
        (0..N.trailing_zeros()).fold(group as u32, |remainder, _| {
            let carry = remainder & 1;
            (remainder >> 1) ^ (carry * reversed_polynomial)
        })
    })
}

fn reflected_tables(reversed_polynomial: u32) -> ReflectedTables {
    let mut tables = [reflected_table(reversed_polynomial); 8];
    for behind in 1..8 {
        tables[behind] =
            tables[behind - 1].map(|before| before >> 8 ^ tables[0][(before & 0xff) as usize]);
    }
    tables
}

/// Lets bytes enter the reversed register of a reflected CRC: eight bytes a step, then four, each by the table of
/// its place in the step.
pub fn reflected_register(tables: &ReflectedTables, mut register: u32, bytes: &[u8]) -> u32 {
    let four = |behind: usize, word: u32| {
        let [first, second, third, fourth] = word.to_le_bytes().map(usize::from);
        tables[behind + 3][first]
            ^ tables[behind + 2][second]
            ^ tables[behind + 1][third]
            ^ tables[behind][fourth]
    };
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        let word = u64::from_le_bytes(*chunk) ^ u64::from(register);
        register = four(4, word as u32) ^ four(0, (word >> 32) as u32);
    }
    let (chunks, rest) = rest.as_chunks::<4>();
    for chunk in chunks {
        register = four(0, u32::from_le_bytes(*chunk) ^ register);
    }
    for byte in rest {
        register = register >> 8 ^ tables[0][usize::from(register as u8 ^ byte)];
    }
    register
}

/// A CRC with the tables that compute it a byte or more at a time.
#[derive(Clone, PartialEq)]
pub struct Crc {
    parameters: CrcParameters,
    tables: Tables,
}

#[derive(Clone, PartialEq)]
enum Tables {
    /// Of a reflected CRC of at most 32 bits.
    Reflected(Arc<ReflectedTables>),
    /// Remainders of single bytes, most significant bit first, at the top of 32 bits whatever the width.
    Forward(Arc<[u32; 256]>),
    /// The CRC is too narrow or too wide for tables of 32 bits.
    None,
}

impl fmt::Debug for Crc {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Crc({:?})", self.parameters)
    }
}

impl Crc {
    /// A CRC with parameters that are valid.
    pub fn new(parameters: CrcParameters) -> Crc {
        let tables = match parameters.width_bits {
            8..=32 if parameters.is_reflected() => {
                Tables::Reflected(Arc::new(reflected_tables(parameters.reversed_polynomial())))
            }
            8..=32 => {
                let polynomial = (parameters.polynomial << (32 - parameters.width_bits)) as u32;
                Tables::Forward(Arc::new(std::array::from_fn(|byte| {
                    (0..8).fold((byte as u32) << 24, |remainder, _| {
                        let carry = remainder >> 31;
                        (remainder << 1) ^ (carry * polynomial)
                    })
                })))
            }
            _ => Tables::None,
        };
        Crc { parameters, tables }
    }

    /// The parameters that define it.
    pub fn parameters(&self) -> CrcParameters {
        self.parameters
    }

    /// The tables of a reflected CRC of 8 to 32 bits.
    pub fn reflected_tables(&self) -> Option<&ReflectedTables> {
        match &self.tables {
            Tables::Reflected(tables) => Some(tables),
            Tables::Forward(_) | Tables::None => None,
        }
    }

    /// The CRC of two runs of bytes, one behind the other.
    pub fn compute(&self, runs: [&[u8]; 2]) -> u64 {
        let CrcParameters { width_bits, initial, final_xor, reflect_input, reflect_output, .. } =
            self.parameters;
        let register = match &self.tables {
            Tables::Reflected(tables) => {
                let first = self.parameters.reversed_initial();
                let enter = |register, run: &[u8]| reflected_register(tables, register, run);
                return u64::from(runs.into_iter().fold(first, enter)) ^ final_xor;
            }
            Tables::Forward(table) => {
                let first = (initial << (32 - width_bits)) as u32;
                runs.into_iter().flatten().fold(first, |register, &byte| {
                    let byte = if reflect_input { byte.reverse_bits() } else { byte };
                    register << 8 ^ table[usize::from((register >> 24) as u8 ^ byte)]
                })
            }
            Tables::None => return self.parameters.compute(&runs.concat()),
        };
        let value = match reflect_output {
            true => register.reverse_bits(),
            false => register >> (32 - width_bits),
        };
        u64::from(value) ^ final_xor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// "123456789" is the check input of the catalogue of CRCs.
    #[test]
    fn check_values_are_those_of_the_catalogue() {
        let crc = |width_bits, polynomial, initial, final_xor, is_reflected| CrcParameters {
            width_bits,
            polynomial,
            initial,
            final_xor,
            reflect_input: is_reflected,
            reflect_output: is_reflected,
        };
        let check = |parameters: CrcParameters, expected: u64| {
            assert!(parameters.is_valid());
            assert_eq!(parameters.compute(b"123456789"), expected, "{parameters:?}");
            let by_tables = Crc::new(parameters).compute([b"1234", b"56789"]);
            assert_eq!(by_tables, expected, "{parameters:?}");
        };
        check(CrcParameters::CRC16, 0xbb3d);
        check(CrcParameters::CRC32, 0xcbf4_3926);
        check(CrcParameters::CRC32C, 0xe306_9283);
        check(crc(8, 0x07, 0, 0, false), 0xf4);
        check(crc(16, 0x1021, 0xffff, 0, false), 0x29b1);
        check(crc(32, 0x04c1_1db7, 0xffff_ffff, 0xffff_ffff, false), 0xfc89_1918);
        check(crc(64, 0x42f0_e1eb_a9ea_3693, 0, 0, false), 0x6c40_df5f_0b49_7347);
        check(crc(64, 0x42f0_e1eb_a9ea_3693, u64::MAX, u64::MAX, true), 0x995d_c9bb_df19_39fa);
        check(crc(5, 0x05, 0x1f, 0x1f, true), 0x19);
        assert!(!crc(8, 0x107, 0, 0, false).is_valid());
        assert!(!crc(0, 0, 0, 0, false).is_valid());
    }

    proptest! {
        #[test]
        fn tables_compute_what_the_definition_says(
            width_bits in 1u32..=64,
            numbers: [u64; 3],
            reflect_input: bool,
            reflect_output: bool,
            bytes in prop::collection::vec(any::<u8>(), 0..64),
            end in any::<prop::sample::Index>(),
        ) {
            let [polynomial, initial, final_xor] = numbers.map(|number| number >> (64 - width_bits));
            let parameters = CrcParameters {
                width_bits, polynomial, initial, final_xor, reflect_input, reflect_output,
            };
            let (first, second) = bytes.split_at(end.index(bytes.len() + 1));
            prop_assert_eq!(
                Crc::new(parameters).compute([first, second]),
                parameters.compute(&bytes)
            );
        }

        #[test]
        fn groups_of_four_bits_lead_to_the_same_register(polynomial: u32, byte: u8) {
            let [nibbles, bytes] = [reflected_table::<16>(polynomial).to_vec(), reflected_table::<256>(polynomial).to_vec()];
            let step = |register: u32| register >> 4 ^ nibbles[(register & 15) as usize];
            prop_assert_eq!(step(step(u32::from(byte))), bytes[usize::from(byte)]);
        }
    }
}
