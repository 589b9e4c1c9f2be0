// SPDX-License-Identifier: Apache-2.0
//! `hash<w>(seed, values)` and the internet checksum, over values as strings of bits. Both are part
//! of what a program means: compiled programs must give the same numbers.
//!
//! The hash is a CRC of 32 bits, reflected, all ones at the beginning and the end, whose polynomial comes
//! from the seed, as hardware does it. (With one polynomial and the seed among the bits, two keys that
//! collide under one seed would collide under all: a CRC is linear.) The polynomial in normal notation is
//! the 32-bit finalizer of MurmurHash3 of `seed + 0x9e3779b9`, its last bit set; the polynomial of IEEE
//! 802.3 in its place would give the common CRC-32. The CRC is over these bits, most significant bit first:
//! each value at its width, then zero bits up to a whole byte. A boolean is one bit; a group is its
//! members in ascending order, 32 bits each, and a flood of all ports but p is the 32 bits of p, inverted; a
//! payload is its bytes. The hash is the low `w` bits; for `w` above 32 the CRCs for seed, seed + 1, ... are
//! put side by side, the first one lowest.

use super::arithmetic::mask;
use super::bits::BitWriter;
use arithmetic::crc::reflected_table;

/// The hash of a width over the bits that `write` appends; the writer lends its memory.
pub fn hash(
    writer: &mut BitWriter,
    width_bits: u32,
    seed: u128,
    write: &mut dyn FnMut(&mut BitWriter),
) -> u128 {
    writer.clear();
    write(writer);
    let mut seed = seed as u32;
    let mut result = 0;
    for part in 0..width_bits.div_ceil(32) {
        let crc = reflected_crc(polynomial(seed), writer.bytes());
        result |= u128::from(crc) << (part * 32);
        seed = seed.wrapping_add(1);
    }
    result & mask(width_bits)
}

/// The polynomial of a seed, without its highest term, the coefficient of 1 in the lowest bit.
pub fn polynomial(seed: u32) -> u32 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9);
    mixed = (mixed ^ mixed >> 16).wrapping_mul(0x85eb_ca6b);
    mixed = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35);
    (mixed ^ mixed >> 16) | 1
}

/// The reflected CRC with this polynomial, in steps of four bits: each seed has its own table, so it is short.
fn reflected_crc(polynomial: u32, bytes: &[u8]) -> u32 {
    let steps = reflected_table::<16>(polynomial.reverse_bits());
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        let crc = crc ^ u32::from(*byte);
        let crc = crc >> 4 ^ steps[(crc & 15) as usize];
        crc >> 4 ^ steps[(crc & 15) as usize]
    })
}

/// The internet checksum (RFC 1071) of the bits that `write` appends, zero bits added up to whole
/// 16-bit words: the ones' complement of their ones' complement sum.
pub fn internet_checksum(writer: &mut BitWriter, write: &mut dyn FnMut(&mut BitWriter)) -> u128 {
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

    /// The check values of the catalogue of CRCs, for CRC-32 (IEEE 802.3) and CRC-32C (Castagnoli).
    #[test]
    fn crcs_are_as_in_the_catalogue() {
        assert_eq!(reflected_crc(0x04c1_1db7, b"123456789"), 0xcbf4_3926);
        assert_eq!(reflected_crc(0x1edc_6f41, b"123456789"), 0xe306_9283);
    }

    #[test]
    fn values_stand_side_by_side() {
        let crc = u128::from(reflected_crc(polynomial(7), b"56789"));
        let text = |text: &[u8]| text.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
        assert_eq!(hash_of(32, 7, &[(text(b"56789"), 40)]), crc);
        assert_eq!(hash_of(32, 7, &[(text(b"567"), 24), (text(b"89"), 16)]), crc);
        assert_eq!(hash_of(10, 7, &[(text(b"56789"), 40)]), crc & 0x3ff);
    }

    /// Keys that collide under one seed are scattered by another, as by a function that knows nothing of
    /// the first.
    #[test]
    fn seeds_are_independent() {
        let of = |seed, key| hash_of(8, seed, &[(key, 32)]);
        for (one, other) in [(0, 1), (1, 2), (22, 33), (10_398_247, 1_295_981_879)] {
            let first = of(one, 0);
            let colliding: Vec<u128> = (1..100_000).filter(|key| of(one, *key) == first).collect();
            assert!((250..550).contains(&colliding.len()), "{} collide", colliding.len());
            let mut seen = [0u32; 256];
            colliding.iter().for_each(|key| seen[of(other, *key) as usize] += 1);
            assert!(seen.iter().all(|count| *count < 16), "seeds {one} and {other}: {seen:?}");
        }
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
