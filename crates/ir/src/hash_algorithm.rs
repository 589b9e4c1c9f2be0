// SPDX-License-Identifier: Apache-2.0
//! [`HashAlgorithm`]: the hash and checksum functions that a program names. Engines compute them.

use crate::{CalculationId, CrcParameters};

/// Hash and checksum algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HashAlgorithm {
    /// CRC-32 (ISO-HDLC).
    Crc32,
    /// CRC-16/ARC.
    Crc16,
    /// A CRC with parameters of its own.
    Custom(CalculationId),
    /// Always 0, as BMv2 does not support `random` as a hash.
    Random,
    /// The input itself: its first 64 bits as a number (as BMv2 has it), or all of a shorter one.
    Identity,
    /// Internet checksum (RFC 1071).
    Csum16,
    /// Exclusive or of 16-bit words.
    Xor16,
    /// One's complement sum as PSA's `ONES_COMPLEMENT16`.
    OnesComplement16,
    /// Toeplitz or target's own choice, as PNA and PSA's `TARGET_DEFAULT`: CRC-32 here.
    TargetDefault,
    /// A CRC whose parameters the program fixes.
    Crc(CrcParameters),
}

impl HashAlgorithm {
    /// The parameters of a CRC that the program fixes; `None` for calculations, which the control plane sets.
    pub fn crc(self) -> Option<CrcParameters> {
        match self {
            HashAlgorithm::Crc32 | HashAlgorithm::TargetDefault => Some(CrcParameters::CRC32),
            HashAlgorithm::Crc16 => Some(CrcParameters::CRC16),
            HashAlgorithm::Crc(parameters) => Some(parameters),
            _ => None,
        }
    }
}
