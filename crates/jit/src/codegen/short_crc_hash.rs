// SPDX-License-Identifier: Apache-2.0
//! Emits hashes of few bytes with the tables of `short_crcs`. Bytes of fields in the packet are loaded one by
//! one.

use super::function::FunctionCompiler;
use super::hash_inputs::HashInput;
use super::short_crcs::{Crcs, KnownCrcs, short_length_bytes};
use super::temporaries::PacketBits;
use super::values::readonly;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use ir::{HashAlgorithm, Operand};

impl<'a> FunctionCompiler<'a, '_> {
    /// A hash of few bytes, if it is a CRC with parameters that the program fixes.
    pub fn short_crc(&mut self, algorithm: HashAlgorithm, inputs: &[Operand]) -> Option<Value> {
        let length_bytes = short_length_bytes(inputs.iter().map(|input| self.operand_type(input)))?;
        let crcs = self.facts.crcs.iter().find(|crcs| crcs.length_bytes == length_bytes)?;
        let half = crcs.algorithms.iter().position(|known| *known == algorithm)?;
        let wanted = self.hashed_inputs(inputs);
        let known = self.path.crcs.iter().find(|known| known.inputs == wanted);
        let hashes = match known.map(|known| known.hashes) {
            Some(hashes) => hashes,
            None => {
                let hashes = self.crcs_by_places(crcs, &wanted, inputs);
                // Other inputs cannot be compared later.
                if wanted.iter().all(|(input, _)| *input != HashInput::Other) {
                    self.path.crcs.push(KnownCrcs { inputs: wanted, hashes });
                }
                hashes
            }
        };
        Some(match half {
            _ if !crcs.are_two() => hashes,
            0 => self.builder.ins().band_imm_u(hashes, i64::from(u32::MAX)),
            _ => self.builder.ins().ushr_imm_u(hashes, 32),
        })
    }

    fn crcs_by_places(
        &mut self,
        crcs: &'a Crcs,
        wanted: &[(HashInput, u32)],
        inputs: &[Operand],
    ) -> Value {
        let tables = self.constants.keep(crcs.words());
        let tables = self.number(tables as u64);
        let (mut zeros, mut sum, mut place) = (crcs.zeros, None, 0);
        for (&(input, width_bits), operand) in wanted.iter().zip(inputs) {
            let first = place;
            place += (width_bits / 8) as usize;
            let bytes = match input {
                HashInput::Packet(bits) if bits.offset_bits.is_multiple_of(8) => {
                    self.bytes_in_packet(bits)
                }
                _ => {
                    let number = self.index_operand(operand);
                    if let Some(known) = self.known_number(number) {
                        let known = known.to_be_bytes();
                        let bytes = &known[known.len() - (place - first)..];
                        for (byte, table) in bytes.iter().zip(&crcs.tables[first..]) {
                            zeros ^= table[usize::from(*byte)];
                        }
                        continue;
                    }
                    self.bytes_of_number(number, width_bits)
                }
            };
            for (byte, place) in bytes.into_iter().zip(first..) {
                let entry = self.entry_of_place(tables, place, byte, crcs.are_two());
                sum = Some(match sum {
                    Some(sum) => self.builder.ins().bxor(sum, entry),
                    None => entry,
                });
            }
        }
        let zeros = self.number(zeros);
        match sum {
            None => zeros,
            Some(sum) => self.builder.ins().bxor(sum, zeros),
        }
    }

    /// Loads whole bytes of the packet, each alone.
    fn bytes_in_packet(&mut self, bits: PacketBits) -> Vec<Value> {
        let first = (bits.offset_bits / 8) as i32;
        let places = first..first + (bits.width_bits / 8) as i32;
        places
            .map(|at| {
                self.builder.ins().uload8(types::I64, MemFlagsData::trusted(), bits.address, at)
            })
            .collect()
    }

    /// The bytes of a number of whole bytes, the first one highest.
    fn bytes_of_number(&mut self, number: Value, width_bits: u32) -> Vec<Value> {
        let below = (0..width_bits).step_by(8).rev();
        below
            .map(|below_bits| {
                let moved = match below_bits {
                    0 => number,
                    _ => self.builder.ins().ushr_imm_u(number, i64::from(below_bits)),
                };
                // Bits above the first byte are zero.
                match below_bits + 8 == width_bits {
                    true => moved,
                    false => self.builder.ins().band_imm_u(moved, 0xff),
                }
            })
            .collect()
    }

    fn entry_of_place(
        &mut self,
        tables: Value,
        place: usize,
        index: Value,
        are_two: bool,
    ) -> Value {
        // The tables live as long as the code.
        let flags = readonly();
        let shift = if are_two { 3 } else { 2 };
        let distance = self.builder.ins().ishl_imm_u(index, shift);
        let address = self.builder.ins().iadd(tables, distance);
        let offset_bytes = (place << shift) as i32 * 256;
        match are_two {
            true => self.builder.ins().load(types::I64, flags, address, offset_bytes),
            false => self.builder.ins().uload32(flags, address, offset_bytes),
        }
    }
}
