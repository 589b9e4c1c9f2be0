// SPDX-License-Identifier: Apache-2.0
//! Strings of bits as packets hold them: most significant bit first, not always whole bytes. What the
//! bits mean is not known here.

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

    /// Appends a value.
    pub fn push(&mut self, value: &Bits) {
        let width_bits = value.width_bits();
        match value.to_u128() {
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

    /// Appends what stands in `bytes` from bit `from_bit` on.
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

/// Reads up to 128 bits that are known to be there.
fn read_number(bytes: &[u8], from_bit: usize, width_bits: u32) -> u128 {
    let mut value = 0u128;
    let mut at = from_bit;
    let mut rest_bits = width_bits;
    while rest_bits > 0 {
        let left_bits = 8 - (at % 8) as u32;
        let taken_bits = left_bits.min(rest_bits);
        let byte = bytes.get(at / 8).copied().unwrap_or(0);
        let part = byte >> (left_bits - taken_bits) & (0xff >> (8 - taken_bits));
        value = value << taken_bits | u128::from(part);
        at += taken_bits as usize;
        rest_bits -= taken_bits;
    }
    value
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
