// SPDX-License-Identifier: Apache-2.0
//! Writer and reader of bit strings, most significant bit first, for packets, hashes and checksums.

use super::arithmetic::mask;

/// Writes values of any width one after the other, most significant bit first. The unused low bits
/// of the last byte are zero.
#[derive(Clone, Debug, Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    /// Bits used in the last byte, 0 to 7; 0 if it is full.
    used: u32,
}

impl BitWriter {
    /// Forgets what was written and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.used = 0;
    }

    /// Appends the low `width_bits` bits of a value.
    pub fn write(&mut self, value: u128, width_bits: u32) {
        let value = value & mask(width_bits);
        if self.used == 0 && width_bits.is_multiple_of(8) {
            let first = 16 - (width_bits / 8).min(16) as usize;
            self.bytes.extend_from_slice(&value.to_be_bytes()[first..]);
            return;
        }
        let mut left = width_bits.min(128);
        while left > 0 {
            if self.used == 0 {
                self.bytes.push(0);
            }
            let room = 8 - self.used;
            let taken = room.min(left);
            let part = ((value >> (left - taken)) & mask(taken)) as u8;
            if let Some(last) = self.bytes.last_mut() {
                *last |= part << (room - taken);
            }
            self.used = (self.used + taken) % 8;
            left -= taken;
        }
    }

    /// Appends whole bytes.
    pub fn write_bytes(&mut self, bytes: &[u8]) {
        if self.used == 0 {
            self.bytes.extend_from_slice(bytes);
        } else {
            bytes.iter().for_each(|byte| self.write(u128::from(*byte), 8));
        }
    }

    /// What was written.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads values of any width one after the other, most significant bit first.
#[derive(Clone, Copy, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    position_bits: u64,
}

impl<'a> BitReader<'a> {
    /// From the first bit.
    pub fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, position_bits: 0 }
    }

    fn left_bits(&self) -> u64 {
        self.bytes.len() as u64 * 8 - self.position_bits
    }

    /// The next `width_bits` bits (at most 128), or `None` if fewer are left.
    pub fn read(&mut self, width_bits: u32) -> Option<u128> {
        if self.left_bits() < u64::from(width_bits) {
            return None;
        }
        let mut value = 0;
        let mut left = width_bits;
        while left > 0 {
            let byte = self.bytes[(self.position_bits / 8) as usize];
            let room = 8 - (self.position_bits % 8) as u32;
            let taken = room.min(left);
            let part = (u128::from(byte) >> (room - taken)) & mask(taken);
            value = (value << taken) | part;
            self.position_bits += u64::from(taken);
            left -= taken;
        }
        Some(value)
    }

    /// Skips bits; returns false if fewer are left.
    pub fn skip(&mut self, bits: u32) -> bool {
        let enough = self.left_bits() >= u64::from(bits);
        if enough {
            self.position_bits += u64::from(bits);
        }
        enough
    }

    /// All bits that are left; unused low bits of the last byte are zero.
    pub fn rest(&mut self) -> Vec<u8> {
        let whole = self.position_bits.is_multiple_of(8);
        let first = self.position_bits.div_euclid(8) as usize;
        let rest = if whole {
            self.bytes[first..].to_vec()
        } else {
            let mut writer = BitWriter::default();
            let partial = 8 - (self.position_bits % 8) as u32;
            writer.write(u128::from(self.bytes[first]), partial);
            writer.write_bytes(&self.bytes[first + 1..]);
            writer.bytes
        };
        self.position_bits = self.bytes.len() as u64 * 8;
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let fields = [(5u128, 3u32), (0xabc, 12), (1, 1), (u128::MAX, 128), (0x1234, 16), (0, 0)];
        let mut writer = BitWriter::default();
        for (value, width) in fields {
            writer.write(value, width);
        }
        assert_eq!(writer.bytes().len(), 20);
        let bytes = writer.bytes().to_vec();
        let mut reader = BitReader::new(&bytes);
        for (value, width) in fields {
            assert_eq!(reader.read(width), Some(value & mask(width)), "{width} bits");
        }
        assert!(reader.rest().is_empty());
        assert_eq!(reader.read(1), None);
    }

    #[test]
    fn the_rest_after_odd_bits_moves_up() {
        let mut reader = BitReader::new(&[0b1010_1111, 0b0000_1111]);
        assert_eq!(reader.read(4), Some(0b1010));
        assert_eq!(reader.rest(), [0b1111_0000, 0b1111_0000]);
        let mut reader = BitReader::new(&[0xff, 0x0f]);
        assert!(reader.skip(15));
        assert!(!reader.skip(2));
        assert_eq!(reader.read(1), Some(1));
    }
}
