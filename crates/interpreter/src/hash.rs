// SPDX-License-Identifier: Apache-2.0
//! Hash and checksum algorithms, with the same results for v1model programs as on BMv2. The program chooses the
//! inputs and their order.

use ir::HashAlgorithm;
use state::Replication;

/// The hash of some bytes. CRCs with parameters of their own take them from the configuration.
pub fn hash(algorithm: HashAlgorithm, bytes: &[u8], replication: &Replication) -> u64 {
    match algorithm {
        HashAlgorithm::Crc32
        | HashAlgorithm::Crc16
        | HashAlgorithm::TargetDefault
        | HashAlgorithm::Crc(_) => algorithm.crc().map_or(0, |crc| crc.compute(bytes)),
        // The verifier refuses a calculation that the program does not have.
        HashAlgorithm::Custom(calculation) => {
            replication.crc(calculation).map_or(0, |crc| crc.parameters().compute(bytes))
        }
        HashAlgorithm::Random => 0,
        HashAlgorithm::Identity => identity(bytes),
        HashAlgorithm::Csum16 | HashAlgorithm::OnesComplement16 => {
            u64::from(internet_checksum(bytes))
        }
        HashAlgorithm::Xor16 => u64::from(xor16(bytes)),
    }
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
    use ir::{Calculation, CalculationId, CrcParameters, OriginId, Program};
    use state::{Configuration, Store};
    use std::sync::Arc;

    fn configuration() -> Arc<Configuration> {
        let calculation =
            |parameters| Calculation { name: "".into(), parameters, origin: OriginId(0) };
        let calculations = [CrcParameters::CRC32, CrcParameters::CRC16].map(calculation).to_vec();
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
}
