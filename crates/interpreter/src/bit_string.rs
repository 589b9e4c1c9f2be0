// SPDX-License-Identifier: Apache-2.0
//! Strings of bits as in packets: most significant bit first, not always whole bytes.

use ir::Bits;

/// A growing string of bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitString {
    bytes: Vec<u8>,
    length_bits: usize,
}

impl BitString {
    /// An empty string.
    pub fn new() -> BitString {
        BitString::default()
    }

    /// An empty string with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> BitString {
        BitString { bytes: Vec::with_capacity(bytes), length_bits: 0 }
    }

    /// Length in bits.
    pub fn length_bits(&self) -> usize {
        self.length_bits
    }

    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.length_bits == 0
    }

    /// The bits, with zeros at the end up to a whole byte.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bits, with zeros at the end up to a whole byte.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Drops all bits, keeping the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.length_bits = 0;
    }

    /// Appends the low `width_bits` (at most 128) bits of a number.
    pub fn push_number(&mut self, value: u128, width_bits: u32) {
        if self.length_bits.is_multiple_of(8) && width_bits.is_multiple_of(8) {
            let bytes = value.to_be_bytes();
            self.bytes.extend_from_slice(&bytes[bytes.len() - width_bits as usize / 8..]);
            self.length_bits += width_bits as usize;
            return;
        }
        let mut rest_bits = width_bits;
        while rest_bits > 0 {
            let used_bits = (self.length_bits % 8) as u32;
            if used_bits == 0 {
                self.bytes.push(0);
            }
            let free_bits = 8 - used_bits;
            let taken_bits = free_bits.min(rest_bits);
            let part = (value >> (rest_bits - taken_bits)) as u8 & (0xff >> (8 - taken_bits));
            if let Some(last) = self.bytes.last_mut() {
                *last |= part << (free_bits - taken_bits);
            }
            self.length_bits += taken_bits as usize;
            rest_bits -= taken_bits;
        }
    }

    /// Appends the low `width_bits` (at most 64) bits of a number.
    #[inline]
    pub fn push_word(&mut self, value: u64, width_bits: u32) {
        if !self.length_bits.is_multiple_of(8) || !width_bits.is_multiple_of(8) {
            return self.push_number(u128::from(value), width_bits);
        }
        if width_bits == 0 {
            return;
        }
        let end = self.bytes.len() + width_bits as usize / 8;
        // All eight bytes at once, and back to those that count.
        self.bytes.extend_from_slice(&(value << (64 - width_bits)).to_be_bytes());
        self.bytes.truncate(end);
        self.length_bits += width_bits as usize;
    }

    /// Appends a value.
    pub fn push(&mut self, value: &Bits) {
        let width_bits = value.width_bits();
        match value.to_u128() {
            Some(number) if width_bits <= 64 => self.push_word(number as u64, width_bits),
            Some(number) if width_bits <= 128 => self.push_number(number, width_bits),
            _ => {
                let bytes = value.to_bytes_be();
                let first_bits = (width_bits + 7) % 8 + 1;
                let mut part_bits = first_bits;
                for byte in bytes {
                    self.push_number(u128::from(byte), part_bits);
                    part_bits = 8;
                }
            }
        }
    }

    /// Appends whole bytes.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        if self.length_bits.is_multiple_of(8) {
            self.bytes.extend_from_slice(bytes);
            self.length_bits += bytes.len() * 8;
        } else {
            for &byte in bytes {
                self.push_number(u128::from(byte), 8);
            }
        }
    }

    /// Appends another string.
    pub fn push_string(&mut self, other: &BitString) {
        let (whole, rest_bits) = (other.length_bits / 8, (other.length_bits % 8) as u32);
        self.push_bytes(&other.bytes[..whole]);
        if let Some(last) = other.bytes.get(whole) {
            self.push_number(u128::from(last >> (8 - rest_bits)), rest_bits);
        }
    }

    /// Appends the bits of `bytes` from bit `from_bit` on.
    pub fn push_rest(&mut self, bytes: &[u8], from_bit: usize) {
        let whole = from_bit / 8;
        let Some(rest) = bytes.get(whole..) else { return };
        match (from_bit % 8, rest.split_first()) {
            (0, _) | (_, None) => self.push_bytes(rest),
            (skipped, Some((first, rest))) => {
                self.push_number(u128::from(*first), 8 - skipped as u32);
                self.push_bytes(rest);
            }
        }
    }
}

/// Reads `width_bits` bits from bit `from_bit` on; `None` when the bytes end before.
pub fn read_bits(bytes: &[u8], from_bit: usize, width_bits: u32) -> Option<Bits> {
    let end_bit = from_bit.checked_add(width_bits as usize)?;
    if end_bit > bytes.len().checked_mul(8)? {
        return None;
    }
    if width_bits <= 128 {
        return Some(Bits::from_u128(width_bits, read_number(bytes, from_bit, width_bits)));
    }
    let first_bits = (width_bits + 7) % 8 + 1;
    let mut at = from_bit;
    let mut part_bits = first_bits;
    let mut collected = Vec::with_capacity(width_bits.div_ceil(8) as usize);
    while at < end_bit {
        collected.push(read_number(bytes, at, part_bits) as u8);
        at += part_bits as usize;
        part_bits = 8;
    }
    Some(Bits::from_bytes_be(width_bits, &collected))
}

/// Reads `width_bits` (at most 128) bits from bit `from_bit` on; what lies beyond the end is zero.
pub fn read_number(bytes: &[u8], from_bit: usize, width_bits: u32) -> u128 {
    match width_bits {
        0..=64 => u128::from(read_word(bytes, from_bit, width_bits)),
        _ => {
            let high_bits = width_bits.min(128) - 64;
            let high = read_word(bytes, from_bit, high_bits);
            let low = read_word(bytes, from_bit.saturating_add(high_bits as usize), 64);
            u128::from(high) << 64 | u128::from(low)
        }
    }
}

/// Reads up to 64 bits.
fn read_word(bytes: &[u8], from_bit: usize, width_bits: u32) -> u64 {
    if width_bits == 0 {
        return 0;
    }
    let rest = bytes.get(from_bit / 8..).unwrap_or_default();
    let skipped_bits = (from_bit % 8) as u32;
    let end_bits = skipped_bits + width_bits;
    if let (Some(chunk), 0..=64) = (rest.first_chunk(), end_bits) {
        return u64::from_be_bytes(*chunk) << skipped_bits >> (64 - width_bits);
    }
    // Near the end of the packet, or across nine bytes.
    let value = (0..end_bits.div_ceil(8) as usize)
        .fold(0u128, |value, at| value << 8 | u128::from(rest.get(at).copied().unwrap_or(0)));
    let unused_bits = end_bits.next_multiple_of(8) - end_bits;
    (value >> unused_bits) as u64 & (u64::MAX >> (64 - width_bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_pushed_can_be_read(
            fields in prop::collection::vec((0u32..300, prop::collection::vec(any::<u8>(), 38)), 0..12)
        ) {
            let values: Vec<Bits> =
                fields.iter().map(|(width, bytes)| Bits::from_bytes_be(*width, bytes)).collect();
            let mut string = BitString::new();
            for value in &values {
                string.push(value);
            }
            let mut at = 0;
            for value in &values {
                let read = read_bits(string.as_bytes(), at, value.width_bits());
                prop_assert_eq!(read.as_ref(), Some(value));
                at += value.width_bits() as usize;
            }
            prop_assert_eq!(string.length_bits(), at);
            prop_assert_eq!(string.as_bytes().len(), at.div_ceil(8));
            prop_assert_eq!(read_bits(string.as_bytes(), at, 8), None);
        }

        #[test]
        fn numbers_are_read_bit_by_bit(bytes in prop::collection::vec(any::<u8>(), 0..24), from in 0usize..200, width in 0u32..=128) {
            let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| byte >> (7 - at % 8) & 1);
            let expected = (from..from + width as usize)
                .fold(0u128, |value, at| value << 1 | u128::from(bit(at)));
            prop_assert_eq!(read_number(&bytes, from, width), expected);
        }

        #[test]
        fn strings_are_appended_bit_by_bit(bytes in prop::collection::vec(any::<u8>(), 0..20), before in 0u32..9, dropped in 0u32..8) {
            let width = (bytes.len() * 8).saturating_sub(dropped as usize) as u32;
            let value = Bits::from_bytes_be(width, &bytes);
            let mut appended = BitString::new();
            appended.push(&value);
            let (mut string, mut expected) = (BitString::new(), BitString::with_capacity(3));
            string.push_number(5, before);
            string.push_string(&appended);
            expected.push_number(5, before);
            expected.push(&value);
            prop_assert_eq!(string, expected);
        }

        #[test]
        fn rests_are_moved_whole(bytes in prop::collection::vec(any::<u8>(), 0..20), from in 0usize..170, before in 0u32..9) {
            let mut string = BitString::new();
            string.push_number(0, before);
            string.push_rest(&bytes, from);
            let width = (bytes.len() * 8).saturating_sub(from) as u32;
            prop_assert_eq!(string.length_bits(), (before + width) as usize);
            prop_assert_eq!(
                read_bits(string.as_bytes(), before as usize, width),
                if width == 0 { Some(Bits::zero(0)) } else { read_bits(&bytes, from, width) }
            );
        }
    }
}
