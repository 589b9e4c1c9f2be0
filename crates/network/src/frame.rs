// SPDX-License-Identifier: Apache-2.0
//! [`Frame`]: an Ethernet frame on a link. Payload at its end that no program reads is a length without bytes.

/// An Ethernet frame without preamble and check sequence. Its last `absent_bytes` bytes are zeros that are not stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The stored bytes, from the destination address on.
    pub bytes: Vec<u8>,
    /// The number of zero bytes behind them.
    pub absent_bytes: u32,
}

impl From<Vec<u8>> for Frame {
    fn from(bytes: Vec<u8>) -> Frame {
        Frame { bytes, absent_bytes: 0 }
    }
}

impl Frame {
    /// Its length in bytes, stored or not.
    pub fn length_bytes(&self) -> u64 {
        self.bytes.len() as u64 + u64::from(self.absent_bytes)
    }

    /// All of its bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        let length = self.length_bytes() as usize;
        let mut bytes = self.bytes;
        bytes.resize(length, 0);
        bytes
    }

    /// A copy of all of its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.clone().into_bytes()
    }

    /// Inverts the bit with this number, counted from the first byte's most significant bit, modulo the frame's bits.
    pub fn flip_bit(&mut self, number: u64) {
        let number = number % (self.length_bytes() * 8).max(1);
        let at = (number / 8) as usize;
        if at >= self.bytes.len() {
            // The byte has to be stored now, and all before it.
            let missing = (at + 1 - self.bytes.len()) as u32;
            self.absent_bytes = self.absent_bytes.saturating_sub(missing);
            self.bytes.resize(at + 1, 0);
        }
        self.bytes[at] ^= 0x80 >> (number % 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flipped_bit_is_stored_and_the_length_stays() {
        let whole = |number| {
            let mut frame = Frame { bytes: vec![0xff, 0], absent_bytes: 3 };
            frame.flip_bit(number);
            assert_eq!(frame.length_bytes(), 5);
            frame.into_bytes()
        };
        assert_eq!(whole(0), [0x7f, 0, 0, 0, 0]);
        assert_eq!(whole(15), [0xff, 1, 0, 0, 0]);
        assert_eq!(whole(16), [0xff, 0, 0x80, 0, 0]);
        assert_eq!(whole(39), [0xff, 0, 0, 0, 1]);
        assert_eq!(whole(40), [0x7f, 0, 0, 0, 0]);
    }
}
