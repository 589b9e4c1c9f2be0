// SPDX-License-Identifier: Apache-2.0
//! Hash and checksum algorithms, defined so that v1model programs get the same numbers as on BMv2. What
//! is hashed, and in which order, the program says.

use ir::{CrcParameters, CrcPolynomial, HashAlgorithm};
use state::Replication;

/// The hash of some bytes. CRCs with parameters of their own take them from the configuration.
pub fn hash(algorithm: HashAlgorithm, bytes: &[u8], replication: &Replication) -> u64 {
    match algorithm {
        HashAlgorithm::Crc32 | HashAlgorithm::TargetDefault => {
            reflected_crc(&CRC32_TABLE, u32::MAX, u32::MAX, bytes)
        }
        HashAlgorithm::Crc16 => reflected_crc(&CRC16_TABLE, 0, 0, bytes),
        // The verifier sees to it that there is one.
        HashAlgorithm::Custom(calculation) => replication
            .crc(calculation)
            .map_or(0, |set| u64::from(crc(set.width_bits(), set.parameters(), bytes))),
        HashAlgorithm::Random => 0,
        HashAlgorithm::Identity => identity(bytes),
        HashAlgorithm::Csum16 | HashAlgorithm::OnesComplement16 => {
            u64::from(internet_checksum(bytes))
        }
        HashAlgorithm::Xor16 => u64::from(xor16(bytes)),
        HashAlgorithm::Crc(crc) => polynomial_crc(&crc, bytes),
    }
}

/// A CRC of the program's own by its definition, one bit at a time.
pub fn polynomial_crc(crc: &CrcPolynomial, bytes: &[u8]) -> u64 {
    // At the top of 64 bits, so that all widths are computed alike.
    let unused_bits = 64 - crc.width_bits;
    let polynomial = crc.polynomial << unused_bits;
    let mut register = crc.initial << unused_bits;
    for &byte in bytes {
        let byte = if crc.is_reflected { byte.reverse_bits() } else { byte };
        for at in (0..8).rev() {
            let carry = register >> 63 ^ u64::from(byte >> at & 1);
            register = (register << 1) ^ (carry * polynomial);
        }
    }
    let value = if crc.is_reflected { register.reverse_bits() } else { register >> unused_bits };
    value ^ crc.final_xor
}

const CRC32_TABLE: [u32; 256] = reflected_table(0xedb8_8320);
const CRC16_TABLE: [u32; 256] = reflected_table(0xa001);

/// Remainders of single bytes for a reflected polynomial.
const fn reflected_table(polynomial: u32) -> [u32; 256] {
    let mut table = [0; 256];
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
        table[byte] = remainder;
        byte += 1;
    }
    table
}

fn reflected_crc(table: &[u32; 256], initial: u32, final_xor: u32, bytes: &[u8]) -> u64 {
    let remainder = bytes.iter().fold(initial, |remainder, &byte| {
        remainder >> 8 ^ table[(remainder as u8 ^ byte) as usize]
    });
    u64::from(remainder ^ final_xor)
}

/// A CRC of up to 32 bits by its definition, one bit at a time.
fn crc(width_bits: u32, parameters: CrcParameters, bytes: &[u8]) -> u32 {
    let top = 1u32 << (width_bits - 1);
    let mask = u32::MAX >> (32 - width_bits);
    let mut remainder = parameters.initial & mask;
    for &byte in bytes {
        let byte = if parameters.reflect_input { byte.reverse_bits() } else { byte };
        remainder ^= u32::from(byte) << (width_bits - 8);
        for _ in 0..8 {
            let carry = remainder & top != 0;
            remainder = remainder << 1 & mask;
            if carry {
                remainder ^= parameters.polynomial & mask;
            }
        }
    }
    if parameters.reflect_output {
        remainder = remainder.reverse_bits() >> (32 - width_bits);
    }
    (remainder ^ parameters.final_xor) & mask
}

/// The first eight bytes as a number.
fn identity(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// Words of 16 bits, the last one filled with zeros.
fn words(bytes: &[u8]) -> impl Iterator<Item = u16> {
    bytes.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
}

/// RFC 1071.
fn internet_checksum(bytes: &[u8]) -> u16 {
    let mut sum: u64 = words(bytes).map(u64::from).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn xor16(bytes: &[u8]) -> u16 {
    words(bytes).fold(0, |value, word| value ^ word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::{Calculation, CalculationId, OriginId, Program};
    use proptest::prelude::*;
    use state::{Configuration, Store};
    use std::sync::Arc;

    fn configuration() -> Arc<Configuration> {
        let calculation = |(width_bits, parameters)| Calculation {
            name: "".into(),
            width_bits,
            parameters,
            origin: OriginId(0),
        };
        let crcs = [(32, CrcParameters::CRC32), (16, CrcParameters::CRC16)];
        let calculations = crcs.map(calculation).to_vec();
        let program = Program { calculations, ..Program::default() };
        Store::new(Arc::new(program)).expect("a program without tables").configuration()
    }

    fn check(algorithm: HashAlgorithm, bytes: &[u8], expected: u64) {
        assert_eq!(
            hash(algorithm, bytes, configuration().replication()),
            expected,
            "{algorithm:?}"
        );
    }

    #[test]
    fn published_check_values() {
        // "123456789" is the check input of the CRC catalogues.
        check(HashAlgorithm::Crc32, b"123456789", 0xcbf4_3926);
        check(HashAlgorithm::Crc16, b"123456789", 0xbb3d);
        check(HashAlgorithm::Custom(CalculationId(0)), b"123456789", 0xcbf4_3926);
        check(HashAlgorithm::Custom(CalculationId(1)), b"123456789", 0xbb3d);
        // RFC 1071 §3: the sum of these words is ddf2.
        check(
            HashAlgorithm::Csum16,
            &[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7],
            !0xddf2 & 0xffff,
        );
        check(HashAlgorithm::Csum16, &[0xab], !0xab00 & 0xffff);
        check(HashAlgorithm::Csum16, &[], 0xffff);
        check(HashAlgorithm::Xor16, &[0x12, 0x34, 0x01, 0x01, 0xff], 0xec35);
        check(HashAlgorithm::Identity, &[1, 2, 3], 0x010203);
        check(HashAlgorithm::Identity, &[1, 2, 3, 4, 5, 6, 7, 8, 9], 0x0102_0304_0506_0708);
    }

    #[test]
    fn other_crcs_of_the_catalogue() {
        let ccitt_false = CrcParameters {
            polynomial: 0x1021,
            initial: 0xffff,
            final_xor: 0,
            reflect_input: false,
            reflect_output: false,
        };
        assert_eq!(crc(16, ccitt_false, b"123456789"), 0x29b1);
        let castagnoli = CrcParameters { polynomial: 0x1edc_6f41, ..CrcParameters::CRC32 };
        assert_eq!(crc(32, castagnoli, b"123456789"), 0xe306_9283);
        let bzip2 =
            CrcParameters { reflect_input: false, reflect_output: false, ..CrcParameters::CRC32 };
        assert_eq!(crc(32, bzip2, b"123456789"), 0xfc89_1918);
        let smbus = CrcParameters { polynomial: 7, initial: 0, final_xor: 0, ..bzip2 };
        assert_eq!(crc(8, smbus, b"123456789"), 0xf4);
    }

    /// The check values of the catalogue of CRCs.
    #[test]
    fn crcs_of_the_program() {
        let crc = |width_bits, polynomial, initial, final_xor, is_reflected| CrcPolynomial {
            width_bits,
            polynomial,
            initial,
            final_xor,
            is_reflected,
        };
        let check = |crc: CrcPolynomial, expected| {
            assert!(crc.is_valid());
            assert_eq!(polynomial_crc(&crc, b"123456789"), expected, "{crc:?}");
        };
        check(crc(8, 0x07, 0, 0, false), 0xf4);
        check(crc(16, 0x1021, 0xffff, 0, false), 0x29b1);
        check(crc(16, 0x8005, 0, 0, true), 0xbb3d);
        check(crc(32, 0x04c1_1db7, 0xffff_ffff, 0xffff_ffff, true), 0xcbf4_3926);
        check(crc(32, 0x1edc_6f41, 0xffff_ffff, 0xffff_ffff, true), 0xe306_9283);
        check(crc(64, 0x42f0_e1eb_a9ea_3693, 0, 0, false), 0x6c40_df5f_0b49_7347);
        check(crc(64, 0x42f0_e1eb_a9ea_3693, u64::MAX, u64::MAX, true), 0x995d_c9bb_df19_39fa);
        check(crc(5, 0x05, 0x1f, 0x1f, true), 0x19);
        assert!(!crc(8, 0x107, 0, 0, false).is_valid());
        assert!(!crc(0, 0, 0, 0, false).is_valid());
    }

    proptest! {
        #[test]
        fn tables_agree_with_the_definition(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let configuration = configuration();
            prop_assert_eq!(
                hash(HashAlgorithm::Crc32, &bytes, configuration.replication()),
                u64::from(crc(32, CrcParameters::CRC32, &bytes))
            );
            prop_assert_eq!(
                hash(HashAlgorithm::Crc16, &bytes, configuration.replication()),
                u64::from(crc(16, CrcParameters::CRC16, &bytes))
            );
        }
    }
}
