// SPDX-License-Identifier: Apache-2.0
//! [`Column`]: numbers as text that a page reads fast: each in as few bytes as it needs (LEB128), all in base 64.
//! `unpack` of `assets/view.js` reads it.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Numbers one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column(Vec<u8>);

impl Column {
    /// Appends a number. A page reads numbers exactly below 2^53.
    #[inline]
    pub fn push(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// The bytes as base 64 (RFC 4648).
    pub fn write(&self, to: &mut String) {
        to.reserve(self.0.len().div_ceil(3) * 4);
        for chunk in self.0.chunks(3) {
            let mut three = [0; 4];
            three[1..=chunk.len()].copy_from_slice(chunk);
            let bits = u32::from_be_bytes(three);
            for at in 0..4 {
                let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
                to.push(if at <= chunk.len() { digit.into() } else { '=' });
            }
        }
    }

    /// How many characters [`Column::write`] appends.
    pub fn text_length(&self) -> usize {
        self.0.len().div_ceil(3) * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(column: &Column) -> String {
        let mut text = String::new();
        column.write(&mut text);
        assert_eq!(text.len(), column.text_length());
        text
    }

    #[test]
    fn base_64_is_that_of_the_rfc() {
        for (bytes, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(text(&Column(bytes.as_bytes().to_vec())), expected);
        }
    }

    #[test]
    fn numbers_take_as_few_bytes_as_they_need() {
        let mut column = Column::default();
        for number in [0, 127, 128, 300, u64::MAX] {
            column.push(number);
        }
        let largest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        let expected = [&[0, 127, 0x80, 1, 0xac, 2][..], &largest].concat();
        assert_eq!(column.0, expected);
    }
}
