// SPDX-License-Identifier: Apache-2.0
//! Hashes and checksums as combinational functions. A CRC is linear: each bit of its value is the exclusive or of some bits of the
//! input, and of a constant.

use super::Logic;
use ir::{CrcParameters, HashAlgorithm};

impl Logic<'_> {
    /// The value of a hash of inputs, cut or extended to a width.
    pub(super) fn hash(
        &mut self,
        algorithm: HashAlgorithm,
        inputs: &[(String, usize)],
        width: usize,
    ) -> String {
        let bits: usize = inputs.iter().map(|(_, bits)| bits).sum();
        let padded = bits.next_multiple_of(8);
        let mut parts: Vec<String> =
            inputs.iter().filter(|(_, bits)| *bits > 0).map(|(name, _)| name.clone()).collect();
        if padded > bits {
            parts.push(format!("{}'d0", padded - bits));
        }
        let (value, value_width) = if parts.is_empty() {
            match algorithm {
                HashAlgorithm::Csum16 | HashAlgorithm::OnesComplement16 => {
                    ("16'hffff".to_owned(), 16)
                }
                _ => match self.crc_of(algorithm) {
                    Some(crc) => (format!("64'h{:x}", crc.compute(&[])), 64),
                    None => ("1'b0".to_owned(), 1),
                },
            }
        } else {
            let input = self.wire(padded, &format!("{{{}}}", parts.join(", ")));
            self.value(algorithm, &input, padded)
        };
        let value = self.wire(value_width, &value);
        match width {
            0 => "'0".to_owned(),
            _ if width == value_width => value,
            _ if width < value_width => format!("{value}[{}:0]", width - 1),
            _ => format!("{{{}'d0, {value}}}", width - value_width),
        }
    }

    /// The parameters of a CRC; those of a calculation as the program declares them.
    fn crc_of(&self, algorithm: HashAlgorithm) -> Option<CrcParameters> {
        match algorithm {
            HashAlgorithm::Custom(calculation) => {
                Some(self.program.calculations[calculation.index()].parameters)
            }
            other => other.crc(),
        }
    }

    fn value(&mut self, algorithm: HashAlgorithm, input: &str, bits: usize) -> (String, usize) {
        if let Some(crc) = self.crc_of(algorithm) {
            return (crc_value(&crc, input, bits), crc.width_bits as usize);
        }
        match algorithm {
            HashAlgorithm::Identity => {
                let taken = bits.min(64);
                (format!("{input}[{} -: {taken}]", bits - 1), taken)
            }
            HashAlgorithm::Xor16 => (words(input, bits).join(" ^ "), 16),
            HashAlgorithm::Csum16 | HashAlgorithm::OnesComplement16 => {
                let words = words(input, bits);
                let wide: Vec<String> =
                    words.iter().map(|word| format!("{{16'd0, {word}}}")).collect();
                let sum = self.wire(32, &wide.join(" + "));
                let once =
                    self.wire(32, &format!("{{16'd0, {sum}[15:0]}} + {{16'd0, {sum}[31:16]}}"));
                let twice = self.wire(16, &format!("{once}[15:0] + {{15'd0, {once}[16]}}"));
                (format!("~{twice}"), 16)
            }
            _ => ("1'b0".to_owned(), 1),
        }
    }
}

/// Words of 16 bits, the last one filled with zeros.
fn words(input: &str, bits: usize) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = bits;
    while rest >= 16 {
        words.push(format!("{input}[{}:{}]", rest - 1, rest - 16));
        rest -= 16;
    }
    if rest > 0 {
        words.push(format!("{{{input}[{}:0], {}'d0}}", rest - 1, 16 - rest));
    }
    words
}

/// The bits of a CRC's value, highest first, each as a parity of input bits.
fn crc_value(crc: &CrcParameters, input: &str, bits: usize) -> String {
    let mut bytes = vec![0_u8; bits / 8];
    let base = crc.compute(&bytes);
    // What input bit `bit`, counted from the lowest, changes.
    let changes: Vec<u64> = (0..bits)
        .map(|bit| {
            let (byte, mask) = (bits / 8 - 1 - bit / 8, 1 << (bit % 8));
            bytes[byte] = mask;
            let value = crc.compute(&bytes) ^ base;
            bytes[byte] = 0;
            value
        })
        .collect();
    let value: Vec<String> = (0..crc.width_bits)
        .rev()
        .map(|bit| {
            let digits: Vec<char> = (0..bits.div_ceil(4))
                .rev()
                .map(|digit| {
                    let nibble = (0..4).filter(|place| {
                        changes.get(digit * 4 + place).is_some_and(|change| change >> bit & 1 == 1)
                    });
                    let value = nibble.map(|place| 1 << place).sum::<u32>();
                    char::from_digit(value, 16).unwrap_or('0')
                })
                .collect();
            let mask: String = digits.into_iter().collect();
            format!("(^({input} & {bits}'h{mask})) ^ 1'b{}", base >> bit & 1)
        })
        .collect();
    format!("{{{}}}", value.join(", "))
}
