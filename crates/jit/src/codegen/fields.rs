// SPDX-License-Identifier: Apache-2.0
//! Fields in packet memory: reading bits from it, and writing fields to it.

use super::facts::fields_of;
use super::function::FunctionCompiler;
use super::temporaries::PacketBits;
use super::values::Val;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use ir::{HeaderId, SlotId, ValueType};

/// The integer type of 1, 2, 4 or 8 bytes.
pub(crate) fn narrow_type(size: u32) -> Type {
    match size {
        1 => types::I8,
        2 => types::I16,
        4 => types::I32,
        _ => types::I64,
    }
}

impl FunctionCompiler<'_, '_> {
    /// Loads up to 64 bits, most significant bit first, from a bit of memory on.
    pub fn load_bits(&mut self, address: Value, offset_bits: u32, width_bits: u32) -> Value {
        if width_bits == 0 {
            return self.number(0);
        }
        let first_byte = (offset_bits / 8) as i32;
        let skipped = offset_bits % 8;
        let spanned = (skipped + width_bits).div_ceil(8);
        let flags = MemFlagsData::trusted();
        if spanned > 8 {
            // Nine bytes: the first eight, then the bits of the ninth.
            let in_ninth = skipped + width_bits - 64;
            let high = self.load_bits(address, offset_bits, width_bits - in_ninth);
            let ninth = self.builder.ins().uload8(types::I64, flags, address, first_byte + 8);
            let low = self.builder.ins().ushr_imm_u(ninth, i64::from(8 - in_ninth));
            let high = self.builder.ins().ishl_imm_u(high, i64::from(in_ninth));
            return self.builder.ins().bor(high, low);
        }
        let (word, loaded_bits) = match spanned {
            1 => (self.builder.ins().uload8(types::I64, flags, address, first_byte), 8),
            2 => {
                let half = self.builder.ins().load(types::I16, flags, address, first_byte);
                let half = self.builder.ins().bswap(half);
                (self.builder.ins().uextend(types::I64, half), 16)
            }
            3 | 4 => {
                let half = self.builder.ins().load(types::I32, flags, address, first_byte);
                let half = self.builder.ins().bswap(half);
                (self.builder.ins().uextend(types::I64, half), 32)
            }
            _ => {
                let word = self.builder.ins().load(types::I64, flags, address, first_byte);
                (self.builder.ins().bswap(word), 64)
            }
        };
        let below = loaded_bits - skipped - width_bits;
        let word =
            if below == 0 { word } else { self.builder.ins().ushr_imm_u(word, i64::from(below)) };
        if skipped == 0 || width_bits == 64 { word } else { self.mask(word, width_bits) }
    }

    /// Loads a value of any width, most significant bit first, from a bit of memory on.
    pub fn load_value(&mut self, address: Value, offset_bits: u32, width_bits: u32) -> Val {
        match width_bits {
            0..=64 => Val::Word(self.load_bits(address, offset_bits, width_bits)),
            65..=128 => {
                let high = self.load_bits(address, offset_bits, width_bits - 64);
                let low = self.load_bits(address, offset_bits + width_bits - 64, 64);
                Val::Pair(low, high)
            }
            _ => {
                let words = width_bits.div_ceil(64);
                let buffer = self.buffer(words);
                for word in 0..words {
                    let end = width_bits - word * 64;
                    let width = end.min(64);
                    let value = self.load_bits(address, offset_bits + end - width, width);
                    self.store_word(value, buffer, word as i32 * 8);
                }
                Val::Memory(buffer)
            }
        }
    }

    /// The value of bits of a header in packet memory.
    pub fn read_packet(&mut self, bits: PacketBits) -> Val {
        self.load_value(bits.address, bits.offset_bits, bits.width_bits)
    }

    /// Compares at most 64 bits of the packet with a number. Returns 1 or 0 in eight bits.
    pub fn test_packet(&mut self, bits: PacketBits, number: u64) -> Value {
        let first_byte = bits.offset_bits / 8;
        let skipped = bits.offset_bits % 8;
        let spanned = (skipped + bits.width_bits).div_ceil(8);
        let size = spanned.next_power_of_two();
        if bits.width_bits == 0 || size > 8 || cfg!(target_endian = "big") {
            let word = self.load_bits(bits.address, bits.offset_bits, bits.width_bits);
            return self.compare(IntCC::Equal, word, number);
        }
        // Byte-swaps the constant at compile time, not the loaded value.
        let below = size * 8 - skipped - bits.width_bits;
        let ones = u64::MAX >> (64 - bits.width_bits);
        let ordered = |number: u64| (number << below).swap_bytes() >> (64 - size * 8);
        let (ty, flags) = (narrow_type(size), MemFlagsData::trusted());
        let loaded = self.builder.ins().load(ty, flags, bits.address, first_byte as i32);
        let loaded = match bits.width_bits == size * 8 {
            true => loaded,
            false => {
                let mask = self.builder.ins().iconst(ty, ordered(ones) as i64);
                self.builder.ins().band(loaded, mask)
            }
        };
        let wanted = self.builder.ins().iconst(ty, ordered(number) as i64);
        self.builder.ins().icmp(IntCC::Equal, loaded, wanted)
    }

    /// `count` bits of a value, from bit `low` on, as a word.
    fn bits_of(&mut self, value: Val, width_bits: u32, low: u32, count: u32) -> Value {
        let words = self.values().words(width_bits, value);
        let at = (low / 64) as usize;
        let shift = low % 64;
        let mut word = words[at];
        if shift != 0 {
            word = self.builder.ins().ushr_imm_u(word, i64::from(shift));
            if shift + count > 64 {
                let above = self.builder.ins().ishl_imm_u(words[at + 1], i64::from(64 - shift));
                word = self.builder.ins().bor(word, above);
            }
        }
        // Bits above the value's width are zero.
        if low + count >= width_bits && shift + count <= 64 { word } else { self.mask(word, count) }
    }

    /// Writes those fields of a header to memory that `wanted` chooses, with values from `value_of`. Bits
    /// between them stay.
    pub fn write_fields(
        &mut self,
        header: HeaderId,
        address: Value,
        wanted: impl Fn(SlotId) -> bool,
        mut value_of: impl FnMut(&mut Self, SlotId) -> Val,
    ) {
        let program = self.program;
        let fields: Vec<(u32, u32, Option<Val>)> = fields_of(program, header)
            .filter_map(|(slot, ty, offset_bits)| match ty {
                ValueType::Bits(0) | ValueType::Varbit(_) => None,
                ValueType::Bits(width_bits) => {
                    let value = wanted(slot).then(|| value_of(self, slot));
                    Some((offset_bits, width_bits, value))
                }
            })
            .collect();
        // Runs of neighbouring fields to write.
        let mut at = 0;
        while at < fields.len() {
            if fields[at].2.is_none() {
                at += 1;
                continue;
            }
            let mut end = at;
            while end < fields.len() && fields[end].2.is_some() {
                end += 1;
            }
            let run: Vec<(u32, u32, Val)> =
                fields[at..end].iter().filter_map(|&(o, w, v)| Some((o, w, v?))).collect();
            self.write_run(address, &run);
            at = end;
        }
    }

    /// Writes neighbouring fields (first bit, width, value), in chunks of up to eight bytes.
    fn write_run(&mut self, address: Value, run: &[(u32, u32, Val)]) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return };
        let (start_bits, end_bits) = (first.0, last.0 + last.1);
        let mut byte = start_bits / 8;
        let end_byte = end_bits.div_ceil(8);
        while byte < end_byte {
            let left = end_byte - byte;
            let size = [8, 4, 2, 1].into_iter().find(|&size| size <= left).unwrap_or(1);
            let (chunk_start, chunk_end) = (byte * 8, (byte + size) * 8);
            let mut chunk: Option<Value> = None;
            for &(offset, width, value) in run {
                let from = offset.max(chunk_start);
                let to = (offset + width).min(chunk_end);
                if from >= to {
                    continue;
                }
                let part = self.bits_of(value, width, offset + width - to, to - from);
                let up = chunk_end - to;
                let part = match up {
                    0 => part,
                    _ => self.builder.ins().ishl_imm_u(part, i64::from(up)),
                };
                chunk = Some(match chunk {
                    None => part,
                    Some(chunk) => self.builder.ins().bor(chunk, part),
                });
            }
            let mut chunk = match chunk {
                Some(chunk) => chunk,
                None => self.number(0),
            };
            // Bits of the chunk that the run does not cover.
            let covered_from = start_bits.max(chunk_start);
            let covered_to = end_bits.min(chunk_end);
            let bits = size * 8;
            if covered_to - covered_from < bits {
                let covered =
                    u64::MAX >> (64 - (covered_to - covered_from)) << (chunk_end - covered_to);
                let all = u64::MAX >> (64 - bits);
                let old = self.load_bits(address, chunk_start, bits);
                let keep = self.number(all & !covered);
                let old = self.builder.ins().band(old, keep);
                chunk = self.builder.ins().bor(chunk, old);
            }
            self.store_chunk(chunk, address, byte as i32, size);
            byte += size;
        }
    }

    /// Stores the low bytes of a word in network byte order.
    fn store_chunk(&mut self, chunk: Value, address: Value, offset_bytes: i32, size: u32) {
        let flags = MemFlagsData::trusted();
        let narrow = match size {
            8 => Some(types::I64),
            4 => Some(types::I32),
            2 => Some(types::I16),
            _ => None,
        };
        match narrow {
            None => {
                self.builder.ins().istore8(flags, chunk, address, offset_bytes);
            }
            Some(ty) => {
                let value = match ty {
                    types::I64 => chunk,
                    _ => self.builder.ins().ireduce(ty, chunk),
                };
                let value = self.builder.ins().bswap(value);
                self.builder.ins().store(flags, value, address, offset_bytes);
            }
        }
    }
}
