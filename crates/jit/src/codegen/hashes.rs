// SPDX-License-Identifier: Apache-2.0
//! Hashes and checksums as compiled code: inputs are concatenated in a buffer by inline stores and hashed by
//! the runtime; short CRCs, the internet checksum, exclusive or and identity are inline.

use super::values::{Val, Values};
use crate::runtime::RuntimeFunction;
use crate::runtime::hashes as runtime;
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData, Value, types};
use ir::{HashAlgorithm, ValueType};

/// Buffers up to this many words are written by unrolled code.
const UNROLLED_WORDS: u32 = 64;

/// Runs of bytes up to this length are summed by unrolled code.
pub(crate) const UNROLLED_SUM_BYTES: u32 = 128;

/// CRCs of up to this many bytes are computed by unrolled code.
const MAX_CRC_BYTES_INLINE: u32 = 40;

/// One part of the input of [`Values::checksum16`]; parts are concatenated.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChecksumPart {
    /// A number of at most 64 bits.
    Value {
        /// The number; no bit is set at or above the width.
        word: Value,
        /// Width in bits.
        width_bits: u32,
    },
    /// Whole bytes in memory. The parts before it have an even number of bytes.
    PacketRun {
        /// Address of some byte.
        address: Value,
        /// Offset of the first byte.
        offset_bytes: i32,
        /// Number of bytes.
        length_bytes: u32,
    },
}

/// The rest of a packet as the end of a hash's input, padded to whole bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload {
    /// Address of the packet.
    pub packet: Value,
    /// Its length in bytes.
    pub length_bytes: Value,
    /// First bit of the rest, from the packet's start.
    pub from_bits: Value,
}

/// A sum under construction.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    value: Option<Value>,
    /// The maximum of the value.
    bound: u64,
    /// Whether the value is the sum only modulo 65535.
    is_folded: bool,
}

/// A sum of words of 16 bits, zero only if all of them are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawSum {
    /// The sum, or a number that is equal to it modulo 65535.
    pub value: Value,
    /// The maximum of the value.
    pub bound: u64,
    /// Whether the first byte of each word is the low one.
    pub is_swapped: bool,
    /// Whether the value is the exact sum, not only modulo 65535.
    pub is_exact: bool,
}

impl Values<'_, '_> {
    /// The hash of the concatenated inputs, padded to whole bytes, and the payload after them, in 64 bits.
    /// `replication` is the address of a [`state::Replication`]; algorithms of [`takes_parameters`] need it.
    pub fn hash_bytes(
        &mut self,
        algorithm: HashAlgorithm,
        inputs: &[(ValueType, Val)],
        payload: Option<Payload>,
        replication: Option<Value>,
    ) -> Value {
        debug_assert!(replication.is_some() || !takes_parameters(algorithm));
        if algorithm == HashAlgorithm::Random {
            return self.word_constant(0);
        }
        if payload.is_none()
            && let Some(hash) = self.inline_hash(algorithm, inputs)
        {
            return hash;
        }
        let mark = self.scratch.mark();
        let (buffer, length_bytes) = self.laid_out(inputs);
        let zero = self.word_constant(0);
        let replication = match algorithm.crc() {
            Some(parameters) => {
                let address = std::ptr::from_ref(runtime::program_crc(parameters));
                self.word_constant(address as usize as u64)
            }
            None => replication.unwrap_or(zero),
        };
        let number = self.word_constant(runtime::number(algorithm));
        let hash = match payload {
            None => {
                let function = RuntimeFunction::giving_4(runtime::hash);
                self.call_for(function, &[number, replication, buffer, length_bytes])
            }
            Some(payload) => {
                let Payload { packet, length_bytes: packet_bytes, from_bits } = payload;
                let function = RuntimeFunction::giving_7(runtime::hash_with_payload);
                let arguments =
                    [number, replication, buffer, length_bytes, packet, packet_bytes, from_bits];
                self.call_for(function, &arguments)
            }
        };
        self.scratch.release(mark);
        hash
    }

    /// The internet checksum (RFC 1071) of the parts, padded to whole words of 16 bits.
    pub fn checksum16(&mut self, parts: &[ChecksumPart]) -> Value {
        match self.raw_sum(parts) {
            Some(sum) => self.folded_checksum(sum),
            None => self.word_constant(0xffff),
        }
    }

    /// The sum of the parts, if there are any.
    pub fn raw_sum(&mut self, parts: &[ChecksumPart]) -> Option<RawSum> {
        let (mut numbers, mut bytes) = (Sum::default(), Sum::default());
        let mut end_bits = 0u64;
        for part in parts {
            match *part {
                ChecksumPart::Value { word, width_bits } => {
                    end_bits += u64::from(width_bits);
                    self.add_number(&mut numbers, word, width_bits, end_bits);
                }
                ChecksumPart::PacketRun { address, offset_bytes, length_bytes } => {
                    debug_assert!(end_bits.is_multiple_of(16));
                    end_bits += u64::from(length_bytes) * 8;
                    self.add_bytes(&mut bytes, address, offset_bytes, length_bytes);
                }
            }
        }
        let is_swapped = bytes.value.is_some();
        if let (Some(value), true) = (numbers.value, is_swapped) {
            // Modulo 65535, times 2^8 swaps the bytes of a word.
            let (value, bound) = match numbers.bound {
                0..=0xff_ffff_ffff_ffff => (value, numbers.bound),
                _ => {
                    numbers.is_folded = true;
                    (self.halves_added(value), u64::from(u32::MAX))
                }
            };
            let swapped = self.builder.ins().ishl_imm_u(value, 8);
            self.add(&mut bytes, swapped, bound << 8);
        }
        let sum = if is_swapped { bytes } else { numbers };
        let is_exact = !numbers.is_folded && !bytes.is_folded;
        sum.value.map(|value| RawSum { value, bound: sum.bound, is_swapped, is_exact })
    }

    /// The checksum of a sum.
    pub fn folded_checksum(&mut self, sum: RawSum) -> Value {
        let RawSum { value: mut sum, mut bound, is_swapped, .. } = sum;
        if bound > u64::from(u32::MAX) {
            sum = self.halves_added(sum);
            bound = u64::from(u32::MAX);
        }
        let mut word = self.builder.ins().ireduce(types::I32, sum);
        if bound > 0xffff {
            let swapped = self.builder.ins().rotr_imm_u(word, 16);
            word = self.builder.ins().iadd(word, swapped);
            word = self.builder.ins().ushr_imm_u(word, 16);
        }
        let mut half = self.builder.ins().ireduce(types::I16, word);
        half = self.builder.ins().bnot(half);
        if is_swapped {
            half = self.builder.ins().bswap(half);
        }
        self.builder.ins().uextend(types::I64, half)
    }

    /// Modulo 2^32 - 1, by adding the halves with end-around carry. Zero stays zero, and nothing else becomes
    /// zero.
    fn halves_added(&mut self, value: Value) -> Value {
        let swapped = self.builder.ins().rotr_imm_u(value, 32);
        let sum = self.builder.ins().iadd(value, swapped);
        self.builder.ins().ushr_imm_u(sum, 32)
    }

    /// Adds modulo 65535.
    fn add(&mut self, sum: &mut Sum, mut value: Value, mut bound: u64) {
        let Some(mut before) = sum.value else {
            (sum.value, sum.bound) = (Some(value), bound);
            return;
        };
        if sum.bound.checked_add(bound).is_none() {
            sum.is_folded = true;
            let half = u64::from(u32::MAX);
            if sum.bound > half {
                before = self.halves_added(before);
                sum.bound = half;
            }
            if bound > half {
                value = self.halves_added(value);
                bound = half;
            }
        }
        sum.value = Some(self.builder.ins().iadd(before, value));
        sum.bound += bound;
    }

    /// Adds a number whose last bit is just before bit `end_bits` of the input.
    fn add_number(&mut self, sum: &mut Sum, word: Value, width_bits: u32, end_bits: u64) {
        if width_bits == 0 {
            return;
        }
        let shift = (16 - end_bits % 16) % 16;
        let used_bits = width_bits + shift as u32;
        if used_bits <= 64 {
            let moved = match shift {
                0 => word,
                _ => self.builder.ins().ishl_imm_u(word, shift as i64),
            };
            self.add(sum, moved, u64::MAX >> (64 - used_bits));
        } else {
            // 2^64 is 1 modulo 65535, so a rotation keeps the sum.
            sum.is_folded = true;
            let moved = self.builder.ins().rotl_imm_u(word, shift as i64);
            self.add(sum, moved, u64::MAX);
        }
    }

    /// Adds words of 16 bits with their first byte as the low one.
    fn add_bytes(&mut self, sum: &mut Sum, address: Value, offset_bytes: i32, length_bytes: u32) {
        if length_bytes > UNROLLED_SUM_BYTES {
            let first = self.builder.ins().iadd_imm_s(address, i64::from(offset_bytes));
            let length = self.word_constant(u64::from(length_bytes));
            let function = RuntimeFunction::giving_2(runtime::sum_little_endian);
            let value = self.call_for(function, &[first, length]);
            sum.is_folded = true;
            self.add(sum, value, 0xffff);
            return;
        }
        // Packets need not be aligned.
        let flags = MemFlagsData::new().with_notrap().with_endianness(Endianness::Little);
        let mut at = offset_bytes;
        let end = offset_bytes + length_bytes as i32;
        while at < end {
            let (value, taken_bytes) = match end - at {
                4.. => (self.builder.ins().uload32(flags, address, at), 4),
                2.. => (self.builder.ins().uload16(types::I64, flags, address, at), 2),
                _ => (self.builder.ins().uload8(types::I64, flags, address, at), 1),
            };
            self.add(sum, value, u64::MAX >> (64 - taken_bytes * 8));
            at += taken_bytes;
        }
    }

    /// Emits hashes of inputs of fixed width that need no buffer.
    fn inline_hash(
        &mut self,
        algorithm: HashAlgorithm,
        inputs: &[(ValueType, Val)],
    ) -> Option<Value> {
        let total_bits = fixed_bits(inputs)?;
        let count = total_bits.div_ceil(64) as u32;
        if count > UNROLLED_WORDS {
            return None;
        }
        match algorithm {
            HashAlgorithm::Identity => {
                let word = self.stream_word(inputs, 0);
                match total_bits.div_ceil(8) {
                    0 => Some(self.word_constant(0)),
                    8.. => Some(word),
                    bytes => Some(self.builder.ins().ushr_imm_u(word, 64 - 8 * bytes as i64)),
                }
            }
            HashAlgorithm::Xor16 => {
                let mut word = self.word_constant(0);
                for at in 0..count {
                    let next = self.stream_word(inputs, at);
                    word = self.builder.ins().bxor(word, next);
                }
                for by in [32, 16] {
                    let high = self.builder.ins().ushr_imm_u(word, by);
                    word = self.builder.ins().bxor(word, high);
                }
                Some(self.builder.ins().band_imm_u(word, 0xffff))
            }
            HashAlgorithm::Csum16 | HashAlgorithm::OnesComplement16 => {
                let mut parts = Vec::new();
                for &(ty, value) in inputs {
                    let mut rest_bits = ty.width_bits();
                    for word in self.words(rest_bits, value).into_iter().rev() {
                        let width_bits = rest_bits - rest_bits.saturating_sub(1) / 64 * 64;
                        parts.push(ChecksumPart::Value { word, width_bits });
                        rest_bits -= width_bits;
                    }
                }
                Some(self.checksum16(&parts))
            }
            _ => {
                let crc = runtime::inline_crc(algorithm)?;
                let length_bytes = total_bits.div_ceil(8) as u32;
                let is_short = length_bytes <= MAX_CRC_BYTES_INLINE;
                is_short.then(|| self.crc(inputs, length_bytes, &crc))
            }
        }
    }

    /// A reflected CRC: up to eight bytes a step, each with the table of its place.
    fn crc(
        &mut self,
        inputs: &[(ValueType, Val)],
        length_bytes: u32,
        crc: &runtime::InlineCrc,
    ) -> Value {
        let runtime::InlineCrc { tables, initial, final_xor } = *crc;
        let first_table = self.word_constant(tables.as_ptr() as u64);
        let mut remainder = self.word_constant(u64::from(initial));
        for at in 0..length_bytes.div_ceil(8) {
            let count = (length_bytes - at * 8).min(8);
            let word = self.stream_word(inputs, at);
            // First byte lowest.
            let word = self.builder.ins().bswap(word);
            let word = self.builder.ins().bxor(word, remainder);
            let mut sum = match count {
                ..4 => Some(self.builder.ins().ushr_imm_u(remainder, i64::from(count) * 8)),
                _ => None,
            };
            for byte in 0..count {
                let moved = match byte {
                    0 => word,
                    _ => self.builder.ins().ushr_imm_u(word, i64::from(byte) * 8),
                };
                let index = self.builder.ins().band_imm_u(moved, 0xff);
                let distance = self.builder.ins().ishl_imm_u(index, 2);
                let address = self.builder.ins().iadd(first_table, distance);
                // The runtime never frees the tables.
                let flags = MemFlagsData::trusted().with_readonly();
                let offset = ((count - 1 - byte) as usize * size_of::<[u32; 256]>()) as i32;
                let entry = self.builder.ins().uload32(flags, address, offset);
                sum = Some(match sum {
                    Some(sum) => self.builder.ins().bxor(sum, entry),
                    None => entry,
                });
            }
            remainder = sum.unwrap_or(remainder);
        }
        match final_xor {
            0 => remainder,
            _ => self.builder.ins().bxor_imm_u(remainder, i64::from(final_xor)),
        }
    }

    /// Bits `64 * at` to `64 * at + 63` of the concatenated inputs of fixed width, first bit highest; zeros
    /// after the end.
    fn stream_word(&mut self, inputs: &[(ValueType, Val)], at: u32) -> Value {
        let mut word = None;
        let last_bit = i64::from(at) * 64 + 63;
        let mut end = 0;
        for &(ty, value) in inputs {
            let start = end;
            end += i64::from(ty.width_bits());
            if end <= last_bit - 63 || start > last_bit {
                continue;
            }
            let low = end - 1 - last_bit;
            if let Some(part) = self.window(ty.width_bits(), value, low) {
                word = Some(match word {
                    None => part,
                    Some(word) => self.builder.ins().bor(word, part),
                });
            }
        }
        word.unwrap_or_else(|| self.word_constant(0))
    }

    /// Concatenates the inputs in scratch memory, padded with zero bits to whole bytes. Returns address and
    /// length in bytes.
    fn laid_out(&mut self, inputs: &[(ValueType, Val)]) -> (Value, Value) {
        let most_bits: u64 = inputs.iter().map(|(ty, _)| u64::from(ty.width_bits())).sum();
        let buffer = self.fresh(most_bits.div_ceil(64).max(1) as u32);
        // Inputs before the first varbit have constant offsets.
        let mut placed = inputs
            .iter()
            .position(|(ty, _)| matches!(ty, ValueType::Varbit(_)))
            .unwrap_or(inputs.len());
        let mut placed_bits = fixed_bits(&inputs[..placed]).unwrap_or(0);
        if placed_bits > u64::from(UNROLLED_WORDS) * 64 {
            (placed, placed_bits) = (0, 0);
        }
        for at in 0..placed_bits.div_ceil(64) as u32 {
            let word = self.stream_word(&inputs[..placed], at);
            let ordered = match cfg!(target_endian = "little") {
                true => self.builder.ins().bswap(word),
                false => word,
            };
            self.store_word(ordered, buffer, at as i32 * 8);
        }
        let mut length_bits = self.word_constant(placed_bits);
        for &(ty, value) in &inputs[placed..] {
            let (added_bits, words) = self.length_and_address(ty, value);
            let function = RuntimeFunction::taking_4(runtime::append_bits);
            self.call(function, &[buffer, length_bits, words, added_bits]);
            length_bits = self.builder.ins().iadd(length_bits, added_bits);
        }
        let rounded = self.builder.ins().iadd_imm_u(length_bits, 7);
        (buffer, self.builder.ins().ushr_imm_u(rounded, 3))
    }
}

/// Whether the control plane sets parameters of the algorithm.
pub(crate) fn takes_parameters(algorithm: HashAlgorithm) -> bool {
    matches!(algorithm, HashAlgorithm::Custom(_))
}

/// The width of all inputs together; `None` with a varbit.
fn fixed_bits(inputs: &[(ValueType, Val)]) -> Option<u64> {
    inputs
        .iter()
        .map(|(ty, _)| match ty {
            ValueType::Bits(width_bits) => Some(u64::from(*width_bits)),
            ValueType::Varbit(_) => None,
        })
        .sum()
}

#[cfg(test)]
mod tests;
