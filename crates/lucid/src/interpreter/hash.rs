// SPDX-License-Identifier: Apache-2.0
//! `hash<w>(seed, values)` and the internet checksum, over values as strings of bits. Both are part
//! of what a program means: compiled programs must give the same numbers.
//!
//! The hash is CRC-32 as in IEEE 802.3 (polynomial 0x04c11db7, reflected, all ones at the beginning
//! and the end; the CRC of `123456789` is 0xcbf43926) over these bits, most significant bit first:
//! the seed as 32 bits, then each value at its width, then zero bits up to a whole byte. A boolean
//! is one bit; a group is its members in ascending order, 32 bits each, and a flood of all ports
//! but p is the 32 bits of p, inverted; a payload is its bytes. The hash is the low `w` bits; for `w` above 32
//! the CRCs for seed, seed + 1, ... are put side by side, the first one lowest.

use super::bits::BitWriter;
use super::value::{Group, Value};
use crate::core::arithmetic::mask;

/// Appends the bits of a value that is no integer of known width.
pub(crate) fn write_value(writer: &mut BitWriter, value: &Value) {
    match value {
        Value::Int(word) => writer.write(*word, 128),
        Value::Bool(truth) => writer.write(u128::from(*truth), 1),
        Value::Group(Group::Members(members)) => {
            members.iter().for_each(|member| writer.write(u128::from(*member), 32));
        }
        Value::Group(Group::AllBut(port)) => writer.write(u128::from(!port), 32),
        Value::Payload(bytes) => writer.write_bytes(bytes),
        Value::Event(event) => {
            writer.write(u128::from(event.event.0), 32);
            event.arguments.iter().for_each(|value| write_value(writer, value));
        }
    }
}

/// The hash of a width over the bits that `write` appends; the writer lends its memory.
pub(crate) fn hash(
    writer: &mut BitWriter,
    width_bits: u32,
    seed: u128,
    write: &mut dyn FnMut(&mut BitWriter),
) -> u128 {
    writer.clear();
    writer.write(seed, 32);
    write(writer);
    let (mut seed, rest) = (seed as u32, &writer.bytes()[4..]);
    let mut result = 0;
    for part in 0..width_bits.div_ceil(32) {
        let mut crc = crc32fast::Hasher::new();
        crc.update(&seed.to_be_bytes());
        crc.update(rest);
        result |= u128::from(crc.finalize()) << (part * 32);
        seed = seed.wrapping_add(1);
    }
    result & mask(width_bits)
}

/// The internet checksum (RFC 1071) of the bits that `write` appends, zero bits added up to whole
/// 16-bit words: the ones' complement of their ones' complement sum.
pub(crate) fn internet_checksum(
    writer: &mut BitWriter,
    write: &mut dyn FnMut(&mut BitWriter),
) -> u128 {
    writer.clear();
    write(writer);
    let mut sum = writer.bytes().chunks(2).fold(0u64, |sum, word| {
        sum + (u64::from(word[0]) << 8 | u64::from(word.get(1).copied().unwrap_or(0)))
    });
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    u128::from(!sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash_of(width_bits: u32, seed: u128, values: &[(u128, u32)]) -> u128 {
        hash(&mut BitWriter::default(), width_bits, seed, &mut |writer| {
            values.iter().for_each(|(value, width)| writer.write(*value, *width));
        })
    }

    /// The check value of CRC-32 (IEEE 802.3) is of the text `123456789`: seed `1234`, then `56789`.
    #[test]
    fn hashes_are_crc_32() {
        let text = |text: &[u8]| text.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
        assert_eq!(hash_of(32, text(b"1234"), &[(text(b"56789"), 40)]), 0xcbf4_3926);
        assert_eq!(
            hash_of(32, text(b"1234"), &[(text(b"567"), 24), (text(b"89"), 16)]),
            0xcbf4_3926
        );
        assert_eq!(hash_of(10, text(b"1234"), &[(text(b"56789"), 40)]), 0xcbf4_3926 & 0x3ff);
    }

    #[test]
    fn wide_hashes_are_several_crcs() {
        let values = [(7, 16), (9, 3)];
        let low = hash_of(32, 5, &values);
        let high = hash_of(32, 6, &values);
        assert_eq!(hash_of(64, 5, &values), low | high << 32);
        assert_eq!(hash_of(40, 5, &values), (low | high << 32) & mask(40));
    }

    /// Three bits and five zero bits are the byte that they make.
    #[test]
    fn bits_are_filled_up_with_zeros() {
        assert_eq!(hash_of(32, 1, &[(0b101, 3)]), hash_of(32, 1, &[(0b1010_0000, 8)]));
    }

    /// The example of RFC 1071 §3: the sum of 0001 f203 f4f5 f6f7 is ddf2.
    #[test]
    fn checksums_are_of_rfc_1071() {
        let words = [0x0001u128, 0xf203, 0xf4f5, 0xf6f7];
        let sum = internet_checksum(&mut BitWriter::default(), &mut |writer| {
            words.iter().for_each(|word| writer.write(*word, 16));
        });
        assert_eq!(sum, 0x220d);
    }
}
